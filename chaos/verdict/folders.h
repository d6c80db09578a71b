// The cluster's shared directory against what the cluster says that it consists of. Reads directories, nothing else.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/table_name.h"

namespace ratchet::chaos {

struct ExpectedFolders {
  std::set<std::string> servers;                       // live ones, as their log directories are named
  std::map<TableName, std::set<std::string>> regions;  // encoded names
};

// What is there without an owner, or has an owner and is not there, in words. Closed regions may be without
// a directory, for they may never have been opened.
[[nodiscard]] Result<std::vector<std::string>> CompareFolders(const ExpectedFolders& expected,
                                                              const std::filesystem::path& root);

}  // namespace ratchet::chaos
