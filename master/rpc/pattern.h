// Regular expressions that clients send to select names. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace re2 {
class RE2;
}

namespace ratchet::master {

// A compiled pattern. Copies share it; thread-safe. RE2 matches in time linear in the text and without recursion.
class Pattern {
 public:
  // DoNotRetryIOException: longer than 1,000 bytes, or not a valid RE2 pattern (docs/wire-compatibility.md, "Filters").
  [[nodiscard]] static Result<Pattern> Compile(const std::string& text);
  // Compares the pattern with the whole text.
  [[nodiscard]] bool Matches(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace ratchet::master
