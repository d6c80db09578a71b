// Version, commit and build type of a program. Only programs link version.cc, because the commit changes with every
// build.
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

// Number of the next release. Builds between releases add the commit, see BuildVersion().
inline constexpr std::string_view kVersionNumber = "0.3";

// "0.3~git20261127.1a2b3c4d": the next release, date (UTC) and hash of the commit. A "+" at the end marks a build with
// changes that are not committed. "0.3" if the commit has the tag v0.3, "0.3~unknown" without a repository. The order
// of these texts as Debian versions is the order of the builds.
[[nodiscard]] std::string BuildVersion();

// The form in which a region server reports its version to a master: "0.3+git20261127.1a2b3c4d", because masters of
// 0.2 cannot parse a "~". Returns a text without "~" unchanged.
[[nodiscard]] inline std::string ReportedVersion(std::string version) {
  if (const auto tilde = version.find('~'); tilde != std::string::npos) version[tilde] = '+';
  return version;
}

// The inverse of ReportedVersion, for what a master shows.
[[nodiscard]] inline std::string ShownVersion(std::string version) {
  if (const auto plus = version.find("+git"); plus != std::string::npos) version[plus] = '~';
  return version;
}

// "ratchet-master 0.3~git20261127.1a2b3c4d (commit 1a2b3c4d5e6f, Release)"; a "+" after the commit marks a build with
// changes that are not committed. Without a repository the commit is "unknown".
[[nodiscard]] std::string VersionText(std::string_view program);

// At the start of main: prints the line above if the command line has --version, and returns true if it printed it.
[[nodiscard]] bool PrintedVersion(std::string_view program, int argc, const char* const* argv);

}  // namespace ratchet
