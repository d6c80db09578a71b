// A master's views of a simulated cluster, by RPC: the status, lists of regions; and their cost.
#include <gtest/gtest.h>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/methods/region_server_status_service.h"
#include "common/rpc/server.h"
#include "master/rpc/master_services.h"
#include "tests/support/master_world/service_env.h"
#include "tests/support/members.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

rpc::ServerOptions ServerOfViews(std::shared_ptr<const rpc::MemberIdentity> member) {
  rpc::ServerOptions options;
  options.member = std::move(member);
  return options;
}

class ViewsTest : public MasterTest {
 protected:
  static constexpr int kRegions = 24;
  // A cluster of `servers`, each with regions; its master's services, with this test as a member of the cluster.
  void Given(int servers) {
    cluster_.Boot(servers);
    GivenTable("t", kRegions);
    gate_.Elected();
    gate_.Recovered({&master().logic(), &master().executor(), &master().store(), nullptr, master().executor().epoch()});
    gate_.WorkersStarted();
    gate_.Ready();
    server_.Add(MakeRatchetService(env_));
    server_.Add(MakeMasterService(env_));
    server_.Add(MakeRegionServerStatusService(env_));
    ASSERT_TRUE(server_.Start().ok());
    NameMember(*member_, server_);
  }
  ~ViewsTest() override {
    pool_.Stop();
    server_.Stop();
  }
  template <class Request, class Response>
  Response Call(const rpc::Method<Request, Response>& method, const std::type_identity_t<Request>& request) {
    auto answer = pool_.CallSync(method, {"127.0.0.1", server_.port()}, request);
    EXPECT_TRUE(answer.ok()) << answer.error().ToString();
    return answer.ok() ? answer->message : Response();
  }
  rpb::GetStatusResponse GetStatus() { return Call(methods::kGetStatus, rpb::GetStatusRequest()); }
  std::uint64_t copied() { return master().logic().regions.copied(); }
  static bool Has(const rpb::GetStatusResponse& status, const std::string& problem) {
    for (const std::string& each : status.problem()) {
      if (each.find(problem) != std::string::npos) return true;
    }
    return false;
  }

  MasterGate gate_{{"h", 1, 1}, "cluster-x", "test", cluster_.time()};
  LoadBook loads_;
  ServiceEnv env_ = QuietServiceEnv(gate_, loads_);
  const std::shared_ptr<rpc::MemberIdentity> member_ = MakeMember({"key"});
  rpc::RpcServer server_{ServerOfViews(member_)};
  rpc::ChannelPool pool_{MemberPool("key")};
};

TEST_F(ViewsTest, TheStatusHasTheDescriptorsOfEachProcess) {
  Given(2);
  const std::string self = "h,1,1";
  auto status = GetStatus();
  ASSERT_EQ(status.descriptors_size(), 1) << "the servers have not reported theirs";
  EXPECT_EQ(status.descriptors(0).server().host_name(), "h");
  EXPECT_GT(status.descriptors(0).used(), 0U);
  EXPECT_GT(status.descriptors(0).limit(), status.descriptors(0).used());
  const ServerName server = cluster_.Alive().front()->name();
  hbase::pb::RegionServerReportRequest report;
  ToProto(server, *report.mutable_server());
  report.set_descriptors_used(600);
  report.set_descriptor_limit(1'000);
  Call(methods::kRegionServerReport, report);
  status = GetStatus();
  ASSERT_EQ(status.descriptors_size(), 2);
  EXPECT_EQ(FromProto(status.descriptors(1).server()).value(), server);
  EXPECT_EQ(status.descriptors(1).used(), 600U);
  EXPECT_EQ(status.descriptors(1).limit(), 1'000U);
  EXPECT_FALSE(Has(status, "descriptors"));
  report.set_descriptors_used(700);
  Call(methods::kRegionServerReport, report);
  EXPECT_TRUE(Has(GetStatus(), server.ToString() + ": 700 of 1000 descriptors"));
}

// S123 (only a proof makes a member).
TEST_F(ViewsTest, AMemberReportsForItselfOnly) {
  Given(2);
  const ServerName server = cluster_.Alive().front()->name();
  ServerName proven = server;
  env_.proven_name = [&proven](std::uint64_t) { return std::optional(proven); };
  hbase::pb::RegionServerReportRequest report;
  ToProto(server, *report.mutable_server());
  hbase::pb::ReportRegionStateTransitionRequest transition;
  ToProto(server, *transition.mutable_server());
  transition.add_transition()->set_transition_code(hbase::pb::RegionStateTransition::CLOSED);
  hbase::pb::RegionServerStartupRequest startup;
  startup.set_port(server.port);
  startup.set_server_start_code(server.start_code);
  startup.set_use_this_hostname_instead(server.host);
  startup.set_server_current_time(1);
  const auto denied = [&](const auto& method, const auto& request) {
    const auto answer = pool_.CallSync(method, {"127.0.0.1", server_.port()}, request);
    return !answer.ok() && rpc::IsClass(answer.error(), rpc::exception::kAccessDenied);
  };
  EXPECT_FALSE(denied(methods::kRegionServerReport, report));
  for (const ServerName& other :
       {ServerName{server.host, server.port, server.start_code + 1},
        ServerName{server.host, static_cast<std::uint16_t>(server.port + 1), server.start_code},
        ServerName{"other", server.port, server.start_code}}) {
    proven = other;
    EXPECT_TRUE(denied(methods::kRegionServerReport, report)) << other.ToString();
    EXPECT_TRUE(denied(methods::kReportRegionStateTransition, transition)) << other.ToString();
    EXPECT_TRUE(denied(methods::kRegionServerStartup, startup)) << other.ToString();
  }
}

// S114 (no start without the past): the master does not declare such a server dead; it ends with the cause.
TEST_F(ViewsTest, AHeartbeatWithLargerNumbersEndsTheMaster) {
  Given(2);
  std::string went_back;
  master().logic().env.went_back = [&went_back](const Error& error) { went_back = error.message(); };
  hbase::pb::RegionServerReportRequest report;
  ToProto({"unknown", 7, 7}, *report.mutable_server());
  const auto refused = [&] {
    const auto answer = pool_.CallSync(methods::kRegionServerReport, {"127.0.0.1", server_.port()}, report);
    return answer.ok() ? std::string() : std::string(answer.error().remote_class());
  };
  report.set_known_epoch(master().executor().epoch().value());
  EXPECT_EQ(refused(), rpc::exception::kYouAreDead);
  EXPECT_EQ(went_back, "");
  report.set_known_epoch(master().executor().epoch().value() + 1);
  EXPECT_EQ(refused(), rpc::exception::kPleaseHold) << "the server would end";
  EXPECT_NE(went_back.find("epoch"), std::string::npos) << went_back;
  went_back.clear();
  report.clear_known_epoch();
  report.add_online()->set_encoded_name("0123");
  report.mutable_online(0)->set_open_number(1'000'000'000'000);
  EXPECT_EQ(refused(), rpc::exception::kPleaseHold);
  EXPECT_NE(went_back.find("1000000000000"), std::string::npos) << went_back;
}

// Calls the method of HBase's shell command status 'replication'.
TEST_F(ViewsTest, TheClusterStatusHasTheReplicationOfEachServer) {
  Given(2);
  const ServerName server = cluster_.Alive().front()->name();
  hbase::pb::RegionServerReportRequest report;
  ToProto(server, *report.mutable_server());
  auto& progress = *report.add_replication();
  progress.set_peer("other");
  progress.set_server(server.ToString());
  progress.set_lag_ms(7'000);
  Call(methods::kRegionServerReport, report);
  const auto answer = Call(methods::kGetClusterStatus, hbase::pb::GetClusterStatusRequest());
  ASSERT_EQ(answer.cluster_status().live_servers_size(), 2);
  for (const auto& live : answer.cluster_status().live_servers()) {
    const auto& load = live.server_load();
    EXPECT_TRUE(load.has_replloadsink()) << "HBase's shell passes over a server without it";
    if (FromProto(live.server()).value() != server) {
      EXPECT_EQ(load.replloadsource_size(), 0);
      continue;
    }
    ASSERT_EQ(load.replloadsource_size(), 1);
    EXPECT_EQ(load.replloadsource(0).peerid(), "other");
    EXPECT_EQ(load.replloadsource(0).replicationlag(), 7'000U);
  }
}

TEST_F(ViewsTest, OnlyRegionsThatAreShownAreCopied) {
  Given(3);
  std::uint64_t before = copied();
  EXPECT_EQ(GetStatus().regions(), static_cast<std::uint32_t>(kRegions + 1));
  EXPECT_EQ(copied(), before) << "the status";
  using hbase::pb::GetClusterStatusResponse;
  const auto counted = Call(methods::kGetClusterStatus, hbase::pb::GetClusterStatusRequest());
  EXPECT_GT(counted.cluster_status().table_region_states_count_size(), 0);
  EXPECT_EQ(copied(), before) << "HBase's cluster status";
  rpb::ListRegionsRequest list;
  list.set_in_transition_only(true);
  EXPECT_EQ(Call(methods::kListRegions, list).region_size(), 0);
  EXPECT_EQ(copied(), before) << "regions in transition";
  list.Clear();
  const sim::SimServer& one = *cluster_.Alive().front();
  ToProto(one.name(), *list.mutable_server());
  const int there = Call(methods::kListRegions, list).region_size();
  EXPECT_GT(there, 0);
  EXPECT_LT(there, kRegions);
  EXPECT_EQ(copied() - before, static_cast<std::uint64_t>(there)) << "regions of a server";
  before = copied();
  EXPECT_EQ(Call(methods::kListRegions, rpb::ListRegionsRequest()).region_size(), kRegions + 1);
  EXPECT_EQ(copied() - before, static_cast<std::uint64_t>(kRegions + 1));
}

}  // namespace
}  // namespace ratchet::master
