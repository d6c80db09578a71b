// MasterProcedure is the base of the master's procedures, and meets the needs of their steps.
#pragma once

#include <optional>

#include "master/procedures/core/claims.h"
#include "procedure/api/event.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

using procedure::Await;
using procedure::Done;
using procedure::EndFailed;
using procedure::Fail;
using procedure::ProcedurePtr;
using procedure::Retry;
using procedure::Spawns;
using procedure::StepContext;
using procedure::StepNeeds;
using procedure::StepNo;
using procedure::StepOutcome;

// The step reads regions or tables in memory, or writes hbase:meta: it waits until hbase:meta is loaded.
inline constexpr StepNeeds kNeedsMeta{1};
// The step itself starts an action on the storage: it checks the epoch's owner first (S18: check before each send). An
// action through ActOnFiles makes its own check.
inline constexpr StepNeeds kActsOnStorage{2};

// Woken when hbase:meta has been read into memory.
[[nodiscard]] inline procedure::EventKey MetaLoadedEvent() { return {"meta-loaded"}; }

// Each returns nullopt if the condition holds; otherwise the outcome with which the step waits for it. For steps whose
// need depends on their data; all others declare it in the step table.
[[nodiscard]] std::optional<StepOutcome> RequireMetaLoaded(StepContext& ctx);
[[nodiscard]] std::optional<StepOutcome> RequireOwner(StepContext& ctx);
// All needs of a row, in this order.
[[nodiscard]] std::optional<StepOutcome> RequireAll(StepNeeds needs, StepContext& ctx);

template <class P, class Data>
class MasterProcedure : public procedure::StateMachineProcedure<P, Data> {
 public:
  using procedure::StateMachineProcedure<P, Data>::StateMachineProcedure;

 protected:
  [[nodiscard]] std::optional<StepOutcome> Require(StepNeeds needs, StepContext& ctx) final {
    return RequireAll(needs, ctx);
  }
};

}  // namespace ratchet::master
