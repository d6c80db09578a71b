#include "master/procedures/mend_table.h"

#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/env/cluster_files.h"
#include "master/procedures/new_table.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/errors.h"
#include "master/state/key_ranges.h"
#include "master/state/placement.h"
#include "master/state/region_directory.h"
#include "master/state/table_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {
namespace {

pb::MendTableData DataFor(const TableName& table) {
  pb::MendTableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  return data;
}

// Regions of a table that share keys with `range`, as memory has them, without `except`.
std::vector<RegionNode> Sharing(std::vector<RegionNode> regions, const KeyRange& range, const std::string& except) {
  std::erase_if(regions, [&](const RegionNode& node) {
    return node.encoded == except || !HasItsRows(node.state) || !Overlap(RangeOf(node.info), range);
  });
  return regions;
}

// What a mend goes by: `counted` are Sharing() of memory.
struct Counted {
  std::vector<RegionNode> regions;
  TableName table;
  KeyRange range;
  std::string except;
};

// Whether memory and hbase:meta have the same regions there, and no write that has been begun changes that.
Status AgreesWith(const Counted& counted, const MetaContents& contents) {
  std::map<std::string, std::uint64_t> rows;
  for (const RegionRow& row : contents.regions) {
    const std::string encoded = row.region.encoded_name();
    if (row.region.table != counted.table || encoded == counted.except) continue;
    if (IsSplitOrMerged(row.state)) continue;
    if (Overlap(RangeOf(row.region), counted.range)) rows[encoded] = row.transition;
  }
  for (const RegionNode& node : counted.regions) {
    const auto row = rows.find(node.encoded);
    if (row == rows.end() || row->second < node.taken) {
      return Error(Code::kUnavailable,
                   fmt::format("waits until it is certain that hbase:meta has region {}, which has the same keys",
                               node.encoded));
    }
    rows.erase(row);
  }
  if (rows.empty()) return Ok();
  return Error(Code::kUnavailable, fmt::format("waits until region {}, which hbase:meta has and this master does not "
                                               "know, is taken into the picture",
                                               rows.begin()->first));
}

}  // namespace

ProcedurePtr MendTable::GiveUp(const RegionInfo& region) {
  pb::MendTableData data = DataFor(region.table);
  *data.mutable_region() = ToData(region);
  return std::make_unique<MendTable>(std::move(data));
}

ProcedurePtr MendTable::FillHoles(const TableName& table) { return std::make_unique<MendTable>(DataFor(table)); }

procedure::LockSet MendTable::Locks() const {
  return {procedure::Exclusive(procedure::ResourceKey::Table(Table().ToString()))};
}

std::string MendTable::Describe() const {
  std::string text = fmt::format("table={}, ", Table().ToString());
  text += data_.has_region() ? fmt::format("gives up region={}", Region().encoded_name()) : std::string("fills holes");
  if (data_.begun()) text += fmt::format("; new regions={}", data_.made_size());
  return text;
}

std::vector<RegionInfo> MendTable::Made() const {
  std::vector<RegionInfo> made;
  for (const pb::Region& region : data_.made()) made.push_back(FromData(region));
  return made;
}

void MendTable::OnRecovered(const procedure::EnvRef& env) {
  if (!data_.has_region() || !data_.begun() || data_.replaced()) return;
  RegionNode node;
  node.info = Region();
  node.state = RegionStateFromNumber(static_cast<int>(data_.region_state())).value_or(RegionState::kOffline);
  node.transition = data_.transition();
  node.owner = pid();
  env.As<MasterEnv>().regions.Restore(std::move(node));
}

Status MendTable::MayGiveUp(const RegionNode& node) {
  const std::string encoded = node.info.encoded_name();
  if (node.info.IsMeta()) return IllegalRequest("hbase:meta cannot be given up");
  if (IsSplitOrMerged(node.state)) {
    return IllegalRequest(
        fmt::format("region {} is {}: other regions have its rows", encoded, RegionStateText(node.state)));
  }
  if (node.unplaced)
    return RegionInTransition(encoded, "hbase:meta names no server of it, and not each server has said what it has");
  if (RATCHET_MUTANT("mend.give_up_placed")) return Ok();
  if (node.owner.valid() && node.failed_opens == 0) {
    return RegionInTransition(encoded,
                              fmt::format("pid={} works on it and has not been refused by any server", node.owner));
  }
  if (!node.location || (node.owner.valid() && node.failed_opens > 0)) return Ok();
  return IllegalRequest(
      fmt::format("region {} is {} on {}: only a region that no server has is given up. If its rows are to be lost "
                  "although it can be served, close it first (ratchet unassign {})",
                  encoded, RegionStateText(node.state), node.location->ToString(), encoded));
}

std::optional<StepOutcome> MendTable::TakeRegion(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const std::string encoded = Region().encoded_name();
  const auto found = env.regions.Get(encoded);
  if (!found) return Fail{UnknownRegion(encoded)};
  RegionNode judged = *found;
  if (judged.owner == pid()) judged.owner = ProcId();  // this step runs again
  if (const Status may = MayGiveUp(judged); !may.ok()) return Fail{may.error()};
  if (env.regions.Own(encoded, pid())) {
    const RegionNode node = *env.regions.Get(encoded);
    data_.set_region_state(static_cast<std::uint32_t>(node.state));
    data_.set_transition(node.taken);  // S65
    return std::nullopt;
  }
  // The lock is let go, so that its owner can have its turn; it ends where no server has the region.
  env.regions.Want(encoded, pid());
  (void)env.executor->Kick(found->owner);
  return Retry{Error(Code::kUnavailable, fmt::format("waits until pid={} lets go of the region", found->owner)),
               std::nullopt};
}

// Rows of a table come and go under its lock, which this procedure has; so none does from the look on.
std::optional<StepOutcome> MendTable::ConfirmRows(StepContext& ctx, const std::vector<RegionNode>& counted) {
  if (RATCHET_MUTANT("mend.trust_memory")) return std::nullopt;
  const auto confirmed = ctx.Once<Status>("rows", [&](std::function<void(Status)> done) {
    const Counted by{counted, Table(), Wanted(), data_.has_region() ? Region().encoded_name() : std::string()};
    EnvOf(ctx).meta.Scan([by, done = std::move(done)](const Result<MetaContents>& contents) {
      done(contents.ok() ? AgreesWith(by, *contents) : contents.error().Annotate("reading hbase:meta"));
    });
  });
  if (!confirmed) return ctx.AwaitOnce();
  if (!confirmed->ok()) return Retry{confirmed->error(), std::nullopt};
  return std::nullopt;
}

KeyRange MendTable::Wanted() const { return data_.has_region() ? RangeOf(Region()) : KeyRange{}; }

StepOutcome MendTable::Prepare(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  if (Table().IsMeta()) return Fail{IllegalRequest("hbase:meta has one region for all rows")};
  if (const auto there = env.files.ListRegionDirectories(table->directory); !there.ok()) {
    if (there.error().code() != Code::kNotFound) return Retry{there.error(), std::nullopt};
    return Fail{IllegalRequest(
        fmt::format("directory data/{} of table {} is missing: put it back, or disable and drop the table",
                    table->directory, Table().ToString()))};
  }
  const std::string given_up = data_.has_region() ? Region().encoded_name() : std::string();
  const std::vector<RegionNode> others = Sharing(env.regions.OfTable(Table()), Wanted(), given_up);
  if (auto outcome = ConfirmRows(ctx, others)) return std::move(*outcome);
  // Last of all that can fail: what is taken here is kept.
  if (data_.has_region()) {
    if (auto outcome = TakeRegion(ctx)) return std::move(*outcome);
  }
  data_.clear_made();
  for (const KeyRange& range : Uncovered(Wanted(), others)) {
    RegionInfo made;
    made.table = Table();
    made.start_key = range.start;
    made.end_key = range.end;
    made.region_id = RegionIdFor(pid());
    *data_.add_made() = ToData(made);
  }
  if (!data_.has_region() && data_.made_size() == 0)
    return Done{fmt::format("table {} has a region for each row", Table().ToString())};
  data_.set_directory(table->directory);
  data_.set_begun(true);
  return GoTo(State::kMoveFiles);
}

StepOutcome MendTable::MoveFiles(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  if (data_.has_region()) {
    const auto moved = env.files.QuarantineRegion(data_.directory(), Region().encoded_name(), fmt::format("{}", pid()));
    if (!moved.ok()) return Retry{moved.error(), std::nullopt};
    data_.set_quarantine(*moved);
    RATCHET_LOG(kWarn, "pid={} gives up region {}: {}", ctx.pid(), Region().encoded_name(),
                moved->empty() ? "it has no directory" : "its files are in " + *moved);
  }
  std::vector<std::string> encoded;
  for (const RegionInfo& region : Made()) encoded.push_back(region.encoded_name());
  if (Status made = env.files.MakeRegionDirectories(data_.directory(), encoded); !made.ok())
    return Retry{made.error(), std::nullopt};
  return GoTo(State::kUpdateMeta);
}

// The new rows come first: whatever ends this procedure or its master in between, no key is without a region.
StepOutcome MendTable::UpdateMeta(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  // Run again by an operator: the rows are their transitions' by now, which have written newer ones.
  if (data_.replaced()) return GoTo(State::kAssignRegions);
  MasterEnv& env = EnvOf(ctx);
  std::vector<MetaEdit> made;
  // Not as a creation writes it, which would make it another table's (S66). OFFLINE also in a disabled table: if an
  // operator ends this, the region becomes what its table asks for, also where the table is enabled without it.
  for (const RegionInfo& region : Made()) {
    made.push_back(
        EditRegion(MetaEdit::Kind::kCreateRegion, {region, RegionState::kOffline, {}, {}, 0, kCreatedTransition + 1}));
  }
  std::vector<MetaEdit> gone;
  if (data_.has_region()) {
    const auto node = env.regions.Get(Region().encoded_name());  // S103: what its row names is not forgotten with it
    if (node && !made.empty()) made.front().region.merged_from = node->merged_from;
    const auto number = data_.transition() + 1;
    env.regions.Take(Region().encoded_name(), number);
    gone.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {Region(), RegionState::kClosed, {}, {}, 0, number}));
  }
  if (RATCHET_MUTANT("mend.old_row_first")) {
    if (auto outcome = WriteMeta(ctx, "old row", gone)) return std::move(*outcome);
  }
  if (auto outcome = WriteMeta(ctx, "new rows", made)) return std::move(*outcome);
  for (const MetaEdit& edit : made) env.regions.Add(edit.region);
  if (auto outcome = WriteMeta(ctx, "old row", gone)) return std::move(*outcome);
  if (data_.has_region()) {
    env.placement.Settled(Region().encoded_name());  // a plan of it would count for ever
    env.regions.Remove(Region().encoded_name());
  }
  data_.set_replaced(true);
  return GoTo(State::kAssignRegions);
}

StepOutcome MendTable::AssignRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  std::vector<ProcedurePtr> assigns;
  // Closes it where the table is disabled.
  for (const RegionInfo& region : Made()) assigns.push_back(TransitRegionState::Assign(region, {}));
  return SpawnThen(State::kFinish, std::move(assigns));
}

StepOutcome MendTable::Finish(StepContext&) {
  std::string made;
  for (const RegionInfo& region : Made()) made += (made.empty() ? "" : ", ") + region.encoded_name();
  if (!data_.has_region()) return Done{fmt::format("new, empty regions: {}", made)};
  return Done{fmt::format("the rows {} of region {} are given up; {}; {}", RangeText(RangeOf(Region())),
                          Region().encoded_name(),
                          data_.quarantine().empty() ? "it had no directory" : "its files are in " + data_.quarantine(),
                          made.empty() ? "other regions have these rows" : "new and empty: " + made)};
}

}  // namespace ratchet::master
