#include "common/base/options_watch.h"

#include <sys/stat.h>

#include <fmt/core.h>

namespace ratchet {

std::string StateOfFiles(const std::vector<std::string>& paths) {
  std::string state;
  for (const std::string& path : paths) {
    struct stat facts {};
    if (path.empty() || ::stat(path.c_str(), &facts) != 0)
      state += "none;";
    else
      state += fmt::format("{}:{}:{}.{};", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  }
  return state;
}

}  // namespace ratchet
