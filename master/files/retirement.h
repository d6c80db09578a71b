// What may leave a log directory or a region's directory for the archive (rule S32). Pure functions of names: what
// the owners of the files have said about them on the storage (common/io/unneeded_files.h), and which servers are still
// at work.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/server_name.h"

namespace ratchet::master {

// Of the names in a server's log directory: the logs that manifests of the current openings cover.
[[nodiscard]] std::vector<std::string> LogsToRetire(const std::vector<std::string>& names);

struct RetiredName {
  std::string name;
  std::string as;  // its name in the archive: without the owner's mark
  bool operator==(const RetiredName&) const = default;
};
// Of the names in a region's directory: those whose owner has acknowledged the manifest without them.
[[nodiscard]] std::vector<RetiredName> RegionFilesToRetire(const std::vector<std::string>& names);

// The dead server whose log a splitter was splitting into this file, "tmp.edits.<server>.<log>.<attempt>"; nothing for
// other names. Such a file is rubbish as soon as the server's logs are retired: no split of them is wanted any more.
[[nodiscard]] std::optional<ServerName> SplitServerOf(std::string_view name);
// `wals`: the names in <root>/wals, listed after the file was seen.
[[nodiscard]] bool SplitIsOver(const ServerName& server, const std::vector<std::string>& wals);

}  // namespace ratchet::master
