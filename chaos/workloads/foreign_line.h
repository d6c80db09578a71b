// The lines that the driver and a client in another language exchange. Pure; not thread-safe.
//
// A request is one line with tabs between its fields: ID CLIENT ROW QUALIFIER OPERATION VALUE EXPECTED. Values of the
// qualifier "n" are decimal and stored as 8 bytes. An answer is one line of a history (docs/history-format.md) with
// two more fields: "id", and "attempts", the largest number of times that the request may have been sent. The first
// line of a client is {"ready":"NAME AND VERSION"}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/history/operation.h"
#include "chaos/workloads/register_client.h"

namespace ratchet::chaos {

struct ForeignAnswer {
  std::uint64_t id = 0;
  std::uint32_t attempts = 1;
  Operation operation;
};

// Returns the line with its newline.
[[nodiscard]] std::string ToForeignRequest(std::uint64_t id, const RegisterName& name, const Operation& operation);
// kCorruption names the wrong field.
[[nodiscard]] Result<ForeignAnswer> FromForeignAnswer(std::string_view line);
// Returns the client's name and version.
[[nodiscard]] Result<std::string> FromForeignGreeting(std::string_view line);
// kCorruption if the answer is to another operation than `asked`, or its times are not between `sent_ns` and
// `received_ns`.
[[nodiscard]] Status CheckForeignAnswer(const Operation& asked, const Operation& answered, std::int64_t sent_ns,
                                        std::int64_t received_ns);
// The effects that `operation` may have in addition to the one in the history: each further attempt may be executed,
// except those of append and increment, which carry a nonce. Corrects the operation where the answer of a repeated
// attempt says less: the new value of append and increment, and a condition that was false.
[[nodiscard]] History SplitAttempts(Operation& operation, std::uint32_t attempts);

// Cuts bytes into lines.
class LineCutter {
 public:
  explicit LineCutter(std::size_t longest) : longest_(longest) {}
  // Appends the complete lines to `lines`; kCorruption names the number of a line that is too long.
  [[nodiscard]] Status Take(std::string_view bytes, std::vector<std::string>& lines);

 private:
  const std::size_t longest_;
  std::size_t cut_ = 0;  // lines so far
  std::string rest_;
};

}  // namespace ratchet::chaos
