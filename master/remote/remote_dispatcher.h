// RegionServers over RPC: the decisions are DispatchCore's, this adds the mutex, the timer, the epoch CHECK before each
// send (rule S18) and the connections.
//
// Threads: Dispatch and Forget from any thread, they never block; replies come on the channel pool's threads. `Hooks`
// are called without a lock held. Stop() before anything that the hooks use is destroyed.
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
#include "master/env/region_servers.h"
#include "master/remote/dispatch_core.h"
#include "master/remote/order_codec.h"

namespace ratchet::master {

class RemoteDispatcher final : public RegionServers {
 public:
  struct Hooks {
    std::function<Status()> check;                     // S18: still the owner of the store?
    std::function<bool(const ServerName&)> is_online;  // others are a crash procedure's business
    std::function<void(const ServerName&, const std::string& why)> expire;
    std::function<ProcId()> lowest_live_pid;       // S19
    std::function<void(const Error&)> on_deposed;  // `check` failed, or a server knows a higher epoch
  };

  RemoteDispatcher(rpc::ChannelPool& channels, Clock& clock, Timers& timers, DispatchOptions options,
                   std::uint64_t seed);
  ~RemoteDispatcher() override;

  // Before the first Dispatch; the epoch is known only after the claim.
  void Begin(OrderSender sender, Hooks hooks);
  void Dispatch(const ServerName& server, Order order) override;
  void Forget(const ServerName& server) override;
  // Nothing is sent and no hook is called after it returns. Late replies are ignored.
  void Stop();

  [[nodiscard]] std::vector<ServerQueueView> View() const;

 private:
  struct State;  // shared with callbacks that may come late
  std::shared_ptr<State> state_;
};

// Meta's transitions and the splitting of logs hold up everything else.
[[nodiscard]] bool IsUrgent(const Order& order);

}  // namespace ratchet::master
