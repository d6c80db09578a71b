#include "common/base/version.h"

#include <cstdio>

#include <fmt/core.h>

#include "common/base/version_stamp.h"  // generated: kVersion, kCommit, kBuildType

namespace ratchet {

std::string BuildVersion() { return version_stamp::kVersion; }

std::string VersionText(std::string_view program) {
  return fmt::format("{} {} (commit {}, {})", program, BuildVersion(), version_stamp::kCommit,
                     version_stamp::kBuildType);
}

bool PrintedVersion(std::string_view program, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") return false;
    if (word != "--version") continue;
    std::fprintf(stdout, "%s\n", VersionText(program).c_str());
    return true;
  }
  return false;
}

}  // namespace ratchet
