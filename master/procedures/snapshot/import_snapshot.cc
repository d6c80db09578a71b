#include "master/procedures/snapshot/import_snapshot.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "common/model/message_limits.h"
#include "master/cluster/key_ranges.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/snapshot_export.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/snapshot/snapshot.h"
#include "master/procedures/snapshot/snapshot_copy.h"

namespace ratchet::master {
namespace {

constexpr int kMostImportedRegions = 20'000;  // same limit as for taking a snapshot

struct Exported {
  hbase::pb::SnapshotDescription description;
  hbase::pb::SnapshotParts parts;
};

// Checks that the parts cover each key once, and that each part has its manifest's number.
Status CheckParts(const hbase::pb::SnapshotDescription& description, const hbase::pb::SnapshotParts& parts) {
  const auto table = TableName::Parse(description.table());
  if (!table.ok()) return SnapshotDamaged(table.error().message());
  if (const auto schema = FromProto(parts.schema()); !schema.ok()) return SnapshotDamaged(schema.error().message());
  if (parts.part_size() > kMostImportedRegions)
    return SnapshotDamaged(
        fmt::format("{} regions exceed the limit of a snapshot, {}", parts.part_size(), kMostImportedRegions));
  std::vector<RegionNode> regions;
  for (const auto& part : parts.part()) {
    auto region = FromProto(part.region());
    if (!region.ok() || part.number() == 0) return SnapshotDamaged("a part has no region, or no number");
    RegionNode node;
    node.encoded = region->encoded_name();
    node.info = std::move(*region);
    node.state = RegionState::kClosed;
    regions.push_back(std::move(node));
  }
  if (const auto problems = RangeProblems(*table, regions, 1); !problems.empty())
    return SnapshotDamaged(problems.front());
  return Ok();
}

// The export writes "complete" last: without it the export is unfinished.
Result<Exported> ReadExport(ClusterFiles& files, const std::string& place) {
  const auto complete = files.ReadExportFile(place, kSnapshotComplete);
  if (!complete.ok() && complete.error().code() == Code::kNotFound)
    return SnapshotMissing(fmt::format("{} (the directory has no complete export)", place));
  if (!complete.ok()) return SnapshotDamaged(complete.error().message());
  const auto parts = files.ReadExportFile(place, kSnapshotParts);
  if (!parts.ok()) return SnapshotDamaged(parts.error().message());
  Exported exported;
  if (!ParseMessage(*complete, exported.description).ok() ||
      !ParseMessage(*parts, exported.parts, kMostMessagesInFile).ok())
    return SnapshotDamaged(fmt::format("{}: its description cannot be read", place));
  RATCHET_TRY(CheckParts(exported.description, exported.parts));
  return exported;
}

Acted<Result<Exported>> ReadExportForStep(StepContext& ctx, const std::string& place) {
  return ActOnFiles(ctx, "reading the export in " + place,
                    [place](ClusterFiles& files) { return ReadExport(files, place); });
}

}  // namespace

ProcedurePtr ImportSnapshot::Make(const std::string& place, const std::string& name) {
  pb::SnapshotTransferData data;
  data.set_snapshot(name);
  data.set_place(place);
  return std::make_unique<ImportSnapshot>(std::move(data));
}

StepOutcome ImportSnapshot::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status allowed = CheckExportPlace(env.options.snapshot_export_dir, data_.place()); !allowed.ok())
    return Fail{allowed.error()};
  auto read = ReadExportForStep(ctx, data_.place());
  RATCHET_STEP(read.wait);
  Result<Exported>& exported = *read.result;
  if (!exported.ok()) return AgainUnlessFinal(exported.error());
  if (data_.snapshot().empty()) data_.set_snapshot(exported->description.name());
  if (Status sound = CheckSnapshotName(data_.snapshot()); !sound.ok()) return Fail{sound.error()};
  env.snapshots.Hold(HoldOf());  // reserves the name before the search for other snapshots
  for (const SnapshotHold& hold : env.snapshots.List()) {
    if (hold.name != data_.snapshot() || hold.pid == ctx.pid() || !SnapshotRuns(env, hold.pid)) continue;
    return Fail{SnapshotFailed(fmt::format("pid={} is already making snapshot {}", hold.pid, hold.name))};
  }
  auto there = FindForStep(ctx, data_.snapshot());
  RATCHET_STEP(there.wait);
  if (there.result->ok()) return Fail{SnapshotExists(data_.snapshot())};
  if (there.result->error().code() != Code::kNotFound) return AgainUnlessFinal(there.result->error());
  exported->description.set_name(data_.snapshot());
  exported->description.clear_ttl();  // it would expire at once
  data_.set_description(exported->description.SerializeAsString());
  data_.set_directory(SnapshotDirectoryName(data_.snapshot(), ctx.pid()));
  data_.set_regions(static_cast<std::uint32_t>(exported->parts.part_size()));
  return GoTo<&ImportSnapshot::WriteInfo>();
}

StepOutcome ImportSnapshot::GiveUp(StepContext& ctx, const Error& why) {
  RATCHET_STEP(ArchiveForStep(ctx, data_.directory()));
  return Fail{why};
}

// Stores the list of parts too, so that later steps do not depend on the export's files.
StepOutcome ImportSnapshot::WriteInfo(StepContext& ctx) {
  auto read = ReadExportForStep(ctx, data_.place());
  RATCHET_STEP(read.wait);
  const Result<Exported>& exported = *read.result;
  if (!exported.ok()) return GiveUp(ctx, exported.error());
  std::vector<std::string> encoded;
  for (const auto& part : exported->parts.part()) encoded.push_back(FromProto(part.region())->encoded_name());
  if (encoded.size() != data_.regions())
    return GiveUp(ctx, SnapshotFailed(fmt::format("{} has changed while it was being imported", data_.place())));
  auto made = MakeSnapshotLayout(ctx, data_.directory(), std::move(encoded));
  RATCHET_STEP(made.wait);
  if (made.result->ok()) made = PutForStep(ctx, data_.directory(), kSnapshotParts, exported->parts.SerializeAsString());
  RATCHET_STEP(made.wait);
  if (made.result->ok()) return GoTo<&ImportSnapshot::CopyRegions>();
  const Error& why = made.result->error();
  if (why.code() == Code::kNoSpace || why.code() == Code::kInvalidArgument) return GiveUp(ctx, why);
  return Retry{why, std::nullopt};
}

StepOutcome ImportSnapshot::CopyRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  auto read = PartsForStep(ctx, data_.directory());
  RATCHET_STEP(read.wait);
  const auto& parts = *read.result;
  if (!parts.ok()) return GiveUp(ctx, parts.error());
  const auto next = NextRegions(data_, *parts);
  if (!next.ok()) return GiveUp(ctx, next.error());
  if (next->empty()) return GoTo<&ImportSnapshot::Verify>();
  const auto copied = ctx.AsyncCall<Result<CopiedFiles>>("copy", [&](std::function<void(Result<CopiedFiles>)> done) {
    env.files.ImportRegions(data_.place(), *next, data_.directory(), std::move(done));
  });
  if (!copied) return ctx.AwaitAsync();
  if (!copied->ok()) {
    const Error& why = copied->error();
    const bool for_good = why.code() == Code::kCorruption || why.code() == Code::kNotFound;
    if (for_good) return GiveUp(ctx, SnapshotDamaged(why.message()));
    if (ctx.attempt() >= kMostTransferFailures) return GiveUp(ctx, SnapshotFailed(why.message()));
    return Retry{why, BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
  }
  data_.set_regions_done(data_.regions_done() + static_cast<std::uint32_t>(next->size()));
  data_.set_files(data_.files() + copied->value().files);
  data_.set_bytes(data_.bytes() + copied->value().bytes);
  return GoTo<&ImportSnapshot::CopyRegions>();
}

StepOutcome ImportSnapshot::Verify(StepContext& ctx) {
  auto read = PartsForStep(ctx, data_.directory());
  RATCHET_STEP(read.wait);
  const auto& parts = *read.result;
  if (!parts.ok()) return GiveUp(ctx, parts.error());
  hbase::pb::SnapshotDescription description;
  if (!description.ParseFromString(data_.description()))
    return GiveUp(ctx, Error(Code::kCorruption, "the recorded description of the snapshot cannot be read"));
  if (Status sound = CheckParts(description, *parts); !sound.ok()) return GiveUp(ctx, sound.error());
  return GoTo<&ImportSnapshot::Complete>();
}

StepOutcome ImportSnapshot::Complete(StepContext& ctx) {
  auto put = PutForStep(ctx, data_.directory(), kSnapshotComplete, data_.description());
  RATCHET_STEP(put.wait);
  if (!put.result->ok()) return Retry{put.result->error(), std::nullopt};
  return GoTo<&ImportSnapshot::PostOperation>();
}

StepOutcome ImportSnapshot::PostOperation(StepContext& ctx) {
  EnvOf(ctx).snapshots.Release(ctx.pid());
  const std::string text = fmt::format("{} regions, {} files, {} bytes", data_.regions(), data_.files(), data_.bytes());
  RATCHET_LOG(kInfo, "pid={} imported snapshot {} from {}: {}", ctx.pid(), data_.snapshot(), data_.place(), text);
  return Done{text};
}

void ImportSnapshot::OnRecovered(const procedure::EnvRef& env) {
  if (!data_.directory().empty()) env.As<MasterEnv>().snapshots.Hold(HoldOf());
}

}  // namespace ratchet::master
