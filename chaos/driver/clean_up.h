// Restores a cluster that the run has not made: removes the tables that the run has made.
#pragma once

#include <string>
#include <vector>

#include "common/client/connection.h"
#include "common/model/table_name.h"

namespace ratchet::chaos {

// Disables and drops the tables that are not among `before`. Returns the names of those that could not be removed, each
// with the reason. Tables of other clients look the same, so a run must have its cluster for itself.
[[nodiscard]] std::vector<std::string> RemoveNewTables(client::Connection& connection,
                                                       const std::vector<TableName>& before);

}  // namespace ratchet::chaos
