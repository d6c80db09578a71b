// Stuck situations of procedures, tables and servers: one `ratchet why` names the cause (docs/stuck.md).
#include <csignal>

#include "tests/cluster/why_fixture.h"

namespace ratchet::chaos {
namespace {

class WhyTest : public WhyClusterTest {
 protected:
  const TableName kTable{"default", "t"};

  // A running region server's process, by the region that it has.
  std::string ProcessOf(const ServerName& server) {
    for (const auto& name : cluster().Names(Role::kRegionServer)) {
      if (ServerNameOf(name) == server) return name;
    }
    return "";
  }
};

TEST_F(WhyTest, ProceduresThatOperatorsHold) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  ExpectNothingWaits();
  EXPECT_NE(RunHere({"status"}).text.find("why: nothing waits"), std::string::npos);

  // 6: a held lock.
  const auto holder = Begin({"lock", "t", "--who", "ann", "--why", "nightly backup"});
  ASSERT_OK(holder);
  ASSERT_OK(ProcessCluster::WaitUntil("the lock", kPatience,
                                      [this] { return RunHere({"locks"}).text.find("table t") != std::string::npos; }));
  ExpectNothingWaits();  // a lock that blocks no procedure is not a wait
  const auto disabling = admin().DisableTable(kTable);
  ASSERT_OK(disabling);
  ExpectWhy(6, Pid(disabling), "HELD_LOCK", {"lock table t", "nightly backup", "ratchet unlock"});
  ExpectWhy(6, {"t"}, "HELD_LOCK");
  ExpectWhy(6, {}, "HELD_LOCK");
  const Told json = RunHere({"--json", "why"});
  EXPECT_EQ(json.code, cli::kExitWaits);
  EXPECT_NE(json.text.find("\"cause\":\"HELD_LOCK\""), std::string::npos) << json.text;
  const Told status = RunHere({"status"});
  EXPECT_NE(status.text.find("nightly backup"), std::string::npos) << status.text;
  ASSERT_OK(Signal(*holder, SIGTERM));
  ASSERT_OK(admin().WaitOk(disabling));

  // 9: pauses of a type, of a table, of everything; 17: a table that stays ENABLING.
  Verb({"pause", "type", "OpenRegion", "--who", "bob", "--why", "to look"});
  const auto enabling = admin().EnableTable(kTable);
  ASSERT_OK(enabling);
  ExpectWhy(17, {"table", "t"}, "PAUSED",
            {"EnableTable", "OpenRegion", "says to be bob: to look", "resume type OpenRegion"});
  Verb({"resume", "type", "OpenRegion"});
  ASSERT_OK(admin().WaitOk(enabling));
  Verb({"pause", "table", "t", "--who", "bob", "--why", "night shift"});
  const auto paused = admin().DisableTable(kTable);
  ASSERT_OK(paused);
  ExpectWhy(9, Pid(paused), "PAUSED", {"table t paused by ", "says to be bob: night shift", "ratchet resume table t"});
  // 18: the client of that request waits under its nonce.
  ExpectWhy(18, Pid(paused), "PAUSED", {"under nonce"});

  // 7: a parked procedure.
  Verb({"park", std::to_string(*paused), "--who", "eve", "--why", "looks odd"});
  ExpectWhy(7, {}, "PARKED", {"looks odd", fmt::format("ratchet unpark {}", *paused)});
  Verb({"unpark", std::to_string(*paused)});
  Verb({"resume", "table", "t"});
  ASSERT_OK(admin().WaitOk(paused));
  Verb({"pause", "everything", "--who", "bob", "--why", "upgrade"});
  ExpectWhy(9, {}, "PAUSED", {"everything paused by ", "says to be bob: upgrade"});
  Verb({"resume", "everything"});
  ExpectNothingWaits();
  EXPECT_EQ(RunHere({"why", "nothing-of-this-name"}).code, cli::kExitNotFound);
}

// 11: a server that lives and does not answer: its close is blocked at a fault point.
TEST_F(WhyTest, AServerThatLivesAndDoesNotAnswer) {
  ClusterSpec spec;
  spec.environment = ArmedWith("regionserver.before_close=pause");
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto regions = admin().Regions(kTable);
  ASSERT_OK(regions);
  const std::string holder = ProcessOf(regions->front().server);
  ASSERT_NE(holder, "");
  const auto closing = admin().Transit(client::RegionVerb::kMove, regions->front().region.encoded_name());
  ASSERT_OK(closing);
  ExpectWhy(11, Pid(closing), "UNANSWERED", {regions->front().server.ToString(), "has not answered the order"});
  ASSERT_OK(cluster().Kill9(holder));
  ASSERT_OK(admin().WaitOk(closing));
}

// 1: a server that is stopped.
TEST_F(WhyTest, AServerThatIsStopped) {
  ClusterSpec spec;
  // A paused server keeps its session for the whole test.
  spec.server_flags = {"--zk-session-ms", "60000"};
  spec.master_flags = {"--remote-dispatcher-expire-after-ms", "60000"};
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  const auto regions = admin().Regions(kTable);
  ASSERT_OK(regions);
  const std::string victim = ProcessOf(regions->front().server);
  ASSERT_NE(victim, "");
  ASSERT_OK(cluster().Pause(victim));
  const auto moving = admin().Transit(client::RegionVerb::kUnassign, regions->front().region.encoded_name());
  ASSERT_OK(moving);
  ExpectWhy(1, Pid(moving), "SILENT_SERVER", {regions->front().server.ToString(), "has sent no heartbeat for"});
  ExpectWhy(1, {regions->front().server.Address()}, "SILENT_SERVER");
  ASSERT_OK(cluster().Resume(victim));
  ASSERT_OK(admin().WaitOk(moving));
  ExpectNothingWaits();
}

// 16: no server can open the region, and each reports why; 13: the damaged file.
TEST_F(WhyTest, ARegionThatNoServerCanOpen) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(admin().WaitOk(admin().DisableTable(kTable)));
  ASSERT_GT(DamageFiles("manifest."), 0);
  const auto enabling = admin().EnableTable(kTable);
  ASSERT_OK(enabling);
  ExpectWhy(16, {"t"}, "FAILED_OPEN", {"manifest.", "EnableTable", "give-up"});
}

// 20: a clock that is far off.
TEST_F(WhyTest, AClockThatIsFarOff) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Restart("rs-1", {{"RATCHET_CLOCK_OFFSET_MS", "20000"}}));
  ExpectWhy(20, {}, "CLOCK", {"its clock is", "ahead of"});
}

}  // namespace
}  // namespace ratchet::chaos
