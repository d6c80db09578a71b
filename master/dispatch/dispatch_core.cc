#include "master/dispatch/dispatch_core.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "master/dispatch/order_size.h"

namespace ratchet::master {

DispatchCore::DispatchCore(DispatchOptions options, std::uint64_t seed) : options_(options), prng_(seed) {}

DispatchCore::Queued* DispatchCore::Queue::Find(ProcId pid) {
  const auto place = places_.find(pid);
  return place == places_.end() ? nullptr : &*place->second;
}

void DispatchCore::Queue::Put(Queued queued, bool front) {
  Line& line = lines_[static_cast<std::size_t>(queued.rank)];
  const ProcId pid = IdOf(*queued.order).pid;
  places_[pid] = line.insert(front ? line.begin() : line.end(), std::move(queued));
}

void DispatchCore::Queue::Raise(ProcId pid, OrderRank rank) {
  const auto place = places_.find(pid);
  if (place == places_.end() || place->second->rank <= rank) return;
  Line& from = lines_[static_cast<std::size_t>(place->second->rank)];
  Line& to = lines_[static_cast<std::size_t>(rank)];
  place->second->rank = rank;
  to.splice(to.end(), from, place->second);
}

const DispatchCore::Queue::Line& DispatchCore::Queue::FirstLine() const {
  for (const Line& line : lines_) {
    if (!line.empty()) return line;
  }
  return lines_.back();
}

DispatchCore::Queued DispatchCore::Queue::PopFront() {
  Line& line = lines_[static_cast<std::size_t>(FirstLine().front().rank)];
  Queued first = std::move(line.front());
  line.pop_front();
  places_.erase(IdOf(*first.order).pid);
  return first;
}

bool DispatchCore::Fold(Outbox& outbox, const OrderPtr& order, OrderRank rank) {
  const OrderId& id = IdOf(*order);
  looked_at_ += 2;
  const auto sent = outbox.sent_attempts.find(id.pid);
  if (sent != outbox.sent_attempts.end() && sent->second >= id.attempt)
    return true;  // repeated automatically if the request fails
  Queued* const queued = outbox.queue.Find(id.pid);
  if (queued == nullptr) return false;
  if (IdOf(*queued->order).attempt < id.attempt) queued->order = order;
  outbox.queue.Raise(id.pid, rank);
  return true;
}

void DispatchCore::Add(const ServerName& server, OrderPtr order, OrderRank rank, TimePoint now) {
  Outbox& outbox = outboxes_[server];
  if (Fold(outbox, order, rank)) return Index(server, outbox);
  const bool idle = outbox.queue.empty() && outbox.sent.empty() && !outbox.backing_off;
  outbox.queue.PushBack({std::move(order), rank});
  if (idle && options_.delay.count() > 0) outbox.not_before = now + options_.delay;
  Index(server, outbox);
}

void DispatchCore::Release(Outbox& outbox) {
  if (outbox.ticket == 0) return;
  if (outbox.in_urgent_slot) {
    urgent_slot_used_ = false;
  } else {
    --normal_in_flight_;
  }
  tickets_.erase(outbox.ticket);
  outbox.ticket = 0;
  outbox.in_urgent_slot = false;
}

void DispatchCore::OnReply(std::uint64_t ticket, SendOutcome outcome, const std::string& error, TimePoint now) {
  const auto asked = tickets_.find(ticket);
  if (asked == tickets_.end()) return;
  const ServerName server = asked->second;
  Outbox& outbox = outboxes_.at(server);
  Release(outbox);
  if (outcome != SendOutcome::kAccepted) return Fail(server, outbox, outcome, error, now);
  outbox.sent.clear();
  outbox.sent_attempts.clear();
  outbox.failures = 0;
  outbox.failing_since.reset();
  outbox.last_error.clear();
  outbox.starting = false;
  outbox.backing_off = false;
  outbox.not_before.reset();
  Index(server, outbox);
}

void DispatchCore::Fail(const ServerName& server, Outbox& outbox, SendOutcome outcome, const std::string& error,
                        TimePoint now) {
  // Requeues the orders at the front, in their previous order; a newer attempt that was queued meanwhile replaces the
  // older one.
  std::vector<Queued> again = std::move(outbox.sent);
  outbox.sent.clear();
  outbox.sent_attempts.clear();
  for (auto it = again.rbegin(); it != again.rend(); ++it) {
    if (outbox.queue.Find(IdOf(*it->order).pid) == nullptr) outbox.queue.PushFront(std::move(*it));
  }
  ++outbox.failures;
  outbox.last_error = error;
  outbox.starting = outcome == SendOutcome::kNotRunningYet;
  if (!outbox.failing_since.has_value()) outbox.failing_since = now;
  const Millis patience =
      outbox.starting ? std::max(options_.startup_wait, options_.expire_after) : options_.expire_after;
  const auto failing_for = std::chrono::duration_cast<Millis>(now - *outbox.failing_since);
  const bool enough = failing_for >= patience && !RATCHET_MUTANT("master.never_expire");
  if (outcome == SendOutcome::kGone || enough) {
    outbox.expired = true;
    outbox.not_before.reset();
    expiries_.push_back({server, fmt::format("no order accepted for {} ms, {} attempts, last: {}", failing_for.count(),
                                             outbox.failures, error)});
    return Index(server, outbox);
  }
  outbox.backing_off = true;
  outbox.not_before =
      now + (outbox.starting ? options_.startup_poll : BackoffDelay(options_.backoff, outbox.failures, prng_));
  Index(server, outbox);
}

void DispatchCore::Forget(const ServerName& server) {
  const auto found = outboxes_.find(server);
  if (found == outboxes_.end()) return;
  Release(found->second);
  Unindex(found->first, found->second);
  outboxes_.erase(found);
}

bool DispatchCore::Ready(const Outbox& outbox) const {
  if (outbox.queue.empty() || outbox.ticket != 0 || outbox.expired) return false;
  if (!outbox.not_before.has_value()) return true;
  if (outbox.backing_off) return false;
  return outbox.queue.HasUrgent() || outbox.queue.size() > options_.max_queue_size;
}

void DispatchCore::Unindex(const ServerName& server, Outbox& outbox) {
  ready_.erase(server);
  ready_urgent_.erase(server);
  if (outbox.sleeps_until.has_value()) sleeping_.erase({*outbox.sleeps_until, server});
  outbox.sleeps_until.reset();
}

void DispatchCore::Index(const ServerName& server, Outbox& outbox) {
  ++looked_at_;
  Unindex(server, outbox);
  if (Ready(outbox)) {
    ready_.insert(server);
    if (outbox.queue.HasUrgent()) ready_urgent_.insert(server);
  } else if (!outbox.queue.empty() && outbox.ticket == 0 && !outbox.expired) {
    outbox.sleeps_until = outbox.not_before;
    sleeping_.insert({*outbox.sleeps_until, server});
  }
}

void DispatchCore::WakeUp(TimePoint now) {
  while (!sleeping_.empty() && sleeping_.begin()->first <= now) {
    const ServerName server = sleeping_.begin()->second;
    Outbox& outbox = outboxes_.at(server);
    outbox.not_before.reset();
    outbox.backing_off = false;
    Index(server, outbox);
  }
}

// At least one order is always sent, whatever its size, because waiting does not make it smaller.
void DispatchCore::Pack(Outbox& outbox) {
  std::size_t bytes = 0;
  while (!outbox.queue.empty() && outbox.sent.size() < options_.max_batch_orders) {
    ++looked_at_;
    bytes += RoughSize(*outbox.queue.front().order);
    if (!outbox.sent.empty() && bytes > options_.max_batch_bytes) return;
    outbox.sent.push_back(outbox.queue.PopFront());
    const OrderId& id = IdOf(*outbox.sent.back().order);
    outbox.sent_attempts[id.pid] = id.attempt;
  }
}

void DispatchCore::Launch(const ServerName& server, Outbox& outbox, bool urgent_slot, DispatchActions* actions) {
  Pack(outbox);
  outbox.not_before.reset();
  outbox.backing_off = false;
  outbox.ticket = ++last_ticket_;
  tickets_.emplace(outbox.ticket, server);
  outbox.in_urgent_slot = urgent_slot;
  if (urgent_slot) {
    urgent_slot_used_ = true;
  } else {
    ++normal_in_flight_;
  }
  SendNow send{server, outbox.ticket, {}, outbox.failures + 1, outbox.queue.size()};
  send.batch.reserve(outbox.sent.size());
  for (const Queued& queued : outbox.sent) send.batch.push_back(queued.order);
  actions->sends.push_back(std::move(send));
  Index(server, outbox);
}

void DispatchCore::LaunchReady(const std::set<ServerName>& ready, DispatchActions* actions) {
  while (!ready.empty()) {
    ++looked_at_;
    const bool slot_free = normal_in_flight_ < options_.max_in_flight;
    if (!slot_free && (urgent_slot_used_ || ready_urgent_.empty())) return;
    const std::set<ServerName>& from = slot_free ? ready : ready_urgent_;
    auto next = from.upper_bound(last_served_);
    if (next == from.end()) next = from.begin();
    const ServerName server = *next;
    if (slot_free) last_served_ = server;
    Launch(server, outboxes_.at(server), /*urgent_slot=*/!slot_free, actions);
  }
}

DispatchActions DispatchCore::Take(TimePoint now) {
  DispatchActions actions;
  actions.expiries = std::move(expiries_);
  expiries_.clear();
  WakeUp(now);
  LaunchReady(ready_urgent_, &actions);
  LaunchReady(ready_, &actions);
  return actions;
}

std::optional<TimePoint> DispatchCore::NextWake() const {
  if (sleeping_.empty()) return std::nullopt;
  return sleeping_.begin()->first;
}

std::vector<ServerQueueView> DispatchCore::View() const {
  std::vector<ServerQueueView> view;
  view.reserve(outboxes_.size());
  for (const auto& [server, outbox] : outboxes_) {
    view.push_back(
        {server, outbox.queue.size(), outbox.sent.size(), outbox.failures, outbox.last_error, outbox.expired});
  }
  return view;
}

}  // namespace ratchet::master
