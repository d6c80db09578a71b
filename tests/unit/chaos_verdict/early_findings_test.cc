// The oracle of early findings accepts findings about processes that had ended, or that a fault explains, and rejects
// all others.
#include "chaos/verdict/early_findings.h"

#include <set>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/report/timeline.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using What = ProcessChange::What;

constexpr const char* kServer1 = "127.0.0.1,7101,1700000000001";
constexpr const char* kServer2 = "127.0.0.1,7102,1700000000002";
constexpr const char* kServer3 = "127.0.0.1,7103,1700000000003";
constexpr const char* kMaster1 = "127.0.0.1,7001,1700000000004";

// A line of a log at this second and millisecond.
std::string Line(int second, int millis, const std::string& text) {
  return fmt::format("2026-01-31T12:30:{:02}.{:03}+00:00 W [thread] {}", second, millis, text);
}
std::int64_t At(int second, int millis = 0) { return *LogLineMillis(Line(second, millis, "")); }

std::string Refused(const std::string& server) {
  return fmt::format(
      "Server {} is expired: connection refused: its process is gone, because its connection ended and "
      "its address refuses connections of this master and of {}",
      server, kServer3);
}
std::string Silent(const std::string& server) {
  return fmt::format(
      "Server {} is expired: silent: no answer for 450 ms (limit 400 ms), and none to this master, {} "
      "and {} on other connections",
      server, kServer2, kServer3);
}

// master-1, and rs-1 to rs-3, with their logs.
struct World {
  std::map<std::string, std::vector<std::string>> logs{
      {"master-1", {Line(0, 0, fmt::format("Master {} of cluster c listens, root /r", kMaster1))}},
      {"rs-1", {Line(0, 0, fmt::format("Start: this server is {}", kServer1))}},
      {"rs-2", {Line(0, 0, fmt::format("Start: this server is {}", kServer2))}},
      {"rs-3", {Line(0, 0, fmt::format("Start: this server is {}", kServer3))}}};
  std::vector<ProcessChange> changes;
  std::vector<WrongClock> clocks;
  std::vector<FaultLine> faults;
  std::set<std::string> running{"master-1", "rs-2", "rs-3"};
  std::int64_t now = At(59);

  void Log(const std::string& process, int second, int millis, const std::string& text) {
    logs[process].push_back(Line(second, millis, text));
  }
  [[nodiscard]] std::uint64_t SizeOf(const std::string& process) {
    std::uint64_t size = 0;
    for (const auto& line : logs[process]) size += line.size() + 1;
    return size;
  }
  void Change(const std::string& process, What what, std::int64_t at) {
    changes.push_back({process, what, at, SizeOf(process)});
  }
  void AddFault(std::string kind, std::vector<std::string> victims, std::int64_t from, std::int64_t to) {
    FaultLine fault;
    fault.kind = std::move(kind);
    fault.victims = std::move(victims);
    fault.injected_ms = from;
    fault.healed_ms = to;
    faults.push_back(fault);
  }
  [[nodiscard]] EarlyVerdict Judge() {
    EarlyEvidence evidence;
    evidence.changes = changes;
    evidence.faults = faults;
    for (const auto& [process, lines] : logs) {
      MemberLog log(process, changes, clocks);
      for (const auto& line : lines) log.Read(line);
      log.End(running.contains(process) ? std::optional(now) : std::nullopt);
      evidence.lives.insert(evidence.lives.end(), log.lives().begin(), log.lives().end());
      evidence.deaths.insert(evidence.deaths.end(), log.deaths().begin(), log.deaths().end());
    }
    return JudgeEarlyFindings(evidence);
  }
};

TEST(MemberLogTest, ReadsFindingsWithTheirReasons) {
  MemberLog log("master-1", {}, {});
  log.Read(Line(1, 0, Refused(kServer1)));
  log.Read(Line(2, 0, fmt::format("Server {} is expired: session ended: its registration is gone", kServer2)));
  log.Read(Line(3, 0, fmt::format("Server {} is expired: a newer server, x, runs at its address", kServer3)));
  log.Read(Line(4, 0, fmt::format("the active master {} is gone: its address refuses connections", kMaster1)));
  log.Read(Line(5, 0, fmt::format("the active master {} refuses connections of this master", kMaster1)));
  log.Read("pid=1 Start ServerCrash server=x, connection refused: y");
  log.Read("");
  std::vector<std::string> found;
  for (const auto& death : log.deaths()) {
    found.push_back(fmt::format("{} {} {} {}", death.server, death.reason, *death.at_ms - At(0), death.of_master));
  }
  EXPECT_THAT(found, ElementsAre(fmt::format("{} connection refused 1000 false", kServer1),
                                 fmt::format("{} session ended 2000 false", kServer2),
                                 fmt::format("{} other 3000 false", kServer3),
                                 fmt::format("{} connection refused 4000 true", kMaster1)));
}

TEST(MemberLogTest, AProcessThatRestartsItselfBeginsAnotherLife) {
  MemberLog log("rs-1", {}, {});
  log.Read(Line(0, 0, fmt::format("Start: this server is {}", kServer1)));
  log.Read(Line(1, 0, "Opened region r"));
  log.Read(Line(2, 0, "Exit with code 22: FENCED"));
  log.Read(Line(3, 0, "a thread that still runs"));
  log.Read(Line(4, 0, "Start: this process may have 20 files open"));
  log.Read(Line(5, 0, "Start: root directory /r"));
  log.Read(Line(6, 0, fmt::format("Start: this server is {}", kServer2)));
  log.End(At(9));
  EXPECT_THAT(log.lives(), ElementsAre(LoggedLife{"rs-1", kServer1, At(2)}, LoggedLife{"rs-1", kServer2, At(9)}));
}

TEST(EarlyFindingsTest, NoFindingIsGood) {
  const EarlyVerdict verdict = World().Judge();
  EXPECT_TRUE(verdict.finding.good);
  EXPECT_EQ(verdict.figures, DeathFigures());
}

TEST(EarlyFindingsTest, AFindingBehindTheKillIsGood) {
  World world;
  world.Log("rs-1", 1, 0, "Opened region r");
  world.Change("rs-1", What::kKill, At(2));
  world.Log("master-1", 2, 0, Refused(kServer1));
  const EarlyVerdict verdict = world.Judge();
  EXPECT_TRUE(verdict.finding.good) << verdict.finding.text;
  EXPECT_EQ(verdict.figures.early, 1U);
  EXPECT_EQ(verdict.figures.by_reason.at("connection refused"), 1U);
}

TEST(EarlyFindingsTest, AFindingBeforeTheKillIsFalse) {
  World world;
  world.Change("rs-1", What::kKill, At(2, 1));
  world.Log("master-1", 2, 0, Refused(kServer1));
  const EarlyVerdict verdict = world.Judge();
  EXPECT_FALSE(verdict.finding.good);
  EXPECT_EQ(verdict.figures.false_findings, 1U);
  EXPECT_THAT(verdict.finding.text, HasSubstr(fmt::format("{} (rs-1): connection refused, found by master-1 at {} ms; "
                                                          "it lived 1 ms longer",
                                                          kServer1, At(2))));
}

TEST(EarlyFindingsTest, AProcessThatLogsAfterwardsLived) {
  World world;
  world.Log("master-1", 2, 0, Refused(kServer1));
  world.Log("rs-1", 2, 30, "Exit with code 23: this server is not online here");
  EXPECT_FALSE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, AProcessThatEndedByItselfIsGone) {
  World world;
  world.Log("rs-1", 1, 990, "Exit with code 26: a region cannot be closed");
  world.Log("master-1", 2, 0, Refused(kServer1));
  world.Log("rs-1", 2, 30, "Start: this process may have 20 files open");
  world.running.insert("rs-1");
  EXPECT_TRUE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, AProcessThatRunsAtTheEndLived) {
  World world;
  world.Log("master-1", 2, 0, Refused(kServer2));
  EXPECT_FALSE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, AMasterThatIsReplacedEarlyIsJudgedToo) {
  World world;
  world.logs["master-2"] = {Line(3, 0, fmt::format("the active master {} is gone: its address refuses", kMaster1))};
  const EarlyVerdict verdict = world.Judge();
  EXPECT_FALSE(verdict.finding.good) << "it runs at the end";
  EXPECT_EQ(verdict.figures.early_of_masters, 1U);
  world.running.erase("master-1");
  world.Change("master-1", What::kKill, At(2));
  EXPECT_TRUE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, AKillBelongsToTheLifeThatItEnded) {
  World world;
  world.Change("rs-1", What::kKill, At(2));
  world.Log("master-1", 2, 10, Refused(kServer1));
  world.Change("rs-1", What::kStart, At(3));
  world.Log("rs-1", 3, 0, "Start: this process may have 20 files open");
  world.Log("rs-1", 3, 1, "Start: this server is 127.0.0.1,7101,1700000000099");
  world.Change("rs-1", What::kKill, At(9));
  EXPECT_TRUE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, RefusedWhileOnlyPausedIsFalse) {
  World world;
  world.Change("rs-2", What::kPause, At(1));
  world.Log("master-1", 2, 0, Refused(kServer2));
  world.Change("rs-2", What::kResume, At(4));
  EXPECT_FALSE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, APortThatTheDriverLetRefuseExcusesItsProcess) {
  World world;
  world.Log("master-1", 5, 0, Refused(kServer2));
  world.AddFault("reset-and-refuse", {"rs-2"}, At(1), At(5) - kRefusalExcusedMs);
  const EarlyVerdict verdict = world.Judge();
  EXPECT_TRUE(verdict.finding.good) << verdict.finding.text;
  EXPECT_EQ(verdict.figures.excused, 1U);
  world.faults[0].healed_ms = *world.faults[0].healed_ms - 1;
  EXPECT_FALSE(world.Judge().finding.good) << "it was healed long ago";
  world.faults[0].healed_ms.reset();
  world.faults[0].victims = {"rs-3"};
  EXPECT_FALSE(world.Judge().finding.good) << "another process";
}

TEST(EarlyFindingsTest, ASilentProcessThatIsPausedIsExcused) {
  World world;
  world.Change("rs-1", What::kPause, At(1));
  world.Log("master-1", 2, 0, Silent(kServer1));
  world.Change("rs-1", What::kKill, At(3));
  EXPECT_TRUE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, APauseThatEndedLongAgoExcusesNothing) {
  World world;
  world.Change("rs-2", What::kPause, At(1));
  world.Change("rs-2", What::kResume, At(2));
  world.Log("master-1", 3, 0, Silent(kServer2));
  EXPECT_TRUE(world.Judge().finding.good);
  world.logs["master-1"].back() = Line(3, 1, Silent(kServer2));
  EXPECT_FALSE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, ALoadedMachineExcusesNothing) {
  World world;
  world.Log("master-1", 3, 0, Silent(kServer2));
  world.AddFault("call-storm", {"rs-2"}, At(1), At(9));
  EXPECT_FALSE(world.Judge().finding.good);
  world.AddFault("starved-process", {"rs-2"}, At(1), At(9));
  EXPECT_TRUE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, OnlyLinksOfAllThreeWitnessesExcuseSilence) {
  World world;
  world.Log("master-1", 3, 0, Silent(kServer1));
  world.running.insert("rs-1");
  world.AddFault("slow-link", {"master-1 -> rs-1", "rs-2 -> rs-1", "rs-1 -> rs-3"}, At(1), At(2));
  EXPECT_FALSE(world.Judge().finding.good);
  world.AddFault("half-open-link", {"rs-3 -> rs-1"}, At(1), At(2));
  EXPECT_TRUE(world.Judge().finding.good);
  world.faults.back().kind = "reset-links";
  EXPECT_FALSE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, WrongClocksAreCountedAndNotJudged) {
  World world;
  const auto before = world.SizeOf("master-1");
  world.Log("master-1", 1, 0, Refused(kServer1));  // in truth later than the kill
  world.clocks.push_back({{"master-1"}, {{"master-1", before}}, {{"master-1", world.SizeOf("master-1")}}});
  world.Change("rs-1", What::kKill, At(2));
  EarlyVerdict verdict = world.Judge();
  EXPECT_TRUE(verdict.finding.good) << verdict.finding.text;
  EXPECT_EQ(verdict.figures.not_judged, 1U);
  EXPECT_THAT(verdict.finding.text, HasSubstr("1 not judged: the clock of master-1 was wrong"));
  world.clocks[0].victims = {"rs-3"};
  EXPECT_FALSE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, WrongTimesOfTheProcessItselfProveNothing) {
  World world;
  const auto before = world.SizeOf("rs-1");
  world.Log("rs-1", 50, 0, "Opened region r");  // an hour ahead
  world.clocks.push_back({{"rs-1"}, {{"rs-1", before}}, {}});
  world.Change("rs-1", What::kKill, At(2));
  world.Log("master-1", 2, 5, Refused(kServer1));
  EXPECT_TRUE(world.Judge().finding.good);
}

TEST(EarlyFindingsTest, AMemberThatNoLogNamesIsNotJudged) {
  World world;
  world.Log("master-1", 1, 0, Refused("127.0.0.1,7199,1700000000009"));
  EXPECT_EQ(world.Judge().figures.not_judged, 1U);
}

TEST(EarlyFindingsTest, WhatAProcessLogsWhileItStopsIsNoLife) {
  World world;
  world.Log("rs-1", 1, 0, "Stop: a signal");
  world.Log("master-1", 2, 0, Refused(kServer1));
  world.Log("rs-1", 3, 0, "Stop: done");
  EXPECT_TRUE(world.Judge().finding.good);
}

}  // namespace
}  // namespace ratchet::chaos
