// The values of a client's request to the executor, and of the result. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::procedure {

// A client's mark on a request, so that its repetition after a lost answer finds the same procedure. {0, 0} is none.
struct Nonce {
  std::uint64_t group = 0;
  std::uint64_t nonce = 0;
  [[nodiscard]] bool valid() const { return group != 0 || nonce != 0; }
  auto operator<=>(const Nonce&) const = default;
};

// The class of the error with which a procedure fails when its deadline is over; its code is kTimeout.
inline constexpr std::string_view kDeadlineClass = "org.apache.ratchet.ProcedureDeadlineException";

struct SubmitOptions {
  std::string owner;  // the requesting user; recorded and shown
  Nonce nonce;
  // Runs after the nonce was reserved and before anything is stored; its error is the answer. A final error is also the
  // answer to every later submission of the same nonce, until it is evicted. After another error the same nonce may try
  // again. Must not call the executor.
  std::function<Status()> pre_check;
  // Returns true for an error after which a client does not retry. Empty: by the error's code (IsFinal).
  std::function<bool(const Error&)> is_final{};
  // When the tree has not ended after this time, it fails (kDeadlineClass) and is undone, if it can still be undone; it
  // continues behind its point of no return. A load starts the time again, because no point in time is stored (S13:
  // durations and derived counts). 0: no deadline.
  Millis deadline{0};
};

// Returns true if the code means that the request itself cannot be done; false if a retry may succeed.
[[nodiscard]] bool IsFinal(const Error& error);

// The known facts about a procedure's end.
struct ProcedureResult {
  enum class Status : std::uint8_t { kNotFound, kRunning, kSuccess, kFailed } status = Status::kNotFound;
  std::string result;          // kSuccess
  std::optional<Error> error;  // kFailed
  std::int64_t submitted_ms = 0;
  std::int64_t finished_ms = 0;
  [[nodiscard]] bool finished() const { return status == Status::kSuccess || status == Status::kFailed; }
};

}  // namespace ratchet::procedure
