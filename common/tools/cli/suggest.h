// "Did you mean": finds the word of a list that is nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet::cli {

// Number of insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
[[nodiscard]] std::size_t EditDistance(std::string_view from, std::string_view to);

// The nearest candidate, if it is near enough for a typing error (a third of the letters, at least one), without regard
// to case; empty when there is none. A candidate that the word begins, or that begins with it, is near too.
[[nodiscard]] std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'VERSIONS'?", or an empty text.
[[nodiscard]] std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ratchet::cli
