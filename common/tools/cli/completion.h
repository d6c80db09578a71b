// Shell completion, from the declarations of the verbs: scripts for bash, zsh and fish ask the program itself for the
// possible next words.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/client/connection.h"

namespace ratchet::cli {

// The word with which the scripts ask: ratchet __complete -- WORD ... CURRENT
inline constexpr const char* kCompleteWord = "__complete";

struct Completion {
  std::vector<std::string> words;  // verbs, flags, values of a closed list
  std::string kind;                // or the kind of names to look up in the cluster (verbs.h, namespace kind); empty:
                                   // none
};
// The possible words at the place of the last of `words`, not yet filtered by its beginning.
[[nodiscard]] Completion CompletionOf(const CLI::App& app, const std::vector<std::string>& words);
// The value of a flag among `words`; empty: it is not given. The cluster is the one that the unfinished line names.
[[nodiscard]] std::string FlagIn(const std::vector<std::string>& words, const std::string& flag);
// Names of this kind in the cluster; none when it does not answer at once.
[[nodiscard]] std::vector<std::string> LookUpNames(client::ConnectionOptions options, const std::string& kind);
// The candidates that begin with the last word, sorted.
[[nodiscard]] std::vector<std::string> Fitting(std::vector<std::string> candidates, const std::string& current);

// "bash", "zsh", "fish".
[[nodiscard]] std::string CompletionScript(const std::string& shell);

}  // namespace ratchet::cli
