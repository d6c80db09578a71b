// The base of the master's procedures, which meets the needs of their steps, and their helpers: conversions of their
// data, writes to hbase:meta.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/cluster/lock_keys.h"
#include "master/env/meta_table.h"
#include "master/procedures/core/claims.h"
#include "master/procedures/core/data.pb.h"
#include "master/procedures/core/master_env.h"
#include "procedure/api/event.h"
#include "procedure/api/state_machine_procedure.h"

namespace ratchet::master {

using procedure::Await;
using procedure::Done;
using procedure::EndFailed;
using procedure::Fail;
using procedure::Given;
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

[[nodiscard]] inline MasterEnv& EnvOf(StepContext& ctx) { return ctx.env<MasterEnv>(); }

[[nodiscard]] pb::Region ToData(const RegionInfo& region);
[[nodiscard]] RegionInfo FromData(const pb::Region& region);
[[nodiscard]] inline TableName TableOf(const pb::TableData& data) { return {data.ns(), data.qualifier()}; }
// Parses a server name of a stored record. Throws std::invalid_argument if the text is not valid, which fails the
// calling step.
[[nodiscard]] ServerName ServerFromData(const std::string& text);
[[nodiscard]] std::optional<ServerName> MaybeServerFromData(const std::string& text);

// Woken when hbase:meta has been opened.
[[nodiscard]] inline procedure::EventKey MetaOpenedEvent() { return {"meta-opened"}; }

// S93 (transition without a row ends): returns true if the master knows the region's table, and for hbase:meta itself.
// Call only after meta is loaded.
[[nodiscard]] bool HasTable(const MasterEnv& env, const RegionInfo& region);

// Returns nullopt when all of `edits` are in meta; otherwise the outcome that the step must return. Starts the write at
// the first call. Retries a failed write without limit, with backoff and at once when meta is opened: a failing write
// delays its procedure and does not end the master. With `absent`, an update of a missing row succeeds: returns nullopt
// and sets `*absent`. With `newer`, a write to a row with a higher number does so too, and sets `*newer`.
[[nodiscard]] std::optional<StepOutcome> WriteMeta(StepContext& ctx, std::string_view key,
                                                   const std::vector<MetaEdit>& edits, bool* absent = nullptr,
                                                   bool* newer = nullptr);

// As WriteMeta. A row that is missing, or that has a higher number, ends the write: returns
// nullopt and sets `*refused`. Other rows may have been written.
[[nodiscard]] std::optional<StepOutcome> WriteMetaOrRefuse(StepContext& ctx, std::string_view key,
                                                           const std::vector<MetaEdit>& edits, bool* refused);

// Returns the edit of one region's row; logged in HBase's format when the write starts.
[[nodiscard]] MetaEdit EditRegion(MetaEdit::Kind kind, RegionRow row);
[[nodiscard]] MetaEdit EditTable(MetaEdit::Kind kind, TableRow row);

// Outcome of a step that could not read its input and has changed nothing: a retry after a transient storage error,
// otherwise a failure that the client sees.
[[nodiscard]] StepOutcome AgainUnlessFinal(const Error& error);

// Adds "3 of 40 regions left", if the number is known.
void AddRegionsLeft(procedure::Description& about, const std::optional<procedure::PartsLeft>& parts);

// For log lines, such as "OPENED".
[[nodiscard]] std::string_view OutcomeText(pb::OrderOutcome outcome);

}  // namespace ratchet::master
