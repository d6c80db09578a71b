// Finds the claims of procedures (master/procedures/core/claims.h) from views of them. Any thread may call these
// functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/strong_id.h"
#include "master/procedures/core/claims.h"
#include "procedure/api/views.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

// Returns no claims if the type has none of this kind, or the data cannot be read.
[[nodiscard]] Claims ClaimsOf(const procedure::ProcedureInfo& info, ClaimKinds kind);
// The types that declare this kind, in the order of the list of procedures.
[[nodiscard]] std::vector<std::string_view> TypesThatClaim(ClaimKinds kind);
// Calls `visit` with the claims of each unfinished procedure of these types.
void ForEachClaim(const procedure::Executor& executor, ClaimKinds kind,
                  const std::function<void(const Claims&)>& visit);

// Returns the server from which an order procedure still waits for an answer; nullopt if the procedure is not an order
// or has its answer.
[[nodiscard]] std::optional<std::string> OrderTarget(const procedure::ProcedureInfo& info);
// Reason of a procedure's last setback. A step's attempts do not show it, because refused openings of a region, and
// rounds of a flush or compaction of a table, are loops over several steps. Absent while the procedure makes progress.
[[nodiscard]] std::optional<Setback> SetbackOf(const procedure::ProcedureInfo& info);
// The unfinished procedure of a tree with the most setbacks, with its pid: the cause of the tree's delay.
struct TreeSetback {
  ProcId pid;
  Setback setback;
};
[[nodiscard]] std::optional<TreeSetback> WorstSetbackOf(const std::vector<procedure::ProcedureInfo>& tree);

}  // namespace ratchet::master
