#include "procedure/ops/procedure_views.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "common/rpc/exceptions.h"

namespace ratchet::host {

void FillProcedure(const procedure::ProcedureInfo& info, pb::ProcedureInfo& out) {
  out.set_pid(info.pid.value());
  if (info.parent.valid()) out.set_parent(info.parent.value());
  out.set_type(info.type);
  out.set_state(std::string(procedure::ProcStateName(info.state)));
  out.set_step(info.step_name);
  out.set_owner(info.owner);
  if (!info.peer.empty()) out.set_peer(info.peer);
  if (!info.method.empty()) out.set_method(info.method);
  out.set_text(info.description.text());
  for (const auto& [key, value] : info.description.Fields()) {
    auto& field = *out.add_field();
    field.set_key(std::string(key));
    field.set_value(std::string(value));
  }
  if (info.parts) {
    out.set_parts_left(info.parts->left);
    out.set_parts_total(info.parts->total);
  }
  out.set_waits_for(procedure::ToText(info.waiting));
  out.set_attempt(info.attempt);
  if (info.last_error.has_value()) out.set_last_error(info.last_error->ToString());
  if (info.waiting.next_try_in.has_value()) {
    out.set_next_try_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, info.waiting.next_try_in->count())));
  }
  out.set_submitted_wall_ms(static_cast<std::uint64_t>(info.submitted_ms));
  out.set_updated_wall_ms(static_cast<std::uint64_t>(info.updated_ms));
  out.set_locks_held(!info.locks.empty());
  out.set_finished(procedure::IsTerminal(info.state));
  out.set_parked(!info.parked.empty());
  if (!info.parked.empty()) out.set_waits_for("an operator: " + info.parked);
  out.set_bypassed(info.bypassed);
  for (const procedure::VerbEntry& verb : info.verbs) {
    auto& row = *out.add_verb();
    row.set_verb(verb.verb);
    row.set_who(verb.who);
    row.set_why(verb.why);
    row.set_at_wall_ms(verb.at_ms);
  }
  if (info.history_dropped > 0) {
    out.set_history_left_out(info.history_dropped);
    out.set_history_first(info.history_first);
  }
  if (!info.paused.empty()) out.set_paused(info.paused);
  if (info.waiting.kind == procedure::WaitingOn::Kind::kChildren) {
    for (const ProcId child : info.waiting.procedures) out.add_children(child.value());
  }
  for (const procedure::LockHeld& lock : info.locks) {
    out.add_locks((lock.mode == procedure::LockMode::kExclusive ? "exclusive " : "shared ") + lock.key.ToString());
  }
  if (info.error.has_value()) {
    out.set_error_class(std::string(rpc::ClassOf(*info.error)));
    out.set_error(info.error->message());
  }
}

void FillHistory(const procedure::StepHistoryEntry& entry, pb::ProcedureStepRecord& out) {
  out.set_step(entry.step_name);
  out.set_epoch(entry.epoch.value());
  out.set_at_wall_ms(static_cast<std::uint64_t>(entry.begin_ms) + entry.duration_us / 1000);
  out.set_took_ms(entry.duration_us / 1000);
  out.set_began_wall_ms(static_cast<std::uint64_t>(entry.begin_ms));
  out.set_worker(entry.worker);
  out.set_took_us(entry.duration_us);
  out.set_outcome(std::string(procedure::OutcomeName(entry.outcome)));
  std::string detail = entry.attempts > 1 ? fmt::format("{} attempts", entry.attempts) : "";
  if (!entry.error.empty()) detail += (detail.empty() ? "" : "; ") + entry.error;
  out.set_detail(detail);
}

void FillLock(const procedure::LockInfo& lock, pb::LockInfo& out) {
  out.set_resource(lock.key.ToString());
  for (const ProcId holder : lock.exclusive) out.add_exclusive_holder(holder.value());
  for (const ProcId holder : lock.shared) out.add_shared_holder(holder.value());
  for (const procedure::LockWaiter& waiter : lock.waiters) {
    out.add_waiter(waiter.pid.value());
    out.add_waiter_mode(waiter.mode == procedure::LockMode::kExclusive ? "exclusive" : "shared");
  }
}

}  // namespace ratchet::host
