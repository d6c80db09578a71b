// Compares the cluster's shared directory with the cluster's own view. Only reads directories.
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
  std::set<std::string> servers;                       // live servers, by the names of their log directories
  std::map<TableName, std::set<std::string>> regions;  // encoded names
};

// Describes directories without an owner, and missing directories. Closed regions may lack a directory, because they
// may never have been opened.
[[nodiscard]] Result<std::vector<std::string>> CompareFolders(const ExpectedFolders& expected,
                                                              const std::filesystem::path& root);

}  // namespace ratchet::chaos
