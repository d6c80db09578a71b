// What must hold when the dust has settled. Each check says in a sentence what it found.
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

// Scans the table once: every imported row and every acknowledged write is there by value, and nothing else except
// writes whose outcome the client does not know.
[[nodiscard]] std::vector<Finding> CheckRows(client::Connection& connection, const TableName& table,
                                             const std::vector<UnicodeRow>& imported, const Writer::Account& written);

// The interrupted procedure: a step committed in one epoch and the next one in the following epoch.
[[nodiscard]] Finding CheckResumed(const pb::ProcedureInfo& procedure);

}  // namespace ratchet::chaos
