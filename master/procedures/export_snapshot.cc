#include "master/procedures/export_snapshot.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "master/env/cluster_files.h"
#include "master/state/master_options.h"
#include "master/state/snapshot_book.h"
#include "master/state/snapshot_export.h"
#include "procedure/executor.h"

namespace ratchet::master {

std::string DescribeTransfer(const pb::SnapshotTransferData& data) {
  return fmt::format("snapshot={}, place={}", data.snapshot(), data.place()) + RegionsLeftText(RegionsToTransfer(data));
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

std::size_t UnfinishedTransfers(const MasterEnv& env, ProcId self) {
  std::size_t others = 0;
  for (const char* type : {"ExportSnapshot", "ImportSnapshot"}) {
    for (const ProcId pid : env.executor->FindUnfinished(type)) others += pid == self ? 0 : 1;
  }
  return others;
}

ProcedurePtr ExportSnapshot::Make(const std::string& snapshot, const std::string& place) {
  pb::SnapshotTransferData data;
  data.set_snapshot(snapshot);
  data.set_place(place);
  return std::make_unique<ExportSnapshot>(std::move(data));
}

std::string ExportSnapshot::Describe() const { return DescribeTransfer(data_); }
std::optional<procedure::PartsLeft> ExportSnapshot::Parts() const { return RegionsToTransfer(data_); }

// The place is this snapshot's from here on: a second snapshot of the same name is another one.
StepOutcome ExportSnapshot::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status allowed = CheckExportPlace(env.options.snapshot_export_dir, data_.place()); !allowed.ok())
    return Fail{allowed.error()};
  const auto snapshot = FindSnapshot(env.files, data_.snapshot());
  if (!snapshot.ok()) return AgainUnlessFinal(snapshot.error());
  const auto parts = PartsOf(env.files, snapshot->directory);
  if (!parts.ok()) return AgainUnlessFinal(parts.error());
  const std::string source = fmt::format("{} {}", snapshot->directory, snapshot->description.creation_time());
  const auto there = env.files.ReadExportFile(data_.place(), kExportSource);
  if (there.ok() && *there != source) {
    return Fail{SnapshotFailed(
        fmt::format("{} holds an export of another snapshot ({}): choose an empty directory", data_.place(), *there))};
  }
  if (!there.ok() && there.error().code() != Code::kNotFound) return AgainUnlessFinal(there.error());
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  if (Status put = env.files.PutExportFile(data_.place(), kExportSource, source); !put.ok())
    return AgainUnlessFinal(put.error());
  data_.set_directory(snapshot->directory);
  data_.set_regions(static_cast<std::uint32_t>(parts->part_size()));
  return GoTo(State::kCopyRegions);
}

StepOutcome ExportSnapshot::CopyRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto gone = [this] {
    return Fail{SnapshotFailed(fmt::format("snapshot {} was deleted while it was being exported", data_.snapshot()))};
  };
  const auto parts = PartsOf(env.files, data_.directory());
  if (!parts.ok()) return parts.error().code() == Code::kNotFound ? gone() : AgainUnlessFinal(parts.error());
  const auto next = NextRegions(data_, *parts);
  if (!next.ok()) return Fail{next.error()};
  if (next->empty()) return GoTo(State::kComplete);
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  const auto copied = ctx.Once<Result<CopiedFiles>>("copy", [&](std::function<void(Result<CopiedFiles>)> done) {
    env.files.ExportRegions(data_.directory(), *next, data_.place(), std::move(done));
  });
  if (!copied) return ctx.AwaitOnce();
  if (!copied->ok()) {
    const Error& why = copied->error();
    if (why.code() == Code::kNotFound && !PartsOf(env.files, data_.directory()).ok()) return gone();
    if (ctx.attempt() >= kMostTransferFailures) return Fail{SnapshotFailed(why.message())};
    return Retry{why, BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
  }
  data_.set_regions_done(data_.regions_done() + static_cast<std::uint32_t>(next->size()));
  data_.set_files(data_.files() + copied->value().files);
  data_.set_bytes(data_.bytes() + copied->value().bytes);
  return GoTo(State::kCopyRegions);
}

StepOutcome ExportSnapshot::Complete(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  for (const char* name : {kSnapshotParts, kSnapshotComplete}) {
    const auto content = env.files.ReadSnapshotFile(data_.directory(), name);
    if (!content.ok()) return Fail{SnapshotFailed(content.error().message())};
    if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
    if (Status put = env.files.PutExportFile(data_.place(), name, *content); !put.ok()) {
      if (ctx.attempt() >= kMostTransferFailures) return Fail{SnapshotFailed(put.error().message())};
      return Retry{put.error(), BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
    }
  }
  const std::string text = fmt::format("{} regions, {} files, {} bytes", data_.regions(), data_.files(), data_.bytes());
  RATCHET_LOG(kInfo, "pid={} snapshot {} is exported to {}: {}", ctx.pid(), data_.snapshot(), data_.place(), text);
  return Done{text};
}

}  // namespace ratchet::master
