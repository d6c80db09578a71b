// One, several or all region servers die, or are stopped beyond their session: no acknowledged write is lost.
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "chaos/verdict/process_checks.h"
#include "common/base/fault_point.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class RegionServerTest : public ClusterTest {
 protected:
  void BootWithTraffic(int servers = 3) {
    Boot(2, servers);
    if (HasFatalFailure()) return;
    MakeTable("t", 12);
    if (HasFatalFailure()) return;
    StartWriter("t");
    WaitForWrites(100);
  }
  // A region server that does not carry meta.
  std::string Bystander() {
    const auto holder = cluster().MetaHolder();
    for (const auto& name : cluster().Names(Role::kRegionServer)) {
      if (cluster().Running(name) && (!holder.ok() || name != *holder)) return name;
    }
    return {};
  }
};

TEST_F(RegionServerTest, KilledWithoutMeta) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const std::string victim = Bystander();
  ASSERT_OK(cluster().Kill9(victim));
  WaitForWrites(200);
  ASSERT_OK(cluster().Start(victim));
}

// A server that cannot open another region refuses it, and the regions open elsewhere.
TEST_F(RegionServerTest, OneWithoutDescriptorsOpensNothing) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  const std::string full = Bystander();
  const int pid = cluster().Info(full).id.pid;
  const auto open = SampleProcess(pid);
  ASSERT_OK(open);
  rlimit before{};
  ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit lowered{open->descriptors + 8, before.rlim_max};
  ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, &lowered, nullptr), 0);
  MakeTable("t", 12);
  if (HasFatalFailure()) return;
  const ServerName refusing = ServerNameOf(full);
  const auto regions = admin().Call(methods::kListRegions, pb::ListRegionsRequest());
  ASSERT_OK(regions);
  int of_table = 0;
  for (const auto& row : regions->region()) {
    const auto region = FromProto(row.region());
    ASSERT_OK(region);
    if (region->table.qualifier != "t") continue;
    ++of_table;
    EXPECT_EQ(row.state(), "OPEN");
    const auto server = FromProto(row.server());
    ASSERT_OK(server);
    EXPECT_NE(*server, refusing);
  }
  EXPECT_EQ(of_table, 12);
  const auto refusals = cluster().LogLines("master-1", "refused to open the region", 0);
  ASSERT_FALSE(refusals.empty());
  EXPECT_NE(refusals.front().find("no descriptor is left for another region"), std::string::npos) << refusals.front();
  ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, &before, nullptr), 0);
  StartWriter("t");
  WaitForWrites(100);
}

TEST_F(RegionServerTest, KilledWithMeta) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const auto victim = cluster().MetaHolder();
  ASSERT_OK(victim);
  ASSERT_OK(cluster().Kill9(*victim));
  WaitForWrites(200);
  const auto now = cluster().MetaHolder();
  ASSERT_OK(now);
  EXPECT_NE(*now, *victim);
}

TEST_F(RegionServerTest, TwoKilledAtOnceMetaAmongThem) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const auto first = cluster().MetaHolder();
  ASSERT_OK(first);
  const std::string second = Bystander();
  ASSERT_OK(cluster().Kill9(*first));
  ASSERT_OK(cluster().Kill9(second));
  WaitForWrites(200);
}

TEST_F(RegionServerTest, AllKilledAtOnceAndRestarted) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const auto names = cluster().Names(Role::kRegionServer);
  for (const auto& name : names) ASSERT_OK(cluster().Kill9(name));
  for (const auto& name : names) ASSERT_OK(cluster().Start(name));
  WaitForWrites(200);
}

TEST_F(RegionServerTest, EverythingIsKilledAndOneServerNeverReturns) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const std::string lost = Bystander();
  for (const auto& role : {Role::kMaster, Role::kRegionServer}) {
    for (const auto& name : cluster().Names(role)) ASSERT_OK(cluster().Kill9(name));
  }
  for (const auto& role : {Role::kMaster, Role::kRegionServer}) {
    for (const auto& name : cluster().Names(role)) {
      if (name != lost) ASSERT_OK(cluster().Start(name));
    }
  }
  WaitForWrites(200);
}

TEST_F(RegionServerTest, MasterAndMetaServerKilledTogether) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const auto master = cluster().ActiveMaster();
  const auto holder = cluster().MetaHolder();
  ASSERT_OK(master);
  ASSERT_OK(holder);
  ASSERT_OK(cluster().Kill9(*holder));
  ASSERT_OK(cluster().Kill9(*master));
  WaitForWrites(200);
}

// Each other server dies after it has replayed the edits of a dead server's region, before it may serve the region. The
// server that finally opens the region replays the same edits.
TEST_F(RegionServerTest, KilledAgainWhileRecoveredEditsAreReplayed) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const std::string victim = Bystander();
  const auto regions = admin().Regions(TableName("default", "t"));
  ASSERT_OK(regions);
  std::string region;
  for (const auto& location : *regions) {
    if (location.server == ServerNameOf(victim)) region = location.region.encoded_name();
  }
  ASSERT_FALSE(region.empty());
  std::vector<std::string> openers = cluster().Names(Role::kRegionServer);
  std::erase(openers, victim);
  for (const auto& name : openers) {
    ASSERT_OK(cluster().Restart(name, ArmedWith(fmt::format("region.replayed~{}=crash", region))));
    ASSERT_OK(cluster().WaitServing(kPatience));
  }
  WaitForWrites(200);
  ASSERT_OK(cluster().Kill9(victim));
  for (const auto& name : openers) {
    const auto code = cluster().WaitExit(name, kPatience);
    ASSERT_OK(code);
    ASSERT_EQ(*code, kFaultExitCode) << name << " did not die at its fault point";
  }
  for (const auto& name : openers) ASSERT_OK(cluster().Start(name));
  WaitForWrites(200);
}

// Regions move continuously, with writes in flight to each of them.
TEST_F(RegionServerTest, RegionsMoveUnderWrites) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  for (int round = 0; round < 2; ++round) {
    const auto regions = admin().Regions(TableName("default", "t"));
    ASSERT_OK(regions);
    for (const auto& location : *regions) {
      ASSERT_OK(
          admin().WaitOk(admin().Transit(client::RegionVerb::kMove, location.region.encoded_name(), std::nullopt)));
    }
    const auto moved = admin().Regions(TableName("default", "t"));
    ASSERT_OK(moved);
    for (std::size_t i = 0; i < moved->size(); ++i) EXPECT_NE((*moved)[i].server, (*regions)[i].server);
    WaitForWrites(50);
  }
}

// A newer incarnation at the same address expires the older one at once.
TEST_F(RegionServerTest, RestartedOnTheSamePortBeforeItsSessionEnds) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  const std::string victim = Bystander();
  const ServerName before = ServerNameOf(victim);
  ASSERT_OK(cluster().Restart(victim));
  ASSERT_OK(ProcessCluster::WaitUntil("the new incarnation", kPatience,
                                      [&] { return ServerNameOf(victim).start_code > before.start_code; }));
  WaitForWrites(200);
}

// A server is stopped beyond its session with reads in flight, and the new owner acknowledges newer values before it
// resumes. Afterwards it answers no stale value; it finds its fence and exits.
TEST_F(RegionServerTest, PausedBeyondItsSessionServesNothingStaleAndExits) {
  BootWithTraffic();
  if (HasFatalFailure()) return;
  MakeTable("s", 1);
  if (HasFatalFailure()) return;
  const std::string row = "the row";
  client::Table reader(connection(), TableName("default", "s"));
  ASSERT_OK(reader.Mutate(client::Mutation::Put(row).Set("u", "v", "old")));
  auto loop = connection().NewLoop();
  const auto location = connection().locator().Locate(loop, reader.name(), row);
  ASSERT_OK(location);
  std::string sleeper;
  for (const auto& name : cluster().Names(Role::kRegionServer)) {
    if (cluster().Info(name).port == location->server.port) sleeper = name;
  }
  // Raw reads straight at the old owner, without the client's retries.
  hbase::pb::GetRequest request;
  SpecifyRegion(location->region, *request.mutable_region());
  request.mutable_get()->set_row(row);
  std::atomic<bool> newer_acknowledged{false};
  std::atomic<int> stale{0};
  std::atomic<int> outstanding{0};
  const auto channel = connection().pool().Get(methods::kClientService, location->endpoint());
  const auto send = [&](bool after_the_stop) {
    rpc::CallOptions options;
    options.timeout = kPatience;
    ++outstanding;
    channel->Call(methods::kGet, request, std::move(options), [&, after_the_stop](auto reply) {
      if (reply.ok() && newer_acknowledged && after_the_stop) ++stale;
      --outstanding;
    });
  };
  // Some of these may be stopped between their CHECK and the socket. They are sent late, with the value at the time of
  // the request.
  for (int i = 0; i < 200; ++i) send(false);
  ASSERT_OK(cluster().Pause(sleeper));
  // The server evaluates these after the stop, and then finds the fence.
  for (int i = 0; i < 200; ++i) send(true);
  ASSERT_OK(reader.Mutate(client::Mutation::Put(row).Set("u", "v", "new")));
  newer_acknowledged = true;
  ASSERT_OK(cluster().Resume(sleeper));
  const auto code = cluster().WaitExit(sleeper, kPatience);
  ASSERT_OK(code);
  EXPECT_TRUE(LearnedThatItWasGivenUp(*code)) << *code;
  ASSERT_OK(ProcessCluster::WaitUntil("all answers", kPatience, [&] { return outstanding == 0; }));
  EXPECT_EQ(stale, 0);
  const auto now = reader.Get({row, {}, 1, {}});
  ASSERT_OK(now);
  EXPECT_EQ(now->Value("u", "v"), "new");
}

}  // namespace
}  // namespace ratchet::chaos
