// Procedures that run a script, against a journal of effects: the subjects of the framework's own tests and of the
// simulation. Step i runs op i. Types differ in their undo: ScriptUndo (every step), ScriptPlain (nothing to undo),
// ScriptNoReturn (all after the point of no return), ScriptMixed (three steps with undo, then no return), ScriptRunsOn
// (the second step has an undo). The rows of ScriptRunsOn run on, S147 (run on without acting): an op whose text is
// "decide" acts on nothing, and all others first ask for the owner.
#pragma once

#include <string>
#include <vector>

#include "procedure/api/procedure_registry.h"
#include "procedure/api/state_machine_procedure.h"
#include "tests/support/journal.h"
#include "tests/support/script.pb.h"

namespace ratchet::testing {

// Short forms for building scripts.
[[nodiscard]] pb::ScriptOp Op(pb::ScriptOp::Kind kind, std::string text = {}, std::int64_t number = 0);
[[nodiscard]] pb::Script ScriptOf(std::string name, std::vector<pb::ScriptOp> ops);
[[nodiscard]] pb::ScriptOp SpawnOp(std::vector<pb::Script> children);
[[nodiscard]] pb::Script WithLock(pb::Script script, const std::string& key, bool exclusive, bool hold = false);
[[nodiscard]] pb::Script WithFlavor(pb::Script script, const std::string& flavor);

// An object of the type that script.flavor() names.
[[nodiscard]] procedure::ProcedurePtr MakeScript(const pb::Script& script);
void RegisterScripts(procedure::ProcedureRegistry& registry);

}  // namespace ratchet::testing
