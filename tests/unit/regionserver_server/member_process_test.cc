// The process ratchet-regionserver and requests that do not come from its masters: clients that give orders, S77
// (members only), and clients that occupy every thread that clients can occupy (S78: members' own queues).
#include "common/base/exit_codes.h"
#include "common/base/host_port.h"
#include "common/model/attributes.h"
#include "common/model/meta_row.h"
#include "common/model/proto/registry.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_meta_service.h"
#include "common/rpc/methods/client_service.h"
#include "tests/support/members.h"
#include "tests/support/meta_put.h"
#include "tests/unit/regionserver_server/process_fixture.h"

namespace ratchet::regionserver {
namespace {

class MemberProcessTest : public ProcessTest {
 protected:
  Result<rpc::Reply<pb::ExecuteProceduresResponse>> OrderAsClient(const ServerName& server,
                                                                  const pb::ExecuteProceduresRequest& request) {
    rpc::ChannelPool client{rpc::ChannelPoolOptions{}};
    return client.CallSync(methods::kExecuteProcedures, {server.host, server.port}, request);
  }
};

// If they were believed, each of these numbers would stop the region or the server permanently, because they only rise
// (S19: executed orders are remembered; S21: numbered openings; S23: epochs are a second safeguard).
TEST_F(MemberProcessTest, OrdersOfClientsAreRefusedAndTheMasterGoesOn) {
  constexpr std::uint64_t kMost = INT64_MAX;
  const ServerName server = Serving();
  pb::ExecuteProceduresRequest close = CloseRequest(kMost);
  close.set_epoch(1);
  pb::ExecuteProceduresRequest floor = CloseRequest(11);
  floor.set_epoch(1);
  floor.set_lowest_live_pid(kMost);
  pb::ExecuteProceduresRequest open = OpenRequest(12, kMost);
  open.set_epoch(1);
  for (const pb::ExecuteProceduresRequest& request : {close, floor, open}) {
    const auto refused = OrderAsClient(server, request);
    ASSERT_FALSE(refused.ok()) << request.ShortDebugString();
    EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kAccessDenied)) << refused.error().ToString();
    EXPECT_NE(refused.error().message().find("cluster.key"), std::string::npos) << refused.error().ToString();
  }
  EXPECT_EQ(master_->transitions_waiting(), 0u);
  EXPECT_TRUE(Put(server, "r", "v").ok());
  ASSERT_TRUE(master_->Execute(server, CloseRequest(11)).ok()) << "the master's orders continue";
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::CLOSED);
  ASSERT_TRUE(master_->Execute(server, OpenRequest(13, 13)).ok());
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::OPENED);
}

TEST_F(MemberProcessTest, AServerWaitsForTheFirstMastersKey) {
  fs::remove(root_ / "cluster.key");
  StartMaster();
  Launch();
  ASSERT_TRUE(
      chaos::WaitUntil("wait", kPatience, [this] { return Log().find("cluster.key") != std::string::npos; }).ok());
  WriteKey(kFakeMastersKey);
  EXPECT_TRUE(master_->WaitRegistered().has_value());
}

// S123 (only a proof makes a member). A node of ZooKeeper names a process without the key.
TEST_F(MemberProcessTest, AFalseMasterIsNamedInTheLogAndTheTrueOneIsTaken) {
  master_ = std::make_unique<FakeMaster>(zookeeper_->address(), paths_, 1, kClusterId, "proof-another cluster's key");
  Launch({"--member-proof", "required"});
  const std::string address = JoinHostPort("127.0.0.1", master_->port());
  ASSERT_TRUE(chaos::WaitUntil("the line", kPatience, [&] {
                return Log().find(address + " is not a member of this cluster: wrong proof") != std::string::npos;
              }).ok());
  EXPECT_FALSE(master_->registered_any());
  master_.reset();
  StartMaster(2);
  EXPECT_TRUE(master_->WaitRegistered().has_value());
}

// The key is replaced while the process runs.
TEST_F(MemberProcessTest, AReplacedKeyIsUsedWithoutARestart) {
  const ServerName server = Serving();
  const std::string next = "proof-the-key-after-the-first";
  WriteKey(next);
  rpc::ChannelPool members{MemberPool(next)};
  ASSERT_TRUE(chaos::WaitUntil("the new key", kPatience, [&] {
                return members.CallSync(methods::kGetServerInfo, {server.host, server.port}, {}).ok();
              }).ok());
  EXPECT_NE(Log().find("cluster.key has changed"), std::string::npos);
  rpc::ChannelPool late{MemberPool(kFakeMastersKey)};
  const auto refused = late.CallSync(methods::kGetServerInfo, {server.host, server.port}, {});
  EXPECT_FALSE(refused.ok());
}

TEST_F(MemberProcessTest, AKeyThatNeverComesAndOneThatIsNoneEndTheStart) {
  WriteKey("");
  Launch();
  EXPECT_EQ(WaitExit(), exit_code::kRootUnusable);
  EXPECT_NE(Log().find("cluster.key is not a key"), std::string::npos);
  fs::remove(root_ / "cluster.key");
  Launch({"--start-timeout-ms", "300"});
  EXPECT_EQ(WaitExit(), exit_code::kRootUnusable);
}

// More clients' reads of hbase:meta than there are threads for them, and none ends.
class BusyClientsTest : public MemberProcessTest {
 protected:
  struct Passed {
    bool meta_write = false;
    bool order = false;
  };

  Passed WithEveryThreadTaken(chaos::Environment environment) {
    environment.merge(
        chaos::ArmedWith("regionserver.before_read_reply~" + std::string(kMetaEncodedName) + "=pausex1000"));
    const ServerName server = Serving(std::move(environment));
    OpenMeta(server);
    pb::GetRequest get;
    SpecifyRegion(MetaRegionInfo(), *get.mutable_region());
    get.mutable_get()->set_row("t,,1.x.");
    rpc::ChannelPool client{rpc::ChannelPoolOptions{}};
    constexpr int kReads = 12;
    for (int i = 0; i < kReads; ++i) {
      client.Call(methods::kGet, {server.host, server.port}, get, {}, [](const auto&) {});
    }
    const Status taken =
        chaos::WaitUntil("every thread is taken", kPatience, [&] { return !AnswersClients(client, server); });
    EXPECT_TRUE(taken.ok()) << taken.error().ToString();
    Passed passed;
    passed.meta_write = WriteMeta(server);
    passed.order = Order(server);
    return passed;
  }

 private:
  static constexpr Millis kSoon{2'000};

  void OpenMeta(const ServerName& server) {
    fs::create_directories(root_ / "data" / "hbase" / "meta.1" / std::string(kMetaEncodedName));
    pb::ExecuteProceduresRequest open = OpenRequest(20, 20);
    auto& info = *open.mutable_open_region(0)->mutable_open_info(0);
    ToProto(MetaRegionInfo(), *info.mutable_region());
    info.set_table_dir("hbase/meta.1");
    ToProto(MetaTableDescriptor(), *info.mutable_schema());
    ASSERT_TRUE(master_->Execute(server, open).ok());
    EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::OPENED);
  }
  static bool AnswersClients(rpc::ChannelPool& client, const ServerName& server) {
    rpc::CallOptions options;
    options.timeout = Millis(300);
    return client.CallSync(methods::kGetActiveMaster, {server.host, server.port}, pb::GetActiveMasterRequest(), options)
        .ok();
  }
  bool WriteMeta(const ServerName& server) {
    const pb::MutateRequest put = PutIntoMeta();
    rpc::CallOptions options;
    options.timeout = kSoon;
    return master_->channels().CallSync(methods::kMutate, {server.host, server.port}, put, options).ok();
  }
  bool Order(const ServerName& server) {
    pb::ExecuteProceduresRequest close = CloseRequest(21);
    close.set_epoch(1);
    rpc::CallOptions options;
    options.timeout = kSoon;
    return master_->channels().CallSync(methods::kExecuteProcedures, {server.host, server.port}, close, options).ok();
  }
};

TEST_F(BusyClientsTest, DelayNoOrderAndNoMastersWrite) {
  const Passed passed = WithEveryThreadTaken({});
  EXPECT_TRUE(passed.meta_write);
  EXPECT_TRUE(passed.order);
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::CLOSED);
}

#if defined(RATCHET_MUTANTS)
TEST_F(BusyClientsTest, OneQueueForMetaIsCaught) {
  EXPECT_FALSE(WithEveryThreadTaken({{"RATCHET_MUTANT", "regionserver.one_meta_queue"}}).meta_write);
}

TEST_F(BusyClientsTest, OrdersAmongClientsAreCaught) {
  EXPECT_FALSE(WithEveryThreadTaken({{"RATCHET_MUTANT", "regionserver.orders_beside_meta"}}).order);
}
#endif

}  // namespace
}  // namespace ratchet::regionserver
