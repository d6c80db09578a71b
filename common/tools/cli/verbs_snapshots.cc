// Verbs on snapshots.
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/snapshot_commands.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr const char* kNoWaitForIt = "Print the pid and do not wait for the end";
constexpr std::uint64_t kLongestTtl = 1'000'000'000;  // seconds

void AddSnapshotName(CLI::App* verb, std::string& into) {
  verb->add_option("snapshot", into, "Its name")->required()->type_name(kind::kText);
}

void AddPlace(CLI::App* verb, std::string& into) {
  verb->add_option("directory", into, "An absolute path below --snapshot-export-dir of the masters")
      ->required()
      ->type_name(kind::kText);
}

}  // namespace

void AddSnapshotVerbs(CLI::App& app, Action& action) {
  auto flags = std::make_shared<SnapshotFlags>();
  auto* take = AddVerb(app, "snapshot", "Take a snapshot of a table",
                       {"snapshot t before-upgrade", "snapshot t s --skip-flush", "snapshot t s --ttl 86400"});
  AddTable(take, flags->table);
  AddSnapshotName(take, flags->name);
  take->add_flag("!--skip-flush", flags->flush, "Only data that is in files already");
  take->add_option("--ttl", flags->ttl_seconds,
                   "Seconds after which it may be deleted; left out: it stays until it is deleted")
      ->check(Whole(1, kLongestTtl))
      ->type_name(kind::kNumber);
  take->add_flag("!--no-wait", flags->wait, kNoWaitForIt);
  take->callback([flags, &action] { action = [flags](Session& s) { return TakeSnapshot(s, *flags); }; });

  auto* list = AddVerb(app, "snapshots", "List snapshots", {"snapshots", "snapshots --json"});
  list->callback([&action] { action = [](Session& s) { return ListSnapshots(s); }; });

  auto name = std::make_shared<std::string>();
  auto table = std::make_shared<std::string>();
  auto wait = std::make_shared<bool>(true);
  auto yes = std::make_shared<bool>(false);
  auto* gone = AddVerb(app, "delete-snapshot", "Delete a snapshot; tables that were cloned from it stay",
                       {"delete-snapshot before-upgrade --yes"});
  AddSnapshotName(gone, *name);
  gone->add_flag("--yes,-y", *yes, "Do not ask for confirmation");
  gone->callback([=, &action] { action = [=](Session& s) { return DeleteSnapshot(s, *name, *yes); }; });

  auto* clone =
      AddVerb(app, "clone-snapshot", "Make a new table from a snapshot", {"clone-snapshot before-upgrade t2"});
  AddSnapshotName(clone, *name);
  clone->add_option("new-table", *table, "Name of the new table")->required()->type_name(kind::kTable);
  clone->add_flag("!--no-wait", *wait, kNoWaitForIt);
  clone->callback([=, &action] { action = [=](Session& s) { return CloneSnapshot(s, *name, *table, *wait); }; });

  auto* restore = AddVerb(app, "restore-snapshot", "Restore a disabled table to the state of a snapshot",
                          {"disable t && ratchet restore-snapshot before-upgrade --yes && ratchet enable t"});
  AddSnapshotName(restore, *name);
  restore->add_option("--table", *table, "A table other than the one of the snapshot")->type_name(kind::kTable);
  restore->add_flag("!--no-wait", *wait, kNoWaitForIt);
  restore->add_flag("--yes,-y", *yes, "Do not ask for confirmation");
  restore->callback(
      [=, &action] { action = [=](Session& s) { return RestoreSnapshot(s, *name, *table, *wait, *yes); }; });

  auto directory = std::make_shared<std::string>();
  auto* out = AddVerb(app, "export-snapshot", "Copy a snapshot into a directory of the masters' machines",
                      {"export-snapshot before-upgrade /backup/before-upgrade"});
  AddSnapshotName(out, *name);
  AddPlace(out, *directory);
  out->add_flag("!--no-wait", *wait, kNoWaitForIt);
  out->callback([=, &action] { action = [=](Session& s) { return ExportSnapshot(s, *name, *directory, *wait); }; });

  auto* in = AddVerb(app, "import-snapshot", "Import a snapshot that this or another cluster has exported",
                     {"import-snapshot /backup/before-upgrade", "import-snapshot /backup/before-upgrade other-name"});
  AddPlace(in, *directory);
  in->add_option("snapshot", *name, "Name of the imported snapshot; left out: its name at the export")
      ->type_name(kind::kText);
  in->add_flag("!--no-wait", *wait, kNoWaitForIt);
  in->callback([=, &action] { action = [=](Session& s) { return ImportSnapshot(s, *directory, *name, *wait); }; });
}

}  // namespace ratchet::cli
