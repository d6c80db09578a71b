#include "master/procedures/import_snapshot.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "master/env/cluster_files.h"
#include "master/procedures/snapshot.h"
#include "master/state/key_ranges.h"
#include "master/state/master_options.h"
#include "master/state/region_directory.h"
#include "master/state/snapshot_export.h"

namespace ratchet::master {
namespace {

constexpr int kMostImportedRegions = 20'000;  // as of a snapshot that is taken

struct Exported {
  hbase::pb::SnapshotDescription description;
  hbase::pb::SnapshotParts parts;
};

// The parts cover all keys once, and each has its manifest's number.
Status CheckParts(const hbase::pb::SnapshotDescription& description, const hbase::pb::SnapshotParts& parts) {
  const auto table = TableName::Parse(description.table());
  if (!table.ok()) return SnapshotDamaged(table.error().message());
  if (const auto schema = FromProto(parts.schema()); !schema.ok()) return SnapshotDamaged(schema.error().message());
  if (parts.part_size() > kMostImportedRegions)
    return SnapshotDamaged(
        fmt::format("{} regions: a snapshot has at most {}", parts.part_size(), kMostImportedRegions));
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

// "complete" is written last: without it the export was cut short.
Result<Exported> ReadExport(ClusterFiles& files, const std::string& place) {
  const auto complete = files.ReadExportFile(place, kSnapshotComplete);
  if (!complete.ok() && complete.error().code() == Code::kNotFound)
    return SnapshotMissing(fmt::format("{} (there is no complete export)", place));
  if (!complete.ok()) return SnapshotDamaged(complete.error().message());
  const auto parts = files.ReadExportFile(place, kSnapshotParts);
  if (!parts.ok()) return SnapshotDamaged(parts.error().message());
  Exported exported;
  if (!exported.description.ParseFromString(*complete) || !exported.parts.ParseFromString(*parts))
    return SnapshotDamaged(fmt::format("{}: its description cannot be read", place));
  RATCHET_TRY(CheckParts(exported.description, exported.parts));
  return exported;
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
  auto exported = ReadExport(env.files, data_.place());
  if (!exported.ok()) return AgainUnlessFinal(exported.error());
  if (data_.snapshot().empty()) data_.set_snapshot(exported->description.name());
  if (Status sound = CheckSnapshotName(data_.snapshot()); !sound.ok()) return Fail{sound.error()};
  env.snapshots.Hold(HoldOf());  // the name, from before others are looked for
  for (const SnapshotHold& hold : env.snapshots.List()) {
    if (hold.name != data_.snapshot() || hold.pid == ctx.pid() || !SnapshotRuns(env, hold.pid)) continue;
    return Fail{SnapshotFailed(fmt::format("pid={} is making snapshot {}", hold.pid, hold.name))};
  }
  const auto there = FindSnapshot(env.files, data_.snapshot());
  if (there.ok()) return Fail{SnapshotExists(data_.snapshot())};
  if (there.error().code() != Code::kNotFound) return AgainUnlessFinal(there.error());
  exported->description.set_name(data_.snapshot());
  exported->description.clear_ttl();  // it would be over at once
  data_.set_description(exported->description.SerializeAsString());
  data_.set_directory(SnapshotDirectoryName(data_.snapshot(), ctx.pid()));
  data_.set_regions(static_cast<std::uint32_t>(exported->parts.part_size()));
  return GoTo(State::kWriteInfo);
}

StepOutcome ImportSnapshot::GiveUp(StepContext& ctx, const Error& why) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const Status gone = EnvOf(ctx).files.ArchiveSnapshot(data_.directory(), ctx.epoch());
  if (!gone.ok()) return Retry{gone.error(), std::nullopt};
  return Fail{why};
}

// With the list of parts, so that the steps that follow do not depend on what becomes of that of the export.
StepOutcome ImportSnapshot::WriteInfo(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto exported = ReadExport(env.files, data_.place());
  if (!exported.ok()) return GiveUp(ctx, exported.error());
  std::vector<std::string> encoded;
  for (const auto& part : exported->parts.part()) encoded.push_back(FromProto(part.region())->encoded_name());
  if (encoded.size() != data_.regions())
    return GiveUp(ctx, SnapshotFailed(fmt::format("{} has changed while it was being imported", data_.place())));
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  Status made = env.files.CreateSnapshotLayout(data_.directory(), encoded);
  if (made.ok())
    made = env.files.PutSnapshotFile(data_.directory(), kSnapshotParts, exported->parts.SerializeAsString());
  if (made.ok()) return GoTo(State::kCopyRegions);
  const Code code = made.error().code();
  if (code == Code::kNoSpace || code == Code::kInvalidArgument) return GiveUp(ctx, made.error());
  return Retry{made.error(), std::nullopt};
}

StepOutcome ImportSnapshot::CopyRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto parts = PartsOf(env.files, data_.directory());
  if (!parts.ok()) return GiveUp(ctx, parts.error());
  const auto next = NextRegions(data_, *parts);
  if (!next.ok()) return GiveUp(ctx, next.error());
  if (next->empty()) return GoTo(State::kVerify);
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const auto copied = ctx.Once<Result<CopiedFiles>>("copy", [&](std::function<void(Result<CopiedFiles>)> done) {
    env.files.ImportRegions(data_.place(), *next, data_.directory(), std::move(done));
  });
  if (!copied) return ctx.AwaitOnce();
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
  return GoTo(State::kCopyRegions);
}

StepOutcome ImportSnapshot::Verify(StepContext& ctx) {
  const auto parts = PartsOf(EnvOf(ctx).files, data_.directory());
  if (!parts.ok()) return GiveUp(ctx, parts.error());
  hbase::pb::SnapshotDescription description;
  (void)description.ParseFromString(data_.description());
  if (Status sound = CheckParts(description, *parts); !sound.ok()) return GiveUp(ctx, sound.error());
  return GoTo(State::kComplete);
}

StepOutcome ImportSnapshot::Complete(StepContext& ctx) {
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const Status put = EnvOf(ctx).files.PutSnapshotFile(data_.directory(), kSnapshotComplete, data_.description());
  if (!put.ok()) return Retry{put.error(), std::nullopt};
  return GoTo(State::kPostOperation);
}

StepOutcome ImportSnapshot::PostOperation(StepContext& ctx) {
  EnvOf(ctx).snapshots.Release(ctx.pid());
  const std::string text = fmt::format("{} regions, {} files, {} bytes", data_.regions(), data_.files(), data_.bytes());
  RATCHET_LOG(kInfo, "pid={} snapshot {} is imported from {}: {}", ctx.pid(), data_.snapshot(), data_.place(), text);
  return Done{text};
}

void ImportSnapshot::OnRecovered(const procedure::EnvRef& env) {
  if (!data_.directory().empty()) env.As<MasterEnv>().snapshots.Hold(HoldOf());
}

}  // namespace ratchet::master
