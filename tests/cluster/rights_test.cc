// A real cluster with --rights enforce: superusers and members work, also over a failover; strangers do nothing.
#include "common/model/proto/client.pb.h"
#include "common/model/proto/connections.pb.h"
#include "common/model/proto/hbck.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_meta_service.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/hbck_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/rights_fixture.h"

namespace ratchet::chaos {
namespace {

class RightsClusterTest : public RightsFixture {
 protected:
  // The answer's class of exception; empty: the call was allowed.
  template <class Request, class Response>
  std::string Ask(rpc::ChannelPool& pool, const std::string& process, const rpc::Method<Request, Response>& method,
                  const std::type_identity_t<Request>& request) {
    const auto answer = pool.CallSync(method, {"127.0.0.1", cluster().Info(process).port}, request);
    return answer.ok() ? std::string() : answer.error().remote_class();
  }
  static hpb::CreateTableRequest CreateTable(const std::string& name, const std::string& owner = "") {
    TableDescriptor table;
    if (!owner.empty()) table.attributes[std::string(kOwnerKey)] = owner;
    table.name = TableName("default", name);
    table.families.push_back(DefaultFamily("u"));
    hpb::CreateTableRequest request;
    ToProto(table, *request.mutable_table_schema());
    return request;
  }
  // A region of table t, and the process that serves it.
  std::pair<std::string, hpb::RegionSpecifier> Place() {
    const auto regions = admin().Regions(TableName("default", "t"));
    EXPECT_TRUE(regions.ok() && !regions->empty());
    hpb::RegionSpecifier specifier;
    SpecifyRegion(regions->front().region, specifier);
    return {ProcessOf(regions->front().server), specifier};
  }
};

TEST_F(RightsClusterTest, StrangersAreDeniedAndSuperusersAndMembersWork) {
  Boot(2, 3, Enforcing());
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  rpc::ChannelPool stranger(As("stranger"));
  rpc::ChannelPool nobody(As(""));
  rpc::ChannelPool own(As("admin"));
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  const auto [server, region] = Place();
  hpb::GetRequest get;
  *get.mutable_region() = region;
  get.mutable_get()->set_row("000001");
  hpb::BypassProcedureRequest bypass;
  bypass.add_proc_id(1);
  bypass.set_waittime(0);
  hpb::ExecuteProceduresRequest order;
  order.set_epoch(1);
  const std::string denied(rpc::exception::kAccessDenied);
  for (rpc::ChannelPool* pool : {&stranger, &nobody}) {
    EXPECT_EQ(Ask(*pool, *active, methods::kCreateTable, CreateTable("other")), denied);
    EXPECT_EQ(Ask(*pool, *active, methods::kShutdown, hpb::ShutdownRequest()), denied);
    EXPECT_EQ(Ask(*pool, *active, methods::kStopMaster, hpb::StopMasterRequest()), denied);
    EXPECT_EQ(Ask(*pool, *active, methods::kBypassProcedure, bypass), denied);
    EXPECT_EQ(Ask(*pool, *active, methods::kGetStatus, ratchet::pb::GetStatusRequest()), denied);
    EXPECT_EQ(Ask(*pool, server, methods::kGet, get), denied);
    EXPECT_EQ(Ask(*pool, server, methods::kRollWALWriter, hpb::RollWALWriterRequest()), denied);
    EXPECT_EQ(Ask(*pool, server, methods::kGetMasters, hpb::GetMastersRequest()), "") << "open to every user";
    EXPECT_EQ(Ask(*pool, server, methods::kExecuteProcedures, order), denied);
  }
  EXPECT_EQ(Ask(own, server, methods::kGet, get), "");
  EXPECT_EQ(Ask(own, *active, methods::kCreateTable, CreateTable("mine")), "");
  EXPECT_EQ(Ask(own, server, methods::kExecuteProcedures, order), denied) << "no user is a member";

  // After the answer to a grant every server serves the user, and after the answer to a revocation none does.
  hpb::GrantRequest grant;
  grant.mutable_user_permission()->set_user("stranger");
  *grant.mutable_user_permission()->mutable_permission() = InTable("t", "R");
  hpb::RevokeRequest revoke;
  *revoke.mutable_user_permission() = grant.user_permission();
  EXPECT_EQ(Ask(stranger, *active, methods::kGrant, grant), denied) << "who gives rights needs ADMIN";
  EXPECT_EQ(Ask(own, *active, methods::kGrant, grant), "");
  EXPECT_EQ(Ask(stranger, server, methods::kGet, get), "");
  EXPECT_EQ(Ask(stranger, *active, methods::kRevoke, revoke), denied);
  EXPECT_EQ(Ask(own, *active, methods::kRevoke, revoke), "");
  EXPECT_EQ(Ask(stranger, server, methods::kGet, get), denied);
  WaitForWrites(50);

  // Members recover a server, and a master that succeeds another one, without any right of a user.
  ASSERT_OK(cluster().Kill9(server));
  WaitForWrites(100);
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitServing(kPatience));
  WaitForWrites(100);
  ASSERT_OK(cluster().Start(server));
  ASSERT_OK(cluster().Start(*active));
  const auto listed = admin().ListTables();
  ASSERT_OK(listed);
  for (const auto& table : *listed) EXPECT_NE(table.qualifier, "other");
}

TEST_F(RightsClusterTest, TheOwnerOfANewTableIsTheNamedOne) {
  Boot(1, 1, Enforcing());
  if (HasFatalFailure()) return;
  Verb({"create", "t", "u", "--owner", "etl"});
  hpb::DisableTableRequest disable;
  ToProto(TableName("default", "t"), *disable.mutable_table_name());
  rpc::ChannelPool etl(As("etl"));
  rpc::ChannelPool maker(As("maker"));
  const std::string denied(rpc::exception::kAccessDenied);
  EXPECT_EQ(Ask(maker, "master-1", methods::kDisableTable, disable), denied);
  EXPECT_EQ(Ask(etl, "master-1", methods::kDisableTable, disable), "");
  // Who may create tables makes no other user their owner.
  ASSERT_OK(Grant("maker", InNamespace("default", "C")));
  EXPECT_EQ(Ask(maker, "master-1", methods::kCreateTable, CreateTable("mine", "etl")), denied);
  EXPECT_EQ(Ask(maker, "master-1", methods::kCreateTable, CreateTable("mine", "maker")), "");
}

TEST_F(RightsClusterTest, ConnectionsAreListedAndClosedByTheirUser) {
  Boot(1, 1, Enforcing());
  if (HasFatalFailure()) return;
  rpc::ChannelPool etl(As("etl"));
  for (const char* process : {"master-1", "rs-1"})
    EXPECT_EQ(Ask(etl, process, methods::kGetServerInfo, hpb::GetServerInfoRequest()), "");
  const auto listed = [&] { return RunHere({"--json", "connections", "--user", "etl"}); };
  const Told before = listed();
  EXPECT_EQ(before.code, cli::kExitOk) << before.text;
  for (const char* part : {"master 127.0.0.1,", "region server 127.0.0.1,", R"("user":"etl","by":"simple")",
                           R"("service":"AdminService")", R"("peer":"127.0.0.1:)", R"("silent":[])"})
    EXPECT_NE(before.text.find(part), std::string::npos) << part << " is missing in " << before.text;
  const std::string denied(rpc::exception::kAccessDenied);
  pb::ListConnectionsRequest all;
  EXPECT_EQ(Ask(etl, "rs-1", methods::kListConnections, all), denied) << "those of others";
  all.set_user_name("etl");
  EXPECT_EQ(Ask(etl, "rs-1", methods::kListConnections, all), "");
  pb::CloseConnectionsRequest others;
  others.set_user_name("admin");
  EXPECT_EQ(Ask(etl, "rs-1", methods::kCloseConnections, others), denied);
  Verb({"connections", "--close", "--user", "etl", "--yes"});
  ASSERT_OK(ProcessCluster::WaitUntil("the connections to be closed", kPatience,
                                      [&] { return listed().text.find(R"("connections":[])") != std::string::npos; }));
  EXPECT_EQ(Ask(etl, "rs-1", methods::kGetServerInfo, hpb::GetServerInfoRequest()), "") << "it connects again";
}

TEST_F(RightsClusterTest, TheModeLogAllowsAndLogsWhatWouldBeDenied) {
  Boot(1, 1, Enforcing("log"));
  if (HasFatalFailure()) return;
  rpc::ChannelPool nobody(As(""));
  EXPECT_EQ(Ask(nobody, "master-1", methods::kCreateTable, CreateTable("other")), "");
  ASSERT_OK(ProcessCluster::WaitUntil("the line in the log", kPatience, [&] {
    return !cluster().LogLines("master-1", "CreateTable would be denied: Insufficient permissions").empty();
  }));
}

}  // namespace
}  // namespace ratchet::chaos
