// SystemTable over RPC to the servers of the table's regions.
//
// The ownership CHECK precedes each send (S18: check before each send). A request is one attempt: the caller repeats.
// Threads: any; `done` runs on the channel pool's threads, or on the caller's if there is no server to call.
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
    std::optional<ServerName> server;  // nullopt: the region is not open
  };
  // `family`: the family that it reads and writes.
  RpcSystemTable(rpc::ChannelPool& channels, Millis timeout, std::string family = "q")
      : channels_(channels), timeout_(timeout), family_(std::move(family)) {}

  // Call before the first use. `places` returns all regions of the table by start key, without split and merged ones.
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

// The request that is sent; for tests.
[[nodiscard]] hbase::pb::MutateRequest EncodeSwap(const SystemCell& cell, const SystemTable::Value& before,
                                                  const SystemTable::Value& after, const std::string& family = "q");

}  // namespace ratchet::master
