// A chain while it is built: for chain.cc and causes.cc.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/proto/why.pb.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// Heartbeats come several times a second to every few seconds. A shorter silence than this means nothing.
inline constexpr std::int64_t kSilent = 5'000;

class ChainBuilder {
 public:
  explicit ChainBuilder(const WhyFacts& facts) : facts_(facts) {}

  void FollowProcedure(ProcId pid);
  void FollowServer(const std::string& name);
  void FollowRegion(const std::string& encoded);
  [[nodiscard]] ratchet::pb::WhyChain Take() { return std::move(chain_); }

 private:
  void FollowWaiting(const procedure::ProcedureInfo& info, ratchet::pb::WhyLink& link);
  void FollowOutside(const procedure::ProcedureInfo& info, ratchet::pb::WhyLink& link);
  void FollowOrder(const procedure::ProcedureInfo& info, const std::string& server, ratchet::pb::WhyLink& link);
  [[nodiscard]] bool WaitsForMeta(const procedure::ProcedureInfo& info) const;
  void FollowOneOf(const std::vector<ProcId>& pids);
  ratchet::pb::WhyLink& AddLink(const char* kind, std::string subject, std::optional<std::int64_t> for_ms);
  void End(const char* cause, std::string text, std::string next, std::string verb = {});
  void EndParked(const procedure::ProcedureInfo& info);
  void EndPaused(const procedure::ProcedureInfo& info, const std::string& pause);
  void EndRetry(const procedure::ProcedureInfo& info);
  void EndLock(const procedure::ProcedureInfo& info);
  void EndNoServer();
  void EndRunning(const procedure::ProcedureInfo& info);
  void EndStore();
  void EndServer(const std::string& name, const WhyServer& server);

  const WhyFacts& facts_;
  ratchet::pb::WhyChain chain_;
  std::set<ProcId> seen_;
};

}  // namespace ratchet::host
