// Refused starts of servers: a clear message, the documented exit code, and no effect on other processes.
#include <algorithm>
#include <fstream>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

#include "common/base/exit_codes.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class StartUpTest : public ClusterTest {
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
    fs::permissions(root / file, fs::perms{0644});
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

TEST_F(StartUpTest, ZooKeeperThatComesBeforeTheDeadlineIsFound) {
  ClusterSpec spec;
  spec.session_timeout = Millis{10'000};  // running processes keep their sessions
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
