// A server of HBase's wire protocol: connections carry one service each, calls are pipelined and answered in any order.
//
// Every resource is bounded: frames, queued calls, the bytes of all requests and of all answers, calls in flight and
// unsent answers per connection, connections. A bad frame closes its sender's connection and affects no other. An idle
// connection costs a socket and about a kilobyte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/latency.h"
#include "common/base/result.h"
#include "common/rpc/client_versions.h"
#include "common/rpc/connections.h"
#include "common/rpc/server_options.h"
#include "common/rpc/service.h"

namespace ratchet::rpc {

struct ServerStats {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // over max_connections
  std::uint64_t calls_received = 0;
  std::uint64_t calls_answered = 0;                 // exceptions included
  std::uint64_t calls_expired = 0;                  // deadline passed in the queue; not answered
  std::uint64_t calls_refused = 0;                  // queue full
  std::uint64_t rights_refused = 0;                 // refused for a missing right, S130 (one check before each handler)
  std::uint64_t rights_would_refuse = 0;            // with --rights log: allowed, although a right is missing
  std::uint64_t calls_at_once = 0;                  // answered by an I/O thread itself
  std::uint64_t bad_connections = 0;                // closed because of the bytes that they sent
  std::uint64_t call_bytes = 0;                     // of requests that have no answer yet
  std::uint64_t unsent_bytes = 0;                   // of answers
  std::array<std::size_t, kQueueClasses> queued{};  // calls that wait for a thread
  LatencySnapshot queue_time{};                     // how long calls have waited for a thread
  ClientVersions::Counts client_versions{};         // open connections by the version in their header
  ClientVersions::Counts plain_peers{};             // open connections of clients without TLS, by address
};

// Thread-safe after Start. Stop (and the destructor) wait until no handler runs; calls that are still unanswered get no
// answer. Answers of responders that outlive the server are dropped.
class RpcServer {
 public:
  explicit RpcServer(ServerOptions options);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // Before Start only.
  void Add(std::shared_ptr<const Service> service);
  // Errors as io::ListenOn: kAlreadyExists for an address that is in use, kUnavailable for one that may still appear.
  // After an error it may be called again.
  [[nodiscard]] Status Start();
  void Stop();
  // Does what Stop does, but the addresses accept connections, without answering them, until the destructor. For a
  // process that still has work to do: a process whose address refuses connections counts as dead (S121: early findings
  // are positive).
  void StopServing();
  [[nodiscard]] std::uint16_t port() const;                         // after Start
  [[nodiscard]] const std::vector<std::string>& addresses() const;  // numeric, after Start
  // Logs one line with the addresses, after Start. `name`: the address that is advertised. Warns when that name is not
  // the loopback's but all the addresses are.
  void LogAddresses(const std::string& name) const;
  [[nodiscard]] ServerStats stats() const;
  // The connections whose clients have introduced themselves, the oldest first. Takes a moment with many of them.
  [[nodiscard]] std::vector<ShownConnection> Connections(const ConnectionFilter& filter) const;
  // Closes those of clients, without members and the connection `except`; returns their number. Their calls in progress
  // get no answer.
  std::size_t CloseConnections(const ConnectionFilter& filter, std::uint64_t except);
  // Calls `visit` for every method, by service and name; after the last Add.
  void VisitMethods(const std::function<void(const std::string& service, const std::string& method,
                                             const MethodStats& stats)>& visit) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::rpc
