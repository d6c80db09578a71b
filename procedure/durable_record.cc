#include "procedure/durable_record.h"

#include "procedure/record.pb.h"

namespace ratchet::procedure {
namespace {

void EncodeError(const Error& error, pb::ErrorRecord& out) {
  out.set_code(static_cast<std::uint32_t>(error.code()));
  out.set_message(error.message());
  if (!error.remote_class().empty()) out.set_remote_class(error.remote_class());
}

void EncodeHistory(const StepHistoryEntry& entry, pb::StepHistoryRecord& out) {
  out.set_step(entry.step);
  out.set_epoch(entry.epoch.value());
  out.set_worker(entry.worker);
  out.set_begin_ms(entry.begin_ms);
  out.set_duration_us(entry.duration_us);
  out.set_outcome(static_cast<std::uint32_t>(entry.outcome));
  if (!entry.error.empty()) out.set_error(entry.error);
  if (entry.attempts != 1) out.set_attempts(entry.attempts);
}

void EncodeLists(const Durable& durable, pb::ProcedureRecord& out) {
  for (const LockRequest& lock : durable.locks) {
    pb::LockRecord& record = *out.add_locks();
    record.set_kind(static_cast<std::uint32_t>(lock.key.kind));
    record.set_name(lock.key.name);
    if (lock.mode == LockMode::kExclusive) record.set_exclusive(true);
  }
  for (const UndoEntry& entry : durable.undo) {
    pb::UndoRecord& record = *out.add_undo();
    record.set_step(entry.step);
    record.set_order(entry.order);
  }
  for (const StepHistoryEntry& entry : durable.history) EncodeHistory(entry, *out.add_history());
  for (const VerbEntry& entry : durable.verbs) {
    pb::VerbRecord& record = *out.add_verbs();
    record.set_verb(entry.verb);
    record.set_who(entry.who);
    record.set_why(entry.why);
    record.set_at_ms(entry.at_ms);
  }
}

Status DecodeLists(const pb::ProcedureRecord& record, Durable& durable) {
  for (const pb::LockRecord& lock : record.locks()) {
    if (lock.kind() < 1 || lock.kind() > 7) return Error(Code::kCorruption, "lock on an unknown kind of resource");
    durable.locks.push_back({{static_cast<ResourceKind>(lock.kind()), lock.name()},
                             lock.exclusive() ? LockMode::kExclusive : LockMode::kShared});
  }
  for (const pb::UndoRecord& undo : record.undo()) durable.undo.push_back({undo.step(), undo.order()});
  for (const pb::StepHistoryRecord& entry : record.history()) {
    StepHistoryEntry& out = durable.history.emplace_back();
    out.step = entry.step();
    out.epoch = Epoch(entry.epoch());
    out.worker = entry.worker();
    out.begin_ms = entry.begin_ms();
    out.duration_us = entry.duration_us();
    out.outcome = static_cast<OutcomeKind>(entry.outcome());
    out.error = entry.error();
    out.attempts = entry.has_attempts() ? entry.attempts() : 1;
  }
  for (const pb::VerbRecord& verb : record.verbs()) {
    durable.verbs.push_back({verb.verb(), verb.who(), verb.why(), verb.at_ms()});
  }
  return Ok();
}

}  // namespace

std::string EncodeRecord(const Identity& identity, const Durable& durable) {
  // Kept between calls, so that its parts need not be allocated each time.
  thread_local pb::ProcedureRecord record;
  record.Clear();
  record.set_pid(identity.pid.value());
  if (identity.parent.valid()) record.set_parent(identity.parent.value());
  record.set_root(identity.root.value());
  record.set_type(identity.type);
  record.set_data_version(identity.data_version);
  if (!identity.owner.empty()) record.set_owner(identity.owner);
  if (identity.nonce_group != 0) record.set_nonce_group(identity.nonce_group);
  if (identity.nonce != 0) record.set_nonce(identity.nonce);
  record.set_submitted_ms(identity.submitted_ms);
  if (identity.child_round != 0) record.set_child_round(identity.child_round);
  record.set_state(static_cast<std::uint32_t>(durable.state));
  record.set_step(durable.step);
  record.set_data(durable.data);
  record.set_version(durable.version);
  record.set_updated_ms(durable.updated_ms);
  if (durable.error) EncodeError(*durable.error, *record.mutable_error());
  if (!durable.result.empty()) record.set_result(durable.result);
  if (durable.history_dropped != 0) record.set_history_dropped(durable.history_dropped);
  if (durable.past_no_return) record.set_past_no_return(true);
  if (!durable.parked.empty()) record.set_parked(durable.parked);
  if (durable.bypassed) record.set_bypassed(true);
  if (durable.spawn_round != 0) record.set_spawn_round(durable.spawn_round);
  if (durable.resumed_round != 0) record.set_resumed_round(durable.resumed_round);
  if (durable.spawn_round != 0 && durable.children) record.set_children(*durable.children);
  EncodeLists(durable, record);
  std::string bytes = record.SerializeAsString();  // fields in the order of their numbers
  constexpr std::size_t kWorthKeeping = 64 << 10;
  if (bytes.size() > kWorthKeeping) record = pb::ProcedureRecord();
  return bytes;
}

Result<DecodedRecord> DecodeRecord(std::string_view bytes) {
  pb::ProcedureRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error(Code::kCorruption, "not a procedure record");
  }
  if (record.pid() == 0 || record.type().empty() || record.state() < 1 || record.state() > 7) {
    return Error(Code::kCorruption, "a procedure record without pid, type or known state");
  }
  DecodedRecord out;
  Identity& identity = out.identity;
  identity.pid = ProcId(record.pid());
  identity.parent = ProcId(record.parent());
  identity.root = ProcId(record.root());
  identity.type = record.type();
  identity.data_version = record.data_version();
  identity.owner = record.owner();
  identity.nonce_group = record.nonce_group();
  identity.nonce = record.nonce();
  identity.submitted_ms = record.submitted_ms();
  identity.child_round = record.child_round();
  Durable& durable = out.durable;
  durable.state = static_cast<ProcState>(record.state());
  durable.step = record.step();
  durable.data = record.data();
  durable.version = record.version();
  durable.updated_ms = record.updated_ms();
  if (record.has_error()) {
    durable.error = Error(static_cast<Code>(record.error().code()), record.error().message(),
                          record.error().remote_class());
  }
  durable.result = record.result();
  durable.history_dropped = record.history_dropped();
  durable.past_no_return = record.past_no_return();
  durable.parked = record.parked();
  durable.bypassed = record.bypassed();
  durable.spawn_round = record.spawn_round();
  durable.resumed_round = record.resumed_round();
  if (record.has_children()) {
    durable.children = record.children();
  } else if (durable.spawn_round != 0) {
    durable.children.reset();
  }
  RATCHET_TRY(DecodeLists(record, durable));
  return out;
}

void AddHistory(Durable& durable, StepHistoryEntry entry, std::size_t bound) {
  if (bound == 0) return;
  durable.history.push_back(std::move(entry));
  if (durable.history.size() > bound) {
    const auto excess = durable.history.size() - bound;
    durable.history.erase(durable.history.begin(), durable.history.begin() + static_cast<std::ptrdiff_t>(excess));
    durable.history_dropped += static_cast<std::uint32_t>(excess);
  }
}

}  // namespace ratchet::procedure
