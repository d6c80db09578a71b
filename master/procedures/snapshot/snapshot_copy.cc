#include "master/procedures/snapshot/snapshot_copy.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "common/model/proto/snapshot.pb.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/rights/snapshot_rights.h"
#include "master/procedures/snapshot/copy_region.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {
namespace {

// Maximum number of rounds in a row in which a server reports that it cannot copy a region.
constexpr std::uint32_t kMostCopyFailures = 5;

}  // namespace

pb::TableData NewCopyData(const TableName& table, const CompleteSnapshot& snapshot, bool restores_rights) {
  pb::TableData data = NewTableData(table);
  data.set_snapshot(snapshot.description.name());
  data.set_snapshot_directory(snapshot.directory);
  if (restores_rights) data.set_restores_rights(true);
  return data;
}

std::optional<procedure::PartsLeft> CopiesLeft(const pb::TableData& data) {
  if (data.copied_size() == 0) return std::nullopt;
  const auto left = std::count_if(data.copied().begin(), data.copied().end(),
                                  [](const pb::CopiedRegion& copied) { return copied.built() == 0; });
  return procedure::PartsLeft{static_cast<std::uint64_t>(left), static_cast<std::uint64_t>(data.copied_size())};
}

procedure::Description DescribeCopy(const pb::TableData& data) {
  procedure::Description about;
  about.Add("snapshot", data.snapshot()).Add("table", TableOf(data).ToString());
  AddRegionsLeft(about, CopiesLeft(data));
  if (data.rights_unknown()) {
    about.Add("rights", "none: the snapshot is of an earlier version, which stored no rights");
  } else if (data.restores_rights()) {
    about.Add("rights", data.restored_rights_size());
  }
  return about;
}

Acted<Result<CompleteSnapshot>> FindForStep(StepContext& ctx, const std::string& name) {
  return ActOnFiles(ctx, "looking for snapshot " + name,
                    [name](ClusterFiles& files) { return FindSnapshot(files, name); });
}

Acted<Result<hbase::pb::SnapshotParts>> PartsForStep(StepContext& ctx, const std::string& directory) {
  return ActOnFiles(ctx, fmt::format("reading snapshots/{}/{}", directory, kSnapshotParts),
                    [directory](ClusterFiles& files) { return PartsOf(files, directory); });
}

Acted<Status> MakeSnapshotLayout(StepContext& ctx, const std::string& directory,
                                 std::vector<std::string> encoded_regions) {
  return ActOnFiles(ctx, "making snapshots/" + directory,
                    [directory, encoded = std::move(encoded_regions)](ClusterFiles& files) {
                      return files.CreateSnapshotLayout(directory, encoded);
                    });
}

Acted<Status> PutForStep(StepContext& ctx, const std::string& directory, const std::string& file, std::string content) {
  return ActOnFiles(ctx, fmt::format("writing snapshots/{}/{}", directory, file),
                    [directory, file, content = std::move(content)](ClusterFiles& files) {
                      return files.PutSnapshotFile(directory, file, content);
                    });
}

std::optional<StepOutcome> ArchiveForStep(StepContext& ctx, const std::string& directory) {
  return ActUntilDone(
      ctx, fmt::format("moving snapshots/{} to the archive", directory),
      [directory, epoch = ctx.epoch()](ClusterFiles& files) { return files.ArchiveSnapshot(directory, epoch); });
}

namespace {

Status SetParts(pb::TableData& data, const std::string& directory, const hbase::pb::SnapshotParts& parts) {
  auto descriptor = FromProto(parts.schema());
  if (!descriptor.ok()) return SnapshotDamaged(descriptor.error().message());
  descriptor->name = TableOf(data);
  hbase::pb::TableSchema schema;
  ToProto(*descriptor, schema);
  data.set_schema(schema.SerializeAsString());
  data.set_snapshot_directory(directory);
  data.clear_split_keys();
  data.clear_copied();
  for (const auto& part : parts.part()) {
    const auto region = FromProto(part.region());
    if (!region.ok()) return SnapshotDamaged(region.error().message());
    if (!FitsMeta(TableOf(data), region->start_key)) {
      return IllegalRequest(fmt::format("the name {} is too long for the keys of snapshot {}: choose a shorter one",
                                        TableOf(data).ToString(), data.snapshot()));
    }
    if (data.copied_size() > 0) data.add_split_keys(region->start_key);
    pb::CopiedRegion* copied = data.add_copied();
    *copied->mutable_part() = ToData(*region);
    copied->set_number(part.number());
  }
  return Ok();
}

}  // namespace

std::optional<StepOutcome> ReadSnapshot(StepContext& ctx, pb::TableData& data) {
  auto snapshot = FindForStep(ctx, data.snapshot());
  RATCHET_STEP(snapshot.wait);
  if (!snapshot.result->ok()) return AgainUnlessFinal(snapshot.result->error());
  const std::string& directory = (*snapshot.result)->directory;
  // Another snapshot took the name since the request was accepted: the caller has no right to its rows by that.
  if (data.has_snapshot_directory() && data.snapshot_directory() != directory)
    return Fail{SnapshotMissing(data.snapshot())};
  auto parts = PartsForStep(ctx, directory);
  RATCHET_STEP(parts.wait);
  if (!parts.result->ok()) return AgainUnlessFinal(parts.result->error());
  if (Status set = SetParts(data, directory, **parts.result); !set.ok()) return AgainUnlessFinal(set.error());
  const auto schema = DescriptorIn(data);
  if (!schema.ok()) return Fail{schema.error()};
  if (Status set = SetRestoredRights(EnvOf(ctx), **parts.result, *schema, data); !set.ok()) return Fail{set.error()};
  if (data.rights_unknown())
    RATCHET_LOG(kWarn, "pid={} snapshot {} is of an earlier version, which stored no rights: table {} gets none",
                ctx.pid(), data.snapshot(), TableOf(data).ToString());
  return std::nullopt;
}

std::optional<StepOutcome> OrderCopies(StepContext& ctx, const pb::TableData& data, std::vector<ProcedurePtr>& orders) {
  MasterEnv& env = EnvOf(ctx);
  auto ticket = ctx.TakeTicket(Membership::ServerAddedEvent());
  const std::vector<ServerName> online = env.servers.Online();
  if (online.empty()) return Await{std::move(ticket), std::nullopt};
  const std::vector<RegionInfo> regions = NewRegionsOf(data, ctx.pid());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const pb::CopiedRegion& copied = data.copied(static_cast<int>(i));
    if (copied.built() != 0) continue;
    const ServerName& server = online[(i + data.failures()) % online.size()];  // another server after a failure
    orders.push_back(CloneRegion::Make(copied, regions[i], server.ToString(), data));
  }
  return std::nullopt;
}

std::optional<StepOutcome> ReadCopyResults(StepContext& ctx, pb::TableData& data) {
  std::map<std::string, pb::CopiedRegion*> copied;
  for (pb::CopiedRegion& one : *data.mutable_copied()) copied[FromData(one.part()).encoded_name()] = &one;
  const CopyRound round = CopiesOf(ctx);
  for (const MadeCopy& made : round.made) {
    const auto one = copied.find(made.source);
    if (one != copied.end()) one->second->set_built(made.number.value());
  }
  if (round.why.empty()) {
    data.set_failures(0);
    return std::nullopt;
  }
  // A snapshot that was deleted meanwhile cannot reappear in this directory, so the procedure fails.
  auto found = FindForStep(ctx, data.snapshot());
  RATCHET_STEP(found.wait);
  const auto& there = *found.result;
  const bool gone =
      there.ok() ? there->directory != data.snapshot_directory() : there.error().code() == Code::kNotFound;
  if (gone)
    return Fail{SnapshotCopyFailed(fmt::format("snapshot {} was deleted while it was being copied", data.snapshot()))};
  if (round.refused) data.set_failures(data.failures() + 1);
  if (data.failures() >= kMostCopyFailures) return Fail{SnapshotCopyFailed(round.why)};
  if (ctx.attempt() > 1) return std::nullopt;
  return Retry{Error(Code::kUnavailable, round.why),
               BackoffDelay(EnvOf(ctx).options.retry, 2 + data.failures(), ctx.prng())};
}

}  // namespace ratchet::master
