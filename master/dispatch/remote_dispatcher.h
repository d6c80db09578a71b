// RegionServers over RPC: DispatchCore decides; this class adds the mutex, the timer, the epoch CHECK before each send
// (rule S18: check before each send) and the connections.
//
// Threads: Dispatch and Forget may be called from any thread and never block; replies run on the channel pool's
// threads. `Hooks` are called without a lock. Call Stop() before objects that the hooks use are destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/rpc/channel_pool.h"
#include "master/dispatch/dispatch_core.h"
#include "master/dispatch/order_codec.h"
#include "master/env/region_servers.h"

namespace ratchet::master {

class RemoteDispatcher final : public RegionServers {
 public:
  struct Hooks {
    std::function<Status()> check;                     // S18: checks that this master still owns the store
    std::function<bool(const ServerName&)> is_online;  // a crash procedure settles orders to other servers
    std::function<void(const ServerName&, const std::string& why)> expire;
    std::function<ProcId()> lowest_live_pid;       // S19 (executed orders are remembered)
    std::function<void(const Error&)> on_deposed;  // `check` failed, or a server knows a higher epoch
  };

  RemoteDispatcher(rpc::ChannelPool& channels, Clock& clock, Timers& timers, DispatchOptions options,
                   std::uint64_t seed);
  ~RemoteDispatcher() override;

  // Call before the first Dispatch; the epoch is known only after the claim.
  void Begin(OrderSender sender, Hooks hooks);
  void Dispatch(const ServerName& server, Order order) override;
  void Forget(const ServerName& server) override;
  // After it returns, no order is sent and no hook is called. Late replies are ignored.
  void Stop();

  [[nodiscard]] std::vector<ServerQueueView> View() const;

 private:
  struct State;  // shared with callbacks that may run late
  std::shared_ptr<State> state_;
};

// Lists every kind of order, so that a new kind does not get a rank by accident.
[[nodiscard]] OrderRank RankOf(const Order& order);

}  // namespace ratchet::master
