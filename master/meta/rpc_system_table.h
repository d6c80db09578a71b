// SystemTable over RPC to the servers that carry the table, which any of its regions may be at.
//
// The ownership CHECK precedes each send (S18). A request is one attempt: the caller repeats. Threads: any; `done`
// comes on the channel pool's threads, or on the caller's when there is no server to ask.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/client.pb.h"
#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/rpc/channel_pool.h"
#include "master/env/system_table.h"

namespace ratchet::master {

class RpcSystemTable final : public SystemTable {
 public:
  struct Place {
    RegionInfo region;
    std::optional<ServerName> server;  // none: it is open nowhere
  };
  // `family`: whose cells it reads and writes.
  RpcSystemTable(rpc::ChannelPool& channels, Millis timeout, std::string family = "q")
      : channels_(channels), timeout_(timeout), family_(std::move(family)) {}

  // Before the first use. `places`: of all regions of the table, by start key, those that were split or merged left
  // out.
  void Begin(std::function<Status()> check, std::function<std::vector<Place>()> places);
  void Read(const SystemCell& cell, std::function<void(Result<Value>)> done) override;
  void Swap(const SystemCell& cell, Value before, Value after, std::function<void(Result<bool>)> done) override;
  void ReadAll(std::size_t most, std::function<void(Result<std::vector<SystemCell>>)> done) override;

 private:
  struct Setup {
    std::function<Status()> check;
    std::function<std::vector<Place>()> places;
  };
  [[nodiscard]] std::shared_ptr<const Setup> setup() const;
  [[nodiscard]] Result<std::shared_ptr<rpc::Channel>> ChannelTo(const Setup& setup, std::string_view row,
                                                                hbase::pb::RegionSpecifier& region) const;

  rpc::ChannelPool& channels_;
  const Millis timeout_;
  const std::string family_;
  mutable Mutex mutex_;
  std::shared_ptr<const Setup> setup_ GUARDED_BY(mutex_);
};

// For tests: what is sent.
[[nodiscard]] hbase::pb::MutateRequest EncodeSwap(const SystemCell& cell, const SystemTable::Value& before,
                                                  const SystemTable::Value& after, const std::string& family = "q");

}  // namespace ratchet::master
