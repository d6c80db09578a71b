// New procedures: checked, numbered, and given their place, for Submit and Spawn alike.
#pragma once

#include <memory>
#include <vector>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// Whether an object can be submitted at all: known type, sound initial data, never submitted before.
[[nodiscard]] Status CheckNew(const ProcedureRegistry& registry, const Procedure* procedure);

// A node for a root with the next pid; not in the tree yet.
[[nodiscard]] std::unique_ptr<ProcNode> MakeRoot(Session& session, ProcedurePtr procedure,
                                                 const SubmitOptions& options);

// Nodes for the children that `parent` spawns from `row`; kInternal when a rule forbids one of them.
[[nodiscard]] Result<std::vector<std::unique_ptr<ProcNode>>> MakeChildren(Session& session, ProcNode& parent,
                                                                          const StepRow& row,
                                                                          std::vector<ProcedurePtr> children);
[[nodiscard]] bool AnyHasUndo(Session& session, const std::vector<std::unique_ptr<ProcNode>>& children);

// S14: a grant that can be had at once goes into the same batch as the insert.
void TryGrant(Session& session, ProcNode& node);
void TryGrantAll(Session& session, const std::vector<std::unique_ptr<ProcNode>>& nodes);

// The insert is durable: into the tree, counted, shown.
ProcNode& Adopt(Session& session, std::unique_ptr<ProcNode> node);
inline ProcNode& AdoptChild(Session& session, std::unique_ptr<ProcNode> node) {
  return Adopt(session, std::move(node));
}

}  // namespace ratchet::procedure
