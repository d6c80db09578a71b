// What the remote dispatcher decides, without clocks, threads or sockets: which orders leave when, in which request,
// and which server has been unreachable for too long.
//
// One request per server is in flight at a time; what is handed in meanwhile goes out together as the next one, as much
// of it as one request may carry. A failed request is repeated, with what has gathered since, after a backoff; no
// time-out ever settles an order (rule S17), so the only way out of failing is that the server is expired, which
// fences it.
//
// Not thread-safe: RemoteDispatcher drives it under its mutex. Times are passed in; every call may change NextWake().
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/prng.h"
#include "common/model/server_name.h"
#include "master/env/orders.h"
#include "master/remote/dispatch_options.h"

namespace ratchet::master {

using OrderPtr = std::shared_ptr<const Order>;
using OrderBatch = std::vector<OrderPtr>;

// How a request ended, as far as it matters here.
enum class SendOutcome : std::uint8_t {
  kAccepted,       // the server has taken every order of the batch
  kNotRunningYet,  // it is starting
  kFailed,         // no connection, time-out, overload, any refusal: whether it was executed is unknown
  kGone,           // another incarnation answers at that address: this one is over
};

// One request to make now. `ticket` names it in OnReply.
struct SendNow {
  ServerName server;
  std::uint64_t ticket = 0;
  OrderBatch batch;
  std::uint32_t attempt = 1;  // of sending to this server without success, for the log
  std::size_t left = 0;       // orders that the limits of one request leave for the next
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
  std::size_t in_flight = 0;   // orders in the request that is under way
  std::uint32_t failures = 0;  // in a row
  std::string last_error;
  bool expired = false;  // told to the server manager; waits to be forgotten
};

class DispatchCore {
 public:
  DispatchCore(DispatchOptions options, std::uint64_t seed);

  // `urgent`: meta and crash handling. An order with the id of one that is queued or in flight is folded into it; a
  // newer attempt takes the queued one's place.
  void Add(const ServerName& server, OrderPtr order, bool urgent, TimePoint now);
  // Ticket of a SendNow. Unknown tickets (the server was forgotten meanwhile) are ignored.
  void OnReply(std::uint64_t ticket, SendOutcome outcome, const std::string& error, TimePoint now);
  void Forget(const ServerName& server);

  // What is due at `now`. Call after each of the above and when NextWake() has come, until it is empty.
  [[nodiscard]] DispatchActions Take(TimePoint now);
  // When Take has to be called next although nothing else happens; none: not at all.
  [[nodiscard]] std::optional<TimePoint> NextWake() const;

  [[nodiscard]] std::vector<ServerQueueView> View() const;
  // How many queued orders Add and Take have looked at so far. Tests count on it: what an order costs does not grow
  // with those beside it.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }
  [[nodiscard]] std::size_t in_flight() const { return normal_in_flight_ + (urgent_slot_used_ ? 1 : 0); }

 private:
  struct Queued {
    OrderPtr order;
    bool urgent = false;
  };
  // Orders that wait: urgent ones before all others, otherwise as they came. At most one for each procedure, which
  // bounds it: an order stays until it is sent, because nothing but an answer or a fence settles it (S17).
  class Queue {
   public:
    [[nodiscard]] bool empty() const { return urgent_.empty() && normal_.empty(); }
    [[nodiscard]] std::size_t size() const { return places_.size(); }
    [[nodiscard]] bool HasUrgent() const { return !urgent_.empty(); }
    // The order of this procedure; null: none.
    Queued* Find(ProcId pid);
    void PushBack(Queued queued) { Put(std::move(queued), /*front=*/false); }
    void PushFront(Queued queued) { Put(std::move(queued), /*front=*/true); }
    // Behind the urgent ones that came first.
    void MakeUrgent(ProcId pid);
    [[nodiscard]] const Queued& front() const { return HasUrgent() ? urgent_.front() : normal_.front(); }
    Queued PopFront();

   private:
    void Put(Queued queued, bool front);
    std::list<Queued> urgent_;
    std::list<Queued> normal_;
    std::map<ProcId, std::list<Queued>::iterator> places_;
  };
  struct Outbox {
    Queue queue;
    std::vector<Queued> sent;                       // the request in flight; empty: none
    std::map<ProcId, std::uint32_t> sent_attempts;  // of the orders in `sent`
    std::uint64_t ticket = 0;
    bool in_urgent_slot = false;
    std::optional<TimePoint> not_before;  // delay or backoff; none: at once
    bool backing_off = false;             // not_before is a backoff: a full queue does not cut it short
    std::uint32_t failures = 0;
    std::optional<TimePoint> failing_since;
    std::string last_error;
    bool starting = false;  // its last answer was "not running yet"
    bool expired = false;
  };

  bool Fold(Outbox& outbox, const OrderPtr& order, bool urgent);
  void Pack(Outbox& outbox);
  void Release(Outbox& outbox);
  void Fail(const ServerName& server, Outbox& outbox, SendOutcome outcome, const std::string& error, TimePoint now);
  [[nodiscard]] bool Ready(const Outbox& outbox, TimePoint now) const;
  void Launch(const ServerName& server, Outbox& outbox, bool urgent_slot, DispatchActions* actions);
  void TakeTurns(bool urgent_only, TimePoint now, DispatchActions* actions);

  const DispatchOptions options_;
  Prng prng_;
  std::map<ServerName, Outbox> outboxes_;
  std::vector<ExpireNow> expiries_;
  ServerName last_served_;  // round robin over servers when slots are short
  std::uint64_t last_ticket_ = 0;
  std::size_t normal_in_flight_ = 0;
  bool urgent_slot_used_ = false;
  std::uint64_t looked_at_ = 0;
};

}  // namespace ratchet::master
