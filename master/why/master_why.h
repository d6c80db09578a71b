// The master's part of `ratchet why`: continues the chain of a procedure to servers, regions and hbase:meta, and finds
// what waits without a procedure. A pure function of the facts.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/model/proto/why.pb.h"
#include "master/why/facts.h"
#include "procedure/ops/why/chain.h"

namespace ratchet::master {

class MasterWhy final : public host::WhyHost {
 public:
  // `facts` outlives this.
  explicit MasterWhy(const MasterFacts& facts) : WhyHost(facts), facts_(facts) {}

  bool ExplainExternal(const procedure::ProcedureInfo& info, ::ratchet::pb::WhyLink& link,
                       host::ChainBuilder& chain) const override;
  // `text`: a pid, a table, a region (the beginning of its encoded name), a server ("host,port,startcode" or
  // "host:port"), each also with the word before it ("table t"); empty: the cluster. A master that is not active
  // answers about itself.
  Result<std::string> RootsOf(const std::string& text, host::WhyRoots& roots) const override;

 private:
  using Chain = std::optional<::ratchet::pb::WhyChain>;

  // explain.cc
  void FollowServer(const std::string& name, host::ChainBuilder& chain) const;
  void FollowRegion(const std::string& encoded, host::ChainBuilder& chain) const;
  void FollowOrder(const procedure::ProcedureInfo& info, const std::string& server, ::ratchet::pb::WhyLink& link,
                   host::ChainBuilder& chain) const;
  void EndServer(const std::string& name, const WhyServer& server, host::ChainBuilder& chain) const;
  [[nodiscard]] bool WaitsForMeta(const procedure::ProcedureInfo& info) const;
  [[nodiscard]] bool AnyOnline() const;
  // nullopt: the server answers and is not behind.
  [[nodiscard]] Chain ChainOfServer(const std::string& server) const;
  // nullopt: the region is served, or offline as its table requires.
  [[nodiscard]] Chain ChainOfRegion(const std::string& encoded) const;

  // roots.cc
  // nullopt unless the table's descriptor cannot be read, or it is between two states and no procedure works on it.
  [[nodiscard]] Chain ChainOfTable(const std::string& name) const;
  [[nodiscard]] ::ratchet::pb::WhyChain ChainOfStandby() const;
  [[nodiscard]] ::ratchet::pb::WhyChain ChainOfStart() const;
  void AddTable(const std::string& name, host::WhyRoots& roots) const;
  void AddCluster(host::WhyRoots& roots) const;
  void AddMaster(host::WhyRoots& roots) const;

  const MasterFacts& facts_;
};

// "active master"
[[nodiscard]] const char* WhyRoleText(WhyRole role);

}  // namespace ratchet::master
