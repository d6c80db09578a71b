// Checks of the cluster after it has settled. Each returns a sentence with its finding.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "chaos/demo/unicode_data.h"
#include "chaos/demo/writer.h"
#include "chaos/workloads/workload.h"
#include "common/client/connection.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

// Scans the table once: it must have every imported row and every acknowledged write with its value, and no other row
// except writes of unknown outcome.
[[nodiscard]] std::vector<Finding> CheckRows(client::Connection& connection, const TableName& table,
                                             const std::vector<UnicodeRow>& imported, const Writer::Account& written);

// Checks the interrupted procedure: one step is committed in one epoch, and the next step in the following epoch.
[[nodiscard]] Finding CheckResumed(const pb::ProcedureInfo& procedure);

}  // namespace ratchet::chaos
