// Refused starts of servers: a clear message, the documented exit code, and no effect on other processes.
#include <algorithm>
#include <fstream>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

#include "common/base/exit_codes.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tls/certificate_authority.h"
#include "tests/cluster/page_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class StartUpTest : public PageTest {
 protected:
  // Starts `name` with further flags; it must end with `code` and log `text`.
  void ExpectRefused(const std::string& name, const std::vector<std::string>& flags, int code,
                     const std::string& text) {
    SCOPED_TRACE(fmt::format("{} {}", name, fmt::join(flags, " ")));
    ASSERT_OK(cluster().Start(name, {}, flags));
    const auto ended = cluster().WaitExit(name, kPatience);
    ASSERT_OK(ended);
    EXPECT_EQ(*ended, code);
    EXPECT_FALSE(cluster().LogLines(name, text).empty()) << "its log does not say: " << text;
  }
  // For tests that stop the standby: a busy machine ends no session of the active master.
  static ClusterSpec OfOneMaster() {
    ClusterSpec spec;
    spec.session_timeout = Millis{10'000};
    return spec;
  }
  // Flags for TLS with a certificate of a new authority.
  std::vector<std::string> CertificateFlags() {
    const auto authority = tls::CertificateAuthority::Make("test authority", 10);
    EXPECT_TRUE(authority.ok()) << authority.error().ToString();
    const fs::path directory = cluster().spec().dir / "tls";
    fs::create_directories(directory);
    std::ofstream(directory / "ca.pem") << (*authority)->CertificatePem();
    std::ofstream(directory / "node.pem") << (*authority)->Issue({"node", {"127.0.0.1"}}).value();
    fs::permissions(directory / "node.pem", fs::perms{0600});
    return {"--tls-certificate", directory / "node.pem", "--tls-trust", directory / "ca.pem"};
  }
  // Makes the root of another cluster, for a wrong --root.
  fs::path AnotherRoot() {
    const fs::path root = cluster().spec().dir / "another-root";
    fs::create_directories(root / "wals");
    std::ofstream(root / "cluster.id") << kAnotherId << "\n";
    return root;
  }
  // Adds a region server that is not running.
  std::string SpareServer() {
    // refused at once, because the value is below the range
    const auto name = cluster().AddServer({}, {"--zk-session-ms", "1"});
    EXPECT_TRUE(name.ok());
    const auto code = cluster().WaitExit(*name, kPatience);
    EXPECT_TRUE(code.ok() && *code == exit_code::kUsage);
    return *name;
  }

  static constexpr const char* kAnotherId = "aaaaaaaa-0000-4000-8000-bbbbbbbbbbbb";
};

TEST_F(StartUpTest, WrongClusterPortTakenUnusableRootNoZooKeeper) {
  Boot(2, 1);
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string master = *active == "master-1" ? "master-2" : "master-1";
  const ServerName resident = ServerNameOf("rs-1");
  ASSERT_OK(cluster().Stop(master, kPatience));
  const std::string server = SpareServer();
  if (HasFailure()) return;

  const std::string another = AnotherRoot();
  ExpectRefused(server, {"--root", another}, exit_code::kWrongPlace, kAnotherId);
  ExpectRefused(master, {"--root", another}, exit_code::kWrongPlace, kAnotherId);

  const std::string servers_port = std::to_string(cluster().Info("rs-1").port);
  const std::string masters_port = std::to_string(cluster().Info(*active).port);
  ExpectRefused(server, {"--port", servers_port}, exit_code::kPortTaken, servers_port);
  ExpectRefused(master, {"--port", masters_port}, exit_code::kPortTaken, masters_port);
  EXPECT_TRUE(cluster().Running("rs-1"));
  EXPECT_EQ(ServerNameOf("rs-1"), resident) << "the first one is who it was";

  const fs::path blocked = cluster().spec().dir / "blocked-root";
  fs::create_directories(blocked);
  std::ofstream(blocked / "cluster.id") << kAnotherId << "\n";
  std::ofstream(blocked / "wals") << "a file where a directory must be\n";
  ExpectRefused(server, {"--root", blocked}, exit_code::kRootUnusable, blocked / "wals");
  const std::string below_a_file = blocked / "wals" / "root";
  ExpectRefused(master, {"--root", below_a_file}, exit_code::kRootUnusable, below_a_file);
  const fs::path nowhere = cluster().spec().dir / "nowhere" / "root";
  ExpectRefused(server, {"--root", nowhere}, exit_code::kRootUnusable, nowhere);
  ExpectRefused(master, {"--root", nowhere}, exit_code::kRootUnusable, nowhere);
  EXPECT_FALSE(fs::exists(nowhere.parent_path())) << "a mistyped root was made";

  const auto port = PickFreePort();
  ASSERT_OK(port);
  const std::string nobody = fmt::format("127.0.0.1:{}", *port);
  const std::vector<std::string> unreachable{"--zookeeper", nobody, "--zk-connect-timeout-ms", "3000"};
  for (const std::string& name : {server, master}) {
    ExpectRefused(name, unreachable, exit_code::kZooKeeperUnreachable, nobody);
    EXPECT_FALSE(cluster().LogLines(name, "trying for another").empty()) << name << " gave up at the first failure";
  }

  ASSERT_OK(cluster().Start(master));
  MakeTable("t", 2);  // the cluster works
}

// Runs without write permission on any file system: as an ordinary user, or as root that drops its rights.
TEST_F(StartUpTest, RootThatMayNotBeWritten) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  const fs::path root = cluster().spec().dir / "read-only-root";
  fs::create_directories(root / "wals");
  for (const char* file : {"cluster.id", "cluster.key"}) {
    fs::copy_file(cluster().root() / file, root / file);
    fs::permissions(root / file, fs::perms{0600});
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown((root / file).c_str(), 65534, 65534), 0);
    }
  }
  for (const fs::path& path : {root / "wals", root}) fs::permissions(path, fs::perms{0555});
  LaunchSpec launch;
  if (::geteuid() == 0) launch.arguments = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  const std::string port = std::to_string(PickFreePort().value());
  for (const auto& argument :
       std::vector<std::string>{cluster().spec().bin / "ratchet-regionserver", "--root", root, "--zookeeper",
                                cluster().zookeeper(), "--host", "127.0.0.1", "--port", port}) {
    launch.arguments.push_back(argument);
  }
  launch.output = cluster().spec().dir / "logs" / "nobody.log";
  const auto process = Launch(launch);
  ASSERT_OK(process);
  std::optional<Ended> ended;
  ASSERT_OK(WaitUntil("its end", kPatience, [&] { return (ended = CheckEnded(*process)).has_value(); }));
  for (const fs::path& path : {root, root / "wals"})
    fs::permissions(path, fs::perms{0755});  // so that it can be removed
  std::ifstream log(launch.output);
  const std::string said{std::istreambuf_iterator<char>(log), {}};
  EXPECT_EQ(ended->code.value_or(-1), exit_code::kRootUnusable) << said;
  EXPECT_NE(said.find(root.string()), std::string::npos) << said;
  EXPECT_NE(said.find("Permission denied"), std::string::npos) << said;
}

// S160 (the root is its user's)
TEST_F(StartUpTest, RootThatOthersMayChange) {
  Boot(2, 1, OfOneMaster());
  if (HasFatalFailure()) return;
  const auto mode = [&](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode(cluster().root()), fs::perms::owner_all) << "the new root";
  EXPECT_EQ(mode(cluster().root() / "wals"), fs::perms::owner_all) << "what a process makes below it";
  EXPECT_EQ(mode(cluster().root() / "cluster.id") & fs::perms{0077}, fs::perms::none);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string standby = *active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(cluster().Stop(standby, kPatience));
  const std::string server = SpareServer();
  if (HasFailure()) return;

  fs::permissions(cluster().root(), fs::perms{0770});
  for (const std::string& name : {standby, server})
    ExpectRefused(name, {}, exit_code::kRootUnusable, "chmod go-w " + cluster().root().string());

  // A cluster of an earlier version keeps running with its root, and shows the problem until it is repaired.
  fs::permissions(cluster().root(), fs::perms{0755});
  ASSERT_OK(cluster().Start(standby));
  ASSERT_OK(cluster().WaitLog(standby, "chmod 700 " + cluster().root().string(), kPatience));
  ASSERT_OK(cluster().WaitLog(*active, "chmod 700 " + cluster().root().string(), kPatience));
  const auto problem_shown = [&] {
    const auto status = admin().Call(methods::kGetStatus, ratchet::pb::GetStatusRequest());
    return status.ok() && status->DebugString().find("chmod 700") != std::string::npos;
  };
  ASSERT_OK(WaitUntil("the problem", kPatience, problem_shown));
  fs::permissions(cluster().root(), fs::perms::owner_all);
  ASSERT_OK(WaitUntil("its end", kPatience, [&] { return !problem_shown(); }));

  fs::permissions(cluster().root() / "cluster.key", fs::perms{0644});
  ExpectRefused(server, {}, exit_code::kRootUnusable, "chmod 600");
  ASSERT_OK(WaitUntil("the problem of the key", kPatience, [&] {
    const auto status = admin().Call(methods::kGetStatus, ratchet::pb::GetStatusRequest());
    return status.ok() && status->DebugString().find("cluster.key") != std::string::npos;
  }));
  fs::permissions(cluster().root() / "cluster.key", fs::perms{0600});
  MakeTable("t", 2);  // the cluster works
}

// S154 (no silent exposure): a process that others reach refuses strangers, or shows that it does not.
TEST_F(StartUpTest, AddressesThatOthersReach) {
  Boot(2, 1, OfOneMaster());
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const std::string master = *active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(cluster().Stop(master, kPatience));
  const std::string server = SpareServer();
  if (HasFailure()) return;

  const std::vector<std::string> reached{"--bind", "0.0.0.0"};
  const auto with = [&reached](std::vector<std::string> more) {
    more.insert(more.begin(), reached.begin(), reached.end());
    return more;
  };
  for (const std::string& name : {server, master})
    ExpectRefused(name, reached, exit_code::kUsage,
                  "--host is reached by others, and it accepts plain text, in which clients name their own user: give");
  std::vector<std::string> tls = with(CertificateFlags());
  tls.insert(tls.end(), {"--tls", "require", "--tls-client-certificates", "want"});
  for (const std::string& name : {server, master})
    ExpectRefused(name, tls, exit_code::kUsage, "clients without a certificate name their own user: give");

  // A port that refuses every client without a proven user needs no --insecure.
  tls.insert(tls.end(), {"--tls-user-from", "cn"});
  for (const std::string& name : {server, master}) {
    ASSERT_OK(cluster().Start(name, {}, tls));
    ASSERT_OK(cluster().WaitLog(name, name == master ? "listens, root" : "Start: registering in ZooKeeper", kPatience));
    EXPECT_EQ(Scrape(name).Value("ratchet_insecure"), 0);
    EXPECT_TRUE(cluster().LogLines(name, "others reach this process").empty());
    ASSERT_OK(cluster().Kill9(name));
  }

  const std::string problem =
      "others reach this process, and it accepts plain text, in which clients name their own user (--insecure)";
  ASSERT_OK(cluster().Start(server, {}, with({"--insecure"})));
  ASSERT_OK(cluster().WaitLog(server, problem, kPatience));
  ASSERT_OK(cluster().Start(master, {}, with({"--insecure"})));
  ASSERT_OK(cluster().WaitLog(master, problem, kPatience));
  EXPECT_EQ(Scrape("rs-1").Value("ratchet_insecure"), 0);
  for (const std::string& name : {server, master}) EXPECT_EQ(Scrape(name).Value("ratchet_insecure"), 1) << name;
  const std::string port = fmt::format(",{},", cluster().Info(server).port);
  std::string shown;
  const Status waited = WaitUntil("the problem in the status", kPatience, [&] {
    const auto status = cluster().StatusOf(*active);
    shown = status.ok() ? status->DebugString() : status.error().ToString();
    return status.ok() && std::any_of(status->problem().begin(), status->problem().end(), [&](const std::string& each) {
             return each.find(port) != std::string::npos && each.find(problem) != std::string::npos;
           });
  });
  ASSERT_TRUE(waited.ok()) << shown;
  MakeTable("t", 2);  // the cluster works
}

TEST_F(StartUpTest, ZooKeeperThatComesBeforeTheDeadlineIsFound) {
  ClusterSpec spec;
  spec.session_timeout = Millis{30'000};  // running processes keep their sessions, however long ZooKeeper's start takes
  Boot(1, 1, spec);
  if (HasFatalFailure()) return;
  const std::string server = SpareServer();
  if (HasFailure()) return;
  ASSERT_OK(cluster().Kill9("zookeeper"));
  ASSERT_OK(cluster().Start(server));
  ASSERT_OK(cluster().WaitLog(server, "trying for another", kPatience));
  ASSERT_OK(cluster().Start("zookeeper"));
  ASSERT_OK(cluster().WaitLog(server, "registered with the master", kPatience));
}

// Every server runs an hour ahead, then all are restarted with the right clock: their start codes still rise (S5:
// rising start code), and new writes are not hidden by writes "in the future" (S27: rising timestamps).
TEST_F(StartUpTest, ClockSetBackBeforeARestart) {
  ClusterSpec spec;
  spec.session_timeout =
      Millis{10'000};  // a busy machine ends no session; those at the same addresses are expired at once
  spec.environment["RATCHET_CLOCK_OFFSET_MS"] = "3600000";
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  client::Table rows(connection(), TableName("default", "t"));
  ASSERT_OK(rows.Mutate(client::Mutation::Put("row").Set("u", "v", "old")));
  const auto before = rows.Get({"row", {}, 1, {}});
  ASSERT_OK(before);
  ASSERT_FALSE(before->cells.empty());
  const std::int64_t now_ms = SystemClock().WallMillis();
  ASSERT_GT(before->cells.front().timestamp, now_ms + 1'800'000) << "the servers' clock was not ahead";
  const auto names = cluster().Names(Role::kRegionServer);
  std::map<std::string, std::uint64_t> start_codes;
  for (const auto& name : names) start_codes[name] = ServerNameOf(name).start_code;
  for (const auto& name : names) ASSERT_OK(cluster().Kill9(name));
  // otherwise it would refuse their clocks
  ASSERT_OK(cluster().Restart("master-1", {{"RATCHET_CLOCK_OFFSET_MS", "0"}}));
  for (const auto& name : names) ASSERT_OK(cluster().Start(name, {{"RATCHET_CLOCK_OFFSET_MS", "0"}}));
  for (const auto& name : names) {
    ASSERT_OK(ProcessCluster::WaitUntil("the new incarnation of " + name, kPatience,
                                        [&] { return ServerNameOf(name).start_code > start_codes[name]; }));
  }
  ASSERT_OK(rows.Mutate(client::Mutation::Put("row").Set("u", "v", "new")));
  const auto after = rows.Get({"row", {}, 1, {}});
  ASSERT_OK(after);
  EXPECT_EQ(after->Value("u", "v"), "new");
  ASSERT_OK(rows.Mutate(client::Mutation::Delete("row")));
  const auto gone = rows.Get({"row", {}, 1, {}});
  ASSERT_OK(gone);
  EXPECT_TRUE(gone->empty());
}

// A region moves from a server whose clock is an hour ahead to one with the right clock: new puts are not hidden.
TEST_F(StartUpTest, APutAfterAMoveToAServerWhoseClockIsBehind) {
  ClusterSpec spec;
  spec.master_flags = {"--max-clock-skew-ms", "7200000"};  // as if its clock had jumped while it ran
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Restart("rs-1", {{"RATCHET_CLOCK_OFFSET_MS", "3600000"}}));
  ASSERT_OK(cluster().WaitServing(kPatience));
  const TableName name("default", "t");
  client::Table rows(connection(), name);
  const auto move_to = [&](const std::string& process) {
    const auto regions = admin().Regions(name);
    ASSERT_OK(regions);
    const ServerName target = ServerNameOf(process);
    if (regions->front().server == target) return;
    ASSERT_OK(
        admin().WaitOk(admin().Transit(client::RegionVerb::kMove, regions->front().region.encoded_name(), target)));
    const auto now = admin().Regions(name);
    ASSERT_OK(now);
    ASSERT_EQ(now->front().server, target);
  };
  for (const char* round : {"1", "2"}) {
    move_to("rs-1");
    if (HasFatalFailure()) return;
    ASSERT_OK(rows.Mutate(client::Mutation::Put("row").Set("u", "v", std::string("ahead ") + round)));
    const auto before = rows.Get({"row", {}, 1, {}});
    ASSERT_OK(before);
    ASSERT_FALSE(before->cells.empty());
    ASSERT_GT(before->cells.front().timestamp, SystemClock().WallMillis() + 1'800'000) << "its clock was not ahead";
    move_to("rs-2");
    if (HasFatalFailure()) return;
    ASSERT_OK(rows.Mutate(client::Mutation::Put("row").Set("u", "v", std::string("behind ") + round)));
    const auto after = rows.Get({"row", {}, 1, {}});
    ASSERT_OK(after);
    EXPECT_EQ(after->Value("u", "v"), std::string("behind ") + round);
  }
  // rs-1 is shown as a problem, and so is the region, because its timestamps stay ahead permanently.
  EXPECT_FALSE(cluster().LogLines("rs-2", "ms ahead of this server's clock").empty());
  ASSERT_OK(ProcessCluster::WaitUntil("the region is shown", kPatience, [&] {
    const auto status = cluster().StatusOf("master-1");
    return status.ok() &&
           std::any_of(status->problem().begin(), status->problem().end(), [&](const std::string& problem) {
             return problem.find("timestamps of 1 regions are ahead of its clock") != std::string::npos &&
                    problem.find(ServerNameOf("rs-2").ToString()) != std::string::npos;
           });
  }));
}

// S74 (clock skew limit): a server with a large clock skew is refused before it serves; a smaller skew is shown.
TEST_F(StartUpTest, AServerWhoseClockIsFarOff) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  const auto problems = [&] {
    const auto status = cluster().StatusOf("master-1");
    std::string text;
    if (status.ok()) {
      for (const auto& problem : status->problem()) text += problem + "\n";
    }
    return text;
  };
  EXPECT_EQ(problems(), "");
  for (const char* offset : {"3600000", "-3600000"}) {
    if (cluster().Running("rs-1")) {
      ASSERT_OK(cluster().Kill9("rs-1"));
    }
    ASSERT_OK(cluster().Start("rs-1", {{"RATCHET_CLOCK_OFFSET_MS", offset}}));
    const auto ended = cluster().WaitExit("rs-1", kPatience);
    ASSERT_OK(ended);
    EXPECT_EQ(*ended, exit_code::kClockOff);
    EXPECT_FALSE(cluster().LogLines("rs-1", "--max-clock-skew-ms").empty());
  }
  ASSERT_OK(cluster().Start("rs-1", {{"RATCHET_CLOCK_OFFSET_MS", "20000"}}));
  ASSERT_OK(ProcessCluster::WaitUntil("its clock is shown", kPatience, [&] {
    return problems().find(ServerNameOf("rs-1").ToString() + ": its clock is") != std::string::npos;
  }));
  ASSERT_OK(cluster().Restart("rs-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("nothing is shown", kPatience, [&] { return problems().empty(); }));
}

}  // namespace
}  // namespace ratchet::chaos
