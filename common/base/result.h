// Result<T>: a value or an Error. Operating errors are values; programmer errors stop the process (check.h).
//
// Thread-safety: as for T. Dropping a Result is a compile error (-Werror=unused-result).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/base/check.h"

namespace ratchet {

// The closed set of error codes shared by storage, RPC and procedures. Stored in procedure records: append only,
// never renumber.
enum class Code : std::uint8_t {
  kInvalidArgument = 1,     // the request is wrong and will stay wrong
  kNotFound = 2,            // the named thing does not exist
  kAlreadyExists = 3,       // the named thing exists
  kFailedPrecondition = 4,  // wrong state for this request (e.g. table not disabled)
  kUnavailable = 5,         // try again later, possibly elsewhere
  kTimeout = 6,             // deadline passed; the outcome may be unknown
  kFenced = 7,              // another owner has this now: stop acting (S1: check after sync; S2: check is positive)
  kStale = 8,               // the sender is behind: lower epoch, attempt or order number
  kCorruption = 9,          // stored bytes fail their checks
  kIo = 10,                 // the operating system refused
  kNoSpace = 11,            // disk full
  kAborted = 12,            // cancelled by an operator or by shutdown
  kUnsupported = 13,        // understood, but not offered
  kResourceExhausted = 14,  // a bound was reached (queue, frame, budget)
  kInternal = 15,           // an uncaught exception or a broken invariant inside one procedure
  // storage lacks durable data, or holds an older copy of it: nothing is changed, S114 (no start without the past)
  kWentBack = 16,
};

[[nodiscard]] std::string_view CodeName(Code code);

// An error with a message for a human. `remote_class` carries the exception class name that an HBase peer expects or
// sent (reference: wire protocol, exceptions); empty otherwise.
class Error {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Error(Code code, std::string message, std::string remote_class)
      : code_(code), message_(std::move(message)), remote_class_(std::move(remote_class)) {}

  [[nodiscard]] Code code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& remote_class() const { return remote_class_; }
  // "NOT_FOUND: table t does not exist"
  [[nodiscard]] std::string ToString() const;
  // Returns the same error with `context: ` put in front of its message.
  [[nodiscard]] Error Annotate(std::string_view context) const;

 private:
  Code code_;
  std::string message_;
  std::string remote_class_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  [[nodiscard]] bool has_value() const { return ok(); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    RequireValue();
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    RequireValue();
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    RequireValue();
    return std::get<0>(std::move(state_));
  }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& {
    RATCHET_CHECK(!ok(), "error() of a good result");
    return std::get<1>(state_);
  }
  [[nodiscard]] Error&& error() && {
    RATCHET_CHECK(!ok(), "error() of a good result");
    return std::get<1>(std::move(state_));
  }

 private:
  void RequireValue() const {
    if (!ok()) FailCheck("Result::value()", __FILE__, __LINE__, std::get<1>(state_).ToString());
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (!ok()) FailCheck("Result::value()", __FILE__, __LINE__, error_->ToString());
  }
  [[nodiscard]] const Error& error() const& {
    RATCHET_CHECK(!ok(), "error() of a good result");
    return *error_;
  }
  [[nodiscard]] Error&& error() && {
    RATCHET_CHECK(!ok(), "error() of a good result");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;
inline Status Ok() { return {}; }

// States at the call site that a failure is acceptable, and why; the only way to drop a Result.
template <class T>
void IgnoreResult(const Result<T>& /*result*/, std::string_view /*why*/) {}

}  // namespace ratchet

#define RATCHET_CONCAT_INNER(a, b) a##b
#define RATCHET_CONCAT(a, b) RATCHET_CONCAT_INNER(a, b)

// RATCHET_TRY(expr): returns the error of a Result<void> (or any Result) from the enclosing function.
#define RATCHET_TRY(expr)                                                       \
  do {                                                                          \
    auto ratchet_try_result = (expr);                                           \
    if (!ratchet_try_result.ok()) return std::move(ratchet_try_result).error(); \
  } while (false)

// RATCHET_ASSIGN(auto x, expr): x = value of expr, or returns its error.
#define RATCHET_ASSIGN(lhs, expr) RATCHET_ASSIGN_INNER(RATCHET_CONCAT(ratchet_assign_, __LINE__), lhs, expr)
#define RATCHET_ASSIGN_INNER(tmp, lhs, expr)    \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  lhs = std::move(tmp).value()
