// One value of an answer, and the style of the terminal that shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ratchet::cli {

// A length of time: "1.5 s" for people; in JSON a number, and its name ends in "_ms".
struct Span {
  std::int64_t ms = 0;
};
// A number stays a number in JSON; null is printed as "-" for people. A list is an array in JSON; people get its
// members in one line, "none" when there are none.
using Field = std::variant<std::monostate, std::string, std::int64_t, bool, Span, std::vector<std::string>, double>;
[[nodiscard]] inline Field Number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// A terminal's style: colours, and its width. Empty if the output is written elsewhere.
struct Look {
  bool colour = false;
  std::size_t width = 0;  // columns; 0: lines are not cut
  // The style of standard output. Colours only on a terminal that has them, and not with NO_COLOR.
  [[nodiscard]] static Look OfStandardOutput();
};

}  // namespace ratchet::cli
