#include "master/storage/retirement.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/io/unneeded_files.h"

namespace ratchet::master {

std::vector<std::string> LogsToRetire(const std::vector<std::string>& names) {
  std::vector<std::string> covered;
  for (const std::string& name : names) {
    const auto log = io::ParseLogFileName(name);
    if (log && (io::IsCovered(names, *log) || RATCHET_MUTANT("cleaner.uncovered_logs"))) covered.push_back(name);
  }
  return covered;
}

std::vector<RetiredName> RegionFilesToRetire(const std::vector<std::string>& names) {
  std::vector<RetiredName> unneeded;
  for (const std::string& name : names)
    if (auto file = io::ParseUnneededName(name)) unneeded.push_back({name, std::move(*file)});
  return unneeded;
}

std::optional<ServerName> SplitServerOf(std::string_view name) {
  constexpr std::string_view kPrefix = "tmp.edits.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name = name.substr(0, name.rfind('.'));  // the attempt
  // "<server>.log.<n>"; a host name may have dots, the suffix of a log has one.
  const std::size_t number = name.rfind('.');
  if (number == std::string_view::npos || number == 0) return std::nullopt;
  const std::size_t log = name.rfind('.', number - 1);
  if (log == std::string_view::npos || !io::ParseLogFileName(name.substr(log + 1))) return std::nullopt;
  const auto server = ServerName::Parse(std::string(name.substr(0, log)));
  if (!server.ok()) return std::nullopt;
  return *server;
}

bool SplitIsOver(const ServerName& server, const std::vector<std::string>& wals) {
  const std::string name = server.ToString();
  return std::none_of(wals.begin(), wals.end(), [&name](const std::string& directory) {
    return directory == name || directory == name + io::kSplittingSuffix;
  });
}

}  // namespace ratchet::master
