// Follows one procedure that waits down to its cause: a pure function of the facts. It always ends: a procedure that
// occurs a second time is a deadlock, which is a cause of its own. A host continues a chain where it leaves the
// procedures (WhyHost).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/why.pb.h"
#include "common/model/why_cause.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

class WhyHost;

// One chain while it is built.
class ChainBuilder {
 public:
  // Both outlive the builder.
  ChainBuilder(const WhyFacts& facts, const WhyHost& host) : facts_(facts), host_(host) {}

  void FollowProcedure(ProcId pid);
  ::ratchet::pb::WhyLink& AddLink(const char* kind, std::string subject, std::optional<std::int64_t> for_ms);
  void End(WhyCause cause, std::string text, std::string next, std::string verb = {});
  // Ends the chain at a try that has failed; its setback or its last error is the reason.
  void EndRetry(const procedure::ProcedureInfo& info);
  // Shows when the procedure tries again, if it is known.
  void SetNextTry(const procedure::ProcedureInfo& info);
  // How long the procedure has waited.
  [[nodiscard]] std::int64_t WaitOf(const procedure::ProcedureInfo& info) const;
  // nullopt: the chain has not ended.
  [[nodiscard]] std::optional<WhyCause> cause() const { return cause_; }
  [[nodiscard]] ::ratchet::pb::WhyChain Take() { return std::move(chain_); }

 private:
  void FollowWaiting(const procedure::ProcedureInfo& info, ::ratchet::pb::WhyLink& link);
  void FollowOutside(const procedure::ProcedureInfo& info, ::ratchet::pb::WhyLink& link);
  void FollowOneOf(const std::vector<ProcId>& pids);
  void EndParked(const procedure::ProcedureInfo& info);
  void EndPaused(const procedure::ProcedureInfo& info, const std::string& pause);
  void EndLimit(const procedure::ProcedureInfo& info);
  void EndLock(const procedure::ProcedureInfo& info);
  void EndRunning(const procedure::ProcedureInfo& info);
  void EndStore();

  const WhyFacts& facts_;
  const WhyHost& host_;
  ::ratchet::pb::WhyChain chain_;
  std::optional<WhyCause> cause_;
  std::set<ProcId> seen_;
};

// The chains of one answer. Chains with one cause are shown once, by the longest of them; the others are counted.
class WhyRoots {
 public:
  void Add(std::optional<::ratchet::pb::WhyChain> chain);
  // Leaves out a cause that another chain shows already.
  void AddIfNew(::ratchet::pb::WhyChain chain);
  // Moves at most `limit` chains to `out`, the longest wait first.
  void Fill(std::size_t limit, ::ratchet::pb::WhyResponse& out);

 private:
  std::map<std::pair<std::string, std::string>, ::ratchet::pb::WhyChain> by_cause_;
};

// The two questions that a host answers, because the framework knows only procedures and locks. This class is the
// answer of a host that has nothing else.
class WhyHost {
 public:
  // `facts` outlives this.
  explicit WhyHost(const WhyFacts& facts) : facts_(facts) {}
  virtual ~WhyHost() = default;
  WhyHost(const WhyHost&) = delete;
  WhyHost& operator=(const WhyHost&) = delete;

  // Continues the chain of a procedure that waits for its next try, or for something that is neither a procedure nor a
  // lock: sets what `link` waits for, adds links and ends `chain`. Returns false if the host knows nothing about this
  // wait.
  virtual bool ExplainExternal(const procedure::ProcedureInfo& info, ::ratchet::pb::WhyLink& link,
                               ChainBuilder& chain) const;
  // Adds the chains of the subject that a user names, and returns its whole name. kNotFound: it does not exist;
  // kInvalidArgument: the name is ambiguous.
  virtual Result<std::string> RootsOf(const std::string& text, WhyRoots& roots) const;

 protected:
  // nullopt: `text` is not "17" or "pid 17".
  [[nodiscard]] static std::optional<ProcId> PidIn(const std::string& text);
  // Returns the subject: "pid 17", with a note if it is not unfinished.
  [[nodiscard]] std::string AddPid(ProcId pid, WhyRoots& roots) const;
  // Adds deadlocks, and procedures without a parent that have waited for more than a moment.
  void AddProcedures(WhyRoots& roots) const;
  // Adds pauses and a full store, as far as no procedure shows them.
  void AddOwn(WhyRoots& roots) const;

 private:
  const WhyFacts& facts_;
};

// nullopt: the procedure does not wait.
[[nodiscard]] std::optional<::ratchet::pb::WhyChain> ChainOfProcedure(const WhyFacts& facts, const WhyHost& host,
                                                                      ProcId pid);
// A chain of one link.
struct CauseText {
  WhyCause cause;
  std::string text;
  std::string next{};
  std::string verb{};
};
[[nodiscard]] ::ratchet::pb::WhyChain OneLink(const char* kind, std::string subject, std::string waits_for,
                                              std::optional<std::int64_t> for_ms, CauseText cause);

// A wait shorter than this is not shown for the cluster, because it ends by itself in a moment.
inline constexpr std::uint64_t kWhyMoment = 1'000;
inline constexpr const char* kMakeRoom = "make room on the disk below the root";

// The duration of the first link.
[[nodiscard]] std::uint64_t AgeOf(const ::ratchet::pb::WhyChain& chain);
// Describes workers that are blocked in steps that do not end; nullopt while there are none.
[[nodiscard]] std::optional<std::string> HeldWorkersText(const procedure::WorkersInfo& workers);
// Describes steps that hold no worker and whose own work does not end; nullopt while there are none.
[[nodiscard]] std::optional<std::string> StayingStepsText(const procedure::WorkersInfo& workers);
// "41.0 s", "320 ms", "12 min".
[[nodiscard]] std::string WhyAge(std::uint64_t ms);

}  // namespace ratchet::host
