// RegionServers: sends orders to region servers.
//
// Owner: the master's shell (remote dispatcher). Threads: any; nothing here blocks or calls back into the caller.
#pragma once

#include "common/model/server_name.h"
#include "master/env/orders.h"

namespace ratchet::master {

class RegionServers {
 public:
  virtual ~RegionServers() = default;

  // Queues the order and returns at once. Orders that gather for one server while its previous request is in flight are
  // sent as one ExecuteProcedures request.
  //
  // The implementation
  //  - runs the epoch CHECK immediately before every send, repeated ones included (S18: check before each send);
  //  - repeats with backoff and jitter until the server has accepted the order. After a bounded time it calls
  //    ServerManager::Expire(server, why) instead of giving up, because no time-out settles an order (S17: answer or
  //    fence settles an order);
  //  - drops orders to a server that is not online in the server directory, because a crash procedure settles them;
  //  - may merge an order with a queued one of the same id.
  // ReportHandler receives the answer.
  virtual void Dispatch(const ServerName& server, Order order) = 0;

  // Discards the queue and the connection of a server that is fenced or gone. Called once per crash.
  virtual void Forget(const ServerName& server) = 0;
};

}  // namespace ratchet::master
