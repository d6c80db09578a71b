#include "chaos/workloads/register_pool.h"

#include <utility>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "common/base/check.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint64_t kOperationsPerHotSlot = 32;

bool IsChange(const Operation& op) { return op.kind != OperationKind::kGet; }

// Learns the register's value from the operation, if possible.
void Learn(const Operation& op, Value& recent) {
  if (op.outcome != OperationOutcome::kOk) return;
  switch (op.kind) {
    case OperationKind::kGet: recent = op.observed; return;
    case OperationKind::kPut: recent = op.argument; return;
    case OperationKind::kDelete: recent.reset(); return;
    case OperationKind::kAppend:
    case OperationKind::kIncrement:
      if (op.observed) recent = op.observed;
      return;
    case OperationKind::kCheckAndPut:
      if (op.applied) recent = op.argument;
      return;
    case OperationKind::kCheckAndDelete:
      if (op.applied) recent.reset();
      return;
  }
}

}  // namespace

RegisterPool::RegisterPool(int regions) : regions_(regions) {
  MutexLock lock(mutex_);
  generations_.resize(static_cast<std::size_t>(regions) * 2);
  for (std::size_t slot = 0; slot < generations_.size(); ++slot) slots_.push_back(NewRegister(slot));
}

std::uint64_t RegisterPool::NewRegister(std::size_t slot) {
  auto& made = registers_[++last_id_];
  made.content.name.row =
      fmt::format("{}-r{}", PrefixOfRegion(static_cast<int>(slot / 2), regions_), ++generations_[slot]);
  made.content.name.number = slot % 2 == 1;
  return last_id_;
}

RegisterPool::Ticket RegisterPool::Begin(Prng& prng) {
  MutexLock lock(mutex_);
  const std::uint64_t hot = begun_++ / kOperationsPerHotSlot;
  const std::size_t slot = (prng.Chance(1, 2) ? hot : prng.Below(slots_.size())) % slots_.size();
  const std::uint64_t id = slots_[slot];
  Register& chosen = registers_.at(id);
  ++chosen.under_way;
  Ticket ticket{id, chosen.content.name, chosen.recent};
  if (++chosen.started == kOperations) {
    chosen.retired = true;
    slots_[slot] = NewRegister(slot);
  }
  return ticket;
}

void RegisterPool::End(const Ticket& ticket, Operation operation, History perhaps) {
  MutexLock lock(mutex_);
  const auto found = registers_.find(ticket.id);
  RATCHET_CHECK(found != registers_.end(), "an operation ended on a register that is gone");
  Register& used = found->second;
  Learn(operation, used.recent);
  perhaps.insert(perhaps.begin(), std::move(operation));
  for (auto& each : perhaps) {
    if (each.outcome == OperationOutcome::kUnknown && IsChange(each)) {
      used.content.has_unknown = true;
      ++used.unknown;
    }
    used.content.history.push_back(std::move(each));
  }
  if (used.unknown >= kMostUnknown && !used.retired) {
    used.retired = true;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot] == ticket.id) slots_[slot] = NewRegister(slot);
    }
  }
  if (--used.under_way > 0 || !used.retired) return;
  finished_.push_back(std::move(used.content));
  registers_.erase(found);
}

std::vector<FinishedRegister> RegisterPool::CollectFinished() {
  MutexLock lock(mutex_);
  return std::exchange(finished_, {});
}

std::vector<FinishedRegister> RegisterPool::CollectAll() {
  MutexLock lock(mutex_);
  auto all = std::exchange(finished_, {});
  for (auto& [id, left] : registers_) {
    RATCHET_CHECK(left.under_way == 0, "an operation is in progress");
    if (!left.content.history.empty()) all.push_back(std::move(left.content));
  }
  registers_.clear();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) slots_[slot] = NewRegister(slot);
  return all;
}

Operation DrawOperation(const RegisterPool::Ticket& ticket, const std::string& unique, Prng& prng) {
  Operation op;
  const bool number = ticket.name.number;
  const auto fresh = [&] { return number ? std::to_string(prng.Between(1, 1'000'000)) : unique; };
  const std::uint64_t draw = prng.Below(100);
  if (draw < 35) {
    op.kind = OperationKind::kGet;
  } else if (draw < 50) {
    op.kind = OperationKind::kPut;
    op.argument = fresh();
  } else if (draw < 57) {
    op.kind = OperationKind::kDelete;
  } else if (draw < 80) {
    op.kind = number ? OperationKind::kIncrement : OperationKind::kAppend;
    op.argument = number ? std::to_string(prng.Between(1, 1'000)) : "+" + unique;
  } else {
    op.kind = draw < 93 ? OperationKind::kCheckAndPut : OperationKind::kCheckAndDelete;
    if (op.kind == OperationKind::kCheckAndPut) op.argument = fresh();
    op.expected = prng.Chance(3, 4) ? ticket.recent : Value(fresh());
  }
  return op;
}

}  // namespace ratchet::chaos
