// The text of a mistake in a command line, in one sentence: the verb, the wrong word, the cause, and where help is.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace ratchet::cli {

// "create: the argument 'family' is missing (see: ratchet create --help)". `app` has just parsed the command line and
// thrown `error`, which is not a call for help. Unknown verbs, flags and words get the nearest known one as a proposal.
[[nodiscard]] std::string ParseErrorText(const CLI::App& app, const CLI::ParseError& error);

}  // namespace ratchet::cli
