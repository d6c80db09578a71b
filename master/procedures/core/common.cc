#include "master/procedures/core/common.h"

#include <stdexcept>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/table_creations.h"
#include "master/cluster/table_directory.h"
#include "master/cluster/undo_writes.h"

namespace ratchet::master {

pb::Region ToData(const RegionInfo& region) {
  pb::Region data;
  data.set_ns(region.table.ns);
  data.set_qualifier(region.table.qualifier);
  data.set_start_key(region.start_key);
  data.set_end_key(region.end_key);
  data.set_region_id(region.region_id);
  if (region.replica_id != 0) data.set_replica_id(region.replica_id);
  return data;
}

RegionInfo FromData(const pb::Region& data) {
  RegionInfo region;
  region.table = TableName(data.ns(), data.qualifier());
  region.start_key = data.start_key();
  region.end_key = data.end_key();
  region.region_id = data.region_id();
  region.replica_id = data.replica_id();
  return region;
}

ServerName ServerFromData(const std::string& text) {
  auto server = ServerName::Parse(text);
  if (!server.ok()) throw std::invalid_argument("stored server name: " + server.error().message());
  return std::move(server).value();
}

std::optional<ServerName> MaybeServerFromData(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return ServerFromData(text);
}

std::optional<StepOutcome> RequireMetaLoaded(StepContext& ctx) {
  if (EnvOf(ctx).meta_loaded.load()) return std::nullopt;
  auto ticket = ctx.TakeTicket(MetaLoadedEvent());
  if (EnvOf(ctx).meta_loaded.load()) return std::nullopt;
  return Await{std::move(ticket), std::nullopt};
}

std::optional<StepOutcome> RequireOwner(StepContext& ctx) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  return std::nullopt;
}

std::optional<StepOutcome> RequireAll(StepNeeds needs, StepContext& ctx) {
  if (Includes(needs, kNeedsMeta)) RATCHET_STEP(RequireMetaLoaded(ctx));
  if (Includes(needs, kActsOnStorage)) RATCHET_STEP(RequireOwner(ctx));
  return std::nullopt;
}

bool HasTable(const MasterEnv& env, const RegionInfo& region) {
  return region.IsMeta() || env.tables.Exists(region.table) || RATCHET_MUTANT("master.wait_for_the_table");
}

namespace {

void LogEdits(StepContext& ctx, const std::vector<MetaEdit>& edits) {
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < edits.size() && i < kShown; ++i) {
    const MetaEdit& edit = edits[i];
    if (edit.kind == MetaEdit::Kind::kCreateTable || edit.kind == MetaEdit::Kind::kUpdateTable) {
      RATCHET_LOG(kInfo, "pid={} updating hbase:meta row={}, tableState={}", ctx.pid(), edit.table.table.ToString(),
                  TableStateText(edit.table.state));
    } else if (edit.kind == MetaEdit::Kind::kCreateRegion || edit.kind == MetaEdit::Kind::kUpdateRegion) {
      const RegionRow& row = edit.region;
      const auto& where = row.state == RegionState::kOpening ? row.target : row.location;
      RATCHET_LOG(kInfo, "pid={} updating hbase:meta row={}, regionState={}{}{}", ctx.pid(), row.region.name(),
                  RegionStateText(row.state),
                  row.state == RegionState::kOpen ? ", openSeqNum=" + std::to_string(row.open_sequence) : "",
                  where ? ", regionLocation=" + where->ToString() : "");
    }
  }
  if (edits.size() > kShown) RATCHET_LOG(kInfo, "pid={} updating hbase:meta, {} rows in all", ctx.pid(), edits.size());
}

// Returns nullopt while the write is in progress.
std::optional<Status> TryWriteMeta(StepContext& ctx, std::string_view key, const std::vector<MetaEdit>& edits) {
  return ctx.AsyncCall<Status>(key, [&](std::function<void(Status)> done) {
    LogEdits(ctx, edits);
    EnvOf(ctx).meta.Write(edits, [done = std::move(done), over = EnvOf(ctx).undo_writes.Announce(ctx.pid()),
                                  known = EnvOf(ctx).creations.Announce(ctx.pid(), edits)](Status status) {
      known();
      over();
      done(std::move(status));
    });
  });
}

// If meta is offline, this waits for its next opening. An opening before this line is missed and costs a delay.
StepOutcome WriteAgain(StepContext& ctx, const Error& error) {
  return Retry{error.Annotate("writing hbase:meta"), std::nullopt, 0, ctx.TakeTicket(MetaOpenedEvent())};
}

}  // namespace

std::optional<StepOutcome> WriteMeta(StepContext& ctx, std::string_view key, const std::vector<MetaEdit>& edits,
                                     bool* absent, bool* newer) {
  if (edits.empty()) return std::nullopt;
  const std::optional<Status> written = TryWriteMeta(ctx, key, edits);
  if (!written) return ctx.AwaitAsync();
  if (written->ok()) return std::nullopt;
  const bool no_row = written->error().code() == Code::kNotFound && !RATCHET_MUTANT("master.wait_for_the_row");
  if (absent != nullptr && no_row) {
    *absent = true;
    return std::nullopt;
  }
  if (newer != nullptr && written->error().code() == Code::kStale) {
    *newer = true;
    return std::nullopt;
  }
  return WriteAgain(ctx, written->error());
}

std::optional<StepOutcome> WriteMetaOrRefuse(StepContext& ctx, std::string_view key, const std::vector<MetaEdit>& edits,
                                             bool* refused) {
  if (edits.empty()) return std::nullopt;
  const std::optional<Status> written = TryWriteMeta(ctx, key, edits);
  if (!written) return ctx.AwaitAsync();
  if (written->ok()) return std::nullopt;
  const Code code = written->error().code();
  if (code != Code::kNotFound && code != Code::kStale) return WriteAgain(ctx, written->error());
  RATCHET_LOG(kWarn, "pid={} {} rows of hbase:meta were not all written: {}", ctx.pid(), edits.size(),
              written->error().message());
  *refused = true;
  return std::nullopt;
}

MetaEdit EditRegion(MetaEdit::Kind kind, RegionRow row) {
  MetaEdit edit;
  edit.kind = kind;
  edit.region = std::move(row);
  return edit;
}

MetaEdit EditTable(MetaEdit::Kind kind, TableRow row) {
  MetaEdit edit;
  edit.kind = kind;
  edit.table = std::move(row);
  return edit;
}

StepOutcome AgainUnlessFinal(const Error& error) {
  if (IsOfTheMoment(error)) return Retry{error, std::nullopt};
  return Fail{error};
}

void AddRegionsLeft(procedure::Description& about, const std::optional<procedure::PartsLeft>& parts) {
  if (parts) about.Note(fmt::format("{} of {} regions left", parts->left, parts->total));
}

std::string_view OutcomeText(pb::OrderOutcome outcome) {
  switch (outcome) {
    case pb::OPENED: return "OPENED";
    case pb::FAILED_OPEN: return "FAILED_OPEN";
    case pb::CLOSED: return "CLOSED";
    case pb::SERVER_CRASHED: return "SERVER_CRASHED";
    case pb::DONE: return "DONE";
    case pb::FAILED: return "FAILED";
  }
  return "?";
}

}  // namespace ratchet::master
