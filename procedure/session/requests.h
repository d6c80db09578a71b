// What a client of the executor asks with, and what it is told at the end. Values; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/result.h"

namespace ratchet::procedure {

// A client's mark on a request, so that its repetition after a lost answer finds the same procedure. {0, 0} is none.
struct Nonce {
  std::uint64_t group = 0;
  std::uint64_t nonce = 0;
  [[nodiscard]] bool valid() const { return group != 0 || nonce != 0; }
  auto operator<=>(const Nonce&) const = default;
};

struct SubmitOptions {
  std::string owner;  // the user that asked; recorded and shown
  Nonce nonce;
  // Run once, after the nonce was reserved and before anything is stored; its error is the answer to this and to every
  // later submission of the same nonce (until it is evicted). Must not call the executor.
  std::function<Status()> pre_check;
};

// What is known of a procedure's end.
struct ProcedureResult {
  enum class Status : std::uint8_t { kNotFound, kRunning, kSuccess, kFailed } status = Status::kNotFound;
  std::string result;          // kSuccess
  std::optional<Error> error;  // kFailed
  std::int64_t submitted_ms = 0;
  std::int64_t finished_ms = 0;
  [[nodiscard]] bool finished() const { return status == Status::kSuccess || status == Status::kFailed; }
};

}  // namespace ratchet::procedure
