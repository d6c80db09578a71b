// Complete answers of a master: roots, subjects, the master's own states.
#include "tests/unit/master_why/fixture.h"

namespace ratchet::master {
namespace {

TEST_F(WhyTest, CausesThatNoProcedureShows) {
  facts_.pauses.push_back({"everything paused by m,1,1: started with --start-paused", "everything", 4});
  facts_.problems.push_back({WhyCause::kClock, "h,1,1: its clock is 20000 ms ahead of", "set it", 3'000});
  facts_.tables["t"] = {"ENABLED", false, "desc.5 is damaged", false};
  facts_.tables["u"] = {"ENABLING", true, "", false};
  facts_.tables["v"] = {"ENABLED", false, "cannot be read at this time", true};
  facts_.zookeeper_lost_ms = 5'000;
  facts_.servers.clear();
  std::string causes;
  const auto answer = Cluster();
  for (const auto& chain : answer.chain()) causes += chain.cause() + " ";
  for (const char* cause : {"PAUSED", "CLOCK", "DAMAGED_FILE", "DISK", "NO_PROCEDURE", "ZOOKEEPER", "NO_SERVER"})
    EXPECT_NE(causes.find(cause), std::string::npos) << cause << " in " << causes;
  for (const auto& chain : answer.chain()) {
    if (chain.cause() == "CLOCK") {
      EXPECT_EQ(host::AgeOf(chain), 3'000U);
    }
  }
}

TEST_F(WhyTest, AStandbyNamesTheActiveMaster) {
  facts_ = {};
  facts_.role = WhyRole::kStandby;
  facts_.self = "m,2,2";
  EXPECT_EQ(Cluster().chain(0).cause(), "NO_ACTIVE_MASTER");
  facts_.refused_start = "m:1: procedures/ is missing";
  EXPECT_EQ(Cluster().chain(0).cause(), "MASTER_REFUSED");
  EXPECT_EQ(Cluster().chain(0).cause_text(), facts_.refused_start);
  facts_.election_obstacle = "the ZooKeeper node /hbase/master is persistent";
  EXPECT_EQ(Cluster().chain(0).cause(), "STRANGER_NODE");
  EXPECT_EQ(Cluster().chain(0).cause_text(), facts_.election_obstacle);
  facts_.election_obstacle.clear();
  facts_.active_master = "m,1,1";
  EXPECT_EQ(Cluster().chain(0).cause(), "ACTIVE_ELSEWHERE");
}

TEST_F(WhyTest, AStartingMasterNamesItsStep) {
  facts_.role = WhyRole::kActivating;
  facts_.meta_loaded = false;
  facts_.step = "claim store";
  facts_.step_ms = 3'000;
  const auto answer = Answer("t", 5);
  ASSERT_TRUE(answer.ok()) << "a table that is not known yet is not an error";
  ASSERT_EQ(answer->chain_size(), 1);
  EXPECT_EQ(answer->chain(0).cause(), "STARTING");
  EXPECT_NE(answer->chain(0).cause_text().find("claim store"), std::string::npos);
}

TEST_F(WhyTest, SubjectsAreFoundByTheirNames) {
  facts_.tables["t"] = {};
  facts_.regions["aaaa1"] = {"t", "OPEN", kServer, ProcId(), 0, true, false};
  facts_.regions["aaaa2"] = facts_.regions["aaaa1"];
  const auto subject = [this](const std::string& text) {
    const auto answer = Answer(text, 5);
    return answer.ok() ? answer->subject() : std::string(CodeName(answer.error().code()));
  };
  EXPECT_EQ(subject(""), "cluster");
  EXPECT_EQ(subject("17"), "pid 17 (no unfinished procedure has this number)");
  EXPECT_EQ(subject("t"), "table t");
  EXPECT_EQ(subject("default:t"), "table t");
  EXPECT_EQ(subject("h:1"), "server h,1,1");
  EXPECT_EQ(subject("h,1,1"), "server h,1,1");
  EXPECT_EQ(subject("aaaa1"), "region aaaa1");
  EXPECT_EQ(subject("aaaa"), "INVALID_ARGUMENT");
  EXPECT_EQ(subject("nothing"), "NOT_FOUND");
  EXPECT_EQ(subject("table nothing"), "NOT_FOUND");
  facts_.tables["17"] = {};
  EXPECT_EQ(subject("table 17"), "table 17");
}

TEST_F(WhyTest, ProcedureOfATableWithALongerNameDoesNotWorkOnThisTable) {
  facts_.tables["t"] = {"ENABLING", true, "", false};
  Procedure(2, "EnableTable", Kind::kRetry).description = procedure::Description().Add("table", "t1");
  EXPECT_EQ(Answer("table t", 5)->chain_size(), 1) << "no procedure works on table t";
  Procedure(3, "EnableTable", Kind::kRetry).description = procedure::Description().Add("table", "t");
  const auto answer = Answer("table t", 5);
  ASSERT_EQ(answer->chain_size(), 1);
  EXPECT_EQ(answer->chain(0).cause(), "BACKOFF");
}

TEST_F(WhyTest, ATableShowsTheProceduresOnItAndItsRegions) {
  facts_.tables["t"] = {};
  facts_.tables["t1"] = {};
  Procedure(1, "DisableTable", Kind::kPaused).description = procedure::Description().Add("table", "t");
  Procedure(2, "DisableTable", Kind::kRetry).description = procedure::Description().Add("table", "t1");
  facts_.regions["aaaa"] = {"t", "OFFLINE", "", ProcId(), 4'000, false, false};
  const auto answer = Answer("t", 5);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->chain_size(), 2);
  EXPECT_EQ(answer->chain(0).cause(), "PAUSED");
  EXPECT_EQ(answer->chain(1).cause(), "NO_PROCEDURE");
}

}  // namespace
}  // namespace ratchet::master
