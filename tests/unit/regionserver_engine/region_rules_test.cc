// The safety rules of a region one by one (S21: numbered openings, to S29: durable nonces), each with the mutant that
// leaves it out.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/rpc/exceptions.h"
#include "regionserver/store/manifest.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

class RegionRulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 5).value();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  Result<MutationResult> Apply(Server& where, AtomicMutation mutation) {
    auto answer = world.Mutate(*where.region, std::move(mutation));
    return answer ? std::move(*answer) : Result<MutationResult>(Error(Code::kTimeout, "no answer"));
  }
  void Do(Server& where, AtomicMutation mutation) {
    const auto result = Apply(where, std::move(mutation));
    ASSERT_TRUE(result.ok()) << result.error().ToString();
  }
  std::int64_t TimestampOf(Server& where, const std::string& row) {
    GetSpec get;
    get.row = row;
    const auto cells = where.region->Get(get).value();
    return cells.empty() ? -1 : cells.front().timestamp;
  }
  // A and B serve at once, B by a higher opening, although no server was fenced.
  std::unique_ptr<Server> OpenAgain(std::uint64_t open_number, const std::string& name = "b,1,1") {
    auto other = world.Start(name).value();
    world.OpenRegion(*other, open_number).value();
    return other;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

// --- S21 (numbered openings) ---

TEST_F(RegionRulesTest, AnOpeningWithALowerNumberIsRefused) {
  server->region->Close().value();
  auto late = world.Start("b,1,1").value();
  const Status opened = world.OpenRegion(*late, 4);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::kFenced);
  // It has not hidden the existing rows.
  world.OpenRegion(*late, 6).value();
}

TEST_F(RegionRulesTest, AnOpeningHappensOnce) {
  auto again = world.Start("b,1,1").value();
  const Status opened = world.OpenRegion(*again, 5);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::kAlreadyExists);
}

TEST_F(RegionRulesTest, AHigherOpeningSilencesThisOne) {
  std::atomic<int> lost{0};
  auto losing = world.Start("c,1,1").value();
  server->region->Close().value();
  world.lost = [&](const Error&) { ++lost; };
  world.OpenRegion(*losing, 6).value();
  Do(*losing, Put("r", "q", "old"));
  auto other = OpenAgain(7);
  Do(*other, Put("r", "q", "new"));

  EXPECT_FALSE(world.Read(*losing->region, "r", "q").ok());  // no stale read
  EXPECT_FALSE(Apply(*losing, Put("r", "q", "late")).ok());
  EXPECT_FALSE(losing->region->Flush().ok());
  EXPECT_FALSE(losing->region->Close().ok());
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(world.Read(*other->region, "r", "q").value(), "new");
}

// S24 (visible after sync): the schema of a superseded opening may be an older one.
class StaleRefusalTest : public RegionRulesTest {
 protected:
  // Number of requests for an unknown family to which a superseded opening answers that the family does not exist.
  int StaleRefusals() {
    auto other = OpenAgain(6);
    AtomicMutation put = Put("r", "q", "v");
    put.mutations.at(0).cells.at(0).family = "new";
    GetSpec get;
    get.row = "r";
    get.columns["new"];
    ScanSpec scan;
    scan.columns["new"];
    int stale = 0;
    for (const Error& error :
         {Apply(*server, std::move(put)).error(), server->region->Get(get).error(),
          server->region->Scan(std::move(scan)).error(), server->region->CheckFamily("new").error(),
          server->region->StoreFileNames({"new"}).error()})
      stale += rpc::IsClass(error, rpc::exception::kNoSuchColumnFamily) ? 1 : 0;
    return stale;
  }
};

TEST_F(StaleRefusalTest, ASupersededOpeningDoesNotJudgeFamilies) { EXPECT_EQ(StaleRefusals(), 0); }

TEST_F(StaleRefusalTest, RefusingWithoutACheckIsNoticed) {
  const ScopedMutant mutant("region.refuse_without_check");
  EXPECT_EQ(StaleRefusals(), 5);
}

TEST_F(RegionRulesTest, AWriteOfASupersededOpeningIsNotAcknowledged) {
  auto other = OpenAgain(6);
  EXPECT_FALSE(Apply(*server, Put("r", "q", "late")).ok());
}

TEST_F(RegionRulesTest, WithoutTheOpeningCheckASupersededOpeningAcknowledges) {
  const ScopedMutant mutant("log.no_opening_check");
  auto other = OpenAgain(6);
  EXPECT_TRUE(Apply(*server, Put("r", "q", "late")).ok());  // the mutant that the test above would notice
}

TEST_F(RegionRulesTest, WithoutLookingForAHigherOneALowerOpeningTakesOver) {
  const ScopedMutant mutant("manifest.no_opening_check");
  server->region->Close().value();
  auto late = world.Start("b,1,1").value();
  const auto directory = late->process->Open("/data/" + world.info.encoded_name()).value();
  EXPECT_TRUE(Manifest::Create(*directory, world.info.encoded_name(), 4).ok());
}

TEST_F(RegionRulesTest, AFlushOfASupersededOpeningStaysInvisible) {
  Do(*server, Put("r", "q", "acknowledged"));
  // The old owner is stopped after the file's last byte; meanwhile its log is recovered and the region taken over.
  std::unique_ptr<Server> other;
  FaultSpec stop;
  stop.action = FaultAction::kCall;
  stop.call = [&](std::string_view) {
    FaultPoints::Instance().Disarm("region.file_written");
    world.Recover("a,1,1").value();
    other = OpenAgain(6);
  };
  FaultPoints::Instance().Arm("region.file_written", stop);
  EXPECT_FALSE(server->region->Flush().ok());
  EXPECT_EQ(other->region->GetStatus().store_files, 0U) << "the recovered edits are in memory";
  EXPECT_EQ(world.Read(*other->region, "r", "q").value(), "acknowledged");
}

TEST_F(RegionRulesTest, AnOpeningThatDiedBeforeItsFirstRecordIsSkipped) {
  Do(*server, Put("r", "q", "v"));
  server->region->Close().value();
  auto dying = world.Start("b,1,1").value();
  FaultPoints::Instance().ArmFromText("manifest.created=fail").value();
  EXPECT_FALSE(world.OpenRegion(*dying, 6).ok());
  FaultPoints::Instance().DisarmAll();
  world.OpenRegion(*dying, 7).value();
  EXPECT_EQ(world.Read(*dying->region, "r", "q").value(), "v");
}

// --- S22 (close drains, flushes, checks) ---

// A write is being logged when the close comes. Returns the next opening's value if the write was acknowledged.
std::string ReadAfterCloseDuringWrite(EngineWorld& world, Server& server, bool close_ends_first) {
  FaultPoints::Instance().ArmFromText("log.before_sync=pause").value();
  std::atomic<int> acknowledged{0};
  server.region->Mutate(Put("r", "q", "acknowledged"),
                        [&](const Result<MutationResult>& result) { acknowledged += result.ok(); });
  while (FaultPoints::Instance().Fired("log.before_sync") == 0) std::this_thread::yield();
  std::thread closer([&] { EXPECT_TRUE(server.region->Close().ok()); });
  if (close_ends_first) closer.join();
  std::atomic<bool> refused{false};
  for (int i = 0; !refused; ++i)
    server.region->Mutate(Put("s" + std::to_string(i), "q", ""), [&](const Result<MutationResult>& result) {
      if (!result.ok()) refused = true;
    });
  FaultPoints::Instance().Disarm("log.before_sync");
  FaultPoints::Instance().Resume("log.before_sync");
  if (!close_ends_first) closer.join();
  while (acknowledged == 0) std::this_thread::yield();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 6).value();
  return world.Read(*next->region, "r", "q").value();
}

TEST_F(RegionRulesTest, ACloseWaitsForAdmittedWrites) {
  EXPECT_EQ(ReadAfterCloseDuringWrite(world, *server, false), "acknowledged");
}

TEST_F(RegionRulesTest, WithoutDrainingACloseLosesAnAcknowledgedWrite) {
  const ScopedMutant mutant("region.close_without_drain");
  EXPECT_EQ(ReadAfterCloseDuringWrite(world, *server, true), "");
}

TEST_F(RegionRulesTest, ACloseChecksBeforeItIsReported) {
  auto other = OpenAgain(6);
  EXPECT_FALSE(server->region->Close().ok());
}

TEST_F(RegionRulesTest, WithoutItsCheckACloseOfASupersededOpeningSucceeds) {
  const ScopedMutant mutant("region.close_without_check");
  auto other = OpenAgain(6);
  EXPECT_TRUE(server->region->Close().ok());
}

TEST_F(RegionRulesTest, AClosedRegionRefusesEverything) {
  auto scanner = server->region->Scan({}).value();
  server->region->Close().value();
  EXPECT_EQ(Apply(*server, Put("r", "q", "v")).error().remote_class(),
            "org.apache.hadoop.hbase.NotServingRegionException");
  EXPECT_FALSE(scanner->Next({}).ok());
  EXPECT_FALSE(server->region->CheckServing().ok());
  EXPECT_FALSE(server->region->Close().ok());
}

// --- S24 (visible after sync) ---

TEST_F(RegionRulesTest, AWriteIsReadableOnlyAfterItsSync) {
  const auto read_during_sync = [&](const std::string& row) {
    std::string seen = "never synced";
    FaultSpec look;
    look.action = FaultAction::kCall;
    look.call = [&](std::string_view) { seen = world.Read(*server->region, row, "q").value(); };
    FaultPoints::Instance().Arm("log.before_sync", look);
    Do(*server, Put(row, "q", "value"));
    FaultPoints::Instance().DisarmAll();
    return seen;
  };
  EXPECT_EQ(read_during_sync("r1"), "");
  EXPECT_EQ(world.Read(*server->region, "r1", "q").value(), "value");
  const ScopedMutant mutant("region.visible_before_sync");
  EXPECT_EQ(read_during_sync("r2"), "value");
}

TEST_F(RegionRulesTest, ARowChangesAsAWhole) {
  AtomicMutation both = Put("r", "q", "1");
  both.mutations[0].cells.push_back({"r", "f", "p", kLatestTimestamp, CellType::kPut, "1"});
  Do(*server, both);
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::thread reader([&] {
    GetSpec get;
    get.row = "r";
    while (!stop) {
      const auto cells = server->region->Get(get).value();
      if (cells.size() != 2 || cells[0].value != cells[1].value) ++torn;
    }
  });
  for (int i = 0; i < 300; ++i) {
    for (Cell& cell : both.mutations[0].cells) cell.value = std::to_string(i);
    Do(*server, both);
    if (i % 100 == 99) server->region->Flush().value();
  }
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

// --- S25 (recovered edits stay until flushed), S26 (split up to the seal) ---

TEST_F(RegionRulesTest, TheFirstSequenceIsAboveAllRecoveredEdits) {
  const auto first_after_crash = [&](std::uint64_t open_number) {
    const std::string name = server->name;
    const std::uint64_t before = server->region->GetStatus().read_point;
    server.reset();
    world.Recover(name).value();
    server = world.Start("n,1," + std::to_string(open_number)).value();
    world.OpenRegion(*server, open_number).value();
    return server->region->first_sequence() > before;
  };
  Do(*server, Put("r", "q", "v"));
  EXPECT_TRUE(first_after_crash(6));
  Do(*server, Put("r", "q", "w"));
  const ScopedMutant mutant("region.low_first_sequence");
  EXPECT_FALSE(first_after_crash(7));
}

// Edits that store files cover are not applied again: here a major compaction has dropped cells that they would
// restore.
std::string ReadAfterCoveredEdits(EngineWorld& world, std::unique_ptr<Server> server) {
  EXPECT_TRUE(world.Mutate(*server->region, Put("r", "q", "deleted later")).value().ok());
  world.time.Advance(Millis(5));
  EXPECT_TRUE(world.Mutate(*server->region, DeleteRow("r")).value().ok());
  server->region->Compact(true).value();
  // The region was moved with a close. The log of its old server is split when that server dies long after.
  server->region->Close().value();
  const std::string name = server->name;
  server->process->Crash();  // before it can record that its log is covered
  server.reset();
  world.Recover(name).value();
  auto next = world.Start("z,1,1").value();
  world.OpenRegion(*next, 9).value();
  return world.Read(*next->region, "r", "q").value();
}

TEST_F(RegionRulesTest, EditsThatStoreFilesCoverAreIgnored) {
  EXPECT_EQ(ReadAfterCoveredEdits(world, std::move(server)), "");
}

TEST_F(RegionRulesTest, WithoutTheFilterTheirEntriesAreReplayed) {
  const ScopedMutant mutant("region.no_edit_filter");
  const std::string name = server->name;
  Do(*server, Put("r", "q", "v"));
  server->region->Close().value();
  server->process->Crash();
  server.reset();
  world.Recover(name).value();
  auto next = OpenAgain(9, "z,1,1");
  EXPECT_GT(next->region->GetStatus().memstore_bytes, 0U);  // the entry is there a second time
}

TEST_F(RegionRulesTest, DamagedRecoveredEditsAreNamed) {
  Do(*server, Put("r", "q", "value"));
  server.reset();
  world.Recover("a,1,1").value();
  const std::string path = "/data/" + world.info.encoded_name() + "/edits.a,1,1.log.0000000001";
  world.disk.Overwrite(path, 70, "X").value();
  auto next = world.Start("b,1,1").value();
  const Status opened = world.OpenRegion(*next, 6);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::kCorruption);
  const std::string message = opened.error().message();
  EXPECT_NE(message.find("edits.a,1,1.log.0000000001"), std::string::npos) << message;
}

// --- S27 (rising timestamps) ---

TEST_F(RegionRulesTest, AClockThatWasSetBackHidesNoPut) {
  const auto put_with_an_older_clock = [&](const std::string& row, std::uint64_t open_number) {
    Do(*server, Put(row, "q", "first"));
    server->region->Close().value();
    EngineWorld& w = world;
    const ManualTime slow(w.time.WallMillis() - 60'000);
    auto next = w.Start("slow,1," + std::to_string(open_number)).value();
    OpenParams params;
    params.info = w.info;
    params.table = w.table;
    params.open_number = open_number;
    params.directory = next->process->Open("/data/" + w.info.encoded_name()).value();
    params.log = next->log.get();
    params.clock = &slow;
    next->region = Region::Open(std::move(params)).value();
    Do(*next, Put(row, "q", "second"));
    const std::string read = w.Read(*next->region, row, "q").value();
    next->region->Close().value();
    server = w.Start("a,1," + std::to_string(open_number)).value();
    w.OpenRegion(*server, open_number + 1).value();
    return read;
  };
  EXPECT_EQ(put_with_an_older_clock("r1", 10), "second");
  const ScopedMutant mutant("region.clock_only");
  EXPECT_EQ(put_with_an_older_clock("r2", 20), "first");
}

TEST_F(RegionRulesTest, TheGreatestTimestampSurvivesACrash) {
  Do(*server, Put("r", "q", "v"));
  const std::int64_t before = TimestampOf(*server, "r");
  server.reset();
  world.Recover("a,1,1").value();
  const ManualTime slow(before - 60'000);
  auto next = world.Start("b,1,1").value();
  OpenParams params;
  params.info = world.info;
  params.table = world.table;
  params.open_number = 6;
  params.directory = next->process->Open("/data/" + world.info.encoded_name()).value();
  params.log = next->log.get();
  params.clock = &slow;
  next->region = Region::Open(std::move(params)).value();
  Do(*next, Put("s", "q", "v"));
  EXPECT_GE(TimestampOf(*next, "s"), before);
}

TEST_F(RegionRulesTest, APutAfterADeleteOfTheSameMillisecondIsSeen) {
  Do(*server, Put("r", "q", "1"));
  Do(*server, DeleteRow("r"));
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "");
  Do(*server, Put("r", "q", "2"));
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "2");
}

TEST_F(RegionRulesTest, APutBesideADeleteIsSeenAfterADeleteOfTheSameMillisecond) {
  Do(*server, Put("r", "q", "1"));
  Do(*server, DeleteRow("r"));
  AtomicMutation both = Put("r", "q", "2");
  both.mutations.push_back(Delete("r", "other", CellType::kDeleteColumn).mutations.front());
  Do(*server, both);
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "2");
}

// As in HBase: one version for each increment and append, also within one millisecond. Later writes are newer.
TEST_F(RegionRulesTest, IncrementsOfOneMillisecondAreVersions) {
  const auto times_of = [this](const std::string& row) {
    GetSpec get;
    get.row = row;
    get.max_versions = 10;
    std::vector<std::int64_t> times;
    const auto cells = server->region->Get(get);
    for (const Cell& cell : cells.value()) times.push_back(cell.timestamp);
    return times;
  };
  const std::int64_t now = world.time.WallMillis();
  for (int i = 0; i < 3; ++i) Do(*server, Increment("r", "q", 1));
  EXPECT_EQ(times_of("r"), (std::vector<std::int64_t>{now + 2, now + 1, now}));
  Do(*server, Append("r", "q", "x"));
  EXPECT_EQ(times_of("r").front(), now + 3);
  Do(*server, Put("r", "q", "put"));
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "put");
  Do(*server, DeleteRow("r"));
  EXPECT_EQ(times_of("r").size(), 0U);
  const ScopedMutant mutant("region.counters_run_ahead");
  for (int i = 0; i < 3; ++i) Do(*server, Increment("s", "q", 1));
  Do(*server, Put("s", "q", "put"));
  EXPECT_NE(world.Read(*server->region, "s", "q").value(), "put");
}

// One unit: the put that follows the increment is not hidden by it.
TEST_F(RegionRulesTest, APutBehindAnIncrementInOneUnitIsSeen) {
  Do(*server, Increment("r", "q", 1));
  AtomicMutation unit = Increment("r", "q", 1);
  unit.mutations.push_back(Put("r", "q", "put").mutations.front());
  Do(*server, unit);
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "put");
}

// A timestamp that a client has chosen, an hour ahead, moves the result but not the region's own timestamps.
TEST_F(RegionRulesTest, AnIncrementOfACellFromTheFutureIsAboveIt) {
  const std::int64_t now = world.time.WallMillis();
  const std::int64_t future = now + 3'600'000;
  Do(*server, Put("r", "q", EncodeInt64(1), future));
  Do(*server, Increment("r", "q", 1));
  EXPECT_EQ(TimestampOf(*server, "r"), future + 1);
  Do(*server, Put("s", "q", "v"));
  EXPECT_EQ(TimestampOf(*server, "s"), now);
  Do(*server, Put("last", "q", EncodeInt64(1), INT64_MAX - 1));
  Do(*server, Increment("last", "q", 1));
  EXPECT_EQ(TimestampOf(*server, "last"), INT64_MAX - 1) << "there is nothing above it";
}

// More than a second of changes ahead of the clock: they share the last timestamp, and the newest is seen.
TEST_F(RegionRulesTest, ACounterDoesNotRunAwayFromTheClock) {
  const std::int64_t now = world.time.WallMillis();
  AtomicMutation unit = Increment("r", "q", 1);
  while (unit.mutations.size() < 1'100) unit.mutations.push_back(unit.mutations.front());
  Do(*server, unit);
  EXPECT_EQ(TimestampOf(*server, "r"), now + 1'000);
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), EncodeInt64(1'100));
}

// --- S29 (durable nonces) ---

TEST_F(RegionRulesTest, ARepeatedNonceIsAnsweredNotExecuted) {
  const Nonce nonce{7, 42, {}};
  const auto again = [&] {
    const auto result = Apply(*server, Increment("r", "n", 5, nonce)).value();
    std::int64_t value = 0;
    EXPECT_TRUE(DecodeInt64(result.results[0][0].value, value));
    return value;
  };
  EXPECT_EQ(again(), 5);
  EXPECT_EQ(again(), 5);
  server->region->Close().value();
  server = OpenAgain(6, "b,1,1");
  EXPECT_EQ(again(), 5) << "by the manifest";
  const Nonce second{7, 43, {}};
  Do(*server, Append("r", "t", "x", second));
  server.reset();
  world.Recover("b,1,1").value();
  server = OpenAgain(7, "c,1,1");
  Do(*server, Append("r", "t", "x", second));
  EXPECT_EQ(world.Read(*server->region, "r", "t").value(), "x");
  EXPECT_EQ(again(), 5);
  // This memory is the cause.
  server->region->Close().value();
  const ScopedMutant mutant("region.forget_nonces");
  server = OpenAgain(8, "d,1,1");
  EXPECT_EQ(again(), 10);
}

TEST_F(RegionRulesTest, ARetryOlderThanTheMemoryIsRefused) {
  world.time.Advance(Millis(world.settings.nonce_memory.count() * 2));
  const std::int64_t now = world.time.WallMillis();
  EXPECT_TRUE(Apply(*server, Increment("r", "n", 1, Nonce{1, 1, now - 1000})).ok());
  const auto old = Apply(*server, Increment("r", "n", 1, Nonce{1, 2, now - world.settings.nonce_memory.count() - 1}));
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code(), Code::kStale);
  const ScopedMutant mutant("region.execute_old_retries");
  EXPECT_TRUE(Apply(*server, Increment("r", "n", 1, Nonce{1, 2, now - world.settings.nonce_memory.count() - 1})).ok());
}

}  // namespace
}  // namespace ratchet::regionserver
