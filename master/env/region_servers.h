// RegionServers: sending orders to region servers.
//
// Owner: the master's shell (remote dispatcher). Threads: any; nothing here blocks or calls back into the caller.
#pragma once

#include "common/model/server_name.h"
#include "master/env/orders.h"

namespace ratchet::master {

class RegionServers {
 public:
  virtual ~RegionServers() = default;

  // Hands the order over and returns at once. What gathers for one server while its previous request is in flight goes
  // out as one ExecuteProcedures request.
  //
  // The implementation
  //  - runs the epoch CHECK immediately before every send, repeated ones included (S18);
  //  - repeats with backoff and jitter until the server has accepted the order, and after a bounded time tells
  //    ServerManager::Expire(server, why) instead of giving up: no time-out settles an order (S17);
  //  - drops silently what is addressed to a server that the server directory does not call online (a crash procedure
  //  settles
  //    it); an order repeated with the same id while it is still queued may be folded into one.
  // The answer comes back through ReportHandler, never from here.
  virtual void Dispatch(const ServerName& server, Order order) = 0;

  // The server is fenced or gone: forget its queue and its connection. Called once per crash.
  virtual void Forget(const ServerName& server) = 0;
};

}  // namespace ratchet::master
