// Rejects pauses of unknown targets: a pause of a mistyped table would have no effect and report success.
#pragma once

#include "common/base/result.h"
#include "master/rpc/master_gate.h"
#include "procedure/api/pause_scope.h"

namespace ratchet::master {

// Returns an error if the table, region, namespace, server or type in `scope` certainly does not exist. Every target
// passes before hbase:meta is loaded; peers always pass, because they have no list. Only for pauses: a target that was
// removed meanwhile can always be resumed.
[[nodiscard]] Status CheckPauseTarget(const ActiveParts& parts, const procedure::PauseScope& scope);

}  // namespace ratchet::master
