// Helpers of the master's procedures: conversions of their data, writes to hbase:meta.
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
#include "master/procedures/core/data.pb.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/master_procedure.h"

namespace ratchet::master {

[[nodiscard]] inline MasterEnv& EnvOf(StepContext& ctx) { return ctx.env<MasterEnv>(); }

[[nodiscard]] pb::Region ToData(const RegionInfo& region);
[[nodiscard]] RegionInfo FromData(const pb::Region& region);
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
// and sets `*absent`.
[[nodiscard]] std::optional<StepOutcome> WriteMeta(StepContext& ctx, std::string_view key,
                                                   const std::vector<MetaEdit>& edits, bool* absent = nullptr);

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
