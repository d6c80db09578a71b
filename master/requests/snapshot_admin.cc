#include "master/requests/snapshot_admin.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/errors.h"
#include "master/cluster/snapshot_book.h"
#include "master/cluster/snapshot_export.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/claims_of.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/snapshot/clone_snapshot.h"
#include "master/procedures/snapshot/import_snapshot.h"
#include "master/procedures/snapshot/restore_snapshot.h"
#include "master/procedures/snapshot/snapshot.h"
#include "master/requests/submit_asked.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// Returns why the snapshot is removed; empty if it stays.
std::string WhyItGoes(ClusterFiles& files, const std::string& directory, bool runs, bool by_age, std::int64_t now_ms) {
  const auto content = files.ReadSnapshotFile(directory, kSnapshotComplete);
  if (!content.ok()) return !runs && content.error().code() == Code::kNotFound ? "it was not completed" : "";
  if (!by_age) return "";
  hbase::pb::SnapshotDescription description;
  if (!description.ParseFromString(*content) || !IsExpired(description, now_ms)) return "";
  return fmt::format("its time to live, {} s, is over", description.ttl());
}

}  // namespace

void SnapshotAdmin::TakeSnapshot(hbase::pb::SnapshotDescription description, RequestContext context, Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  const auto table = TableName::Parse(description.table());
  if (!table.ok()) return done(IllegalRequest(table.error().message()));
  if (Status sound = CheckSnapshot(env_, *table, description.name()); !sound.ok()) return done(sound.error());
  if (description.ttl() < 0) return done(IllegalRequest("a snapshot's time to live must be seconds >= 0"));
  if (description.creation_time() <= 0) description.set_creation_time(env_.clock.WallMillis());
  if (description.owner().empty()) description.set_owner(context.user);
  auto work = [this, description = std::move(description), table = *table, context = std::move(context), done] {
    const auto there = FindSnapshot(env_.files, description.name());
    if (there.ok()) return done(SnapshotExists(description.name()));
    if (there.error().code() != Code::kNotFound) return done(there.error());
    // The procedure checks again whether another one runs, because that is a question to the executor.
    SubmitAsked(env_, Snapshot::Make(table, description), context, {}, done);
  };
  if (!env_.RunSlowWork(std::move(work))) done(SnapshotsWait());
}

namespace {

Status StillPermitted(const SnapshotAdmin::Permitted& permitted, const hbase::pb::SnapshotDescription& snapshot,
                      bool table_exists) {
  const bool same = permitted.snapshot.owner() == snapshot.owner() && permitted.snapshot.table() == snapshot.table() &&
                    permitted.snapshot.creation_time() == snapshot.creation_time();
  if (!same) return IllegalRequest(fmt::format("snapshot {} was replaced meanwhile: ask again", snapshot.name()));
  if (permitted.table_exists == table_exists) return Ok();
  return IllegalRequest("the table was made or dropped meanwhile: ask again");
}

}  // namespace

void SnapshotAdmin::PutBack(const std::string& name, const TableName& table, RequestContext context, Done done,
                            const std::optional<Permitted>& permitted, bool restores_rights) {
  if (AnsweredAtOnce(env_, context, done)) return;
  if (Status legal = table.Check(); !legal.ok()) return done(IllegalRequest(legal.error().message()));
  if (table.IsSystem())
    return done(IllegalRequest(fmt::format("table {}: cannot restore into a system namespace", table.ToString())));
  auto work = [this, name, table, permitted, restores_rights, context = std::move(context), done] {
    const auto there = FindUsableSnapshot(env_.files, name, env_.clock.WallMillis());
    if (!there.ok()) return done(there.error());
    const auto node = env_.tables.Get(table);
    if (permitted.has_value()) {
      const Status still = StillPermitted(*permitted, there->description, node.has_value());
      if (!still.ok()) return done(still.error());
    }
    if (node) {
      SubmitAsked(
          env_, RestoreSnapshot::Make(table, *there, restores_rights), context,
          [this, table]() -> Status {
            const auto now = env_.tables.Get(table);
            if (!now) return TableNotFound(table);
            return now->state == TableState::kDisabled ? Ok() : Status(TableNotDisabled(table));
          },
          done);
      return;
    }
    SubmitAsked(
        env_, CloneSnapshot::Make(table, *there, env_.options.judges_users() ? context.user : "", restores_rights),
        context, [this, table]() -> Status { return env_.tables.Exists(table) ? Status(TableExists(table)) : Ok(); },
        done);
  };
  if (!env_.RunSlowWork(std::move(work))) done(SnapshotsWait());
}

Status SnapshotAdmin::CheckTransfer(const std::string& place) const {
  RATCHET_TRY(CheckExportPlace(env_.options.snapshot_export_dir, place));
  std::size_t unfinished = 0;
  for (const std::string_view type : TypesThatClaim(kClaimsExports))
    unfinished += env_.executor->FindUnfinished(type).size();
  if (unfinished < kMostExportsAtOnce) return Ok();
  return IllegalRequest(
      fmt::format("limit of {} concurrent exports and imports of snapshots reached; retry later", kMostExportsAtOnce));
}

void SnapshotAdmin::Export(const std::string& name, const std::string& place, RequestContext context, Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  if (Status sound = CheckTransfer(place); !sound.ok()) return done(sound.error());
  auto work = [this, name, place, context = std::move(context), done] {
    const auto there = FindUsableSnapshot(env_.files, name, env_.clock.WallMillis());
    if (!there.ok()) return done(there.error());
    SubmitAsked(env_, ExportSnapshot::Make(name, place), context, {}, done);
  };
  if (!env_.RunSlowWork(std::move(work))) done(SnapshotsWait());
}

void SnapshotAdmin::Import(const std::string& place, const std::string& name, RequestContext context, Done done) {
  if (AnsweredAtOnce(env_, context, done)) return;
  if (Status sound = CheckTransfer(place); !sound.ok()) return done(sound.error());
  if (!name.empty()) {
    if (Status legal = CheckSnapshotName(name); !legal.ok()) return done(legal.error());
  }
  SubmitAsked(env_, ImportSnapshot::Make(place, name), std::move(context), {}, std::move(done));
}

void SnapshotAdmin::List(Listed done) {
  auto work = [this, done] {
    const auto all = CompleteSnapshots(env_.files);
    if (!all.ok()) return done(all.error());
    std::vector<hbase::pb::SnapshotDescription> descriptions;
    for (const CompleteSnapshot& snapshot : *all) descriptions.push_back(snapshot.description);
    done(std::move(descriptions));
  };
  if (!env_.RunSlowWork(std::move(work))) done(SnapshotsWait());
}

// Deletes by one rename: a master that is deposed before the rename changes nothing, and after the rename the snapshot
// is deleted even if the master dies.
void SnapshotAdmin::Delete(const std::string& name, std::function<void(Status)> done) {
  auto work = [this, name, done] {
    const auto there = FindSnapshot(env_.files, name);
    if (!there.ok()) return done(there.error());
    done(env_.files.ArchiveSnapshot(there->directory, env_.executor->epoch()));
  };
  if (!env_.RunSlowWork(std::move(work))) done(SnapshotsWait());
}

void SnapshotAdmin::CleanUp() {
  if (!env_.meta_loaded.load()) return;
  const auto directories = env_.files.ListSnapshots();
  if (!directories.ok()) {
    RATCHET_LOG(kWarn, "Cannot list snapshots: {}", directories.error().ToString());
    return;
  }
  const std::int64_t now = env_.clock.WallMillis();
  const bool by_age = env_.switches.IsOn(Switch::kSnapshotCleanup);
  for (const std::string& directory : *directories) {
    const bool runs = SnapshotRuns(env_, CreatorOf("snapshots/" + directory));  // before the storage is read
    const std::string why = WhyItGoes(env_.files, directory, runs, by_age, now);
    if (why.empty()) continue;
    const Status gone = env_.files.ArchiveSnapshot(directory, env_.executor->epoch());
    RATCHET_LOG(kInfo, "Snapshot {} {} the archive: {}", directory, gone.ok() ? "goes to" : "cannot go to",
                gone.ok() ? why : gone.error().ToString());
  }
}

std::string SnapshotAdmin::OwnerOfUnfinished(const std::string& name) const {
  const auto pid = UnfinishedSnapshot(env_, name);
  const auto info = pid.has_value() ? env_.executor->Get(*pid) : std::nullopt;
  return info.has_value() ? info->owner : std::string();
}

void SnapshotAdmin::IsDone(const std::string& name, std::function<void(Result<bool>)> done) {
  auto work = [this, name, done] {
    // A procedure that has not begun is one, and so is one that has completed the snapshot and still holds its table.
    if (UnfinishedSnapshot(env_, name).has_value()) return done(false);
    const auto there = FindSnapshot(env_.files, name);
    if (there.ok()) return done(true);
    if (there.error().code() != Code::kNotFound) return done(there.error());
    done(SnapshotUnknown(name));
  };
  if (!env_.RunSlowWork(std::move(work))) done(SnapshotsWait());
}

}  // namespace ratchet::master
