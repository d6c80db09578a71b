// Services of a region about users, which the master answers: AuthenticationService and AccessControlService.
#include "regionserver/rpc/user_services.h"

#include "common/model/proto/aggregate.pb.h"
#include "common/model/proto/authentication.pb.h"
#include "common/model/proto/region_access.pb.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

using rights::Action;
using rights::RightsEntry;
using rights::Scope;

// Notes for whom it was called, and answers.
class FakeMaster final : public MasterCalls {
 public:
  void Grant(const rpc::CallContext& client, const pb::GrantRequest& request, Done<pb::GrantResponse> done) override {
    Note(client, "Grant " + request.user_permission().user());
    done(pb::GrantResponse());
  }
  void Revoke(const rpc::CallContext& client, const pb::RevokeRequest& request,
              Done<pb::RevokeResponse> done) override {
    Note(client, "Revoke " + request.user_permission().user());
    done(rpc::RemoteError(rpc::exception::kAccessDenied, "not for you"));
  }
  void GetUserPermissions(const rpc::CallContext& client, const pb::GetUserPermissionsRequest& /*request*/,
                          Done<pb::GetUserPermissionsResponse> done) override {
    Note(client, "GetUserPermissions");
    pb::GetUserPermissionsResponse response;
    response.add_user_permission()->set_user("bob");
    response.mutable_user_permission(0)->mutable_permission()->set_type(pb::Permission::Global);
    done(std::move(response));
  }
  void HasUserPermissions(const rpc::CallContext& client, const pb::HasUserPermissionsRequest& request,
                          Done<pb::HasUserPermissionsResponse> done) override {
    Note(client, "Has " + request.user_name());
    pb::HasUserPermissionsResponse response;
    response.add_has_user_permission(request.permission(0).table_permission().family() == "f");
    done(std::move(response));
  }
  void IssueToken(const rpc::CallContext& client, Done<ratchet::pb::IssueTokenResponse> done) override {
    Note(client, "IssueToken");
    ratchet::pb::IssueTokenResponse response;
    response.set_identifier("identifier");
    response.set_password("password");
    response.set_service("cluster");
    done(std::move(response));
  }
  std::string last;

 private:
  void Note(const rpc::CallContext& client, const std::string& what) {
    last = client.user + ": " + what + (client.member ? " as a member" : "");
  }
};

class UserServicesTest : public ServiceFixture {
 protected:
  void SetUp() override {
    master_ = &fake_;
    ServiceFixture::SetUp();
    acl_.table = rights::AclTableName();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    ASSERT_EQ(OpenRegion(acl_).outcome, OrderOutcome::kOpened);
    ASSERT_EQ(OpenRegion(MetaRegionInfo()).outcome, OrderOutcome::kOpened);
    users_->Set(rights::Mode::kEnforce, *rights::Users::Parse("root", ""));
    const std::vector<RightsEntry> entries{{"reader", Scope::Table(region_.table), Action::kRead},
                                           {"caller", Scope::Table(region_.table), Action::kRead | Action::kExec}};
    ASSERT_TRUE(
        rights_.Take(std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<Scope>())));
  }
  // The answer's bytes, or the class of the refusal. Sets type_.
  std::string Exec(const std::string& user, const RegionInfo& region, const std::string& service,
                   const std::string& method, const google::protobuf::MessageLite& message) {
    pb::CoprocessorServiceRequest request;
    *request.mutable_region() = Specify(region);
    request.mutable_call()->set_row("");
    request.mutable_call()->set_service_name(service);
    request.mutable_call()->set_method_name(method);
    request.mutable_call()->set_request(message.SerializeAsString());
    rpc::ChannelPoolOptions options;
    options.user = user;
    rpc::ChannelPool pool(options);
    const auto reply = pool.CallSync(methods::kExecService, {"127.0.0.1", server_->port()}, request);
    if (!reply.ok()) return reply.error().remote_class();
    type_ = reply->message.value().name();
    return reply->message.value().value();
  }
  template <class Message>
  static Message Read(const std::string& bytes) {
    Message message;
    EXPECT_TRUE(message.ParseFromString(bytes)) << bytes;
    return message;
  }
  pb::CheckPermissionsRequest Asks(const TableName& table, std::initializer_list<pb::Permission::Action> actions) {
    pb::CheckPermissionsRequest request;
    pb::Permission& permission = *request.add_permission();
    permission.set_type(pb::Permission::Table);
    ToProto(table, *permission.mutable_table_permission()->mutable_table_name());
    for (const auto action : actions) permission.mutable_table_permission()->add_action(action);
    return request;
  }

  FakeMaster fake_;
  const RegionInfo region_ = TableRegion();
  RegionInfo acl_ = TableRegion();
  std::string type_;
};

TEST_F(UserServicesTest, ATokenIsTheMastersForTheUserOfTheConnection) {
  const auto bytes = Exec("alice", MetaRegionInfo(), "AuthenticationService", "GetAuthenticationToken",
                          pb::GetAuthenticationTokenRequest());
  const auto response = Read<pb::GetAuthenticationTokenResponse>(bytes);
  EXPECT_EQ(response.token().identifier() + "/" + response.token().password() + "/" + response.token().service(),
            "identifier/password/cluster");
  EXPECT_EQ(fake_.last, "alice: IssueToken");
  EXPECT_EQ(
      Exec("alice", region_, "AuthenticationService", "GetAuthenticationToken", pb::GetAuthenticationTokenRequest()),
      rpc::exception::kUnknownProtocol);
  const auto who = Read<pb::WhoAmIResponse>(
      Exec("alice", MetaRegionInfo(), "hbase.pb.AuthenticationService", "WhoAmI", pb::WhoAmIRequest()));
  EXPECT_EQ(who.username() + "/" + who.auth_method(), "alice/SIMPLE");
}

TEST_F(UserServicesTest, RightsAreThoseOfTheMaster) {
  pb::GrantRequest grant;
  grant.mutable_user_permission()->set_user("bob");
  grant.mutable_user_permission()->mutable_permission()->set_type(pb::Permission::Global);
  EXPECT_EQ(Exec("alice", acl_, "AccessControlService", "Grant", grant), "");
  EXPECT_EQ(type_, "org.apache.hadoop.hbase.protobuf.generated.AccessControlProtos$GrantResponse");
  EXPECT_EQ(fake_.last, "alice: Grant bob");
  pb::RevokeRequest revoke;
  *revoke.mutable_user_permission() = grant.user_permission();
  EXPECT_EQ(Exec("alice", acl_, "AccessControlService", "Revoke", revoke), rpc::exception::kAccessDenied);
  const auto listed = Read<pb::GetUserPermissionsResponse>(
      Exec("alice", acl_, "AccessControlService", "GetUserPermissions", pb::GetUserPermissionsRequest()));
  EXPECT_EQ(listed.user_permission(0).user(), "bob");
  pb::HasPermissionRequest has;
  has.set_user_name("carol");
  has.mutable_table_permission()->set_family("f");
  EXPECT_TRUE(Read<pb::HasPermissionResponse>(Exec("alice", acl_, "AccessControlService", "HasPermission", has))
                  .has_permission());
  EXPECT_EQ(fake_.last, "alice: Has carol");
  fake_.last.clear();
  EXPECT_EQ(Exec("alice", region_, "AccessControlService", "Grant", grant),
            "org.apache.hadoop.hbase.coprocessor.CoprocessorException");
  EXPECT_EQ(Exec("alice", acl_, "AccessControlService", "Other", grant), rpc::exception::kUnknownProtocol);
  EXPECT_EQ(Exec("alice", acl_, "AccessControlService", "Grant", pb::GetUserPermissionsRequest()),
            rpc::exception::kDoNotRetryIo);
  EXPECT_EQ(fake_.last, "");
}

TEST_F(UserServicesTest, CheckPermissionsNeedsEveryAction) {
  const auto check = [this](const std::string& user, const pb::CheckPermissionsRequest& request) {
    return Exec(user, region_, "AccessControlService", "CheckPermissions", request);
  };
  EXPECT_EQ(check("reader", Asks(region_.table, {pb::Permission::READ})), "");
  EXPECT_EQ(check("reader", Asks(region_.table, {pb::Permission::READ, pb::Permission::WRITE})),
            rpc::exception::kAccessDenied);
  EXPECT_EQ(check("root", Asks(region_.table, {pb::Permission::ADMIN})), "");
  EXPECT_EQ(check("stranger", Asks(region_.table, {pb::Permission::READ})), rpc::exception::kAccessDenied);
  EXPECT_EQ(check("root", Asks(TableName("default", "another"), {pb::Permission::READ})),
            "org.apache.hadoop.hbase.coprocessor.CoprocessorException");
  EXPECT_EQ(fake_.last, "");
}

TEST_F(UserServicesTest, ServicesNeedTheRightToExecuteIfItIsAskedFor) {
  pb::AggregateRequest count;
  count.set_interpreter_class_name("org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter");
  count.mutable_scan()->add_column()->set_family("f");
  const auto by = [&](const std::string& user) {
    const std::string answer = Exec(user, region_, "AggregateService", "GetRowNum", count);
    return answer == rpc::exception::kAccessDenied ? "denied" : "allowed";
  };
  EXPECT_STREQ(by("reader"), "allowed");
  exec_checks_.Set(true);
  EXPECT_STREQ(by("reader"), "denied");
  EXPECT_STREQ(by("caller"), "allowed");
  EXPECT_STREQ(by("root"), "allowed");
}

}  // namespace
}  // namespace ratchet::regionserver
