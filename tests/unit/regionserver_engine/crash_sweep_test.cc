// Power failures and fences at every single operation of a region's life: no acknowledged write is ever lost, and the
// test notices when a rule that guarantees that is left out.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kOwner = "a,1,1";

// The knowledge of a workload's clients.
struct Known {
  std::map<std::string, std::string> acked;  // row -> value that must exist ("" = deleted)
  std::set<std::string> unknown;             // rows whose last write was not answered
  std::int64_t counter_least = 0;            // acknowledged increments
  std::int64_t counter_most = 0;
  bool closed = false;
};

void Write(EngineWorld& world, Region& region, const std::string& row, const std::string& value, Known& known) {
  world.time.Advance(Millis(1));
  const auto answer = world.Mutate(region, value.empty() ? DeleteRow(row) : Put(row, "q", value));
  if (answer && answer->ok())
    known.acked[row] = value;
  else
    known.unknown.insert(row);
}

void Count(EngineWorld& world, Region& region, std::uint64_t nonce, Known& known) {
  const auto answer = world.Mutate(region, Increment("counter", "q", 1, Nonce{1, nonce, {}}));
  ++known.counter_most;
  if (answer && answer->ok()) ++known.counter_least;
}

// Increments that may share a sync, each computed from the one before (S126: same fate as its source).
void CountTogether(EngineWorld& world, Region& region, std::uint64_t first_nonce, Known& known) {
  constexpr std::uint64_t kTogether = 4;
  std::vector<AtomicMutation> units;
  for (std::uint64_t i = 0; i < kTogether; ++i)
    units.push_back(Increment("counter", "q", 1, Nonce{1, first_nonce + i, {}}));
  known.counter_most += kTogether;
  for (const auto& answer : world.MutateBatch(region, std::move(units))) known.counter_least += answer.ok() ? 1 : 0;
}

bool rewrite_always = false;  // the manifest, after each record
bool together = false;        // some increments share syncs, so the number of operations varies
bool shipped = false;         // writes are shipped to other clusters (S113: serial order of openings)

// A region's whole life on one server. Continues after failures as long as calls return, as a server would. Without a
// close at its end the last writes are in the log only.
Known Live(EngineWorld& world, std::unique_ptr<Server>& server, const io::SimHook& hook, bool close = true) {
  Known known;
  if (rewrite_always) world.settings.manifest_slack_bytes = 0;
  if (shipped) world.table.families.front().attributes["REPLICATION_SCOPE"] = "1";
  auto started = world.Start(kOwner, hook);
  if (!started.ok()) return known;
  server = std::move(started).value();
  if (!world.OpenRegion(*server, 1).ok()) return known;
  Region& region = *server->region;
  Write(world, region, "r0", "zero", known);
  Write(world, region, "r1", "one", known);
  Count(world, region, 1, known);
  IgnoreResult(region.Flush(), "a fault may have struck");
  Write(world, region, "r2", "two", known);
  Write(world, region, "r0", "", known);
  if (!world.died()) IgnoreResult(server->log->Roll(), "a fault may have struck");
  Write(world, region, "r3", "three", known);
  Count(world, region, 2, known);
  if (together) CountTogether(world, region, 3, known);
  IgnoreResult(region.Compact(true), "a fault may have struck");
  if (!world.died()) server->log->MarkCovered();
  // The cleaner does not run after a death; otherwise its syncs would replace syncs that the server left out.
  if (!server->process->crashed()) IgnoreResult(world.Clean(kOwner), "a fence may have fallen");
  Write(world, region, "r1", "eleven", known);
  if (close && !world.died()) known.closed = region.Close().ok();
  return known;
}

// Returns the first error in the region, judged by the clients' knowledge; "" if there is none.
std::string Judge(EngineWorld& world, Region& region, const Known& known) {
  for (const auto& [row, value] : known.acked) {
    const Result<std::string> read = world.Read(region, row, "q");
    if (!read.ok()) return read.error().ToString();
    if (*read != value && !known.unknown.contains(row))
      return fmt::format("{} is '{}', acknowledged '{}'", row, *read, value);
  }
  const Result<std::string> counter = world.Read(region, "counter", "q");
  if (!counter.ok()) return counter.error().ToString();
  std::int64_t count = 0;
  if (!counter->empty() && !DecodeInt64(*counter, count)) return "the counter is not a number";
  if (count < known.counter_least || count > known.counter_most)
    return fmt::format("the counter is {}, not in {}..{}", count, known.counter_least, known.counter_most);
  return {};
}

std::string OpenElsewhereAndJudge(EngineWorld& world, const Known& known, std::uint64_t open_number = 2) {
  auto next = world.Start(fmt::format("b,1,{}", open_number));
  if (!next.ok()) return next.error().ToString();
  const Status opened = world.OpenRegion(**next, open_number);
  if (!opened.ok()) return opened.error().ToString();
  if (std::string wrong = Judge(world, *(*next)->region, known); !wrong.empty()) return wrong;
  if (shipped && !known.acked.empty()) {
    const auto after = FirstComesAfter(**next);
    if (after.size() != 1 || after[0].server != kOwner) return "the opening does not come after the one before";
    if (known.closed && after[0].file == kEndOfQueue) return "an opening that was closed has no place";
  }
  // Checks once more after the removal of every file that its owners declared unneeded.
  const auto cleaned = world.Clean(kOwner);
  if (!cleaned.ok()) return cleaned.error().ToString();
  if (const Status closed = (*next)->region->Close(); !closed.ok()) return closed.error().ToString();
  const Status again = world.OpenRegion(**next, open_number + 1);
  if (!again.ok()) return "after cleaning: " + again.error().ToString();
  return Judge(world, *(*next)->region, known);
}

// The power fails at operation `number`; the log is recovered, the region opened elsewhere.
std::string PowerFailureAt(std::uint64_t number, bool after, io::SimDisk::Loss loss) {
  EngineWorld world;
  world.Format().value();
  std::unique_ptr<Server> server;
  const Known known = Live(world, server, io::CrashAtOp(number, after));
  world.disk.PowerFailure(loss, number);
  server.reset();
  world.ForgetDeath();
  const Status recovered = world.Recover(kOwner);
  if (!recovered.ok() && recovered.error().code() != Code::kNotFound) return recovered.error().ToString();
  if (!recovered.ok() && !known.acked.empty()) return "the log directory is gone";
  return OpenElsewhereAndJudge(world, known);
}

// The master fences and seals right before operation `number`; the old owner continues for as long as it can.
std::string FenceAt(std::uint64_t number, bool close) {
  EngineWorld world;
  world.Format().value();
  std::optional<Result<std::vector<EngineWorld::Seal>>> seals;  // outlives the server, whose end runs the hook
  std::unique_ptr<Server> server;
  const Known known = Live(
      world, server,
      [&](const io::SimEvent& event) {
        if (event.number == number && !seals) seals = world.FenceAndSeal(kOwner);
        return io::SimVerdict::Proceed();
      },
      close);
  if (!seals) return {};
  // Before its directory exists no process suspects the server, so none fences it.
  if (!seals->ok()) return seals->error().code() == Code::kNotFound ? std::string() : seals->error().ToString();
  auto splitter = world.disk.NewProcess("splitter");
  for (const EngineWorld::Seal& seal : **seals) {
    const auto split = world.Split(*splitter, kOwner, seal, 1);
    if (!split.ok()) return split.error().ToString();
  }
  return OpenElsewhereAndJudge(world, known);
}

std::uint64_t OperationsOfALife() {
  EngineWorld world;
  world.Format().value();
  std::unique_ptr<Server> server;
  const Known known = Live(world, server, {});
  EXPECT_TRUE(known.closed);
  EXPECT_TRUE(known.unknown.empty());
  return server->process->operations();
}

std::vector<std::string> SweepPower(io::SimDisk::Loss loss) {
  std::vector<std::string> violations;
  const std::uint64_t operations = OperationsOfALife();
  for (std::uint64_t number = 1; number <= operations + 1; ++number)
    for (const bool after : {false, true})
      if (const std::string wrong = PowerFailureAt(number, after, loss); !wrong.empty())
        violations.push_back(
            fmt::format("power failure {} operation {}: {}", after ? "after" : "before", number, wrong));
  return violations;
}

std::vector<std::string> SweepFence() {
  std::vector<std::string> violations;
  const std::uint64_t operations = OperationsOfALife();
  for (std::uint64_t number = 1; number <= operations; ++number)
    for (const bool close : {true, false})
      if (const std::string wrong = FenceAt(number, close); !wrong.empty())
        violations.push_back(fmt::format("fence before operation {}: {}", number, wrong));
  return violations;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

class CrashSweepTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }
};

TEST_F(CrashSweepTest, APowerFailureAnywhereLosesNothingAcknowledged) {
  const auto violations = SweepPower(io::SimDisk::Loss::kEverything);
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

TEST_F(CrashSweepTest, APowerFailureThatKeepsSomeOfTheUnsyncedLosesNothingAcknowledged) {
  const auto violations = SweepPower(io::SimDisk::Loss::kRandom);
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

TEST_F(CrashSweepTest, AFenceAnywhereLosesNothingAcknowledged) {
  const auto violations = SweepFence();
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

// S62 (bounded manifest): the sweep with a manifest that is rewritten after each record.
class RewritingSweepTest : public CrashSweepTest {
 protected:
  void SetUp() override {
    CrashSweepTest::SetUp();
    rewrite_always = true;
  }
  void TearDown() override {
    rewrite_always = false;
    CrashSweepTest::TearDown();
  }
};

TEST_F(RewritingSweepTest, APowerFailureAnywhereLosesNothingAcknowledged) {
  for (const auto loss : {io::SimDisk::Loss::kEverything, io::SimDisk::Loss::kRandom}) {
    const auto violations = SweepPower(loss);
    EXPECT_TRUE(violations.empty()) << Joined(violations);
  }
}

TEST_F(RewritingSweepTest, AFenceAnywhereLosesNothingAcknowledged) {
  const auto violations = SweepFence();
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

// S113: the sweep with the marks of openings in log and manifest, by which each opening knows its predecessor.
class ShippedSweepTest : public CrashSweepTest {
 protected:
  void SetUp() override {
    CrashSweepTest::SetUp();
    shipped = true;
  }
  void TearDown() override {
    shipped = false;
    CrashSweepTest::TearDown();
  }
};

TEST_F(ShippedSweepTest, APowerFailureAnywhereLosesNothingAcknowledged) {
  for (const auto loss : {io::SimDisk::Loss::kEverything, io::SimDisk::Loss::kRandom}) {
    const auto violations = SweepPower(loss);
    EXPECT_TRUE(violations.empty()) << Joined(violations);
  }
}

TEST_F(ShippedSweepTest, AFenceAnywhereLosesNothingAcknowledged) {
  const auto violations = SweepFence();
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

TEST_F(ShippedSweepTest, OmittingEarlierOpeningsIsNoticed) {
  ExpectKilled(
      "region.silent_marks", [] { return Joined(SweepFence()); }, "the opening does not come after the one before");
}

// S126: the sweep with mutations that are computed from others that are not durable.
class TogetherSweepTest : public CrashSweepTest {
 protected:
  void SetUp() override {
    CrashSweepTest::SetUp();
    together = true;
  }
  void TearDown() override {
    together = false;
    CrashSweepTest::TearDown();
  }
};

TEST_F(TogetherSweepTest, APowerFailureAnywhereLosesNothingAcknowledged) {
  for (const auto loss : {io::SimDisk::Loss::kEverything, io::SimDisk::Loss::kRandom}) {
    const auto violations = SweepPower(loss);
    EXPECT_TRUE(violations.empty()) << Joined(violations);
  }
}

TEST_F(TogetherSweepTest, AFenceAnywhereLosesNothingAcknowledged) {
  const auto violations = SweepFence();
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

TEST_F(CrashSweepTest, ThePowerSweepNoticesALogWithoutSync) {  // S1 (check after sync)
  ExpectKilled(
      "log.no_sync", [] { return Joined(SweepPower(io::SimDisk::Loss::kEverything)); },
      "the counter is 0, not in 1..2");
}

TEST_F(CrashSweepTest, ThePowerSweepNoticesARollWithoutDirectorySync) {  // S4 (directory made once)
  ExpectKilled(
      "log.no_roll_dir_sync", [] { return Joined(SweepPower(io::SimDisk::Loss::kEverything)); },
      "the counter is 0, not in 1..2");
}

TEST_F(CrashSweepTest, TheFenceSweepNoticesAMissingCheck) {  // S2 (check is positive)
  ExpectKilled(
      "log.no_check", [] { return Joined(SweepFence()); }, "r1 is 'one', acknowledged 'eleven'");
}

TEST_F(CrashSweepTest, TheFenceSweepNoticesACheckBeforeTheSync) {  // S1
  ExpectKilled(
      "log.check_before_sync", [] { return Joined(SweepFence()); }, "r1 is 'one', acknowledged 'eleven'");
}

// S22 (close drains, flushes, checks): after a close no data of the region is only in a log, so its server may lose the
// log.
std::string CloseThenPowerFailure() {
  EngineWorld world;
  world.Format().value();
  std::unique_ptr<Server> server;
  const Known known = Live(world, server, {});
  if (!known.closed) return "not closed";
  world.disk.PowerFailure();
  server.reset();
  return OpenElsewhereAndJudge(world, known);
}

TEST_F(CrashSweepTest, AClosedRegionNeedsNoLog) { EXPECT_EQ(CloseThenPowerFailure(), ""); }

TEST_F(CrashSweepTest, AManifestWithoutSyncIsNoticed) {  // S21 (numbered openings), S22
  ExpectKilled(
      "manifest.no_sync", [&] { return CloseThenPowerFailure(); }, "manifest.1 had a state, but it is missing");
}

TEST_F(CrashSweepTest, AManifestWithoutDirectorySyncIsNoticed) {  // S21 (numbered openings)
  ExpectKilled(
      "manifest.no_dir_sync", [&] { return CloseThenPowerFailure(); }, "1-4.sst does not exist");
}

// The splitter dies at its operation `split_op`, another one finishes; the opener dies at `open_op`, another one
// finishes.
std::string RecoverWithCrashes(std::uint64_t split_op, std::uint64_t open_op, std::uint64_t* split_ops,
                               std::uint64_t* open_ops) {
  EngineWorld world;
  world.Format().value();
  auto server = world.Start(kOwner).value();
  world.OpenRegion(*server, 1).value();
  Known known;
  for (const char* row : {"r0", "r1", "r2"}) Write(world, *server->region, row, row, known);
  Count(world, *server->region, 1, known);
  if (!known.unknown.empty()) return "the workload failed";
  world.disk.PowerFailure();
  server.reset();
  auto seals = world.FenceAndSeal(kOwner);
  if (!seals.ok()) return seals.error().ToString();

  auto first = world.disk.NewProcess("first splitter");
  if (split_op > 0) first->SetHook(io::CrashAtOp(split_op));
  for (const auto& seal : *seals) IgnoreResult(world.Split(*first, kOwner, seal, 1), "it may die");
  *split_ops = first->operations();
  if (split_op > 0) world.disk.PowerFailure();
  auto second = world.disk.NewProcess("second splitter");
  for (const auto& seal : *seals) {
    const auto split = world.Split(*second, kOwner, seal, 2);
    if (!split.ok()) return "second split: " + split.error().ToString();
  }

  auto opener = world.Start("o,1,1");
  if (!opener.ok()) return opener.error().ToString();
  const std::uint64_t before = (*opener)->process->operations();
  if (open_op > 0) (*opener)->process->SetHook(io::CrashAtOp(before + open_op));
  IgnoreResult(world.OpenRegion(**opener, 2), "it may die");
  *open_ops = (*opener)->process->operations() - before;
  if (open_op > 0) world.disk.PowerFailure();
  opener->reset();
  world.ForgetDeath();
  return OpenElsewhereAndJudge(world, known, 3);
}

std::vector<std::string> SweepRecovery() {
  std::uint64_t split_ops = 0;
  std::uint64_t open_ops = 0;
  std::uint64_t ignored = 0;
  std::vector<std::string> violations;
  if (const std::string wrong = RecoverWithCrashes(0, 0, &split_ops, &open_ops); !wrong.empty())
    violations.push_back("no crash: " + wrong);
  const std::uint64_t splits = split_ops;
  const std::uint64_t opens = open_ops;
  for (std::uint64_t split_op = 0; split_op <= splits; ++split_op)
    if (const std::string wrong = RecoverWithCrashes(split_op, 0, &ignored, &ignored); !wrong.empty())
      violations.push_back(fmt::format("splitter dies at {}: {}", split_op, wrong));
  for (std::uint64_t open_op = 1; open_op <= opens; ++open_op)
    if (const std::string wrong = RecoverWithCrashes(0, open_op, &ignored, &ignored); !wrong.empty())
      violations.push_back(fmt::format("opener dies at {}: {}", open_op, wrong));
  return violations;
}

// S25 (recovered edits stay until flushed), S26 (split up to the seal)
TEST_F(CrashSweepTest, ASecondCrashAnywhereInTheRecoveryLosesNothing) {
  const auto violations = SweepRecovery();
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

TEST_F(CrashSweepTest, TheRecoverySweepNoticesEditsThatAreDroppedUnflushed) {  // S25
  ExpectKilled(
      "region.no_flush_of_replayed", [] { return Joined(SweepRecovery()); }, "r0 is '', acknowledged 'r0'");
}

constexpr const char* kOpener = "o,1,1";

// The life of an opening with edits in memory: it writes, flushes, compacts and closes, and its cleaner runs.
void LiveOnEdits(EngineWorld& world, Server& opener, Known& known) {
  if (!world.OpenRegion(opener, 2).ok()) return;
  Region& region = *opener.region;
  Write(world, region, "r3", "three", known);
  Write(world, region, "r0", "again", known);
  Count(world, region, 2, known);
  if (!opener.process->crashed()) IgnoreResult(world.Clean(kOpener), "a fault may have struck");
  IgnoreResult(region.Flush(), "a fault may have struck");
  if (!opener.process->crashed()) opener.log->MarkCovered();
  if (!opener.process->crashed()) IgnoreResult(world.Clean(kOpener), "a fault may have struck");
  Write(world, region, "r4", "four", known);
  IgnoreResult(region.Compact(true), "a fault may have struck");
  if (!opener.process->crashed()) IgnoreResult(world.Clean(kOpener), "a fault may have struck");
  known.closed = !world.died() && region.Close().ok();
}

// A server dies with writes in its log only; the power fails at operation `op` of the next owner (0: never), whose log
// is split, too.
std::string SecondDeathAt(std::uint64_t op, bool after, io::SimDisk::Loss loss, std::uint64_t* operations) {
  EngineWorld world;
  world.Format().value();
  auto server = world.Start(kOwner).value();
  world.OpenRegion(*server, 1).value();
  Known known;
  for (const char* row : {"r0", "r1", "r2"}) Write(world, *server->region, row, row, known);
  Count(world, *server->region, 1, known);
  if (!known.unknown.empty()) return "the workload failed";
  world.disk.PowerFailure();
  server.reset();
  if (const Status recovered = world.Recover(kOwner); !recovered.ok()) return recovered.error().ToString();

  auto opener = world.Start(kOpener).value();
  const std::uint64_t before = opener->process->operations();
  if (op > 0) opener->process->SetHook(io::CrashAtOp(before + op, after));
  LiveOnEdits(world, *opener, known);
  *operations = opener->process->operations() - before;
  if (op == 0 && !known.closed) return "not closed";
  world.disk.PowerFailure(loss, op);
  opener.reset();
  world.ForgetDeath();
  if (const Status recovered = world.Recover(kOpener); !recovered.ok()) return recovered.error().ToString();
  return OpenElsewhereAndJudge(world, known, 3);
}

std::vector<std::string> SweepSecondDeath() {
  std::uint64_t operations = 0;
  std::uint64_t ignored = 0;
  std::vector<std::string> violations;
  const auto judge = [&](std::uint64_t op, bool after, io::SimDisk::Loss loss, std::uint64_t* count) {
    if (const std::string wrong = SecondDeathAt(op, after, loss, count); !wrong.empty())
      violations.push_back(fmt::format("power failure {} operation {}: {}", after ? "after" : "before", op, wrong));
  };
  judge(0, false, io::SimDisk::Loss::kEverything, &operations);
  for (const auto loss : {io::SimDisk::Loss::kEverything, io::SimDisk::Loss::kRandom})
    for (std::uint64_t op = 1; op <= operations; ++op)
      for (const bool after : {false, true}) judge(op, after, loss, &ignored);
  EXPECT_GT(operations, 40U);
  return violations;
}

// S25 (recovered edits stay until flushed)
TEST_F(CrashSweepTest, ASecondDeathWithEditsInMemoryLosesNothing) {
  const auto violations = SweepSecondDeath();
  EXPECT_TRUE(violations.empty()) << Joined(violations);
}

TEST_F(CrashSweepTest, TheSweepNoticesEditsThatGoBeforeTheirFlush) {  // S25
  ExpectKilled(
      "region.edits_go_early", [] { return Joined(SweepSecondDeath()); }, "r1 is '', acknowledged 'r1'");
}

TEST_F(CrashSweepTest, TheRecoverySweepNoticesEditsPublishedUnsynced) {  // S26 (split up to the seal)
  // Shown by a power failure after the split reports its end.
  const auto recover_then_power_failure = [] {
    EngineWorld world;
    world.Format().value();
    auto server = world.Start(kOwner).value();
    world.OpenRegion(*server, 1).value();
    Known known;
    Write(world, *server->region, "r0", "zero", known);
    server.reset();
    world.Recover(kOwner).value();
    world.disk.PowerFailure();
    return OpenElsewhereAndJudge(world, known);
  };
  EXPECT_EQ(recover_then_power_failure(), "");
  ExpectKilled("split.no_publish_sync", recover_then_power_failure, "no splitter publishes a file without entries");
}

}  // namespace
}  // namespace ratchet::regionserver
