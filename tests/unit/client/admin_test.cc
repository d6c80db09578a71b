#include "common/client/admin.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <thread>

#include "common/client/drain.h"
#include "common/client/snapshots.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/client/fake_cluster.h"

namespace ratchet::client {
namespace {

class AdminTest : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> Connect(std::vector<std::string> masters, Millis timeout = Millis(20'000)) {
    ConnectionOptions options;
    options.masters = std::move(masters);
    options.operation_timeout = timeout;
    return Connection::Open(options).value();
  }
  static TableDescriptor Descriptor() {
    TableDescriptor table;
    table.name = TableName("default", "t");
    table.families = {DefaultFamily("f")};
    return table;
  }
  FakeCluster cluster_{1};
};

TEST_F(AdminTest, OneNonceThroughAllRetries) {
  auto connection = Connect({cluster_.master()});
  cluster_.LoseAnswers("CreateTable", 2);
  EXPECT_EQ(Admin(*connection).CreateTable(Descriptor(), {}).value(), 7u);
  const auto nonces = cluster_.CreateNonces();
  ASSERT_EQ(nonces.size(), 3u);
  EXPECT_NE(nonces[0], 0u);
  EXPECT_EQ(nonces[0], nonces[1]);
  EXPECT_EQ(nonces[0], nonces[2]);
  ASSERT_TRUE(Admin(*connection).CreateTable(Descriptor(), {}).ok());
  EXPECT_NE(cluster_.CreateNonces().back(), nonces[0]) << "another operation has another nonce";
}

// The command line prints this nonce on Ctrl-C; a repetition with it finds the same procedure.
TEST_F(AdminTest, TheNonceOfEachVerbIsShown) {
  auto connection = Connect({cluster_.master()}, Millis(2'000));
  Admin admin(*connection);
  const std::map<std::string, std::function<void()>> verbs = {
      {"GiveUpRegion", [&] { (void)admin.GiveUpRegion("0123"); }},
      {"PutBackEdits", [&] { (void)admin.PutBackEdits("0123"); }},
      {"FillHoles", [&] { (void)admin.FillHoles(TableName("default", "t")); }},
      {"TransitRegion", [&] { (void)admin.Transit(RegionVerb::kAssign, "0123", std::nullopt); }},
      {"DrainServer",
       [&] {
         (void)Drain(admin, {"h", 1, 1}, false);
       }},
      {"UndrainServer",
       [&] {
         (void)Undrain(admin, {"h", 1, 1}, {});
       }},
      {"ExportSnapshot", [&] { (void)Snapshots(*connection).Export("s", "d"); }},
      {"ImportSnapshot", [&] { (void)Snapshots(*connection).Import("d", "s"); }},
  };
  std::set<std::uint64_t> seen;
  for (const auto& [name, call] : verbs) {
    call();  // the fake master refuses it: the request may have arrived
    const auto shown = connection->activity().Look().nonce;
    ASSERT_TRUE(shown.has_value()) << name;
    EXPECT_EQ(shown->group, connection->nonce_group()) << name;
    EXPECT_TRUE(seen.insert(shown->nonce).second) << name << " shows no nonce of its own";
  }
}

TEST_F(AdminTest, WaitsWhileTheMasterStarts) {
  auto connection = Connect({cluster_.master()});
  std::atomic<int> refusals{5};
  cluster_.SetFault([&](const std::string&, int) -> std::optional<Error> {
    const int left = refusals.fetch_sub(1);
    if (left <= 0) return std::nullopt;
    return rpc::RemoteError(left % 2 == 0 ? rpc::exception::kPleaseHold : rpc::exception::kServerNotRunningYet,
                            "starting");
  });
  EXPECT_TRUE(Admin(*connection).CreateTable(Descriptor(), {}).ok());
  EXPECT_EQ(cluster_.CreateNonces().size(), 1u);
}

TEST_F(AdminTest, DeadlineHoldsWhileZooKeeperDoesNotAnswer) {
  ConnectionOptions options;
  options.zookeeper = "127.0.0.1:" + std::to_string(cluster_.unused_port());
  options.zookeeper_timeout = Millis(60'000);
  options.operation_timeout = Millis(200);
  auto connection = Connection::Open(options).value();
  const TimePoint start = SystemClock().Now();
  const auto tables = Admin(*connection).ListTables();
  ASSERT_FALSE(tables.ok());
  EXPECT_EQ(tables.error().code(), Code::kTimeout) << tables.error().ToString();
  EXPECT_LT(SystemClock().Now() - start, options.zookeeper_timeout);
}

TEST_F(AdminTest, TriesTheMastersOfTheListInTurn) {
  const std::string dead = "127.0.0.1:" + std::to_string(cluster_.unused_port());
  auto connection = Connect({dead, cluster_.master(), dead});
  EXPECT_TRUE(Admin(*connection).CreateTable(Descriptor(), {}).ok());
}

TEST_F(AdminTest, RefusalsAreReturnedAsTheyAre) {
  auto connection = Connect({cluster_.master()});
  cluster_.SetFault(
      [](const std::string&, int) { return std::optional(rpc::RemoteError(rpc::exception::kTableExists, "t")); });
  const auto created = Admin(*connection).CreateTable(Descriptor(), {});
  EXPECT_TRUE(rpc::IsClass(created.error(), rpc::exception::kTableExists));
  EXPECT_EQ(created.error().code(), Code::kAlreadyExists);
}

TEST_F(AdminTest, WaitSeesTheEnd) {
  auto connection = Connect({cluster_.master()});
  Admin admin(*connection);
  std::thread finisher([&] {
    const TimePoint deadline = SystemClock().Now() + Millis(10'000);
    while (cluster_.Calls("getProcedureResult") < 3 && SystemClock().Now() < deadline) std::this_thread::yield();
    cluster_.LoseAnswers("getProcedureResult", 1);  // as when the master dies while it answers
    cluster_.FinishProcedure(rpc::RemoteError(rpc::exception::kTableNotFound, "gone"));
  });
  const auto outcome = admin.Wait(7);
  finisher.join();
  ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
  ASSERT_TRUE(outcome->error.has_value());
  EXPECT_TRUE(rpc::IsClass(*outcome->error, rpc::exception::kTableNotFound));
  EXPECT_EQ(admin.WaitOk(7).error().message(), "gone");
  EXPECT_EQ(admin.Wait(8).error().code(), Code::kNotFound);
}

TEST_F(AdminTest, DeadlinesHold) {
  const std::string dead = "127.0.0.1:" + std::to_string(cluster_.unused_port());
  auto connection = Connect({dead}, Millis(200));
  const TimePoint start = SystemClock().Now();
  const auto created = Admin(*connection).CreateTable(Descriptor(), {});
  EXPECT_EQ(created.error().code(), Code::kTimeout);
  EXPECT_EQ(created.error().message().find("may or may not"), std::string::npos) << created.error().message();
  auto alive = Connect({cluster_.master()}, Millis(2'000));
  const auto waited = Admin(*alive).Wait(7);
  EXPECT_EQ(waited.error().code(), Code::kTimeout);
  EXPECT_NE(waited.error().message().find("it continues"), std::string::npos) << waited.error().message();
  EXPECT_TRUE(rpc::IsClass(waited.error(), rpc::kCallTimeout)) << "how it ends is open";
  EXPECT_LT(SystemClock().Now() - start, Millis(60'000));
}

TEST_F(AdminTest, RegionsOfATable) {
  const TableName table("default", "t");
  std::vector<std::string> keys;
  for (int i = 0; i < 2'500; ++i) keys.push_back(fmt::format("{:05}", i));
  cluster_.AddTable(table, keys);
  cluster_.AddTable(TableName("default", "t2"), {});
  auto connection = Connect({cluster_.master()});
  const auto regions = Admin(*connection).Regions(table);
  ASSERT_TRUE(regions.ok());
  ASSERT_EQ(regions->size(), 2'501u);
  EXPECT_EQ((*regions)[1'000].region.start_key, "00999");
  cluster_.Split(table, "00999a", 0);
  EXPECT_EQ(Admin(*connection).Regions(table)->size(), 2'502u) << "without the parent, whose row stays for a while";
}

TEST(ConnectionTest, OptionsAreChecked) {
  EXPECT_EQ(Connection::Open({}).error().code(), Code::kInvalidArgument);
  ConnectionOptions options;
  for (const char* bad : {"host", ":1", "host:", "host:0", "host:99999", "host:1x"}) {
    options.masters = {bad};
    const auto opened = Connection::Open(options);
    ASSERT_FALSE(opened.ok()) << bad;
    EXPECT_NE(opened.error().message().find(bad), std::string::npos);
  }
}

}  // namespace
}  // namespace ratchet::client
