// Every kind of cause, at the end of a chain.
#include "tests/unit/host_why/fixture.h"

namespace ratchet::host {
namespace {

// A write to hbase:meta is retried without success: the server that does not accept it is the cause.
TEST_F(WhyTest, ATryWithoutAnAnswerOfMetaLeadsToItsServer) {
  auto& info = Procedure(3, "TransitRegionState", Kind::kRetry);
  info.last_error = Error(Code::kTimeout, "writing: no answer");
  facts_.regions["1588230740"] = {"hbase:meta", "OPEN", kServer, ProcId(), 60'000, true, false};
  EXPECT_EQ(ChainOf(3).cause(), "BACKOFF") << "its server answers";
  facts_.servers[kServer].silent_ms = 41'000;
  const auto chain = ChainOf(3);
  EXPECT_EQ(chain.cause(), "SILENT_SERVER");
  EXPECT_EQ(Kinds(chain), "procedure region server");
  info.last_error = Error(Code::kFailedPrecondition, "refused");
  EXPECT_EQ(ChainOf(3).cause(), "BACKOFF") << "an answer has come";
}

TEST_F(WhyTest, TheVerbNamesWhatItIsToBeUsedOn) {
  auto& opening = Procedure(3, "TransitRegionState", Kind::kRetry);
  opening.description = "table=t, region=7d94206e, ASSIGN; rit=OPENING";
  facts_.refusals[ProcId(3)] = "a file is damaged";
  EXPECT_NE(ChainOf(3).verb().find("ratchet give-up 7d94206e --yes"), std::string::npos) << ChainOf(3).verb();
  WaitsFor(4, Kind::kLimit, "limit of table t", {9});
  EXPECT_NE(ChainOf(4).verb().find("ratchet why 9 "), std::string::npos) << ChainOf(4).verb();
  facts_.tables["u"] = {"ENABLED", false, "desc.5 is damaged"};
  const auto damaged = AnswerWhy(facts_, "table u", 5);
  ASSERT_TRUE(damaged.ok());
  ASSERT_EQ(damaged->chain_size(), 1);
  EXPECT_NE(damaged->chain(0).verb().find("ratchet drop u"), std::string::npos);
}

// A step that does not return, and a procedure that waits for its worker.
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

TEST_F(WhyTest, FromAProcedureOverLockHolderStepAndOrderToTheServer) {
  WaitsFor(10, Kind::kLock, "table t", {7});
  WaitsFor(7, Kind::kChildren, "", {8});
  Order(8, kServer);
  facts_.servers[kServer].silent_ms = 41'000;
  const auto chain = ChainOf(10);
  EXPECT_EQ(Kinds(chain), "procedure lock procedure procedure order server");
  EXPECT_EQ(chain.cause(), "SILENT_SERVER");
  EXPECT_NE(chain.cause_text().find("41.0 s"), std::string::npos) << chain.cause_text();
  EXPECT_EQ(chain.link(0).for_ms(), 9'000U);
  EXPECT_EQ(chain.link(5).for_ms(), 41'000U);
  EXPECT_NE(chain.link(0).waits_for().find("step STEP: lock table t"), std::string::npos);
  EXPECT_TRUE(chain.has_next());
  EXPECT_TRUE(chain.has_verb());
}

TEST_F(WhyTest, WhatIsWrongWithTheServerOfAnOrder) {
  Order(8, kServer);
  EXPECT_EQ(ChainOf(8).cause(), "UNANSWERED");
  WhyServer& server = facts_.servers[kServer];
  server.failures = 3;
  server.last_error = "refused";
  EXPECT_EQ(ChainOf(8).cause(), "CONNECTION");
  EXPECT_NE(ChainOf(8).cause_text().find("refused"), std::string::npos);
  server.lacks_room = "compactions wait for room";
  EXPECT_EQ(ChainOf(8).cause(), "SPACE");
  server.storage_hangs_ms = 7'000;
  EXPECT_EQ(ChainOf(8).cause(), "DISK");
  server.silent_ms = 6'900;  // a write that had just begun when the server fell silent proves nothing about its disk
  EXPECT_EQ(ChainOf(8).cause(), "SILENT_SERVER");
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

TEST_F(WhyTest, ADeadServerLeadsToItsRecovery) {
  Order(8, kServer);
  WhyServer& server = facts_.servers[kServer];
  server.online = false;
  EXPECT_EQ(ChainOf(8).cause(), "SERVER_DEAD");
  server.crash_procedure = ProcId(20);
  WaitsFor(20, Kind::kChildren, "", {21});
  Procedure(21, "SplitWal", Kind::kEvent);
  const auto chain = ChainOf(8);
  EXPECT_EQ(Kinds(chain), "procedure order server procedure procedure");
  EXPECT_EQ(chain.cause(), "NO_SERVER") << "none is left that could split its log";
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

TEST_F(WhyTest, RetriesUndosAndRefusedOpenings) {
  auto& retry = Procedure(1, "CreateTable", Kind::kRetry);
  retry.last_error = Error(Code::kIo, "no such directory");
  retry.waiting.next_try_in = Millis{2'500};
  EXPECT_EQ(ChainOf(1).cause(), "BACKOFF");
  EXPECT_EQ(ChainOf(1).next_in_ms(), 2'500U);
  EXPECT_NE(ChainOf(1).cause_text().find("no such directory"), std::string::npos);
  retry.failing = true;
  EXPECT_EQ(ChainOf(1).cause(), "UNDO_FAILS");

  Procedure(2, "TransitRegionState", Kind::kEvent);
  facts_.refusals[ProcId(2)] = "manifest.5 is damaged";
  EXPECT_EQ(ChainOf(2).cause(), "FAILED_OPEN");
  EXPECT_EQ(ChainOf(2).cause_text(), "manifest.5 is damaged");
}

TEST_F(WhyTest, AHeldLockNamesItsHolder) {
  WaitsFor(10, Kind::kLock, "table t", {7});
  Procedure(7, "LockProcedure", Kind::kEvent).description = "exclusive table t, timeout=30000ms; backup";
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

TEST_F(WhyTest, WhatNeedsMetaShowsWhereMetaIs) {
  Procedure(1, "CreateTable", Kind::kEvent);
  WhyRegion& meta = facts_.regions["1588230740"];
  meta = {"hbase:meta", "OPEN", kServer, ProcId(), 3'000, false, false};
  facts_.servers["other,1,1"] = {};
  facts_.servers[kServer].online = false;
  const auto chain = ChainOf(1);
  EXPECT_EQ(Kinds(chain), "procedure region server");
  EXPECT_EQ(chain.cause(), "SERVER_DEAD");
}

TEST_F(WhyTest, OfSeveralChildrenTheOneThatWaitsLongestIsFollowed) {
  WaitsFor(1, Kind::kChildren, "", {2, 3, 4});
  Procedure(2, "OpenRegion", Kind::kNone, 50'000).running = true;
  Order(3, kServer).updated_ms = kNow - 2'000;
  Order(4, kServer).updated_ms = kNow - 4'000;
  EXPECT_EQ(ChainOf(1).link(1).subject().substr(0, 5), "pid 4");
}

TEST_F(WhyTest, AClientThatIsHeldByItsNonceIsNamed) {
  auto& info = Procedure(1, "CreateTable", Kind::kPaused);
  info.nonce_group = 5;
  info.nonce = 6;
  EXPECT_NE(ChainOf(1).link(0).subject().find("asked for by ann under nonce 5:6"), std::string::npos);
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
