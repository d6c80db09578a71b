#include "chaos/history/operation.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

constexpr std::array<std::string_view, 7> kKinds = {"get",       "put",           "delete",          "append",
                                                    "increment", "check-and-put", "check-and-delete"};
constexpr std::array<std::string_view, 3> kOutcomes = {"ok", "failed", "unknown"};

template <class Enum, std::size_t N>
std::optional<Enum> FromName(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::string Quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\')
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text + '"';
}

std::string Arguments(const Operation& op) {
  switch (op.kind) {
    case OperationKind::kGet:
    case OperationKind::kDelete: return "";
    case OperationKind::kPut:
    case OperationKind::kAppend: return " " + Quoted(op.argument);
    case OperationKind::kIncrement: return " by " + op.argument;
    case OperationKind::kCheckAndPut: return fmt::format(" {} if it is {}", Quoted(op.argument), ToText(op.expected));
    case OperationKind::kCheckAndDelete: return fmt::format(" if it is {}", ToText(op.expected));
  }
  return "";
}

std::string Answer(const Operation& op) {
  if (op.outcome != OperationOutcome::kOk) return fmt::format(" -> {}", OutcomeName(op.outcome));
  switch (op.kind) {
    case OperationKind::kGet: return " -> " + ToText(op.observed);
    case OperationKind::kAppend:
    case OperationKind::kIncrement: return op.observed ? " -> " + ToText(op.observed) : "";
    case OperationKind::kCheckAndPut:
    case OperationKind::kCheckAndDelete: return op.applied ? " -> applied" : " -> not applied";
    case OperationKind::kPut:
    case OperationKind::kDelete: return "";
  }
  return "";
}

}  // namespace

std::string_view KindName(OperationKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view OutcomeName(OperationOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }
std::optional<OperationKind> KindFromName(std::string_view name) { return FromName<OperationKind>(kKinds, name); }
std::optional<OperationOutcome> OutcomeFromName(std::string_view name) {
  return FromName<OperationOutcome>(kOutcomes, name);
}

std::string ToText(const Value& value) { return value ? Quoted(*value) : "nothing"; }

std::string ToText(const Operation& op, std::int64_t origin_ns) {
  const auto millis = [origin_ns](std::int64_t ns) { return static_cast<double>(ns - origin_ns) / 1e6; };
  const std::string end =
      op.outcome == OperationOutcome::kUnknown ? "..." : fmt::format("{:.3f} ms", millis(op.returned_ns));
  return fmt::format("client {}: {}{}{}  [{:.3f} ms, {}]", op.client, KindName(op.kind), Arguments(op), Answer(op),
                     millis(op.invoked_ns), end);
}

}  // namespace ratchet::chaos
