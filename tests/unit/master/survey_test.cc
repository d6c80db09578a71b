// Each kind of inconsistency that can be planted between files, hbase:meta, the master's memory and heartbeats: it is
// found, and is repaired, or shown with the verb that repairs it.
#include <functional>

#include "common/base/mutant.h"
#include "master/rpc/problems.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class SurveyTest : public MasterTest {
 protected:
  Reconciler& reconciler() { return master().logic().reconciler; }
  void SetUp() override {
    cluster_.Boot(3);
    GivenTable("t", 3);
    cluster_.options().heartbeats = true;
  }
  // Simulated time passes: heartbeats come, the master runs its rounds, and compares with hbase:meta. `until`: ends the
  // run.
  bool LiveUntil(const std::function<bool()>& until) {
    for (int round = 0; round < 40 && !until(); ++round) {
      if (!cluster_.RunFor(Millis(1'100))) return false;
      for (sim::SimServer* server : cluster_.Alive()) {
        std::vector<OnlineRegion> online;
        for (const auto& [encoded, region] : server->regions()) online.push_back({encoded, region.open_number});
        if (master().logic().servers.IsOnline(server->name())) reconciler().OnHeartbeat(server->name(), online);
        if (server->fenced()) server->Exit("fenced");
      }
      reconciler().LookNow();
      reconciler().CompareWithMeta([](const Status&) {});
    }
    return until();
  }
  std::string Directory() { return cluster_.meta().tables().at(TableName("default", "t")).directory; }
  sim::TableFiles& Files() { return cluster_.storage().tables.at(Directory()); }
  RegionRow& Row(const std::string& encoded) { return cluster_.meta().mutable_regions().at(encoded); }
  void NextMaster() {
    cluster_.KillMaster();
    cluster_.StartMaster();
    ASSERT_TRUE(cluster_.Settle());
  }
  // Returns the findings, the crash procedures, and the problems that `ratchet status` shows.
  std::string Told() {
    std::string all;
    for (const ReconcilerFinding& finding : reconciler().Findings()) all += finding.encoded + " " + finding.what + "\n";
    for (const std::string& problem : reconciler().Problems()) all += problem + "\n";
    for (const procedure::ProcedureInfo& info : master().executor().List()) {
      if (info.type == "ServerCrash") all += info.type + " " + info.description.text() + "\n";
    }
    ActiveParts parts;
    parts.logic = &master().logic();
    parts.executor = &master().executor();
    const auto in_transition = master().logic().regions.InTransition();
    for (const std::string& problem : FindProblems(parts, in_transition, cluster_.time().Now(), 0))
      all += problem + "\n";
    return all;
  }
  Result<ProcId> GiveUp(const std::string& region) {
    return master().Ask([&](Done done) { admin().GiveUpRegion(region, {"me", {}}, done); });
  }
  // A region is given up, and the procedure is paused after its files and before the rows of hbase:meta.
  void GivenAPausedRepair(Result<ProcId>& pid) {
    const std::string damaged = Encoded("t", 1);
    (void)Unassign(damaged);
    ASSERT_TRUE(cluster_.Settle());
    pid = GiveUp(damaged);
    ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().Get(*pid)->step_name == "UPDATE_META"; }));
    bool paused = false;
    master().executor().Pause(kRepairs, {"me", "test"}, Millis(0), [&](const auto& ok) { paused = ok.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return paused; }));
  }
  Result<ProcId> FillHoles() {
    return master().Ask([&](Done done) { admin().FillHoles(TableName("default", "t"), {"me", {}}, done); });
  }

  const procedure::PauseScope kRepairs = procedure::PauseScope::Type("MendTable");
};

struct Disagreement {
  const char* name;
  std::function<void(const std::string& encoded)> plant;  // `encoded`: a region of table t
  const char* told;                                       // what is found or shown
  std::function<void(const std::string& encoded)> verb;   // the operator's action; none: the master repairs it
};

TEST_F(SurveyTest, EachKindIsRepairedOrShownWithItsVerb) {
  const std::string nowhere(32, 'a');
  const auto close = [this](const std::string& encoded) {
    (void)Unassign(encoded);
    ASSERT_TRUE(cluster_.Settle());
  };
  const auto give_up = [this](const std::string& encoded) {
    const auto pid = GiveUp(encoded);
    ASSERT_TRUE(cluster_.Settle());
    EXPECT_EQ(Outcome(pid), "success");
  };
  const std::vector<Disagreement> kinds = {
      {"a directory of a region that no record names", [&](const std::string&) { Files().regions.insert(nowhere); },
       "no record of table t names its directory: moved to quarantine", nullptr},
      {"a directory of a table that no record names",
       [&](const std::string&) { cluster_.storage().tables["default/u.77"]; },
       "directory default/u.77 belongs to no table", nullptr},
      {"a region without a directory",
       [&](const std::string& encoded) {
         close(encoded);
         Files().regions.erase(encoded);
         (void)Assign(encoded);
       },
       "has no directory, so it cannot open", give_up},
      {"a region whose files no server can read",
       [&](const std::string& encoded) {
         close(encoded);
         cluster_.storage().damaged.insert(encoded);
         (void)Assign(encoded);
         ASSERT_TRUE(cluster_.RunUntil([&] { return master().logic().regions.Get(encoded)->failed_opens > 5; }));
       },
       "cannot be opened", give_up},
      {"rows without a region",
       [&](const std::string& encoded) {
         close(encoded);
         cluster_.KillMaster();
         cluster_.meta().mutable_regions().erase(encoded);
         Files().regions.erase(encoded);
         cluster_.StartMaster();
         ASSERT_TRUE(cluster_.Settle());
       },
       "ratchet fill-holes t",
       [&](const std::string&) {
         const auto pid = FillHoles();
         ASSERT_TRUE(cluster_.Settle());
         EXPECT_EQ(Outcome(pid), "success");
       }},
      {"rows with two regions",
       [&](const std::string& encoded) {
         RegionRow twin = Row(encoded);
         twin.region.region_id += 70;
         twin.state = RegionState::kClosed;
         cluster_.meta().mutable_regions()[twin.region.encoded_name()] = twin;
         Files().regions.insert(twin.region.encoded_name());
       },
       "for the same rows",
       [&](const std::string& encoded) {
         const RegionInfo wanted = Row(encoded).region;
         for (const RegionNode& node : Regions("t")) {
           if (node.info.start_key == wanted.start_key && node.info.encoded_name() != encoded)
             give_up(node.info.encoded_name());
         }
       }},
      {"a row of no table",
       [&](const std::string& encoded) {
         RegionRow orphan = Row(encoded);
         orphan.region.table = TableName("default", "gone");
         orphan.state = RegionState::kClosed;
         cluster_.meta().mutable_regions()[orphan.region.encoded_name()] = orphan;
       },
       "row removed", nullptr},
      {"a lost row", [&](const std::string& encoded) { cluster_.meta().mutable_regions().erase(encoded); },
       "written again", nullptr},
      {"a row that names another server",
       [&](const std::string& encoded) { Row(encoded).location = OtherThan(HostOf(encoded)).name(); }, "row rewritten",
       nullptr},
      {"a row that names no server",
       [&](const std::string& encoded) {
         cluster_.KillMaster();
         Row(encoded).location = std::nullopt;
         cluster_.StartMaster();
         ASSERT_TRUE(cluster_.Settle());
       },
       "location recorded", nullptr},
      {"a row that names a server that nothing knows",
       [&](const std::string& encoded) {
         close(encoded);
         cluster_.KillMaster();
         Row(encoded).state = RegionState::kOpen;
         Row(encoded).location = ServerName{"ghost", 1, 1};
         cluster_.StartMaster();
       },
       "ServerCrash server=ghost,1,1", nullptr},
      {"a table's row with another state",
       [&](const std::string&) {
         cluster_.meta().mutable_tables().at(TableName("default", "t")).state = TableState::kDisabled;
       },
       "row rewritten", nullptr},
      {"a region that its server lost",
       [&](const std::string& encoded) {
         close(encoded);
         master().logic().regions.Update(encoded, [](RegionNode& node) { node.state = RegionState::kOpening; });
       },
       "was OPENING and no procedure owned it", nullptr},
  };
  for (const Disagreement& kind : kinds) {
    SCOPED_TRACE(kind.name);
    ASSERT_STRNE(kind.told, "") << "every text contains the empty text";
    const std::string encoded = Encoded("t", 1);
    kind.plant(encoded);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(LiveUntil([&] { return Told().find(kind.told) != std::string::npos; })) << "not found; told:\n"
                                                                                        << Told();
    if (kind.verb) kind.verb(encoded);
    EXPECT_TRUE(LiveUntil([&] {
      return reconciler().Problems().empty() && master().AllFinished() && cluster_.CheckSettled().empty() &&
             Regions("t").size() == 3 && Regions("t")[1].state == RegionState::kOpen;
    })) << "not repaired; reported:\n"
        << Told() << cluster_.CheckSettled() << master().Unfinished();
    cluster_.WriteEverywhere();
    ExpectServed("t", 3);
    if (HasFailure()) return;
    NextMaster();  // with empty findings
  }
  for (const std::string& violation : cluster_.violations()) ADD_FAILURE() << violation;
}

TEST_F(SurveyTest, ConsistentClusterReportsNothing) {
  EXPECT_FALSE(LiveUntil([&] { return !Told().empty(); })) << Told();
}

// The missing row may belong to the region of this directory.
TEST_F(SurveyTest, ADirectoryIsLeftWhileRowsHaveNoRegion) {
  const std::string lost = Encoded("t", 1);
  (void)Unassign(lost);
  ASSERT_TRUE(cluster_.Settle());
  cluster_.KillMaster();
  cluster_.meta().mutable_regions().erase(lost);
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_TRUE(LiveUntil([&] { return Told().find("which may hold rows") != std::string::npos; })) << Told();
  EXPECT_FALSE(LiveUntil([&] { return !cluster_.storage().quarantined.empty(); }));
  EXPECT_TRUE(Files().regions.contains(lost));
  (void)FillHoles();
  EXPECT_TRUE(LiveUntil([&] { return !cluster_.storage().quarantined.empty(); })) << "its rows have a region now";
  EXPECT_TRUE(LiveUntil([&] { return reconciler().Problems().empty(); })) << Told();
}

// For a table that is missing as a whole, the remaining verbs are shown.
TEST_F(SurveyTest, ATableWithoutItsDirectoryIsShown) {
  (void)Disable("t");
  ASSERT_TRUE(cluster_.Settle());
  cluster_.storage().tables.erase(Directory());
  EXPECT_TRUE(LiveUntil([&] { return Told().find("disable and drop the table") != std::string::npos; })) << Told();
  const auto dropped = Delete("t");
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_EQ(Outcome(dropped), "success");
  EXPECT_TRUE(LiveUntil([&] { return reconciler().Problems().empty(); })) << Told();
}

// Checks the tables in turn, and pauses after a check that took long.
TEST_F(SurveyTest, EachRoundLooksAtOneTable) {
  GivenTable("u", 1);
  Files().regions.insert(std::string(32, 'a'));
  int rounds = 0;
  while (rounds < 20 && cluster_.storage().quarantined.empty()) {
    ASSERT_TRUE(cluster_.RunFor(Millis(1'100)));
    reconciler().Survey();
    ++rounds;
  }
  EXPECT_GE(rounds, 3) << "two looks at t, one at u between them";
  EXPECT_LE(rounds, 4);
}

// Directories that a procedure has made but not named yet are its own.
TEST_F(SurveyTest, DirectoriesOfARunningProcedureAreLeftAlone) {
  Result<ProcId> pid = ProcId();
  GivenAPausedRepair(pid);
  if (HasFatalFailure()) return;
  EXPECT_FALSE(LiveUntil([&] { return cluster_.storage().quarantined.size() > 1; })) << Told();
  master().executor().Resume(kRepairs, {"me", "test"}, [](const Status&) {});
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_EQ(Outcome(pid), "success");
  cluster_.WriteEverywhere();
  ExpectServed("t", 3);
}

#if defined(RATCHET_MUTANTS)
TEST_F(SurveyTest, RepairingWhatAProcedureOwnsIsNoticed) {
  const ScopedMutant mutant("survey.take_what_is_in_hand");
  Result<ProcId> pid = ProcId();
  GivenAPausedRepair(pid);
  if (HasFatalFailure()) return;
  EXPECT_TRUE(LiveUntil([&] { return cluster_.storage().quarantined.size() > 1; }))
      << "the new region's directory is gone";
}

TEST_F(SurveyTest, ArchivingDirectoriesNextToUncoveredKeysIsNoticed) {
  const ScopedMutant mutant("survey.take_beside_holes");
  const std::string lost = Encoded("t", 1);
  (void)Unassign(lost);
  ASSERT_TRUE(cluster_.Settle());
  cluster_.KillMaster();
  cluster_.meta().mutable_regions().erase(lost);
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  EXPECT_TRUE(LiveUntil([&] { return !cluster_.storage().quarantined.empty(); }));
}
#endif

}  // namespace
}  // namespace ratchet::master
