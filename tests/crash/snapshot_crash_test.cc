// The crash sweep of snapshots: taking one, cloning it, restoring it.
#include <algorithm>

#include <gtest/gtest.h>

#include "master/requests/snapshot_admin.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

const std::string kSnapshotName = "s";

master::SnapshotAdmin& Snapshots(Rig& rig) { return rig.cluster.master().logic().snapshot_admin; }

void SnapshotOnce(Rig& rig, procedure::Nonce nonce, Done done) {
  hbase::pb::SnapshotDescription description;
  description.set_name(kSnapshotName);
  description.set_table("t");
  description.set_creation_time(1);
  Snapshots(rig).TakeSnapshot(description, {"me", nonce}, std::move(done));
}

void PutBackInto(Rig& rig, const TableName& table, procedure::Nonce nonce, Done done) {
  Snapshots(rig).PutBack(kSnapshotName, table, {"me", nonce}, std::move(done));
}

// Makes a table with a snapshot, and writes to the table afterwards.
void PrepareTaken(Rig& rig) {
  Prepare(rig, 2);
  SnapshotOnce(rig, {}, [](const Result<ProcId>&) {});
  RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
  rig.cluster.WriteEverywhere();
}
void PrepareTakenAndDisabled(Rig& rig) {
  PrepareTaken(rig);
  Admin(rig).DisableTable(kTable, {"me", {}}, [](const Result<ProcId>&) {});
  RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
}

void AbortTaking(Rig& rig) {
  if (!rig.At("SnapshotRegion", "DISPATCH")) return;
  for (const ProcId pid : rig.cluster.master().executor().FindUnfinished("Snapshot")) {
    const auto info = rig.cluster.master().executor().Get(pid);
    if (info && !info->failing)
      rig.cluster.master().executor().Abort(pid, {"operator", "the sweep"}, [](const Status&) {});
  }
}

TEST(MasterCrash, Snapshot) {
  Sweep({"snapshot", [](Rig& rig) { Prepare(rig, 2); }, SnapshotOnce, nullptr, nullptr});
}

TEST(MasterCrash, SnapshotOfADisabledTable) {
  Sweep({"snapshot of a disabled table", PrepareDisabled, SnapshotOnce, nullptr, nullptr});
}

TEST(MasterCrash, SnapshotAborted) {
  Sweep({"aborted snapshot", [](Rig& rig) { Prepare(rig, 2); }, SnapshotOnce, AbortTaking, nullptr});
}

// A server dies before it answers.
TEST(MasterCrash, SnapshotMeetsACrash) {
  Sweep({"snapshot and crash", [](Rig& rig) { Prepare(rig, 3); }, SnapshotOnce,
         [](Rig& rig) {
           if (rig.At("SnapshotRegion", "DISPATCH")) KillOnce(rig, MetaHost);
         },
         [](Rig& rig) { return CrashDealtWith(rig); }});
}

TEST(MasterCrash, CloneSnapshot) {
  Sweep({"clone", PrepareTaken,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           PutBackInto(rig, TableName("default", "c"), nonce, std::move(done));
         },
         nullptr, nullptr});
}

TEST(MasterCrash, CloneSnapshotAborted) {
  Sweep({"aborted clone", PrepareTaken,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           PutBackInto(rig, TableName("default", "c"), nonce, std::move(done));
         },
         [](Rig& rig) { AbortAt(rig, "CloneSnapshot", "ADD_TO_META"); }, nullptr});
}

TEST(MasterCrash, RestoreSnapshot) {
  Sweep({"restore", PrepareTakenAndDisabled,
         [](Rig& rig, procedure::Nonce nonce, Done done) { PutBackInto(rig, kTable, nonce, std::move(done)); }, nullptr,
         nullptr});
}

// No server can copy a region.
TEST(MasterCrash, RestoreSnapshotRefused) {
  Sweep({"refused restore",
         [](Rig& rig) {
           PrepareTakenAndDisabled(rig);
           for (sim::SimServer* server : rig.cluster.Alive()) server->refuse_splits = 1'000;
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) { PutBackInto(rig, kTable, nonce, std::move(done)); }, nullptr,
         nullptr});
}

constexpr const char* kPlace = "/exports/one";

void ExportTo(Rig& rig, procedure::Nonce nonce, Done done) {
  Snapshots(rig).Export(kSnapshotName, kPlace, {"me", nonce}, std::move(done));
}
void ImportAs(Rig& rig, const std::string& name, procedure::Nonce nonce, Done done) {
  Snapshots(rig).Import(kPlace, name, {"me", nonce}, std::move(done));
}
void PrepareExported(Rig& rig) {
  PrepareTaken(rig);
  ExportTo(rig, {}, [](const Result<ProcId>&) {});
  RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
}

TEST(MasterCrash, ExportSnapshot) { Sweep({"export", PrepareTaken, ExportTo, nullptr, nullptr}); }

TEST(MasterCrash, ImportSnapshot) {
  Sweep({"import", PrepareExported,
         [](Rig& rig, procedure::Nonce nonce, Done done) { ImportAs(rig, "again", nonce, std::move(done)); }, nullptr,
         nullptr});
}

// A snapshot of the same name exists.
TEST(MasterCrash, ImportSnapshotRefused) {
  Sweep({"refused import", PrepareExported,
         [](Rig& rig, procedure::Nonce nonce, Done done) { ImportAs(rig, "", nonce, std::move(done)); }, nullptr,
         nullptr});
}

}  // namespace
}  // namespace ratchet::crash
