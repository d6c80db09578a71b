// Snapshots that leave a simulated cluster and come back.
#include <fmt/format.h>

#include "master/cluster/snapshot_book.h"
#include "master/cluster/snapshot_export.h"
#include "master/procedures/snapshot/export_snapshot.h"
#include "master/requests/snapshot_admin.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::master {
namespace {

constexpr const char* kPlace = "/exports/one";

class SnapshotTransferTest : public ReshapeTest {
 protected:
  SnapshotAdmin& snapshots() { return master().logic().snapshot_admin; }
  sim::Storage& storage() { return cluster_.storage(); }
  // A table of `regions` with the snapshot "s", written to since.
  void GivenSnapshot(int regions, std::int64_t ttl = 0) {
    cluster_.Boot(3);
    GivenTable("t", regions);
    hbase::pb::SnapshotDescription description;
    description.set_name("s");
    description.set_table("t");
    description.set_ttl(ttl);
    ASSERT_EQ(Settled(master().Ask([&](Done done) {
                snapshots().TakeSnapshot(description, {"me", {}}, done);
              })),
              "success");
    cluster_.WriteEverywhere();
  }
  Result<ProcId> Export(const std::string& place = kPlace, const std::string& name = "s") {
    return master().Ask([&](Done done) { snapshots().Export(name, place, {"me", {}}, done); });
  }
  Result<ProcId> Import(const std::string& name, const std::string& place = kPlace) {
    return master().Ask([&](Done done) { snapshots().Import(place, name, {"me", {}}, done); });
  }
  Result<ProcId> Clone(const std::string& name, const std::string& table) {
    return master().Ask([&](Done done) { snapshots().PutBack(name, TableName("default", table), {"me", {}}, done); });
  }
  void DeleteNow(const std::string& name) {
    snapshots().Delete(name, [](const Status& deleted) { EXPECT_TRUE(deleted.ok()); });
  }
  std::string Settled(const Result<ProcId>& pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(pid);
  }
  std::string Names() {
    std::string names;
    snapshots().List([&names](const auto& all) {
      if (!all.ok()) return;
      for (const auto& snapshot : *all) names += fmt::format("{}:{} ", snapshot.name(), snapshot.regions());
    });
    return names;
  }
};

// More regions than one piece of work copies.
TEST_F(SnapshotTransferTest, WhatWasExportedIsImportedAndCloned) {
  GivenSnapshot(20);
  EXPECT_EQ(Settled(Export()), "success");
  DeleteNow("s");
  EXPECT_EQ(Settled(Import("")), "success");
  EXPECT_EQ(Settled(Import("other")), "success");
  EXPECT_EQ(Names(), "other:20 s:20 ");
  EXPECT_EQ(Settled(Clone("other", "c")), "success");
  ExpectSettled();
  EXPECT_EQ(Regions("c").size(), 20U);
  EXPECT_EQ(cluster_.CheckSettled(), "");
}

TEST_F(SnapshotTransferTest, OnlyBelowTheDirectoryOfTheSetting) {
  GivenSnapshot(1);
  for (const char* place : {"/elsewhere/one", "/exports", "/exports/", "/exports/../etc", "/exports/./one",
                            "exports/one", "/exportsone", "", "/exports//one"}) {
    EXPECT_FALSE(Export(place).ok()) << place;
    EXPECT_FALSE(Import("x", place).ok()) << place;
  }
  EXPECT_TRUE(storage().exports.empty());
}

TEST(ExportPlaceTest, WithoutTheSettingThereIsNone) {
  const Status refused = CheckExportPlace("", "/anywhere/one");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("--snapshot-export-dir"), std::string::npos);
  EXPECT_TRUE(CheckExportPlace("/a/b/", "/a/b/c/d").ok());
}

TEST_F(SnapshotTransferTest, WhatCannotBeIsRefused) {
  GivenSnapshot(2);
  EXPECT_NE(Settled(Export(kPlace, "another")).find("doesn't exist"), std::string::npos);
  EXPECT_NE(Settled(Import("x")).find("has no complete export"), std::string::npos);
  EXPECT_EQ(Settled(Export()), "success");
  EXPECT_NE(Settled(Import("")).find("already stored"), std::string::npos) << "the name is taken";
  EXPECT_FALSE(Import("-x").ok());
}

TEST_F(SnapshotTransferTest, AnExpiredSnapshotIsNotExported) {
  GivenSnapshot(2, 60);
  EXPECT_EQ(Settled(Export()), "success");
  ASSERT_TRUE(cluster_.RunFor(Millis(61'000)));
  EXPECT_NE(Settled(Export("/exports/two")).find("TTL for snapshot 's' has already expired"), std::string::npos);
}

// The next export to the same place continues; another snapshot of the same name does not.
TEST_F(SnapshotTransferTest, AnExportThatFailsIsTakenUpAgain) {
  GivenSnapshot(20);
  storage().failing_copies = 100;
  EXPECT_NE(Settled(Export()).find("the copy has failed"), std::string::npos);
  EXPECT_FALSE(storage().exports[kPlace].files.contains(kSnapshotComplete));
  storage().failing_copies = 2;
  EXPECT_EQ(Settled(Export()), "success") << "a few failures are nothing";
  DeleteNow("s");
  EXPECT_EQ(Settled(Import("other")), "success");
  hbase::pb::SnapshotDescription description;
  description.set_name("s");
  description.set_table("t");
  ASSERT_EQ(Settled(master().Ask([&](Done done) {
              snapshots().TakeSnapshot(description, {"me", {}}, done);
            })),
            "success");
  EXPECT_NE(Settled(Export()).find("has an export of another snapshot"), std::string::npos);
}

// Examining the directory and claiming it are one step under one lock, so two exports cannot both find it empty.
TEST_F(SnapshotTransferTest, ExportsToOnePlaceTakeTheSameLock) {
  const auto one = ExportSnapshot::Make("s", kPlace)->Locks();
  const auto other = ExportSnapshot::Make("u", kPlace)->Locks();
  ASSERT_EQ(one.requests().size(), 1U);
  EXPECT_EQ(one.requests().front().key, other.requests().front().key);
  EXPECT_EQ(one.requests().front().mode, procedure::LockMode::kExclusive);
  EXPECT_NE(ExportSnapshot::Make("s", "/exports/two")->Locks().requests().front().key, one.requests().front().key);
}

TEST_F(SnapshotTransferTest, AnImportThatFailsLeavesNothing) {
  GivenSnapshot(2);
  EXPECT_EQ(Settled(Export()), "success");
  storage().failing_copies = 100;
  EXPECT_NE(Settled(Import("x")).find("the copy has failed"), std::string::npos);
  EXPECT_EQ(Names(), "s:2 ");
  EXPECT_EQ(storage().snapshots.size(), 1U);
  storage().failing_copies = 0;
  storage().exports[kPlace].files[kSnapshotParts] = "no parts";
  EXPECT_NE(Settled(Import("x")), "success");
  EXPECT_EQ(storage().snapshots.size(), 1U);
}

TEST_F(SnapshotTransferTest, AFewAtATime) {
  GivenSnapshot(2);
  storage().failing_copies = 1'000;  // each tries again for a while
  std::vector<Result<ProcId>> exports;
  for (std::size_t i = 0; i < kMostExportsAtOnce; ++i) exports.push_back(Export(fmt::format("/exports/{}", i)));
  const auto refused = Export("/exports/more");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("concurrent exports and imports"), std::string::npos);
  storage().failing_copies = 0;
  for (const auto& each : exports) EXPECT_EQ(Settled(each), "success");
}

}  // namespace
}  // namespace ratchet::master
