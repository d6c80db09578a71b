#include "master/procedures/table/mend_table.h"

#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/key_ranges.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_creations.h"
#include "master/cluster/table_directory.h"
#include "master/policy/placement.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/table/new_table.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

pb::MendTableData DataFor(const TableName& table) {
  pb::MendTableData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  return data;
}

// Returns the in-memory regions of `regions` that share keys with `range`, without `except`.
std::vector<RegionNode> Sharing(std::vector<RegionNode> regions, const KeyRange& range, const std::string& except) {
  std::erase_if(regions, [&](const RegionNode& node) {
    return node.encoded == except || !HasItsRows(node.state) || !Overlap(RangeOf(node.info), range);
  });
  return regions;
}

// Basis of a repair: `regions` is the result of Sharing().
struct Counted {
  std::vector<RegionNode> regions;
  TableName table;
  KeyRange range;
  std::string except;
};

// Returns Ok if memory and hbase:meta have the same regions in the range, and no write in progress can change that.
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
    if (row == rows.end() || row->second < node.reserved) {
      return Error(
          Code::kUnavailable,
          fmt::format("waits until hbase:meta certainly has region {}, which covers the same keys", node.encoded));
    }
    rows.erase(row);
  }
  if (rows.empty()) return Ok();
  return Error(Code::kUnavailable,
               fmt::format("waits until region {}, which has a row in hbase:meta, is in this master's memory",
                           rows.begin()->first));
}

}  // namespace

ProcedurePtr MendTable::GiveUp(const RegionInfo& region) {
  pb::MendTableData data = DataFor(region.table);
  *data.mutable_region() = ToData(region);
  return std::make_unique<MendTable>(std::move(data));
}

ProcedurePtr MendTable::FillHoles(const TableName& table) { return std::make_unique<MendTable>(DataFor(table)); }

procedure::LockSet MendTable::Locks() const { return {procedure::Exclusive(TableKey(Table()))}; }

// A repair that has not begun changes nothing, and itself waits for the repairs of MetaComparison.
Claims MendTable::Uses() const {
  Claims claims;
  if (data_.begun()) claims.tables.push_back({Table(), /*with_regions=*/true, {}});
  return claims;
}

procedure::Description MendTable::Describe() const {
  procedure::Description about;
  about.Add("table", Table().ToString());
  if (data_.has_region()) {
    about.Add("gives up region", Region().encoded_name());
  } else {
    about.Note("fills holes");
  }
  if (data_.begun()) about.Section().Add("new regions", data_.made_size());
  return about;
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
    return RegionInTransition(encoded,
                              "hbase:meta names no server for it, and not every server has sent its region list");
  const bool any = RATCHET_MUTANT("repair.give_up_placed");
  if (node.owner.valid() && node.failed_opens == 0 && !any) {
    return RegionInTransition(encoded,
                              fmt::format("pid={} works on it and has not been refused by any server", node.owner));
  }
  if (!node.location || (node.owner.valid() && node.failed_opens > 0) || any) return Ok();
  return IllegalRequest(
      fmt::format("region {} is {} on {}: only a region that no server has can be given up. To lose its rows anyway, "
                  "close it first (ratchet unassign {})",
                  encoded, RegionStateText(node.state), node.location->ToString(), encoded));
}

std::optional<StepOutcome> MendTable::OwnRegion(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const std::string encoded = Region().encoded_name();
  const auto found = env.regions.Get(encoded);
  if (!found) return Fail{UnknownRegion(encoded)};
  RegionNode judged = *found;
  if (judged.owner == pid()) judged.owner = ProcId();  // this step may run again
  if (const Status may = MayGiveUp(judged); !may.ok()) return Fail{may.error()};
  if (env.regions.Own(encoded, pid())) {
    const RegionNode node = *env.regions.Get(encoded);
    data_.set_region_state(static_cast<std::uint32_t>(node.state));
    data_.set_transition(node.reserved);  // S65 (transition number reserved first)
    return std::nullopt;
  }
  // Releases the lock, so that the region's owner can get it; the owner ends if no server has the region.
  env.regions.RequestRelease(encoded, pid());
  (void)env.executor->Kick(found->owner);
  return Retry{Error(Code::kUnavailable, fmt::format("waits until pid={} releases the region", found->owner)),
               std::nullopt};
}

// Rows of a table are added and removed only under its lock, which this procedure holds, so the rows stay the same
// after the check.
std::optional<StepOutcome> MendTable::ConfirmRows(StepContext& ctx, const std::vector<RegionNode>& counted) {
  const auto confirmed = ctx.AsyncCall<Status>("rows", [&](std::function<void(Status)> done) {
    const Counted by{counted, Table(), Wanted(), data_.has_region() ? Region().encoded_name() : std::string()};
    EnvOf(ctx).meta.Scan([by, done = std::move(done)](const Result<MetaContents>& contents) {
      done(contents.ok() ? AgreesWith(by, *contents) : contents.error().Annotate("reading hbase:meta"));
    });
  });
  if (!confirmed) return ctx.AwaitAsync();
  if (confirmed->ok() || RATCHET_MUTANT("repair.trust_memory")) return std::nullopt;
  return Retry{confirmed->error(), std::nullopt};
}

KeyRange MendTable::Wanted() const { return data_.has_region() ? RangeOf(Region()) : KeyRange{}; }

StepOutcome MendTable::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table) return Fail{TableNotFound(Table())};
  if (Table().IsMeta()) return Fail{IllegalRequest("hbase:meta has one region for all rows")};
  // S173 (only creations add table rows): rows of an ended repair that arrive later would not be counted.
  const Status may = env.creations.MayMakeRegions(Table(), ctx.pid());
  if (!may.ok() && !RATCHET_MUTANT("repair.mend_beside_creation")) return Retry{may.error(), std::nullopt};
  const auto list = [directory = table->directory](ClusterFiles& files) -> Status {
    const auto listed = files.ListRegionDirectories(directory);
    return listed.ok() ? Ok() : Status(listed.error());
  };
  auto there = ActOnFiles(ctx, "looking for data/" + table->directory, list);
  RATCHET_STEP(there.wait);
  if (!there.result->ok()) {
    if (there.result->error().code() != Code::kNotFound) return Retry{there.result->error(), std::nullopt};
    return Fail{IllegalRequest(
        fmt::format("directory data/{} of table {} is missing: restore it, or disable and drop the table",
                    table->directory, Table().ToString()))};
  }
  const std::string given_up = data_.has_region() ? Region().encoded_name() : std::string();
  const std::vector<RegionNode> others = Sharing(env.regions.OfTable(Table()), Wanted(), given_up);
  RATCHET_STEP(ConfirmRows(ctx, others));
  // This is the last action that can fail: the procedure keeps the region that it takes here.
  if (data_.has_region()) {
    RATCHET_STEP(OwnRegion(ctx));
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
    return Done{fmt::format("the regions of table {} cover all keys", Table().ToString())};
  data_.set_directory(table->directory);
  data_.set_begun(true);
  return GoTo<&MendTable::MoveFiles>();
}

StepOutcome MendTable::MoveFiles(StepContext& ctx) {
  if (data_.has_region()) {
    const auto move = [directory = data_.directory(), encoded = Region().encoded_name(),
                       mark = fmt::format("{}", pid())](ClusterFiles& files) {
      return files.QuarantineRegion(directory, encoded, mark);
    };
    auto moved = ActOnFiles(ctx, fmt::format("moving region {} to the quarantine", Region().encoded_name()), move);
    RATCHET_STEP(moved.wait);
    if (!moved.result->ok()) return Retry{moved.result->error(), std::nullopt};
    data_.set_quarantine(**moved.result);
  }
  std::vector<std::string> encoded;
  for (const RegionInfo& region : Made()) encoded.push_back(region.encoded_name());
  const auto make = [directory = data_.directory(), encoded = std::move(encoded)](ClusterFiles& files) {
    return files.MakeRegionDirectories(directory, encoded);
  };
  const std::string what = fmt::format("making directories of new regions in data/{}", data_.directory());
  RATCHET_STEP(ActUntilDone(ctx, what, make));
  if (data_.has_region()) {
    RATCHET_LOG(kWarn, "pid={} gives up region {}: {}", ctx.pid(), Region().encoded_name(),
                data_.quarantine().empty() ? "it has no directory" : "its files are in " + data_.quarantine());
  }
  return GoTo<&MendTable::UpdateMeta>();
}

// Writes the new rows first, so that every key has a region even if the procedure or its master ends in between.
StepOutcome MendTable::UpdateMeta(StepContext& ctx) {
  // After a rerun by an operator: the transitions of the new regions have already written newer rows.
  if (data_.replaced()) return GoTo<&MendTable::AssignRegions>();
  MasterEnv& env = EnvOf(ctx);
  // S173 (only creations add table rows): the comparison may have sent the row of this region again before the region
  // had an owner. That row must not arrive after the deletion.
  const Status may = env.creations.MayMakeRegions(Table(), ctx.pid());
  if (data_.has_region() && !may.ok() && !RATCHET_MUTANT("repair.delete_beside_creation"))
    return Retry{may.error(), std::nullopt};
  std::vector<MetaEdit> made;
  // The transition number differs from the one that CreateTable writes, which would assign the region to another table
  // (S66: table row last in, first out). The state is OFFLINE also in a disabled table: if an operator ends this
  // procedure, the region gets the state that its table needs, even if the table is enabled meanwhile.
  for (const RegionInfo& region : Made()) {
    made.push_back(
        EditRegion(MetaEdit::Kind::kCreateRegion, {region, RegionState::kOffline, {}, {}, 0, kCreatedTransition + 1}));
  }
  std::vector<MetaEdit> gone;
  if (data_.has_region()) {
    // S103 (merged parents are passed on): keeps the merged regions that its row names
    const auto node = env.regions.Get(Region().encoded_name());
    if (node && !made.empty()) made.front().region.merged_from = node->merged_from;
    const auto number = data_.transition() + 1;
    env.regions.Reserve(Region().encoded_name(), number);
    gone.push_back(EditRegion(MetaEdit::Kind::kDeleteRegion, {Region(), RegionState::kClosed, {}, {}, 0, number}));
  }
  const bool at_once = made.empty() || RATCHET_MUTANT("repair.old_row_first");
  if (at_once) RATCHET_STEP(WriteMeta(ctx, "old row", gone));
  RATCHET_STEP(WriteMeta(ctx, "new rows", made));
  for (const MetaEdit& edit : made) env.regions.Add(edit.region);
  RATCHET_STEP(WriteMeta(ctx, "old row", gone));
  if (data_.has_region()) {
    env.placement.Settled(Region().encoded_name());  // release the placement reservation
    env.regions.Remove(Region().encoded_name());
  }
  data_.set_replaced(true);
  return GoTo<&MendTable::AssignRegions>();
}

StepOutcome MendTable::AssignRegions(StepContext& /*ctx*/) {
  std::vector<ProcedurePtr> assigns;
  // In a disabled table, the assignment closes the region.
  for (const RegionInfo& region : Made()) assigns.push_back(TransitRegionState::Assign(region, {}));
  return SpawnThen<&MendTable::Finish>(std::move(assigns));
}

StepOutcome MendTable::Finish(StepContext&) {
  std::string made;
  for (const RegionInfo& region : Made()) made += (made.empty() ? "" : ", ") + region.encoded_name();
  if (!data_.has_region()) return Done{fmt::format("new, empty regions: {}", made)};
  return Done{fmt::format("gave up the rows {} of region {}; {}; {}", RangeText(RangeOf(Region())),
                          Region().encoded_name(),
                          data_.quarantine().empty() ? "it had no directory" : "its files are in " + data_.quarantine(),
                          made.empty() ? "other regions have these rows" : "new and empty: " + made)};
}

}  // namespace ratchet::master
