// What a pause names must be there: a pause of a mistyped table would hold nothing back and say "done".
#pragma once

#include "common/base/result.h"
#include "master/service/master_gate.h"
#include "procedure/pure/pause_scope.h"

namespace ratchet::master {

// An error when the table, region, namespace, server or type that `scope` names is certainly not known here. While
// hbase:meta is not loaded yet nothing is certain, and everything passes; so do peers, of which there is no list. Only
// for pauses: what has gone meanwhile can always be resumed.
[[nodiscard]] Status CheckPauseTarget(const ActiveParts& parts, const procedure::PauseScope& scope);

}  // namespace ratchet::master
