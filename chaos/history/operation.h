// One operation of one client on one key, as the client saw it: the evidence for and against a store.
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

// What a key holds; nullopt: nothing (which is not the empty string).
using Value = std::optional<std::string>;

struct Operation {
  std::uint32_t client = 0;
  std::string key;
  OperationKind kind = OperationKind::kGet;
  std::string argument;  // put, check-and-put: the value; append: what is appended; increment: the amount, decimal
  Value expected;        // check-and-put, check-and-delete; nullopt and "" both: nothing or the empty string
  std::int64_t invoked_ns = 0;
  std::int64_t returned_ns = 0;  // of an unknown one: when the client gave up
  OperationOutcome outcome = OperationOutcome::kOk;
  Value observed;        // get: what it read; append, increment: the new value, nullopt when it was not answered
  bool applied = false;  // check-and-put, check-and-delete
};

using History = std::vector<Operation>;

[[nodiscard]] std::string_view KindName(OperationKind kind);           // "get", "check-and-put"
[[nodiscard]] std::string_view OutcomeName(OperationOutcome outcome);  // "ok", "failed", "unknown"
[[nodiscard]] std::optional<OperationKind> KindFromName(std::string_view name);
[[nodiscard]] std::optional<OperationOutcome> OutcomeFromName(std::string_view name);

// For humans: `client 3: append "b" -> "ab"  [1.204 ms, 1.873 ms]`; times since `origin_ns`.
[[nodiscard]] std::string ToText(const Operation& operation, std::int64_t origin_ns);
// "nothing", or the value in quotes with unprintable bytes as \xNN.
[[nodiscard]] std::string ToText(const Value& value);

}  // namespace ratchet::chaos
