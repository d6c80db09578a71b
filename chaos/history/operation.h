// One operation of one client on one key, as the client saw it: the evidence of a check.
//
// Plain values, no thread of their own. Times are nanoseconds of one monotonic clock shared by all clients of a
// history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::chaos {

enum class OperationKind : std::uint8_t {
  kGet,
  kPut,
  kDelete,
  kAppend,
  kIncrement,
  kCheckAndPut,
  kCheckAndDelete,
};

enum class OperationOutcome : std::uint8_t {
  kOk,       // answered: it took effect between invocation and return
  kFailed,   // certainly not executed
  kUnknown,  // no answer: it may take effect at any time after its invocation, or never
};

// A key's value; nullopt: no value (which differs from the empty string).
using Value = std::optional<std::string>;

struct Operation {
  std::uint32_t client = 0;
  std::string key;
  OperationKind kind = OperationKind::kGet;
  std::string argument;  // put, check-and-put: the value; append: the suffix; increment: the amount, decimal
  Value expected;        // check-and-put, check-and-delete; nullopt and "" both mean no value or the empty string
  std::int64_t invoked_ns = 0;
  std::int64_t returned_ns = 0;  // for an unknown outcome: when the client gave up
  OperationOutcome outcome = OperationOutcome::kOk;
  Value observed;        // get: the value read; append, increment: the new value, nullopt without an answer
  bool applied = false;  // check-and-put, check-and-delete: whether the condition was true
};

using History = std::vector<Operation>;

[[nodiscard]] std::string_view KindName(OperationKind kind);           // "get", "check-and-put"
[[nodiscard]] std::string_view OutcomeName(OperationOutcome outcome);  // "ok", "failed", "unknown"
[[nodiscard]] std::optional<OperationKind> KindFromName(std::string_view name);
[[nodiscard]] std::optional<OperationOutcome> OutcomeFromName(std::string_view name);

// Returns a text for people: `client 3: append "b" -> "ab" [1.204 ms, 1.873 ms]`; times since `origin_ns`.
[[nodiscard]] std::string ToText(const Operation& operation, std::int64_t origin_ns);
// Returns "nothing", or the value in quotes with unprintable bytes as \xNN.
[[nodiscard]] std::string ToText(const Value& value);

}  // namespace ratchet::chaos
