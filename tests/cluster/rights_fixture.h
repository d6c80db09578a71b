// A cluster that enforces rights, and users of it: their grants, their requests, and what is refused.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pwd.h>
#include <unistd.h>

#include "common/model/codec.h"
#include "common/model/proto/access_control.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "tests/cluster/why_fixture.h"

namespace ratchet::chaos {

namespace hpb = ::hbase::pb;

class RightsFixture : public WhyClusterTest {
 protected:
  // The clients of the fixture, of the harness and of the command line are superusers.
  static ClusterSpec Enforcing(const std::string& mode = "enforce") {
    ClusterSpec spec;
    spec.environment = {{"RATCHET_RIGHTS", mode}, {"RATCHET_SUPERUSERS", "admin,test,cluster," + CommandUser()}};
    return spec;
  }
  static rpc::ChannelPoolOptions As(const std::string& user) {
    rpc::ChannelPoolOptions options;
    options.user = user;
    return options;
  }
  [[nodiscard]] std::unique_ptr<client::Connection> ConnectAs(const std::string& user) {
    client::ConnectionOptions options;
    options.zookeeper = cluster().zookeeper();
    options.user = user;
    options.operation_timeout = kPatience;
    options.rpc_timeout = Millis{5'000};
    auto opened = client::Connection::Open(options);
    EXPECT_TRUE(opened.ok());
    return opened.ok() ? std::move(*opened) : nullptr;
  }

  // `letters`: of R W X C A; none: of Revoke, the whole right in this scope.
  static hpb::Permission Everywhere(std::string_view letters) {
    hpb::Permission permission;
    permission.set_type(hpb::Permission::Global);
    AddActions(letters, *permission.mutable_global_permission());
    return permission;
  }
  static hpb::Permission InNamespace(const std::string& name, std::string_view letters) {
    hpb::Permission permission;
    permission.set_type(hpb::Permission::Namespace);
    permission.mutable_namespace_permission()->set_namespace_name(name);
    AddActions(letters, *permission.mutable_namespace_permission());
    return permission;
  }
  static hpb::Permission InTable(const std::string& table, std::string_view letters, const std::string& family = "") {
    hpb::Permission permission;
    permission.set_type(hpb::Permission::Table);
    ToProto(TableName("default", table), *permission.mutable_table_permission()->mutable_table_name());
    if (!family.empty()) permission.mutable_table_permission()->set_family(family);
    AddActions(letters, *permission.mutable_table_permission());
    return permission;
  }
  [[nodiscard]] Status Grant(const std::string& user, const hpb::Permission& permission) {
    return Change<hpb::GrantRequest>(methods::kGrant, user, permission);
  }
  [[nodiscard]] Status Revoke(const std::string& user, const hpb::Permission& permission) {
    return Change<hpb::RevokeRequest>(methods::kRevoke, user, permission);
  }
  // The process that serves `server`; empty: none.
  [[nodiscard]] std::string ProcessOf(const ServerName& server) {
    for (const std::string& name : cluster().Names(Role::kRegionServer)) {
      if (cluster().Info(name).port == server.port) return name;
    }
    return "";
  }
  template <class T>
  static bool IsDenied(const Result<T>& result) {
    return !result.ok() && result.error().remote_class() == rpc::exception::kAccessDenied;
  }

 private:
  // The user that the command line names.
  static std::string CommandUser() {
    const char* sudo = std::getenv("SUDO_USER");
    if (::geteuid() == 0 && sudo != nullptr && *sudo != '\0') return sudo;
    const passwd* entry = ::getpwuid(::geteuid());
    return entry != nullptr ? entry->pw_name : "root";
  }
  template <class Message>
  static void AddActions(std::string_view letters, Message& into) {
    static constexpr std::string_view kOrder = "RWXCA";
    for (const char letter : letters) into.add_action(static_cast<hpb::Permission::Action>(kOrder.find(letter)));
  }
  template <class Request, class Method>
  Status Change(const Method& method, const std::string& user, const hpb::Permission& permission) {
    Request request;
    request.mutable_user_permission()->set_user(user);
    *request.mutable_user_permission()->mutable_permission() = permission;
    const auto answer = admin().Call(method, request);
    return answer.ok() ? Ok() : Status(answer.error());
  }
};

}  // namespace ratchet::chaos
