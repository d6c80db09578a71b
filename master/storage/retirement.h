// Finds the files of a log directory or a region's directory that may be archived (rule S32: two-stage cleaner). Pure
// functions of names: the owners' marks on the storage (common/io/unneeded_files.h), and the servers that are still
// running.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/server_name.h"

namespace ratchet::master {

// Returns the logs among `names`, of a server's log directory, that manifests of the current openings cover.
[[nodiscard]] std::vector<std::string> LogsToRetire(const std::vector<std::string>& names);

struct RetiredName {
  std::string name;
  std::string as;  // its name in the archive, without the owner's mark
  bool operator==(const RetiredName&) const = default;
};
// Returns the files among `names`, of a region's directory, that their owner no longer needs after a durable manifest.
[[nodiscard]] std::vector<RetiredName> RegionFilesToRetire(const std::vector<std::string>& names);

// The dead server whose log a splitter was splitting into this file, "tmp.edits.<server>.<log>.<attempt>"; nullopt for
// other names. Such a file is garbage as soon as the server's logs are retired, because no split of them is needed.
[[nodiscard]] std::optional<ServerName> SplitServerOf(std::string_view name);
// `wals`: the names in <root>/wals, listed after the file was seen.
[[nodiscard]] bool SplitIsOver(const ServerName& server, const std::vector<std::string>& wals);

}  // namespace ratchet::master
