#include "chaos/history/register_model.h"

#include <charconv>

namespace ratchet::chaos {
namespace {

std::optional<std::int64_t> Number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Wraps around like 64-bit two's complement.
std::int64_t Sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

std::optional<Value> Execute(const Value& before, const Operation& op) {
  const bool answered = op.outcome == OperationOutcome::kOk;
  std::optional<Value> after;
  switch (op.kind) {
    case OperationKind::kGet:
      if (answered && op.observed != before) return std::nullopt;
      return before;
    case OperationKind::kPut: return Value(op.argument);
    case OperationKind::kDelete: return Value();
    case OperationKind::kAppend: after = Value(before.value_or("") + op.argument); break;
    case OperationKind::kIncrement: {
      const auto number = before ? Number(*before) : std::optional<std::int64_t>(0);
      const auto amount = Number(op.argument);
      if (!number || !amount) return std::nullopt;
      after = Value(std::to_string(Sum(*number, *amount)));
      break;
    }
    case OperationKind::kCheckAndPut:
    case OperationKind::kCheckAndDelete: {
      const bool holds = before.value_or("") == op.expected.value_or("");
      if (answered && holds != op.applied) return std::nullopt;
      if (!holds) return before;
      return op.kind == OperationKind::kCheckAndPut ? Value(op.argument) : Value();
    }
  }
  if (answered && op.observed && *after != op.observed) return std::nullopt;
  return after;
}

}  // namespace ratchet::chaos
