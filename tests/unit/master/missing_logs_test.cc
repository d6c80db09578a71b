// S119 (made logs are required): a dead server's logs are missing. Its crash procedure waits for them, or for an
// operator's decision.
#include <functional>

#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class MissingLogsTest : public MasterTest {
 protected:
  // The only server of a table with 4 regions is gone, and so are the parts of its logs that `lose` removes.
  void GivenADeadServer(const std::function<void(sim::ServerLogs&)>& lose) {
    cluster_.Boot(2);
    GivenTable("t", 4);
    sim::SimServer& victim = OtherThan(MetaHost());
    victim_ = victim.name();
    lose(Logs());
    cluster_.Kill(victim);
    ASSERT_TRUE(cluster_.RunFor(Millis(2'000)));
  }
  sim::ServerLogs& Logs() { return cluster_.storage().logs.at(victim_); }
  bool IsRecovered() { return !master().logic().servers.PhaseOf(victim_).has_value(); }
  // The last errors of the crash procedure and its children.
  std::string Causes() {
    std::string all;
    for (const char* type : {"ServerCrash", "SplitWal"})
      for (const ProcId pid : master().executor().FindUnfinished(type))
        if (const auto info = master().executor().Get(pid); info && info->last_error)
          all += info->last_error->ToString() + "\n";
    return all;
  }
  ServerName victim_;
};

TEST_F(MissingLogsTest, ACrashWaitsForTheDirectoryThatItsServerHad) {
  GivenADeadServer([](sim::ServerLogs& logs) { logs.directory_lost = true; });
  EXPECT_FALSE(IsRecovered());
  EXPECT_NE(Causes().find("the logs of " + victim_.ToString() + " are missing"), std::string::npos) << Causes();
  Logs().directory_lost = false;
  ExpectServed("t", 4);
  EXPECT_TRUE(IsRecovered());
}

TEST_F(MissingLogsTest, ASplitWaitsForALogThatWasMade) {
  GivenADeadServer([](sim::ServerLogs& logs) { logs.log_lost = true; });
  EXPECT_FALSE(IsRecovered());
  EXPECT_NE(Causes().find("is missing: its server made it"), std::string::npos) << Causes();
  cluster_.KillMaster();  // the next one waits, too
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunFor(Millis(2'000)));
  EXPECT_FALSE(IsRecovered());
  Logs().log_lost = false;
  ExpectServed("t", 4);
  EXPECT_TRUE(IsRecovered());
}

TEST_F(MissingLogsTest, OperatorMayContinueWithoutALog) {
  GivenADeadServer([this](sim::ServerLogs& logs) {
    logs.log_lost = true;
    for (const auto& [encoded, value] : logs.edits) cluster_.storage().regions[encoded].flushed = value;
  });
  EXPECT_FALSE(IsRecovered());
  Logs().log_accepted = true;
  ExpectServed("t", 4);
  EXPECT_TRUE(IsRecovered());
}

#if defined(RATCHET_MUTANTS)
TEST_F(MissingLogsTest, TreatingMissingLogsAsNoLogsIsNoticed) {
  const ScopedMutant mutant("log.missing_is_none");
  GivenADeadServer([](sim::ServerLogs& logs) { logs.directory_lost = true; });
  EXPECT_TRUE(IsRecovered()) << "as if nothing had been in them";
}
#endif

}  // namespace
}  // namespace ratchet::master
