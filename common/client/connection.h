// A program's connection to one cluster: make it once, keep it, share it between threads.
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
  Millis operation_timeout{60'000};  // for one operation, all its retries included
  Millis rpc_timeout{10'000};        // for one attempt
  Millis zookeeper_timeout{5'000};
  // For the first request that carries a nonce, when it continues a request of an earlier process.
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
  // Operations in progress fail with kAborted.
  void Close();

  // For the other parts of this library.
  [[nodiscard]] const ConnectionOptions& options() const { return options_; }
  [[nodiscard]] rpc::ChannelPool& pool() { return pool_; }
  [[nodiscard]] MasterCaller& master() { return master_; }
  [[nodiscard]] Activity& activity() { return activity_; }
  [[nodiscard]] RegionLocator& locator() { return locator_; }
  [[nodiscard]] RetryLoop NewLoop() { return NewLoop(options_.operation_timeout); }
  [[nodiscard]] RetryLoop NewLoop(Millis timeout) { return {stop_, clock_, timeout, seed_ + ++loops_, &activity_}; }
  // Neither number is 0. The group names this connection, the nonce one of its operations.
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
