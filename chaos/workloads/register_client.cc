#include "chaos/workloads/register_client.h"

#include <charconv>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/rpc/exceptions.h"

namespace ratchet::chaos {
namespace {

using client::Mutation;

std::int64_t Number(const std::string& decimal) {
  std::int64_t number = 0;
  std::from_chars(decimal.data(), decimal.data() + decimal.size(), number);
  return number;
}

std::string Stored(const RegisterName& name, const std::string& text) {
  return name.number && !text.empty() ? EncodeInt64(Number(text)) : text;
}

Mutation MutationOf(const RegisterName& name, const Operation& op) {
  switch (op.kind) {
    case OperationKind::kAppend: return Mutation::Append(name.row).Set(kLoadFamily, name.qualifier(), op.argument);
    case OperationKind::kIncrement:
      return Mutation::Increment(name.row).Add(kLoadFamily, name.qualifier(), Number(op.argument));
    case OperationKind::kPut:
    case OperationKind::kCheckAndPut:
      return Mutation::Put(name.row).Set(kLoadFamily, name.qualifier(), Stored(name, op.argument));
    case OperationKind::kDelete:
    case OperationKind::kCheckAndDelete:
    case OperationKind::kGet: break;
  }
  return Mutation::Delete(name.row).Remove(CellType::kDeleteColumn, kLoadFamily, name.qualifier());
}

// Returns the error of the operation, if any; puts its answer into `op`.
Status Answer(client::Table& table, const RegisterName& name, Operation& op) {
  switch (op.kind) {
    case OperationKind::kGet: {
      RATCHET_ASSIGN(const auto row, table.Get({name.row, {{kLoadFamily, name.qualifier()}}, 1, {}}));
      op.observed = ReadRegister(name, row);
      return Ok();
    }
    case OperationKind::kCheckAndPut:
    case OperationKind::kCheckAndDelete: {
      client::Condition condition;
      condition.family = kLoadFamily;
      condition.qualifier = name.qualifier();
      condition.expected = Stored(name, op.expected.value_or(""));
      bool repeated = false;
      RATCHET_ASSIGN(op.applied, table.CheckAndMutate(condition, MutationOf(name, op), &repeated));
      // The last attempt was refused, but an earlier one may still be executed and find the condition true.
      if (repeated && !op.applied) {
        return Error(Code::kTimeout, "an earlier attempt may yet be executed", std::string(rpc::kCallTimeout));
      }
      return Ok();
    }
    case OperationKind::kAppend:
    case OperationKind::kIncrement: {
      RATCHET_ASSIGN(const auto row, table.Mutate(MutationOf(name, op)));
      // The answer to a repeated request is the current value, which does not answer this operation.
      if (!row.repeated) op.observed = ReadRegister(name, row);
      return Ok();
    }
    case OperationKind::kPut:
    case OperationKind::kDelete: break;
  }
  RATCHET_TRY(table.Mutate(MutationOf(name, op)));
  return Ok();
}

}  // namespace

Value ReadRegister(const RegisterName& name, const client::Row& row) {
  const auto stored = row.Value(kLoadFamily, name.qualifier());
  if (!stored) return std::nullopt;
  if (!name.number) return std::string(*stored);
  std::int64_t number = 0;
  if (!DecodeInt64(*stored, number)) return "not a number: " + std::string(*stored);
  return std::to_string(number);
}

void ExecuteOperation(client::Table& table, const Clock& clock, const RegisterName& name, Operation& op) {
  op.key = name.key();
  op.invoked_ns = clock.Now().time_since_epoch().count();
  const Status done = Answer(table, name, op);
  op.returned_ns = clock.Now().time_since_epoch().count();
  op.outcome = OperationOutcome::kOk;
  if (done.ok()) return;
  op.outcome = OutcomeOf(done.error());
  RATCHET_LOG(kWarn, "{} of {}: {}", KindName(op.kind), op.key, done.error().ToString());
}

}  // namespace ratchet::chaos
