// What the master's procedures share: conversions of their data, writes to hbase:meta, waiting for meta.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/env/master_env.h"
#include "master/env/meta_table.h"
#include "master/procedures/data.pb.h"
#include "procedure/author/event.h"
#include "procedure/author/state_machine_procedure.h"

namespace ratchet::master {

using procedure::Await;
using procedure::Done;
using procedure::EndFailed;
using procedure::Fail;
using procedure::ProcedurePtr;
using procedure::Retry;
using procedure::StepContext;
using procedure::StepNo;
using procedure::StepOutcome;

[[nodiscard]] inline MasterEnv& EnvOf(StepContext& ctx) { return ctx.env<MasterEnv>(); }

[[nodiscard]] pb::Region ToData(const RegionInfo& region);
[[nodiscard]] RegionInfo FromData(const pb::Region& region);
// Text from a stored record. Throws (std::invalid_argument) where it is no server's name, which fails the step that
// asks.
[[nodiscard]] ServerName ServerFromData(const std::string& text);
[[nodiscard]] std::optional<ServerName> MaybeServerFromData(const std::string& text);

// Woken when hbase:meta has been read into memory.
[[nodiscard]] inline procedure::EventKey MetaLoadedEvent() { return {"meta-loaded"}; }

// Woken when hbase:meta has been opened.
[[nodiscard]] inline procedure::EventKey MetaOpenedEvent() { return {"meta-opened"}; }

// Nothing when meta is loaded; otherwise what the step has to return to wait for it.
[[nodiscard]] std::optional<StepOutcome> RequireMetaLoaded(StepContext& ctx);
// S93: the master knows the region's table. Only once meta is loaded; true for hbase:meta itself.
[[nodiscard]] bool HasTable(const MasterEnv& env, const RegionInfo& region);

// Nothing once all of `edits` are in meta; otherwise what the step has to return. Starts the write the first time,
// retries what failed with backoff, and at once when meta is opened, for ever: a write to meta that fails parks its
// procedure, it does not end the master. With `absent`, an update whose row is not in meta is no failure: nothing, and
// `*absent` is true.
[[nodiscard]] std::optional<StepOutcome> WriteMeta(StepContext& ctx, std::string_view key,
                                                   const std::vector<MetaEdit>& edits, bool* absent = nullptr);

// The edit of one region's row; logged in HBase's form when the write starts.
[[nodiscard]] MetaEdit EditRegion(MetaEdit::Kind kind, RegionRow row);
[[nodiscard]] MetaEdit EditTable(MetaEdit::Kind kind, TableRow row);

// The outcome of a step that could not read what it needs, before it has done anything: tried again where the storage
// refused at this time; what will not get better by itself is for the client to know.
[[nodiscard]] StepOutcome AgainUnlessFinal(const Error& error);

// ", 3 of 40 regions left" for Describe(); empty: nothing is known of it.
[[nodiscard]] std::string RegionsLeftText(const std::optional<procedure::PartsLeft>& parts);

// For log lines: "OPENED"
[[nodiscard]] std::string_view OutcomeText(pb::OrderOutcome outcome);

}  // namespace ratchet::master
