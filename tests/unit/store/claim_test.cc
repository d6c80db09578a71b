// The claim: the order of its operations, two claimers with every interleaving of their operations, and a deposed owner
// that continues (S1: check after sync; S2: check is positive; S7: seal before acting, to S9: claims are never
// removed).
#include <functional>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure {
namespace {

using io::SimDisk;
using io::SimEvent;
using io::SimOp;
using io::SimVerdict;

bool Names(const SimEvent& event, std::string_view part) { return event.path.find(part) != std::string::npos; }

// A store with closed segments and an open one.
void Prepare(SimDisk& disk) {
  StoreProcess first(disk);
  ASSERT_TRUE(first.Claim().ok());
  for (std::uint64_t pid = 1; pid <= 40; ++pid) ASSERT_TRUE(first.CommitNow(Put(pid, 1, std::string(100, 'x')))->ok());
  ASSERT_GT(first.store->metrics().segments, 1U);
  first.process->Crash();
}

// The operations of the second owner's claim, checked against S1 and S8 (act only on durable records). Empty: the order
// is right.
std::string ClaimOrderFault() {
  SimDisk disk;
  Prepare(disk);
  StoreProcess next(disk);
  bool claimed = false;
  bool durable = false;
  std::set<std::string> read;
  std::set<std::string> synced;
  std::string fault;
  EXPECT_TRUE(next.Open());
  next.process->SetHook([&](const SimEvent& event) {
    const bool older = Names(event, "segment.1.");
    if (event.op == SimOp::kCreate && Names(event, "claim.2")) claimed = true;
    if (event.op == SimOp::kSyncDirectory && claimed) durable = true;
    if (event.op == SimOp::kRead && older && !durable) fault = "read before the claim was durable";
    if (event.op == SimOp::kRead && older) read.insert(event.path);
    if (event.op == SimOp::kSyncFile && older && read.contains(event.path)) synced.insert(event.path);
    if (event.op == SimOp::kAppend && Names(event, "segment.2.1") && read != synced && fault.empty())
      fault = "sealed before all that was read was synced";
    return SimVerdict::Proceed();
  });
  EXPECT_TRUE(next.store->Claim().ok());
  next.process->SetHook({});
  EXPECT_GT(read.size(), 1U);
  return fault;
}

TEST(ClaimOrderTest, ClaimDurableThenReadThenSyncThenSeal) {
  EXPECT_EQ(ClaimOrderFault(), "");
  {
    const ScopedMutant mutant("store.read_before_claim");
    EXPECT_EQ(ClaimOrderFault(), "read before the claim was durable");
  }
  const ScopedMutant mutant("store.no_segment_sync");
  EXPECT_EQ(ClaimOrderFault(), "sealed before all that was read was synced");
}

// The actions of one side while the other is stopped before its n-th operation of any kind.
using Intruder = std::function<void()>;

void StopAt(StoreProcess& victim, int at, const Intruder& intruder) {
  auto count = std::make_shared<int>(0);
  victim.process->SetHook([count, at, intruder](const SimEvent&) {
    if (++*count == at) intruder();
    return SimVerdict::Proceed();
  });
}

// The old owner commits pid 100 and is stopped at its n-th operation; meanwhile a successor claims and acts. Afterwards
// the old one continues. If its commit returned OK, the successor must have loaded the record.
std::string ZombieFault(int stopped_at) {
  SimDisk disk;
  StoreProcess old(disk);
  EXPECT_TRUE(old.Claim().ok());
  EXPECT_TRUE(old.CommitNow(Put(1, 1, "base"))->ok());
  StoreProcess next(disk);
  std::optional<LoadedState> loaded;
  StopAt(old, stopped_at, [&] {
    auto claimed = next.Claim();
    EXPECT_TRUE(claimed.ok()) << claimed.error().ToString();
    if (claimed.ok()) loaded = std::move(claimed).value();
    EXPECT_TRUE(next.CommitNow(Put(1, 2, "next"))->ok());
  });
  const auto done = old.CommitNow(Put(100, 1, "zombie"));
  old.process->SetHook({});
  if (!loaded) return "not reached";
  const bool seen =
      std::any_of(loaded->records.begin(), loaded->records.end(), [](const auto& r) { return r.pid == ProcId(100); });
  if (done && done->ok() && !seen) return "acknowledged and lost";
  // A later owner sees what the successor saw and did, whatever the deposed owner still writes.
  IgnoreResult(old.CommitNow(Put(200, 1, "more"))->ok() ? Status(Ok()) : Status(Ok()), "a zombie's");
  StoreState expected = StateOf(*loaded);
  expected.Apply(Put(1, 2, "next"));
  next.process->Crash();
  StoreProcess third(disk);
  const auto again = third.Claim();
  if (!again.ok()) return "third claim failed: " + again.error().ToString();
  return StateOf(*again) == expected ? "" : "the third owner saw something else than the second, who acted";
}

int ZombieFaults(std::string* example) {
  int faults = 0;
  for (int at = 1; at < 60; ++at) {
    const std::string fault = ZombieFault(at);
    if (fault == "not reached") break;
    if (fault.empty()) continue;
    ++faults;
    *example = fault;
  }
  return faults;
}

TEST(ClaimRaceTest, AZombieStoppedAnywhereLosesNothingThatWasAcknowledged) {
  std::string example;
  EXPECT_EQ(ZombieFaults(&example), 0) << example;
}

TEST(ClaimRaceTest, WithoutItsRulesTheRaceIsLost) {
  for (const char* name : {"store.check_before_sync", "store.no_check", "store.no_seal"}) {
    const ScopedMutant mutant(name);
    std::string example;
    EXPECT_GT(ZombieFaults(&example), 0) << name << " is not noticed";
  }
}

// A claimer is stopped at its n-th operation while the old owner, and another claimer, act.
std::string ClaimerFault(int stopped_at) {
  SimDisk disk;
  StoreProcess old(disk);
  EXPECT_TRUE(old.Claim().ok());
  EXPECT_TRUE(old.CommitNow(Put(1, 1, "base"))->ok());
  StoreProcess slow(disk);
  StoreProcess fast(disk);
  if (!slow.Open()) return "cannot open";
  bool reached = false;
  bool old_acknowledged = false;
  std::optional<StoreState> acted_on;
  StopAt(slow, stopped_at, [&] {
    reached = true;
    const auto done = old.CommitNow(Put(100, 1, "late"));
    old_acknowledged = done && done->ok();
    const auto loaded = fast.Claim();
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    const auto added = fast.CommitNow(Put(300, 1, "fast"));
    if (!loaded.ok() || !added || !added->ok()) return;
    acted_on = StateOf(*loaded);
    acted_on->Apply(Put(300, 1, "fast"));
    if (old_acknowledged && !acted_on->records.contains(100)) acted_on->records[100] = "acknowledged, not loaded";
  });
  const auto loaded = slow.store->Claim();
  slow.process->SetHook({});
  if (!reached) return "not reached";
  if (loaded.ok() && old_acknowledged && !StateOf(*loaded).records.contains(100))
    return "the slow claimer lost a record";
  // The slow one either claimed after the fast one, and saw all of it, or is fenced.
  if (loaded.ok() && acted_on && loaded->epoch > Epoch(2) && fast.store->Check().ok()) return "two owners";
  old.process->Crash();
  slow.process->Crash();
  fast.process->Crash();
  StoreProcess last(disk);
  const auto seen = last.Claim();
  if (!seen.ok()) return "the last claim failed: " + seen.error().ToString();
  if (acted_on && StateOf(*seen) != *acted_on) return "the last owner saw something else than the fast one, who acted";
  return "";
}

int ClaimerFaults(std::string* example) {
  int faults = 0;
  int reached = 0;
  for (int at = 1; at < 80; ++at) {
    const std::string fault = ClaimerFault(at);
    if (fault == "not reached") break;
    ++reached;
    if (fault.empty()) continue;
    ++faults;
    *example = fault + " at operation " + std::to_string(at);
  }
  EXPECT_GT(reached, 10);
  return faults;
}

TEST(ClaimRaceTest, AClaimerStoppedAnywhereEndsAsOneOwner) {
  std::string example;
  EXPECT_EQ(ClaimerFaults(&example), 0) << example;
}

TEST(ClaimRaceTest, WithoutItsRulesTwoClaimersDisagree) {
  for (const char* name : {"store.read_before_claim", "store.no_check"}) {
    const ScopedMutant mutant(name);
    std::string example;
    EXPECT_GT(ClaimerFaults(&example), 0) << name << " is not noticed";
  }
}

// S9 (claims are never removed): a claimer that removes older claims lets an epoch be claimed twice.
TEST(ClaimRaceTest, ClaimsAreNeverRemoved) {
  const auto epochs = [] {
    SimDisk disk;
    StoreProcess a(disk);
    EXPECT_TRUE(a.Claim().ok());
    StoreProcess b(disk);
    EXPECT_TRUE(b.Claim().ok());
    return disk.Content("/procedures/claim.1").ok();
  };
  EXPECT_TRUE(epochs());
  const ScopedMutant mutant("store.claim_removed");
  EXPECT_FALSE(epochs());
}

// A file whose number no master can have reached was not made by a master. If it counted, no epoch would be left to
// claim: there is none after the largest number, and each claimer would find that number taken, without end.
TEST(ClaimRaceTest, NumbersThatNoMasterHasReachedAreNoClaims) {
  SimDisk disk;
  {
    StoreProcess first(disk);
    ASSERT_TRUE(first.Claim().ok());
    ASSERT_TRUE(first.CommitNow(Put(1, 1, "x"))->ok());
  }
  const auto hand = disk.NewProcess();
  const auto directory = hand->OpenOrMake("/procedures").value();
  for (const char* name : {"claim.18446744073709551615", "claim.9223372036854775807", "segment.18446744073709551615.1"})
    ASSERT_TRUE(directory->Create(name).ok());
  for (int i = 2; i <= 3; ++i) {
    StoreProcess next(disk);
    EXPECT_EQ(StateOf(next.Claim().value()).records.size(), 1U);
    EXPECT_TRUE(disk.Content("/procedures/claim." + std::to_string(i)).ok());
  }
}

}  // namespace
}  // namespace ratchet::procedure
