// A client sends requests that are reserved for masters and region servers to a real cluster: they are refused, and the
// cluster keeps working (S77: members only).
#include <algorithm>
#include <filesystem>

#include "common/model/attributes.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/methods/region_server_status_service.h"
#include "common/rpc/server.h"
#include "tests/cluster/cluster_fixture.h"
#include "tests/support/meta_put.h"

namespace ratchet::chaos {
namespace {

namespace hpb = ::hbase::pb;
constexpr std::uint64_t kHighest = INT64_MAX;

class StrangersTest : public ClusterTest {
 protected:
  template <class Request, class Response>
  Error Say(const std::string& process, const rpc::Method<Request, Response>& method, const Request& request) {
    const auto answer = connection().pool().CallSync(method, {"127.0.0.1", cluster().Info(process).port}, request);
    EXPECT_FALSE(answer.ok()) << method.name << " is taken from a client";
    return answer.ok() ? Error(Code::kInternal, "taken") : answer.error();
  }
  template <class Request, class Response>
  void ExpectDenied(const std::string& process, const rpc::Method<Request, Response>& method, const Request& request) {
    const Error refused = Say(process, method, request);
    EXPECT_EQ(refused.remote_class(), rpc::exception::kAccessDenied) << method.name << ": " << refused.ToString();
    EXPECT_NE(refused.message().find("cluster.key"), std::string::npos) << refused.ToString();
  }

  void LieToMaster(const std::string& master, const ServerName& server, const RegionInfo& region) {
    // an empty list, after which the master would open the server's regions elsewhere
    hpb::RegionServerReportRequest heartbeat;
    ToProto(server, *heartbeat.mutable_server());
    ExpectDenied(master, methods::kRegionServerReport, heartbeat);
    hpb::ReportRegionStateTransitionRequest transition;
    ToProto(server, *transition.mutable_server());
    auto& closed = *transition.add_transition();
    closed.set_transition_code(hpb::RegionStateTransition::CLOSED);
    ToProto(region, *closed.add_region_info());
    closed.add_proc_id(INT64_MAX);
    closed.set_epoch(kHighest);
    ExpectDenied(master, methods::kReportRegionStateTransition, transition);
    hpb::ReportProcedureDoneRequest done;
    ToProto(server, *done.mutable_server());
    auto& result = *done.add_result();
    result.set_proc_id(kHighest);
    result.set_status(hpb::RemoteProcedureResult::SUCCESS);
    ExpectDenied(master, methods::kReportProcedureDone, done);
    hpb::RegionServerStartupRequest startup;
    startup.set_port(server.port);
    startup.set_server_start_code(server.start_code);
    startup.set_use_this_hostname_instead(server.host);
    startup.set_server_current_time(1);
    ExpectDenied(master, methods::kRegionServerStartup, startup);
  }

  void OrderAround(const std::string& server, const RegionInfo& region) {
    hpb::ExecuteProceduresRequest close;
    close.set_epoch(1);
    auto& info = *close.add_close_region();
    SpecifyRegion(region, *info.mutable_region());
    info.set_close_proc_id(INT64_MAX);
    info.set_attempt(1);
    hpb::ExecuteProceduresRequest floor;
    floor.set_epoch(1);
    floor.set_lowest_live_pid(kHighest);
    hpb::ExecuteProceduresRequest open;
    open.set_epoch(1);
    auto& opened = *open.add_open_region()->add_open_info();
    ToProto(region, *opened.mutable_region());
    opened.set_open_proc_id(INT64_MAX);
    opened.set_open_number(kHighest);
    opened.set_attempt(1);
    for (const auto& order : {close, floor, open}) {
      ExpectDenied(server, methods::kExecuteProcedures, order);
    }
  }

  void WriteMeta(const std::string& holder) {
    const hpb::MutateRequest put = PutIntoMeta();
    ExpectDenied(holder, methods::kMutate, put);
  }
};

TEST_F(StrangersTest, AreRefusedAndTheClusterGoesOn) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(20);
  const auto regions = admin().Regions(TableName("default", "t"));
  ASSERT_OK(regions);
  ASSERT_FALSE(regions->empty());
  const RegionInfo region = regions->front().region;
  for (const std::string& server : cluster().Names(Role::kRegionServer)) {
    LieToMaster("master-1", ServerNameOf(server), region);
    OrderAround(server, region);
  }
  const auto holder = cluster().MetaHolder();
  ASSERT_OK(holder);
  WriteMeta(*holder);
  WaitForWrites(20);
  ASSERT_OK(admin().Move(region.encoded_name(), std::nullopt));
  for (const std::string& process : {std::string("master-1"), std::string("rs-1"), std::string("rs-2")}) {
    ASSERT_OK(cluster().Kill9(process));  // an accepted request would show in the durable state
    ASSERT_OK(cluster().Start(process));
  }
  WaitForWrites(20);
}

// S123 (only a proof makes a member): another program listens at the address of a region server. It gets no request.
TEST_F(StrangersTest, AProgramAtTheAddressOfAMemberIsNamedInTheStatus) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Kill9("rs-2"));
  rpc::ServerOptions options;
  options.port = cluster().Info("rs-2").port;
  rpc::RpcServer program(std::move(options));
  ASSERT_OK(ProcessCluster::WaitUntil("the port", kPatience, [&] { return program.Start().ok(); }));
  const auto own = PickFreePort();
  ASSERT_OK(own);
  ASSERT_OK(cluster().Start("rs-2", {}, {"--listen-port", std::to_string(*own)}));
  const std::string expected = fmt::format("127.0.0.1:{} is not a member of this cluster", program.port());
  ASSERT_OK(ProcessCluster::WaitUntil("the problem", Millis(20'000), [&] {
    const auto status = admin().Call(methods::kGetStatus, ratchet::pb::GetStatusRequest());
    return status.ok() && std::any_of(status->problem().begin(), status->problem().end(), [&](const std::string& text) {
             return text.find(expected) != std::string::npos;
           });
  }));
  EXPECT_EQ(program.stats().calls_received, 0u);
  program.Stop();
  ASSERT_OK(cluster().Kill9("rs-2"));
  ASSERT_OK(cluster().Start("rs-2"));
  MakeTable("t", 4);
}

// The file is gone, and no living master has its content.
TEST_F(StrangersTest, ALostKeyIsMadeAnewAndTheServersTakeIt) {
  ClusterSpec spec;
  spec.environment["RATCHET_START_AGAIN"] = "true";
  Boot(1, 2, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(20);
  const std::filesystem::path key = cluster().root() / "cluster.key";
  ASSERT_TRUE(std::filesystem::remove(key)) << key;
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Start("master-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("a new key", kPatience, [&] { return std::filesystem::exists(key); }));
  // The servers restart one after the other. A move is refused while such a restart has the region in transition.
  ASSERT_OK(ProcessCluster::WaitUntil("a region moves", kPatience, [&] {
    const auto regions = admin().Regions(TableName("default", "t"));
    return regions.ok() && !regions->empty() && admin().Move(regions->front().region.encoded_name(), std::nullopt).ok();
  }));
  WaitForWrites(20);
}

}  // namespace
}  // namespace ratchet::chaos
