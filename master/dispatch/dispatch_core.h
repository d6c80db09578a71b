// Decisions of the remote dispatcher, without clocks, threads or sockets: which orders are sent when and in which
// request, and which server has been unreachable for too long.
//
// One request per server is in flight at a time; orders that arrive meanwhile are sent together in the next request, up
// to its limits. A failed request is repeated after a backoff, with the orders that arrived since. No time-out settles
// an order (rule S17: answer or fence settles an order). So persistent failures end only when the server is expired,
// because that fences it.
//
// Not thread-safe: RemoteDispatcher drives it under its mutex. Times are passed in; every call may change NextWake().
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/prng.h"
#include "common/model/server_name.h"
#include "master/dispatch/dispatch_options.h"
#include "master/env/orders.h"

namespace ratchet::master {

using OrderPtr = std::shared_ptr<const Order>;
using OrderBatch = std::vector<OrderPtr>;

// Outcome of a request.
enum class SendOutcome : std::uint8_t {
  kAccepted,       // the server has accepted every order of the batch
  kNotRunningYet,  // the server is starting
  kFailed,         // no connection, time-out, overload or refusal; it is unknown whether the orders were executed
  kGone,           // another incarnation answers at that address, so this one has ended
};

// Priority of an order. Each rank waits for the ranks before it.
enum class OrderRank : std::uint8_t {
  kUrgent,  // transitions of hbase:meta, splits of dead servers' logs: everything waits for them
  kNormal,  // transitions of other regions, lists of peers
  kBulk,    // flushes, compactions, builds, copies: possibly one for each region of a table
};
inline constexpr std::size_t kOrderRanks = 3;

// One request to make now. `ticket` names it in OnReply.
struct SendNow {
  ServerName server;
  std::uint64_t ticket = 0;
  OrderBatch batch;
  std::uint32_t attempt = 1;  // number of the attempt since the last success, for the log
  std::size_t left = 0;       // orders that did not fit into this request
};

struct ExpireNow {
  ServerName server;
  std::string why;
};

struct DispatchActions {
  std::vector<SendNow> sends;
  std::vector<ExpireNow> expiries;
};

// For the status surface.
struct ServerQueueView {
  ServerName server;
  std::size_t queued = 0;
  std::size_t in_flight = 0;   // orders in the current request
  std::uint32_t failures = 0;  // in a row
  std::string last_error;
  bool expired = false;  // reported to the server manager; waits for Forget
};

class DispatchCore {
 public:
  DispatchCore(DispatchOptions options, std::uint64_t seed);

  // Queues an order. An order with the id of a queued or in-flight one is merged into it; a newer attempt replaces the
  // queued one.
  void Add(const ServerName& server, OrderPtr order, OrderRank rank, TimePoint now);
  // Ticket of a SendNow. Unknown tickets (the server was forgotten meanwhile) are ignored.
  void OnReply(std::uint64_t ticket, SendOutcome outcome, const std::string& error, TimePoint now);
  void Forget(const ServerName& server);

  // Returns the actions that are due at `now`. Call after each of the functions above and at NextWake(), until the
  // result is empty.
  [[nodiscard]] DispatchActions Take(TimePoint now);
  // Returns the time of the next call of Take if nothing else happens; nullopt if none is needed.
  [[nodiscard]] std::optional<TimePoint> NextWake() const;

  [[nodiscard]] std::vector<ServerQueueView> View() const;
  // Number of queued orders and of servers that the functions above have visited; for tests that the cost of an order
  // grows neither with the queue nor with the number of servers.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }
  [[nodiscard]] std::size_t in_flight() const { return normal_in_flight_ + (urgent_slot_used_ ? 1 : 0); }

 private:
  struct Queued {
    OrderPtr order;
    OrderRank rank = OrderRank::kNormal;
  };
  // Waiting orders, by rank and then by arrival. At most one for each procedure, which bounds the queue. An order stays
  // until it is sent, because only an answer or a fence settles it (S17).
  class Queue {
   public:
    [[nodiscard]] bool empty() const { return places_.empty(); }
    [[nodiscard]] std::size_t size() const { return places_.size(); }
    [[nodiscard]] bool HasUrgent() const { return !lines_[0].empty(); }
    // Returns the order of this procedure; null if there is none.
    Queued* Find(ProcId pid);
    void PushBack(Queued queued) { Put(std::move(queued), /*front=*/false); }
    void PushFront(Queued queued) { Put(std::move(queued), /*front=*/true); }
    // Moves the order to a higher rank, after the orders already there. A rank never falls.
    void Raise(ProcId pid, OrderRank rank);
    [[nodiscard]] const Queued& front() const { return FirstLine().front(); }
    Queued PopFront();

   private:
    using Line = std::list<Queued>;
    void Put(Queued queued, bool front);
    // Returns the first list that is not empty; in an empty queue the last list.
    [[nodiscard]] const Line& FirstLine() const;
    std::array<Line, kOrderRanks> lines_;
    std::map<ProcId, std::list<Queued>::iterator> places_;
  };
  struct Outbox {
    Queue queue;
    std::vector<Queued> sent;                       // the request in flight; empty if there is none
    std::map<ProcId, std::uint32_t> sent_attempts;  // of the orders in `sent`
    std::uint64_t ticket = 0;
    bool in_urgent_slot = false;
    std::optional<TimePoint> not_before;  // end of the delay or backoff; nullopt: send at once
    bool backing_off = false;             // not_before is a backoff, which a full queue does not shorten
    std::uint32_t failures = 0;
    std::optional<TimePoint> failing_since;
    std::string last_error;
    bool starting = false;  // the server's last answer was "not running yet"
    bool expired = false;
    std::optional<TimePoint> sleeps_until;  // its place in sleeping_
  };

  bool Fold(Outbox& outbox, const OrderPtr& order, OrderRank rank);
  void Pack(Outbox& outbox);
  void Release(Outbox& outbox);
  void Fail(const ServerName& server, Outbox& outbox, SendOutcome outcome, const std::string& error, TimePoint now);
  // True if only a slot is missing for the next request.
  [[nodiscard]] bool Ready(const Outbox& outbox) const;
  // Puts the server into the sets below to which it belongs now. Call after each change of its outbox.
  void Index(const ServerName& server, Outbox& outbox);
  void Unindex(const ServerName& server, Outbox& outbox);
  void WakeUp(TimePoint now);
  void Launch(const ServerName& server, Outbox& outbox, bool urgent_slot, DispatchActions* actions);
  // Launches requests to servers of `ready`, in turn, while there is a slot for them.
  void LaunchReady(const std::set<ServerName>& ready, DispatchActions* actions);

  const DispatchOptions options_;
  Prng prng_;
  std::map<ServerName, Outbox> outboxes_;
  std::set<ServerName> ready_;         // Ready()
  std::set<ServerName> ready_urgent_;  // the servers of ready_ that have an urgent order
  // Servers with orders that wait for a time.
  std::set<std::pair<TimePoint, ServerName>> sleeping_;
  std::map<std::uint64_t, ServerName> tickets_;  // of the requests in flight
  std::vector<ExpireNow> expiries_;
  ServerName last_served_;  // round robin over servers when slots are short
  std::uint64_t last_ticket_ = 0;
  std::size_t normal_in_flight_ = 0;
  bool urgent_slot_used_ = false;
  std::uint64_t looked_at_ = 0;
};

}  // namespace ratchet::master
