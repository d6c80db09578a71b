// Shell completion, from the declarations of the verbs: scripts for bash, zsh and fish ask the program itself what may
// come next.
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
  std::string kind;                // or: what the cluster is asked for (verbs.h, namespace kind); empty: nothing
};
// What may stand at the place of the last of `words`. Not yet cut down to what begins like it.
[[nodiscard]] Completion CompletionOf(const CLI::App& app, const std::vector<std::string>& words);
// The value of a flag among `words`; empty: it is not there. The cluster is the one that the unfinished line names.
[[nodiscard]] std::string FlagIn(const std::vector<std::string>& words, const std::string& flag);
// Names of this kind in the cluster; nothing when it does not answer at once.
[[nodiscard]] std::vector<std::string> LookUpNames(client::ConnectionOptions options, const std::string& kind);
// Only what begins like the last word, sorted.
[[nodiscard]] std::vector<std::string> Fitting(std::vector<std::string> candidates, const std::string& current);

// "bash", "zsh", "fish".
[[nodiscard]] std::string CompletionScript(const std::string& shell);

}  // namespace ratchet::cli
