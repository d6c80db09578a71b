#include "common/tools/cli/snapshot_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/client/snapshots.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

std::string TypeText(const hbase::pb::SnapshotDescription& snapshot) {
  return hbase::pb::SnapshotDescription::Type_Name(snapshot.type());
}

}  // namespace

int TakeSnapshot(Session& session, const SnapshotFlags& flags) {
  const auto table = TableName::Parse(flags.table);
  if (!table.ok()) return Report(session, table.error());
  client::Admin admin(session.connection, session.timeout);
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, admin, snapshots.Take(flags.name, *table, {flags.flush, flags.ttl_seconds}), "snapshot",
                     flags.name, flags.wait);
}

int ListSnapshots(Session& session) {
  client::Snapshots snapshots(session.connection, session.timeout);
  const auto all = snapshots.List();
  if (!all.ok()) return Report(session, all.error());
  std::vector<std::vector<Field>> rows;
  for (const auto& snapshot : *all) {
    rows.push_back({snapshot.name(), snapshot.table(), TypeText(snapshot), TimeText(snapshot.creation_time()),
                    snapshot.owner(), static_cast<std::int64_t>(snapshot.regions()),
                    static_cast<std::int64_t>(snapshot.files()), static_cast<std::int64_t>(snapshot.bytes()),
                    snapshot.ttl() > 0 ? Field(snapshot.ttl()) : Field()});
  }
  session.printer.Table({"NAME", "TABLE", "TYPE", "CREATED", "OWNER", "REGIONS", "FILES", "BYTES", "TTL"}, rows);
  return kExitOk;
}

int DeleteSnapshot(Session& session, const std::string& name, bool yes) {
  if (!Confirmed(fmt::format("Delete snapshot {}?", name), yes)) return kExitFailed;
  client::Snapshots snapshots(session.connection, session.timeout);
  if (const Status deleted = snapshots.Delete(name); !deleted.ok()) return Report(session, deleted.error());
  session.printer.Object({{"deleted", name}});
  return kExitOk;
}

int CloneSnapshot(Session& session, const std::string& name, const std::string& table, bool wait) {
  const auto target = TableName::Parse(table);
  if (!target.ok()) return Report(session, target.error());
  client::Admin admin(session.connection, session.timeout);
  const auto tables = admin.ListTables();
  if (!tables.ok()) return Report(session, tables.error());
  if (std::find(tables->begin(), tables->end(), *target) != tables->end()) {
    return Report(session,
                  Error(Code::kAlreadyExists,
                        fmt::format("table {} exists: ratchet restore-snapshot {} --table {} replaces it, once "
                                    "it is disabled",
                                    target->ToString(), name, target->ToString())));
  }
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, admin, snapshots.PutBack(name, *target), "cloned", target->ToString(), wait);
}

int RestoreSnapshot(Session& session, const std::string& name, const std::string& table, bool wait, bool yes) {
  client::Snapshots snapshots(session.connection, session.timeout);
  std::string into = table;
  if (into.empty()) {
    const auto all = snapshots.List();
    if (!all.ok()) return Report(session, all.error());
    for (const auto& snapshot : *all) {
      if (snapshot.name() == name) into = snapshot.table();
    }
    if (into.empty()) return Report(session, Error(Code::kNotFound, fmt::format("there is no snapshot {}", name)));
  }
  const auto target = TableName::Parse(into);
  if (!target.ok()) return Report(session, target.error());
  client::Admin admin(session.connection, session.timeout);
  if (const auto state = admin.State(*target); !state.ok()) return Report(session, state.error());
  const std::string question =
      fmt::format("Replace all rows of table {} by those of snapshot {}?", target->ToString(), name);
  if (!Confirmed(question, yes)) return kExitFailed;
  return FinishAlone(session, admin, snapshots.PutBack(name, *target), "restored", target->ToString(), wait);
}

int ExportSnapshot(Session& session, const std::string& name, const std::string& directory, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, admin, snapshots.Export(name, directory), "exported", name, wait);
}

int ImportSnapshot(Session& session, const std::string& directory, const std::string& name, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, admin, snapshots.Import(directory, name), "imported", name.empty() ? directory : name,
                     wait);
}

}  // namespace ratchet::cli
