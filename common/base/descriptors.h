// Descriptors: how many files and connections this process may have open, and what is refused when they become few.
//
// A part of the limit is reserved for work that must continue: logs, the procedure store, manifests, orders and their
// answers. Any code that a client or an order could make open many descriptors checks here first. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {

struct DescriptorLimits {
  std::uint64_t before = 0;  // the soft limit at the start
  std::uint64_t now = 0;
  std::uint64_t hard = 0;
};

// Raises the soft limit to the hard one; at the start of each program, before threads.
DescriptorLimits RaiseDescriptorLimit();
// "may have 1048576 files and connections open (the limit was 1024)"; adds a warning when the limit is too low for a
// server.
[[nodiscard]] std::string DescribeDescriptors(const DescriptorLimits& limits);

// The current soft limit; it can be changed from outside while the process runs.
[[nodiscard]] std::uint64_t DescriptorLimit();
// The part of `limit` that is reserved for the process's own work: a quarter, at most 512.
[[nodiscard]] constexpr std::uint64_t ReservedDescriptors(std::uint64_t limit) {
  return limit / 4 < 512 ? limit / 4 : 512;
}

struct DescriptorUse {
  std::uint64_t used = 0;  // the number that a new descriptor would get, which decides about refusals; `limit`: none is
                           // free
  std::uint64_t limit = 0;
};
// The use of this process now; costs a few system calls, however many are open.
[[nodiscard]] DescriptorUse DescriptorsInUse();
// A warning for the operator when more than four fifths of the unreserved part are in use; nullopt otherwise.
[[nodiscard]] std::optional<std::string> DescriptorProblem(const DescriptorUse& use);

// kResourceExhausted when descriptor `newest`, which was the lowest free number, is in the reserved part. `what` needed
// it: "a connection".
[[nodiscard]] Status CheckDescriptor(int newest, std::string_view what);
// Like CheckDescriptor, for a descriptor that would be opened now. Costs a system call or two.
[[nodiscard]] Status CheckNextDescriptor(std::string_view what);

}  // namespace ratchet
