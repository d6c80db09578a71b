#include "master/procedures/snapshot/export_snapshot.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "master/cluster/snapshot_export.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/snapshot/snapshot_copy.h"

namespace ratchet::master {

namespace {

Acted<Status> PutInExport(StepContext& ctx, const std::string& place, const std::string& file, std::string content) {
  return ActOnFiles(ctx, fmt::format("writing {}/{}", place, file),
                    [place, file, content = std::move(content)](ClusterFiles& files) {
                      return files.PutExportFile(place, file, content);
                    });
}

}  // namespace

procedure::Description DescribeTransfer(const pb::SnapshotTransferData& data) {
  procedure::Description about;
  about.Add("snapshot", data.snapshot()).Add("place", data.place());
  AddRegionsLeft(about, RegionsToTransfer(data));
  return about;
}

std::optional<procedure::PartsLeft> RegionsToTransfer(const pb::SnapshotTransferData& data) {
  if (data.directory().empty()) return std::nullopt;
  const std::uint64_t left = data.regions() - std::min(data.regions(), data.regions_done());
  return procedure::PartsLeft{left, data.regions()};
}

Result<std::vector<std::string>> NextRegions(const pb::SnapshotTransferData& data,
                                             const hbase::pb::SnapshotParts& parts) {
  std::vector<std::string> next;
  for (int i = static_cast<int>(data.regions_done()); i < parts.part_size(); ++i) {
    if (next.size() == kRegionsAtATime) break;
    const auto region = FromProto(parts.part(i).region());
    if (!region.ok()) return SnapshotDamaged(region.error().message());
    next.push_back(region->encoded_name());
  }
  return next;
}

ProcedurePtr ExportSnapshot::Make(const std::string& snapshot, const std::string& place) {
  pb::SnapshotTransferData data;
  data.set_snapshot(snapshot);
  data.set_place(place);
  return std::make_unique<ExportSnapshot>(std::move(data));
}

procedure::LockSet ExportSnapshot::Locks() const {
  if (data_.has_directory()) return {};
  return {procedure::Exclusive(procedure::ResourceKey::Table("export:" + data_.place()))};
}

procedure::Description ExportSnapshot::Describe() const { return DescribeTransfer(data_); }
std::optional<procedure::PartsLeft> ExportSnapshot::Parts() const { return RegionsToTransfer(data_); }

// From here on the place belongs to this snapshot; another snapshot of the same name is refused.
StepOutcome ExportSnapshot::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status allowed = CheckExportPlace(env.options.snapshot_export_dir, data_.place()); !allowed.ok())
    return Fail{allowed.error()};
  auto found = FindForStep(ctx, data_.snapshot());
  RATCHET_STEP(found.wait);
  const auto& snapshot = *found.result;
  if (!snapshot.ok()) return AgainUnlessFinal(snapshot.error());
  auto read = PartsForStep(ctx, snapshot->directory);
  RATCHET_STEP(read.wait);
  const auto& parts = *read.result;
  if (!parts.ok()) return AgainUnlessFinal(parts.error());
  const std::string source = fmt::format("{} {}", snapshot->directory, snapshot->description.creation_time());
  auto owner =
      ActOnFiles(ctx, fmt::format("reading {}/{}", data_.place(), kExportSource),
                 [place = data_.place()](ClusterFiles& files) { return files.ReadExportFile(place, kExportSource); });
  RATCHET_STEP(owner.wait);
  const auto& there = *owner.result;
  if (there.ok() && *there != source) {
    return Fail{SnapshotFailed(
        fmt::format("{} has an export of another snapshot ({}): choose an empty directory", data_.place(), *there))};
  }
  if (!there.ok() && there.error().code() != Code::kNotFound) return AgainUnlessFinal(there.error());
  auto put = PutInExport(ctx, data_.place(), kExportSource, source);
  RATCHET_STEP(put.wait);
  if (!put.result->ok()) return AgainUnlessFinal(put.result->error());
  data_.set_directory(snapshot->directory);
  data_.set_regions(static_cast<std::uint32_t>(parts->part_size()));
  return GoTo<&ExportSnapshot::CopyRegions>();
}

StepOutcome ExportSnapshot::CopyRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto gone = [this] {
    return Fail{SnapshotFailed(fmt::format("snapshot {} was deleted while it was being exported", data_.snapshot()))};
  };
  auto read = PartsForStep(ctx, data_.directory());
  RATCHET_STEP(read.wait);
  const auto& parts = *read.result;
  if (!parts.ok()) return parts.error().code() == Code::kNotFound ? gone() : AgainUnlessFinal(parts.error());
  const auto next = NextRegions(data_, *parts);
  if (!next.ok()) return Fail{next.error()};
  if (next->empty()) return GoTo<&ExportSnapshot::Complete>();
  const auto copied = ctx.AsyncCall<Result<CopiedFiles>>("copy", [&](std::function<void(Result<CopiedFiles>)> done) {
    env.files.ExportRegions(data_.directory(), *next, data_.place(), std::move(done));
  });
  if (!copied) return ctx.AwaitAsync();
  if (!copied->ok()) {
    const Error& why = copied->error();
    if (why.code() == Code::kNotFound) {
      auto again = ActOnFiles(ctx, "looking again for snapshots/" + data_.directory(),
                              [directory = data_.directory()](ClusterFiles& files) -> Status {
                                const auto parts_now = PartsOf(files, directory);
                                return parts_now.ok() ? Ok() : Status(parts_now.error());
                              });
      RATCHET_STEP(again.wait);
      if (!again.result->ok()) return gone();
    }
    if (ctx.attempt() >= kMostTransferFailures) return Fail{SnapshotFailed(why.message())};
    return Retry{why, BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
  }
  data_.set_regions_done(data_.regions_done() + static_cast<std::uint32_t>(next->size()));
  data_.set_files(data_.files() + copied->value().files);
  data_.set_bytes(data_.bytes() + copied->value().bytes);
  return GoTo<&ExportSnapshot::CopyRegions>();
}

StepOutcome ExportSnapshot::Complete(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  for (const char* name : {kSnapshotParts, kSnapshotComplete}) {
    auto read = ActOnFiles(
        ctx, fmt::format("reading snapshots/{}/{}", data_.directory(), name),
        [directory = data_.directory(), name](ClusterFiles& files) { return files.ReadSnapshotFile(directory, name); });
    RATCHET_STEP(read.wait);
    if (!read.result->ok()) return Fail{SnapshotFailed(read.result->error().message())};
    auto put = PutInExport(ctx, data_.place(), name, **read.result);
    RATCHET_STEP(put.wait);
    if (!put.result->ok()) {
      const Error& why = put.result->error();
      if (ctx.attempt() >= kMostTransferFailures) return Fail{SnapshotFailed(why.message())};
      return Retry{why, BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
    }
  }
  const std::string text = fmt::format("{} regions, {} files, {} bytes", data_.regions(), data_.files(), data_.bytes());
  RATCHET_LOG(kInfo, "pid={} exported snapshot {} to {}: {}", ctx.pid(), data_.snapshot(), data_.place(), text);
  return Done{text};
}

}  // namespace ratchet::master
