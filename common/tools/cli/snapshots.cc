// Verbs on snapshots.
#include <algorithm>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/client/snapshots.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

constexpr std::uint64_t kLongestTtl = 1'000'000'000;  // seconds

void AddSnapshotName(CLI::App& verb, std::string& into) { Need(verb, "snapshot", into, kind::kText, "Its name"); }

void AddDirectory(CLI::App& verb, std::string& into) {
  Need(verb, "directory", into, kind::kText, "An absolute path below --snapshot-export-dir of the masters");
}

struct SnapshotFlags {
  std::string table;
  std::string name;
  bool flush = true;
  std::int64_t ttl_seconds = 0;  // 0: until it is deleted
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddSnapshotName(verb, name);
    verb.add_flag("!--skip-flush", flush, "Only data that is in files already");
    TakeWhole(verb, "--ttl", ttl_seconds, kind::kNumber, 1, kLongestTtl,
              "Seconds after which it may be deleted; left out: it stays until it is deleted");
    AddNoWait(verb, wait);
  }
};

Result<int> TakeSnapshot(Session& session, const SnapshotFlags& flags) {
  RATCHET_ASSIGN(const auto table, TableName::Parse(flags.table));
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, snapshots.Take(flags.name, table, {flags.flush, flags.ttl_seconds}), "snapshot",
                     flags.name, flags.wait);
}

std::string TypeText(const hbase::pb::SnapshotDescription& snapshot) {
  return hbase::pb::SnapshotDescription::Type_Name(snapshot.type());
}

}  // namespace

Result<int> ListSnapshots(Session& session) {
  client::Snapshots snapshots(session.connection, session.timeout);
  RATCHET_ASSIGN(const auto all, snapshots.List());
  std::vector<std::vector<Field>> rows;
  for (const auto& snapshot : all) {
    rows.push_back({snapshot.name(), snapshot.table(), TypeText(snapshot), TimeText(snapshot.creation_time()),
                    snapshot.owner(), static_cast<std::int64_t>(snapshot.regions()),
                    static_cast<std::int64_t>(snapshot.files()), static_cast<std::int64_t>(snapshot.bytes()),
                    snapshot.ttl() > 0 ? Field(snapshot.ttl()) : Field()});
  }
  session.printer.Table({"NAME", "TABLE", "TYPE", "CREATED", "OWNER", "REGIONS", "FILES", "BYTES", "TTL"}, rows);
  return kExitOk;
}

namespace {

struct NamedFlags {
  std::string name;
  std::string table;
  bool wait = true;
  bool yes = false;  // otherwise the verbs that lose data ask for confirmation on a terminal
  bool rights = false;
};

void AddRights(CLI::App& verb, bool& rights) {
  verb.add_flag("--rights", rights, "Give the rights that the snapshot's table had too (needs A everywhere)");
}

Result<int> DeleteSnapshot(Session& session, const NamedFlags& flags) {
  if (!Confirmed(fmt::format("Delete snapshot {}?", flags.name), flags.yes)) return kExitFailed;
  client::Snapshots snapshots(session.connection, session.timeout);
  RATCHET_TRY(snapshots.Delete(flags.name));
  session.printer.Object({{"deleted", flags.name}});
  return kExitOk;
}

struct DeleteSnapshotFlags : NamedFlags {
  void Bind(CLI::App& verb) {
    AddSnapshotName(verb, name);
    AddYes(verb, yes);
  }
};

// Restores into a table that does not exist yet.
Result<int> CloneSnapshot(Session& session, const NamedFlags& flags) {
  RATCHET_ASSIGN(const auto target, TableName::Parse(flags.table));
  RATCHET_ASSIGN(const auto tables, session.admin.ListTables());
  if (std::find(tables.begin(), tables.end(), target) != tables.end()) {
    return Error(Code::kAlreadyExists,
                 fmt::format("table {} exists: ratchet restore-snapshot {} --table {} replaces it, once "
                             "it is disabled",
                             target.ToString(), flags.name, target.ToString()));
  }
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, snapshots.PutBack(flags.name, target, flags.rights), "cloned", target.ToString(),
                     flags.wait);
}

struct CloneSnapshotFlags : NamedFlags {
  void Bind(CLI::App& verb) {
    AddSnapshotName(verb, name);
    Need(verb, "new-table", table, kind::kTable, "Name of the new table");
    AddRights(verb, rights);
    AddNoWait(verb, wait);
  }
};

// Restores into the table of the snapshot, or into `flags.table`; it must be disabled.
Result<int> RestoreSnapshot(Session& session, const NamedFlags& flags) {
  client::Snapshots snapshots(session.connection, session.timeout);
  std::string into = flags.table;
  if (into.empty()) {
    RATCHET_ASSIGN(const auto all, snapshots.List());
    for (const auto& snapshot : all) {
      if (snapshot.name() == flags.name) into = snapshot.table();
    }
    if (into.empty()) return Error(Code::kNotFound, fmt::format("there is no snapshot {}", flags.name));
  }
  RATCHET_ASSIGN(const auto target, TableName::Parse(into));
  if (const auto state = session.admin.State(target); !state.ok()) return state.error();
  const std::string question =
      fmt::format("Replace all rows of table {} by those of snapshot {}?", target.ToString(), flags.name);
  if (!Confirmed(question, flags.yes)) return kExitFailed;
  return FinishAlone(session, snapshots.PutBack(flags.name, target, flags.rights), "restored", target.ToString(),
                     flags.wait);
}

struct RestoreSnapshotFlags : NamedFlags {
  void Bind(CLI::App& verb) {
    AddSnapshotName(verb, name);
    Take(verb, "--table", table, kind::kTable, "A table other than the one of the snapshot");
    AddRights(verb, rights);
    AddNoWait(verb, wait);
    AddYes(verb, yes);
  }
};

// To and from a directory on the masters' machines.
struct TransferFlags {
  std::string name;  // empty at an import: the name that it was exported with
  std::string directory;
  bool wait = true;
};

Result<int> ExportSnapshot(Session& session, const TransferFlags& flags) {
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, snapshots.Export(flags.name, flags.directory), "exported", flags.name, flags.wait);
}

struct ExportSnapshotFlags : TransferFlags {
  void Bind(CLI::App& verb) {
    AddSnapshotName(verb, name);
    AddDirectory(verb, directory);
    AddNoWait(verb, wait);
  }
};

Result<int> ImportSnapshot(Session& session, const TransferFlags& flags) {
  client::Snapshots snapshots(session.connection, session.timeout);
  return FinishAlone(session, snapshots.Import(flags.directory, flags.name), "imported",
                     flags.name.empty() ? flags.directory : flags.name, flags.wait);
}

struct ImportSnapshotFlags : TransferFlags {
  void Bind(CLI::App& verb) {
    AddDirectory(verb, directory);
    Take(verb, "snapshot", name, kind::kText, "Name of the imported snapshot; left out: its name at the export");
    AddNoWait(verb, wait);
  }
};

}  // namespace

Verbs SnapshotVerbs() {
  return {Verb<SnapshotFlags>("snapshot", "Take a snapshot of a table",
                              {"snapshot t before-upgrade", "snapshot t s --skip-flush", "snapshot t s --ttl 86400"},
                              TakeSnapshot),
          Plain("snapshots", "List snapshots", {"snapshots", "snapshots --json"}, ListSnapshots),
          Verb<DeleteSnapshotFlags>("delete-snapshot", "Delete a snapshot; tables that were cloned from it stay",
                                    {"delete-snapshot before-upgrade --yes"}, DeleteSnapshot),
          Verb<CloneSnapshotFlags>("clone-snapshot", "Make a new table from a snapshot",
                                   {"clone-snapshot before-upgrade t2", "clone-snapshot before-upgrade t2 --rights"},
                                   CloneSnapshot),
          Verb<RestoreSnapshotFlags>("restore-snapshot", "Restore a disabled table to the state of a snapshot",
                                     {"disable t && ratchet restore-snapshot before-upgrade --yes && ratchet enable t"},
                                     RestoreSnapshot),
          Verb<ExportSnapshotFlags>("export-snapshot", "Copy a snapshot into a directory of the masters' machines",
                                    {"export-snapshot before-upgrade /backup/before-upgrade"}, ExportSnapshot),
          Verb<ImportSnapshotFlags>(
              "import-snapshot", "Import a snapshot that this or another cluster has exported",
              {"import-snapshot /backup/before-upgrade", "import-snapshot /backup/before-upgrade other-name"},
              ImportSnapshot)};
}

}  // namespace ratchet::cli
