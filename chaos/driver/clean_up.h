// Leaves a cluster that is not the run's own as it was: the tables that the run has made go.
#pragma once

#include <string>
#include <vector>

#include "common/client/connection.h"
#include "common/model/table_name.h"

namespace ratchet::chaos {

// Disables and drops the tables that are not among `before`. Answers the names of those that could not be removed, each
// with why. Tables that another client has made meanwhile look the same: a run has its cluster for itself.
[[nodiscard]] std::vector<std::string> RemoveNewTables(client::Connection& connection,
                                                       const std::vector<TableName>& before);

}  // namespace ratchet::chaos
