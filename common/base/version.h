// What a program is: version, commit, build type. Linked by programs only: the commit is another one at every build.
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

inline constexpr std::string_view kVersionNumber = "0.2";

// "ratchet-master 0.1 (commit 1a2b3c4d5e6f, Release)"; a "+" behind the commit: with changes that are in none; without
// a repository the commit is "unknown".
[[nodiscard]] std::string VersionText(std::string_view program);

// At the start of main: prints the line above when the command line asks for --version, and says whether it did.
[[nodiscard]] bool PrintedVersion(std::string_view program, int argc, const char* const* argv);

}  // namespace ratchet
