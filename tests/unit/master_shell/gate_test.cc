#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/methods/region_server_status_service.h"
#include "common/rpc/server.h"
#include "master/process/root_directory.h"
#include "master/process/step_list.h"
#include "master/rpc/master_services.h"
#include "tests/support/manual_time.h"
#include "tests/support/master_world/service_env.h"
#include "tests/support/member_methods.h"
#include "tests/support/members.h"
#include "tests/support/memory_store.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

class GateTest : public ::testing::Test {
 protected:
  GateTest() : gate_({"h", 1, 1}, "cluster-x", "test", time_), env_(QuietServiceEnv(gate_, loads_)) {}
  ManualTime time_;
  MasterGate gate_;
  LoadBook loads_;
  ServiceEnv env_;
};

TEST_F(GateTest, WhatIsAdmittedFollowsTheActivation) {
  const auto refused = [this](Need need) {
    return gate_.Admit(need).ok() ? "" : gate_.Admit(need).error().remote_class();
  };
  EXPECT_EQ(refused(Need::kReady), rpc::exception::kServerNotRunningYet);
  gate_.Elected();
  EXPECT_EQ(refused(Need::kRecovered), rpc::exception::kPleaseHold);
  EXPECT_EQ(refused(Need::kWorkers), rpc::exception::kServerNotRunningYet);
  gate_.Recovered({});
  EXPECT_EQ(refused(Need::kRecovered), "");
  EXPECT_EQ(refused(Need::kWorkers), rpc::exception::kServerNotRunningYet);
  EXPECT_EQ(refused(Need::kReady), rpc::exception::kPleaseHold);
  gate_.WorkersStarted();
  EXPECT_EQ(refused(Need::kWorkers), "");
  EXPECT_EQ(refused(Need::kReady), rpc::exception::kPleaseHold);
  gate_.Ready();
  EXPECT_EQ(refused(Need::kReady), "");
  EXPECT_EQ(gate_.role(), MasterRole::kActive);
  gate_.Stopping();
  EXPECT_EQ(refused(Need::kRecovered), rpc::exception::kMasterStopped);
}

TEST_F(GateTest, StepsAreTimedFromTheElection) {
  gate_.Elected();
  time_.Advance(Millis{5});
  gate_.BeginStep("claim store");
  time_.Advance(Millis{7});
  gate_.EndStep("epoch 1");
  gate_.BeginStep("load meta");
  const auto steps = gate_.steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].started, Millis{5});
  EXPECT_EQ(steps[0].took, Millis{7});
  EXPECT_EQ(steps[0].detail, "epoch 1");
  EXPECT_FALSE(steps[1].took.has_value());
}

TEST_F(GateTest, RepliesPassTheEpochCheck) {
  const auto medium = std::make_shared<procedure::MemoryMedium>();
  procedure::MemoryStore first(medium);
  ASSERT_TRUE(first.Claim().ok());
  ActiveParts parts;
  parts.store = &first;
  EXPECT_TRUE(CheckBeforeReply(parts).ok());
  procedure::MemoryStore second(medium);
  ASSERT_TRUE(second.Claim().ok());
  ASSERT_FALSE(CheckBeforeReply(parts).ok());
  EXPECT_EQ(CheckBeforeReply(parts).error().remote_class(), rpc::exception::kMasterStopped);
  const ScopedMutant mutant("master.skip_reply_check");
  EXPECT_TRUE(CheckBeforeReply(parts).ok()) << "the mutant must be seen by this very test";
}

TEST_F(GateTest, StandbyShowsItselfAndRefusesOtherCalls) {
  rpc::RpcServer server{rpc::ServerOptions{}};
  server.Add(MakeMasterService(env_));
  server.Add(MakeRegionServerStatusService(env_));
  server.Add(MakeRatchetService(env_));
  ASSERT_TRUE(server.Start().ok());
  rpc::ChannelPool pool{rpc::ChannelPoolOptions{}};
  const rpc::Endpoint here{"127.0.0.1", server.port()};
  const auto status = pool.CallSync(methods::kGetStatus, here, ratchet::pb::GetStatusRequest());
  ASSERT_TRUE(status.ok()) << status.error().ToString();
  EXPECT_EQ(status->message.role(), ratchet::pb::GetStatusResponse::STANDBY);
  EXPECT_EQ(status->message.cluster_id(), "cluster-x");
  const auto names = pool.CallSync(methods::kGetTableNames, here, pb::GetTableNamesRequest());
  ASSERT_FALSE(names.ok());
  EXPECT_EQ(names.error().remote_class(), rpc::exception::kServerNotRunningYet);
  pb::RegionServerStartupRequest startup;
  startup.set_port(5);
  startup.set_server_start_code(6);
  startup.set_server_current_time(7);
  const auto answer = pool.CallSync(methods::kRegionServerStartup, here, startup);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().remote_class(), rpc::exception::kAccessDenied) << "of a client, in every role";
  // Not supported: refused by name, and the connection stays open.
  constexpr rpc::Method<pb::GetTableNamesRequest, pb::GetTableNamesResponse> kUnserved{
      methods::kMasterService, "OfflineRegion", rpc::Effect::kChanges, rights::Need::Any()};
  const auto refused = pool.CallSync(kUnserved, here, pb::GetTableNamesRequest());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), rpc::kNoSuchMethod);
  EXPECT_NE(refused.error().message().find("OfflineRegion"), std::string::npos);
  pool.Stop();
  server.Stop();
}

// S77 (members only). If a heartbeat that lists nothing were believed, a server's regions would be opened again
// elsewhere.
TEST_F(GateTest, StrangersReportNothing) {
  rpc::ServerOptions options;
  const auto own = MakeMember({"the key"});
  options.member = own;
  rpc::RpcServer server{std::move(options)};
  server.Add(MakeRegionServerStatusService(env_));
  ASSERT_TRUE(server.Start().ok());
  NameMember(*own, server);
  const rpc::Endpoint here{"127.0.0.1", server.port()};
  rpc::ChannelPool members{MemberPool("the key")};
  rpc::ChannelPool strangers{rpc::ChannelPoolOptions{}};
  pb::RegionServerReportRequest heartbeat;
  heartbeat.mutable_server()->set_host_name("h");
  pb::ReportRegionStateTransitionRequest transition;
  transition.mutable_server()->set_host_name("h");
  pb::ReportProcedureDoneRequest done;
  const auto say = [&here](rpc::ChannelPool& pool, const auto& method, const auto& request) {
    const auto answer = pool.CallSync(method, here, request);
    return answer.ok() ? std::string() : answer.error().remote_class();
  };
  for (rpc::ChannelPool* pool : {&members, &strangers}) {
    const std::string_view expected = pool == &members
                                          ? rpc::exception::kServerNotRunningYet
                                          : rpc::exception::kAccessDenied;  // a standby's gate is checked after it
    EXPECT_EQ(say(*pool, methods::kRegionServerReport, heartbeat), expected);
    EXPECT_EQ(say(*pool, methods::kReportRegionStateTransition, transition), expected);
    EXPECT_EQ(say(*pool, methods::kReportProcedureDone, done), expected);
  }
  members.Stop();
  strangers.Stop();
  server.Stop();
}

TEST_F(GateTest, EveryMethodForMembersIsRefusedWithoutTheProof) {
  const std::vector<std::shared_ptr<const rpc::Service>> services{
      MakeMasterService(env_),     MakeRegionServerStatusService(env_),
      MakeClientMetaService(env_), MakeHbckService(env_),
      MakeLockService(env_),       MakeRatchetService(env_),
      MakeMasterAdminService(env_)};
  const auto& reports = services[1];
  EXPECT_EQ(MemberMethodsOf({reports}).size(), reports->MethodNames().size()) << "the whole service is for members";
  EXPECT_GE(ExpectMembersOnly(services), reports->MethodNames().size());
}

// S44 (own name for each file): the errors of a storage that does not support hard links.
Status ProbeWithoutLinks() {
  io::SimDisk disk;
  auto process = disk.NewProcess("m");
  auto root = process->OpenOrMake("/root").value();
  process->SetHook([](const io::SimEvent& event) {
    return event.op == io::SimOp::kLink ? io::SimVerdict::Fail(Code::kUnsupported) : io::SimVerdict::Proceed();
  });
  const Status probed = ProbeWritable(*root, 7, SystemClock());
  EXPECT_TRUE(root->List().value().empty()) << "nothing is left";
  return probed;
}

TEST(RootDirectoryTest, OneWithoutLinksBetweenDirectoriesIsRefused) {
  const Status probed = ProbeWithoutLinks();
  ASSERT_FALSE(probed.ok());
  EXPECT_NE(probed.error().message().find("hard links"), std::string::npos) << probed.error().message();
  io::SimDisk disk;
  auto root = disk.NewProcess("m")->OpenOrMake("/root").value();
  EXPECT_TRUE(ProbeWritable(*root, 7, SystemClock()).ok());
}

TEST(RootDirectoryTest, TakingOneWithoutLinksIsNoticed) {
  const ScopedMutant mutant("root.no_link_probe");
  EXPECT_TRUE(ProbeWithoutLinks().ok());
}

TEST(RootDirectoryTest, TheClusterIdIsWrittenOnceAndSurvives) {
  io::SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  const std::string first = NewClusterId(1);
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(EnsureClusterId(*root, first).value(), first);
  EXPECT_EQ(EnsureClusterId(*root, NewClusterId(2)).value(), first) << "a second master takes the first one's id";
  disk.PowerFailure();
  auto again = disk.NewProcess();
  auto reopened = again->Open("/root");
  ASSERT_TRUE(reopened.ok());
  EXPECT_EQ(EnsureClusterId(**reopened, NewClusterId(3)).value(), first);
}

TEST(RootDirectoryTest, ACrashAtAnyPointLeavesNoneOrOneId) {
  io::SetFatalHandler([](const std::string& /*reason*/) {});
  for (std::uint64_t at = 1; at <= 8; ++at) {
    io::SimDisk disk;
    auto process = disk.NewProcess();
    auto root = process->OpenOrMake("/root").value();
    process->SetHook(io::CrashAtOp(process->operations() + at));
    const auto told = EnsureClusterId(*root, NewClusterId(1));
    disk.PowerFailure();
    auto again = disk.NewProcess();
    auto reopened = again->Open("/root").value();
    const auto found = EnsureClusterId(*reopened, NewClusterId(2));
    ASSERT_TRUE(found.ok()) << "crash at " << at;
    if (told.ok()) {
      EXPECT_EQ(*found, *told) << "an id that a client has received is gone, crash at " << at;
    }
  }
  io::SetFatalHandler({});
}

TEST(StepListTest, NamesEveryTypeAndStep) {
  const std::string json = ListSteps(StepListFormat::kJson);
  EXPECT_NE(json.find("\"type\":\"CreateTable\""), std::string::npos);
  EXPECT_NE(json.find("\"name\":\"ADD_TO_META\""), std::string::npos);
  const std::string text = ListSteps(StepListFormat::kText);
  EXPECT_NE(text.find("ServerCrash"), std::string::npos);
  const std::size_t row = text.find("ASSIGN_REGIONS", text.find("CreateTable"));
  EXPECT_NE(text.substr(row, text.find('\n', row) - row).find("releases locks while children run"), std::string::npos);
  EXPECT_NE(json.find("\"locks\":\"releases locks while children run\""), std::string::npos);
}

}  // namespace
}  // namespace ratchet::master
