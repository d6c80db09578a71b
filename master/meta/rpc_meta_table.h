// MetaTable over RPC to the server that carries hbase:meta.
//
// Single edits go through an EditQueue, many in one request. A Commit is one MutateRows of the region (S41: atomic
// conditional commit). Each carries the epoch (S28: conditional meta writes), and the ownership CHECK precedes each
// send (S18: check before each send).
//
// Threads: any; `done` runs on the channel pool's threads, or on the caller's if there is no server to call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "common/rpc/channel_pool.h"
#include "master/env/meta_table.h"
#include "master/meta/edit_queue.h"

namespace ratchet::master {

struct MetaTableOptions {
  Millis rpc_timeout{10'000};      // meta.rpc_timeout_ms: limit of one request; the caller repeats
  std::uint32_t scan_rows = 1000;  // rows per request
  EditLimits edits{};              // for all callers together

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis({"meta-rpc-timeout-ms", "Time-out of one request to hbase:meta; the request is repeated.", {}},
                       &rpc_timeout, Millis(100), Millis(600'000));
  }
};

class RpcMetaTable final : public MetaTable {
 public:
  struct Hooks {
    std::function<Status()> check;
    std::function<std::optional<ServerName>()> location;  // RegionDirectory::MetaLocation
  };
  RpcMetaTable(rpc::ChannelPool& channels, MetaTableOptions options);

  // Call before the first Write or Scan; the epoch is known only after the claim.
  void Begin(Epoch epoch, Hooks hooks);
  void Write(std::vector<MetaEdit> edits, std::function<void(Status)> done) override;
  // Sends one request for all rows, which does not count toward the limits of edits.
  void Commit(MetaCommit commit, std::function<void(Result<CommitOutcome>)> done) override;
  void Scan(std::function<void(Result<MetaContents>)> done) override;

 private:
  struct Setup {
    Epoch epoch;
    Hooks hooks;
    std::shared_ptr<EditQueue> edits;
  };
  [[nodiscard]] std::shared_ptr<const Setup> setup() const;
  [[nodiscard]] Result<std::shared_ptr<rpc::Channel>> ChannelTo(const std::optional<ServerName>& server) const;

  rpc::ChannelPool& channels_;
  const MetaTableOptions options_;
  mutable Mutex mutex_;
  std::shared_ptr<const Setup> setup_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
