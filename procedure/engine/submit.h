// New roots: nonce, checks, locks, insert.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "procedure/engine/executor_lock.h"

namespace ratchet::procedure {

// Executor::SubmitAsync.
void SubmitAsync(Core& core, ProcedurePtr procedure, SubmitOptions options, std::function<void(Result<ProcId>)> done);

// New procedures: checks them, numbers them, and adds them to the tree, for Submit and Spawn alike.

// Ok if an object can be submitted: known type, valid initial data, never submitted before.
[[nodiscard]] Status CheckNew(const ProcedureRegistry& registry, const Procedure* procedure);

// Makes a node for a root with the next pid; the node is not in the tree yet.
[[nodiscard]] std::unique_ptr<ProcNode> MakeRoot(ExecutorLock& held, ProcedurePtr procedure,
                                                 const SubmitOptions& options);

// Returns the locks and the place of a new procedure with many locks. Call it without the executor's lock. Null: it has
// few, or none, or the author's code has thrown.
[[nodiscard]] std::unique_ptr<FoundLocks> WantedBy(const Procedure* procedure, const ExecutorOptions& options);
using WantedByChildren = std::vector<std::unique_ptr<FoundLocks>>;

// Makes nodes for the children that `parent` spawns from `row`; kInternal when a rule forbids a child. `wanted`: of the
// same children.
[[nodiscard]] Result<std::vector<std::unique_ptr<ProcNode>>> MakeChildren(ExecutorLock& held, ProcNode& parent,
                                                                          const StepRow& row,
                                                                          std::vector<ProcedurePtr> children,
                                                                          WantedByChildren wanted);
[[nodiscard]] bool AnyHasUndo(ExecutorLock& held, const std::vector<std::unique_ptr<ProcNode>>& children);

// S14 (durable lock grants): a lock that is free is granted in the same batch as the insert.
void TryGrant(ExecutorLock& held, ProcNode& node);
void TryGrantAll(ExecutorLock& held, const std::vector<std::unique_ptr<ProcNode>>& nodes);
// The locks that the node wants in its state. Those that were found before are given once.
[[nodiscard]] std::vector<LockRequest> TakeWanted(ProcNode& node);

// Called when the insert is durable: adds the node to the tree, counts it, shows it.
ProcNode& Adopt(ExecutorLock& held, std::unique_ptr<ProcNode> node);

}  // namespace ratchet::procedure
