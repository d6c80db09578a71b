#include "procedure/api/lock_procedure.h"

#include <fmt/format.h>

#include "procedure/api/executor.h"

namespace ratchet::procedure {
namespace {

constexpr std::string_view kRelease = "release";

}  // namespace

ProcedurePtr LockProcedure::Make(const std::vector<LockRequest>& locks, std::string description, Millis timeout) {
  pb::LockProcedureData data;
  for (const LockRequest& lock : locks) {
    pb::LockRecord& record = *data.add_locks();
    record.set_kind(static_cast<std::uint32_t>(lock.key.kind));
    record.set_name(lock.key.name);
    record.set_exclusive(lock.mode == LockMode::kExclusive);
  }
  data.set_description(std::move(description));
  data.set_timeout_ms(static_cast<std::uint64_t>(timeout.count()));
  return std::make_unique<LockProcedure>(std::move(data));
}

LockSet LockProcedure::Locks() const {
  LockSet set;
  for (const pb::LockRecord& record : data_.locks()) {
    set.Add({{static_cast<ResourceKind>(record.kind()), record.name()},
             record.exclusive() ? LockMode::kExclusive : LockMode::kShared});
  }
  return set;
}

Status LockProcedure::CheckInitial() const {
  if (data_.locks_size() == 0) return Error(Code::kInvalidArgument, "a lock must name a resource");
  if (data_.timeout_ms() == 0) return Error(Code::kInvalidArgument, "a lock must have a time-out");
  for (const pb::LockRecord& record : data_.locks()) {
    if (record.kind() < 1 || record.kind() > 7)
      return Error(Code::kInvalidArgument, "a lock on an unknown kind of resource");
  }
  return Ok();
}

Absorbed LockProcedure::Absorb(std::string_view message) {
  if (message != kRelease) return Absorbed::Stale("a lock procedure accepts only its release");
  data_.set_released(true);
  return Absorbed::Taken();
}

Description LockProcedure::Describe() const {
  Description about;
  const LockSet set = Locks();
  for (const LockRequest& lock : set.requests())
    about.Note((lock.mode == LockMode::kExclusive ? "exclusive " : "shared ") + lock.key.ToString());
  about.Add("timeout", fmt::format("{}ms", data_.timeout_ms()));
  return about.Section().Note(data_.description());
}

// A heartbeat ends the wait (Executor::Kick), and the wait starts again, without a commit.
StepOutcome LockProcedure::Hold(StepContext& ctx) {
  if (data_.released()) return Done{"released"};
  if (ctx.timed_out()) return Done{fmt::format("no heartbeat for {} ms", data_.timeout_ms())};
  return ctx.AwaitAsync(Millis(data_.timeout_ms()));
}

LockBeat BeatLock(Executor& executor, ProcId pid) {
  const auto info = executor.Get(pid);
  if (!info || info->type != LockProcedure::kTypeName || IsTerminal(info->state)) return {};
  LockBeat beat;
  pb::LockProcedureData data;
  if (data.ParseFromString(info->data)) beat.timeout = Millis(data.timeout_ms());
  if (data.released()) return {};
  // A grant, its end and its release are not durable before their commits.
  beat.held = !info->locks.empty() && info->waiting.kind != WaitingOn::Kind::kCommit;
  if (beat.held) executor.Kick(pid);
  return beat;
}

void ReleaseLock(Executor& executor, ProcId pid, std::function<void(Status)> done) {
  const auto info = executor.Get(pid);
  if (!info || info->type != LockProcedure::kTypeName || IsTerminal(info->state)) {
    done(Ok());
    return;
  }
  executor.Deliver(pid, std::string(kRelease), [done = std::move(done)](const Result<Absorbed>& absorbed) {
    // kNotFound: the procedure has ended meanwhile.
    const bool gone = absorbed.ok() || absorbed.error().code() == Code::kNotFound;
    done(gone ? Ok() : Status(absorbed.error()));
  });
}

}  // namespace ratchet::procedure
