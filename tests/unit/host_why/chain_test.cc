// Causes that are procedures, locks, workers or the store.
#include "tests/unit/host_why/fixture.h"

namespace ratchet::host {
namespace {

TEST_F(WhyTest, WorkersThatAreHeldAreNamed) {
  auto& running = Procedure(3, "CreateTable", Kind::kNone, 41'000);
  Procedure(4, "CreateTable", Kind::kNone, 40'000);
  running.running = true;
  EXPECT_EQ(ChainOf(3).cause_text(), "a step is running");
  EXPECT_EQ(ChainOf(4).cause_text(), "it is in the queue of the workers");
  facts_.workers.workers = 3;
  facts_.workers.running = 2;
  facts_.workers.held = 2;
  facts_.workers.longest = ProcId(3);
  facts_.workers.longest_for = Millis{41'000};
  facts_.workers.work_waits = true;
  const auto holder = ChainOf(3);
  EXPECT_EQ(holder.cause(), "RUNNING");
  EXPECT_NE(holder.cause_text().find("step STEP has run for 41.0 s"), std::string::npos) << holder.cause_text();
  const auto waiter = ChainOf(4);
  EXPECT_NE(
      waiter.cause_text().find("2 of 3 workers are blocked in steps that do not end, the longest by pid 3 for 41.0 s"),
      std::string::npos)
      << waiter.cause_text();
  EXPECT_EQ(waiter.verb(), "ratchet why 3");
}

TEST_F(WhyTest, AFullDiskOfTheStoreIsTheCauseOfACommitThatWaits) {
  Procedure(3, "CreateTable", Kind::kCommit);
  EXPECT_EQ(ChainOf(3).cause(), "STORE");
  facts_.own_storage_hangs_ms = 12'000;
  EXPECT_NE(ChainOf(3).cause_text().find("has not answered for 12.0 s"), std::string::npos);
  EXPECT_TRUE(ChainOf(3).has_verb());
  facts_.store_full = "the disk is nearly full";
  EXPECT_EQ(ChainOf(3).cause(), "SPACE");
  facts_.procedures.clear();
  facts_.own_storage_hangs_ms.reset();
  const auto answer = Cluster();
  ASSERT_EQ(answer.chain_size(), 1) << "shown when no procedure waits for it yet";
  EXPECT_EQ(answer.chain(0).cause(), "SPACE");
}

TEST_F(WhyTest, MembersOfAFailingTreeLeadToItsStepInProgress) {
  WaitsFor(4, Kind::kSiblings, "after the step in progress of", {3});
  auto& acts = Procedure(3, "CreateTable", Kind::kAsync);
  acts.waiting.own = true;
  acts.waiting.detail = "action on files of table t";
  const auto chain = ChainOf(4);
  EXPECT_EQ(Kinds(chain), "procedure procedure");
  EXPECT_EQ(chain.link(0).waits_for(), "the undo of its tree, after the step in progress of pid 3");
  EXPECT_EQ(chain.cause(), "OUTSIDE");
  EXPECT_NE(chain.cause_text().find("action on files of table t"), std::string::npos) << chain.cause_text();
}

TEST_F(WhyTest, ParkedPausedAndLimited) {
  auto& parked = Procedure(1, "CreateTable", Kind::kOperator);
  parked.parked = "exception in step: boom";
  EXPECT_EQ(ChainOf(1).cause(), "PARKED");
  EXPECT_NE(ChainOf(1).cause_text().find("boom"), std::string::npos);
  EXPECT_NE(ChainOf(1).verb().find("ratchet unpark 1"), std::string::npos);

  auto& paused = Procedure(2, "CreateTable", Kind::kPaused);
  paused.waiting.detail = "type CreateTable paused by ann: night";
  facts_.pauses.push_back({paused.waiting.detail, "type CreateTable", 5});
  EXPECT_EQ(ChainOf(2).cause(), "PAUSED");
  EXPECT_EQ(ChainOf(2).verb(), "ratchet resume type CreateTable");
  EXPECT_NE(ChainOf(2).cause_text().find("ann: night"), std::string::npos);

  WaitsFor(3, Kind::kLimit, "limit of table t", {4, 5});
  EXPECT_EQ(ChainOf(3).cause(), "LIMIT");
  EXPECT_NE(ChainOf(3).cause_text().find("pid 4, pid 5"), std::string::npos);
}

TEST_F(WhyTest, AHeldLockNamesItsHolder) {
  WaitsFor(10, Kind::kLock, "table t", {7});
  Procedure(7, "LockProcedure", Kind::kEvent).description =
      procedure::Description().Note("exclusive table t").Section().Note("backup");
  const auto chain = ChainOf(10);
  EXPECT_EQ(chain.cause(), "HELD_LOCK");
  EXPECT_NE(chain.cause_text().find("ann holds it"), std::string::npos) << chain.cause_text();
  EXPECT_NE(chain.cause_text().find("backup"), std::string::npos);
  EXPECT_EQ(chain.verb(), "ratchet unlock 7");
}

TEST_F(WhyTest, CycleEndsTheChain) {
  WaitsFor(1, Kind::kLock, "table a", {2});
  WaitsFor(2, Kind::kLock, "table b", {1});
  const auto chain = ChainOf(1);
  EXPECT_EQ(chain.cause(), "RING");
  EXPECT_EQ(Kinds(chain), "procedure lock procedure lock procedure");
}

TEST_F(WhyTest, OfSeveralChildrenTheOneThatWaitsLongestIsFollowed) {
  WaitsFor(1, Kind::kChildren, "", {2, 3, 4});
  Procedure(2, "OpenRegion", Kind::kNone, 50'000).running = true;
  Procedure(3, "OpenRegion", Kind::kEvent, 2'000);
  Procedure(4, "OpenRegion", Kind::kEvent, 4'000);
  EXPECT_EQ(ChainOf(1).link(1).subject().substr(0, 5), "pid 4");
}

TEST_F(WhyTest, AClientThatIsHeldByItsNonceIsNamed) {
  auto& info = Procedure(1, "CreateTable", Kind::kPaused);
  info.nonce_group = 5;
  info.nonce = 6;
  EXPECT_NE(ChainOf(1).link(0).subject().find("asked for by ann under nonce 5:6"), std::string::npos);
  info.peer = "10.0.0.7:4011";
  info.method = "MasterService.DisableTable";
  const std::string from = "(asked for by ann from 10.0.0.7:4011 with MasterService.DisableTable";
  EXPECT_NE(ChainOf(1).link(0).subject().find(from + " under nonce 5:6)"), std::string::npos);
  info.nonce_group = info.nonce = 0;
  EXPECT_NE(ChainOf(1).link(0).subject().find(from + ")"), std::string::npos);
}

TEST_F(WhyTest, ALongChainIsCutAndSaysWhereItGoesOn) {
  constexpr std::uint64_t kLength = 200;
  for (std::uint64_t pid = 1; pid < kLength; ++pid) WaitsFor(pid, Kind::kLock, "table t", {pid + 1});
  Procedure(kLength, "DisableTable", Kind::kRetry);
  const auto cut = ChainOf(1);
  EXPECT_EQ(cut.cause(), "GOES_ON");
  EXPECT_LT(cut.link_size(), 60);
  EXPECT_EQ(cut.verb(), "ratchet why 26");
  EXPECT_EQ(ChainOf(kLength - 5).cause(), "BACKOFF");
}

}  // namespace
}  // namespace ratchet::host
