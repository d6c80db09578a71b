// Causes that are servers, regions or hbase:meta.
#include "tests/unit/master_why/fixture.h"

namespace ratchet::master {
namespace {

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
  opening.description = {};
  opening.description.Add("table", "t").Add("region", "7d94206e").Note("ASSIGN").Section().Add("rit", "OPENING");
  facts_.setbacks[ProcId(3)].error = "a file is damaged";
  facts_.transitions.insert(ProcId(3));
  EXPECT_NE(ChainOf(3).verb().find("ratchet give-up 7d94206e --yes"), std::string::npos) << ChainOf(3).verb();
  WaitsFor(4, Kind::kLimit, "limit of table t", {9});
  EXPECT_NE(ChainOf(4).verb().find("ratchet why 9 "), std::string::npos) << ChainOf(4).verb();
  facts_.tables["u"] = {"ENABLED", false, "desc.5 is damaged"};
  const auto damaged = Answer("table u", 5);
  ASSERT_TRUE(damaged.ok());
  ASSERT_EQ(damaged->chain_size(), 1);
  EXPECT_NE(damaged->chain(0).verb().find("ratchet drop u"), std::string::npos);
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
  facts_.setbacks[ProcId(2)].error = "manifest.5 is damaged";
  EXPECT_NE(ChainOf(2).cause(), "FAILED_OPEN") << "of another type";
  facts_.transitions.insert(ProcId(2));
  EXPECT_EQ(ChainOf(2).cause(), "FAILED_OPEN");
  EXPECT_EQ(ChainOf(2).cause_text(), "manifest.5 is damaged");
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

}  // namespace
}  // namespace ratchet::master
