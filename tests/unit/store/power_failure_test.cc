// The store dies at every operation of commit, roll, clean-up and claim, and the power fails.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "procedure/store/format.h"
#include "tests/unit/store/scenario.h"

namespace ratchet::procedure {
namespace {

using io::SimDisk;
using io::SimEvent;
using io::SimOp;
using io::SimVerdict;

std::vector<SimEvent> Reference(const WalStoreOptions& options = ScenarioOptions()) {
  SimDisk disk;
  std::vector<SimEvent> events;
  const ScenarioEnd end = RunScenario(
      disk,
      [&](const SimEvent& event) {
        if (io::Changes(event.op)) events.push_back(event);
        return SimVerdict::Proceed();
      },
      options);
  EXPECT_EQ(end.wrong, "");
  EXPECT_EQ(end.acknowledged, ScenarioBatches().size());
  return events;
}

WalStoreOptions WithSpare() {
  WalStoreOptions options = ScenarioOptions();
  options.spares = 1;
  return options;
}

// Which part of the store each of the sweep's operations belongs to: each is a point at which it may die.
std::map<std::string, int> PointsOf(const std::vector<SimEvent>& events) {
  std::map<std::string, int> points;
  std::string of = "start";  // a sync belongs to what it makes durable
  for (const SimEvent& event : events) {
    const std::string& name = event.to.empty() ? event.path : event.to;
    const auto segment = ParseNumberedName(kSegmentPrefix, name.substr(name.rfind('/') + 1));
    const bool made = event.op == SimOp::kCreate || event.op == SimOp::kRename;
    if (made && segment) of = segment->number > 1 ? "roll" : "seal";
    if (made && name.find("claim.") != std::string::npos) of = "claim";
    if (event.op == SimOp::kUnlink && segment) of = "clean-up";
    if (event.op == SimOp::kAppend && of != "seal" && of != "roll") of = "commit";
    if (event.op == SimOp::kAppend && (of == "seal" || of == "roll")) of += " written";
    ++points[of];
  }
  return points;
}

TEST(StorePowerFailureTest, TheSweepDiesInEveryPartOfARollACleanUpAndAClaim) {
  for (const WalStoreOptions& options : {ScenarioOptions(), WithSpare()}) {
    std::map<std::string, int> points = PointsOf(Reference(options));
    EXPECT_GE(points["claim"], 2 * 2) << "made, its name durable; by two owners";
    EXPECT_GE(points["seal"] + points["seal written"], 2 * 4) << "made, its name durable, written, synced";
    EXPECT_GE(points["roll"], 4 * 2) << "made, its name durable";
    EXPECT_GE(points["roll written"], 4) << "the first frame of a new segment";
    EXPECT_GE(points["clean-up"], 5);
    EXPECT_GE(points["commit"], 20);
  }
}

TEST(StorePowerFailureTest, TheScenarioMeetsEverything) {
  std::set<SimOp> seen;
  bool removed_segment = false;
  int claims = 0;
  for (const SimEvent& event : Reference()) {
    seen.insert(event.op);
    removed_segment |= event.op == SimOp::kUnlink && event.path.find("segment.") != std::string::npos;
    claims += event.op == SimOp::kCreate && event.path.find("claim.") != std::string::npos ? 1 : 0;
  }
  EXPECT_TRUE(removed_segment);
  EXPECT_EQ(claims, 2 * 2) << "in the root and in the store";
  for (const SimOp op : {SimOp::kCreate, SimOp::kAppend, SimOp::kSyncFile, SimOp::kSyncDirectory})
    EXPECT_TRUE(seen.contains(op));
}

TEST(StorePowerFailureTest, EveryOperationMayBeTheLast) {
  for (const WalStoreOptions& options : {ScenarioOptions(), WithSpare()}) {
    const std::size_t operations = Reference(options).size();
    for (std::uint64_t number = 1; number <= operations; ++number) {
      for (const auto loss : {SimDisk::Loss::kEverything, SimDisk::Loss::kNothing, SimDisk::Loss::kRandom}) {
        for (const bool after : {false, true}) {
          SimDisk disk;
          const ScenarioEnd end = RunScenario(disk, io::CrashAtOp(number, after), options);
          disk.PowerFailure(loss, number);
          ASSERT_EQ(CheckTwice(disk, end), "")
              << "died " << (after ? "after" : "before") << " operation " << number << ", loss "
              << static_cast<int>(loss) << ", " << options.spares << " spares";
        }
      }
    }
  }
}

TEST(StorePowerFailureTest, AppendsMayBeTornAnywhere) {
  for (const SimEvent& victim : Reference()) {
    if (victim.op != SimOp::kAppend) continue;
    for (std::uint64_t keep = 0; keep < victim.bytes; keep += 1 + victim.bytes / 9) {
      SimDisk disk;
      const ScenarioEnd end = RunScenario(disk, [&](const SimEvent& event) {
        return event.number == victim.number ? SimVerdict::Tear(keep) : SimVerdict::Proceed();
      });
      disk.PowerFailure(SimDisk::Loss::kNothing);
      ASSERT_EQ(CheckTwice(disk, end), "") << victim.ToString() << " torn after " << keep;
    }
  }
}

// The recovery dies as well, at each of its operations, after a crash at a sample of places.
TEST(StorePowerFailureTest, RecoveryMayDieToo) {
  const std::size_t operations = Reference().size();
  for (std::uint64_t number = 3; number <= operations; number += 7) {
    for (std::uint64_t again = 1;; ++again) {
      SimDisk disk;
      const ScenarioEnd end = RunScenario(disk, io::CrashAtOp(number));
      disk.PowerFailure(SimDisk::Loss::kRandom, number);
      StoreProcess unlucky(disk, ScenarioOptions());
      unlucky.process->SetHook(io::CrashAtOp(again));
      const bool claimed = unlucky.Claim().ok();
      disk.PowerFailure(again % 2 == 0 ? SimDisk::Loss::kEverything : SimDisk::Loss::kRandom, again);
      ASSERT_EQ(CheckTwice(disk, end), "") << "died at " << number << ", recovery at " << again;
      if (claimed) break;
    }
  }
}

// The owner dies while the stragglers of its oldest segment are half rewritten: the claimer copies those in the open
// segment, whose older copies still count. The next claimer must not treat that as damage.
TEST(StorePowerFailureTest, AHalfDoneRewritingIsTakenOver) {
  WalStoreOptions options = SmallOptions();
  options.max_frame_bytes = 1024;  // a quarter of it is rewritten with one frame
  options.max_segments = 2;
  std::set<std::uint64_t> rewritten;
  for (int extra = 0; extra < 30; ++extra) {
    SimDisk disk;
    StoreState expected;
    {
      StoreProcess master(disk, options);
      ASSERT_TRUE(master.Claim().ok());
      const auto commit = [&](StoreBatch batch) {
        expected.Apply(batch);
        const auto done = master.CommitNow(std::move(batch));
        ASSERT_TRUE(done && done->ok());
      };
      for (std::uint64_t pid = 1; pid <= 12; ++pid) commit(Put(pid, 1, std::string(150, 'a')));
      for (std::uint64_t version = 1; version <= 40; ++version) commit(Put(99, version, std::string(200, 'b')));
      while (master.store->StepHousekeeping()) {  // reads the stragglers, writes none
      }
      for (int step = 0; step < extra; ++step) master.store->StepOnce();
      rewritten.insert(master.store->metrics().rewritten_records);
      master.process->Crash();  // otherwise its end would be clean
    }
    for (int owner = 0; owner < 3; ++owner) {
      disk.PowerFailure();
      StoreProcess next(disk, options);
      const auto loaded = next.Claim();
      ASSERT_TRUE(loaded.ok()) << "owner " << owner << " after " << extra << " frames: " << loaded.error().ToString();
      EXPECT_EQ(StateOf(*loaded), expected);
    }
  }
  EXPECT_GT(rewritten.size(), 3U) << "the owner died in the middle of it";
}

// Each single sync is left out once. Some crash after it must then show that.
bool SomethingIsLostWithout(const SimEvent& sync, std::size_t operations, const WalStoreOptions& options) {
  for (std::uint64_t dies = sync.number + 1; dies <= std::min<std::uint64_t>(operations + 1, sync.number + 12);
       ++dies) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SimDisk disk;
      const ScenarioEnd end = RunScenario(
          disk,
          [&](const SimEvent& event) {
            if (event.number == sync.number) return SimVerdict::Skip();
            return event.number == dies ? SimVerdict::CrashBefore() : SimVerdict::Proceed();
          },
          options);
      disk.PowerFailure(seed == 0 ? SimDisk::Loss::kEverything : SimDisk::Loss::kRandom, seed);
      if (!CheckTwice(disk, end).empty()) return true;
    }
  }
  return false;
}

// Syncs whose loss alone cannot be noticed, each for a reason.
bool CannotShow(const std::vector<SimEvent>& events, std::size_t at) {
  const SimEvent& event = events[at];
  if (event.path == "/") return true;  // the administrator's directories
  // They guard against a store that is reset to an older state, which this scenario does not have; StoreGuardTest
  // watches them.
  if (event.path == "/numbers") return true;
  // The claimer's syncs of what it read: their content is copied with the seal. S8 (act only on durable records)
  // demands them all the same, as a belt against a disk that syncs only what was written through it; ClaimOrderTest
  // watches them.
  if (event.op == SimOp::kSyncFile && events[at - 1].op != SimOp::kAppend) return true;
  // A claim that is lost before its owner acted counts as never made; the next sync of the directory covers it before
  // that.
  if (event.op == SimOp::kSyncDirectory && events[at - 1].path.find("claim.") != std::string::npos) return true;
  // The seal of an empty store holds nothing, and the summary of a clean end is only a cross-check.
  return event.number == 17 || at + 1 == events.size();
}

TEST(StorePowerFailureTest, TakingOutAnySyncIsNoticed) {
  const auto events = Reference();
  int noticed = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const SimEvent& event = events[i];
    if ((event.op != SimOp::kSyncFile && event.op != SimOp::kSyncDirectory) || CannotShow(events, i)) continue;
    EXPECT_TRUE(SomethingIsLostWithout(event, events.size(), ScenarioOptions()))
        << event.ToString() << " after " << events[i - 1].ToString();
    ++noticed;
  }
  EXPECT_GT(noticed, 30);
}

}  // namespace
}  // namespace ratchet::procedure
