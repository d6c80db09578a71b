// A program's connection to one cluster: make one, keep it, share it between threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/client/master_caller.h"
#include "common/client/region_locator.h"
#include "common/client/retry_loop.h"
#include "common/rpc/channel_pool.h"

namespace ratchet::client {

struct ConnectionOptions {
  std::string zookeeper;             // "host:port,..."; used when `masters` is empty
  std::vector<std::string> masters;  // "host:port" each
  std::string znode_parent = "/hbase";
  std::string user = "ratchet";      // the user in whose name procedures are submitted
  Millis operation_timeout{60'000};  // of one operation, all its retries included
  Millis rpc_timeout{10'000};        // of one attempt
  Millis zookeeper_timeout{5'000};
  // Of the first request that carries a nonce, when it goes on with what an earlier process has asked for.
  std::optional<NonceOfRequest> first_nonce{};
};

// Thread-safe. Outlives the tables, scanners and admins made from it.
class Connection {
 public:
  // Does not connect yet. kInvalidArgument when neither ZooKeeper nor a master is named.
  [[nodiscard]] static Result<std::unique_ptr<Connection>> Open(ConnectionOptions options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  // Operations under way fail with kAborted.
  void Close();

  // For the parts of this library.
  [[nodiscard]] const ConnectionOptions& options() const { return options_; }
  [[nodiscard]] rpc::ChannelPool& pool() { return pool_; }
  [[nodiscard]] MasterCaller& master() { return master_; }
  [[nodiscard]] Activity& activity() { return activity_; }
  [[nodiscard]] RegionLocator& locator() { return locator_; }
  [[nodiscard]] RetryLoop NewLoop() { return NewLoop(options_.operation_timeout); }
  [[nodiscard]] RetryLoop NewLoop(Millis timeout) { return {stop_, clock_, timeout, seed_ + ++loops_, &activity_}; }
  // Never 0; the group names this connection, the nonce one operation of it.
  [[nodiscard]] std::uint64_t nonce_group() const { return nonce_group_; }
  [[nodiscard]] std::uint64_t NewNonce();

 private:
  Connection(ConnectionOptions options, std::unique_ptr<MasterFinder> finder);

  const ConnectionOptions options_;
  const SystemClock clock_;
  Activity activity_{clock_};
  StopSignal stop_;
  const std::uint64_t seed_;
  const std::uint64_t nonce_group_;
  std::atomic<std::uint64_t> loops_{0};
  std::atomic<std::uint64_t> nonces_{0};
  rpc::ChannelPool pool_;
  const std::unique_ptr<MasterFinder> finder_;
  MasterCaller master_;
  RegionLocator locator_;
};

}  // namespace ratchet::client
