// Calls every method that a server declares as one for members only, without the proof, in each way that a client has:
// in plain text and inside TLS, with simple authentication, a token, Kerberos, and a proof with another key (S77:
// members only; S123: only a proof makes a member), test 10 of identity.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/model/proto/rpc.pb.h"
#include "common/rpc/caller_rules.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/server.h"
#include "tests/support/login_client.h"
#include "tests/support/members.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace ratchet {

struct MemberMethod {
  std::string service;
  std::string name;
};

[[nodiscard]] inline std::vector<MemberMethod> MemberMethodsOf(
    const std::vector<std::shared_ptr<const rpc::Service>>& services) {
  std::vector<MemberMethod> methods;
  for (const auto& service : services) {
    for (const std::string& name : service->MethodNames()) {
      if (service->Find(name)->need.members_only()) methods.push_back({service->name(), name});
    }
  }
  return methods;
}

// Believes the name in the header of a client without a login.
class BelievingRules final : public rpc::CallerRules {
 public:
  [[nodiscard]] Result<rpc::Caller> Decide(const rpc::CallerClaims& claims) const override {
    const bool kerberos = !claims.principal.empty();
    return rpc::Caller{std::string(kerberos ? claims.principal : claims.effective_user),
                       kerberos ? rpc::Authentication::kKerberos : rpc::Authentication::kSimple,
                       {},
                       {}};
  }
  [[nodiscard]] std::string Proven(const rpc::CallerClaims& /*claims*/) const override { return {}; }
  [[nodiscard]] std::uint64_t changes() const override { return 1; }
};

// A server with these services, which takes each kind of login on each transport.
class MembersOnlyServer {
 public:
  explicit MembersOnlyServer(const std::vector<std::shared_ptr<const rpc::Service>>& services)
      : methods_(MemberMethodsOf(services)), tls_(files_.Make("accept", false)), client_tls_(files_.Make("off", true)) {
    rpc::ServerOptions options;
    options.member = own_;
    options.tls = tls_;
    options.tokens = std::make_shared<FakeTokens>();
    options.kerberos = std::make_shared<FakeAcceptor>(7);
    options.callers = std::make_shared<BelievingRules>();
    server_ = std::make_unique<rpc::RpcServer>(std::move(options));
    for (const auto& service : services) server_->Add(service);
    EXPECT_TRUE(server_->Start().ok());
    NameMember(*own_, *server_);
  }
  ~MembersOnlyServer() { server_->Stop(); }
  MembersOnlyServer(const MembersOnlyServer&) = delete;
  MembersOnlyServer& operator=(const MembersOnlyServer&) = delete;

  void ExpectRefusals(bool encrypted) {
    SCOPED_TRACE(encrypted ? "inside TLS" : "in plain text");
    rpc::ChannelPoolOptions stranger;
    rpc::ChannelPoolOptions liar = MemberPool("proof-another key");
    if (encrypted) stranger.tls = liar.tls = client_tls_;
    ExpectRefusalsOf(std::move(stranger), rpc::exception::kAccessDenied);
    received_ += methods_.size();
    ExpectRefusalsOf(std::move(liar), rpc::kNotSent);
    for (const bool kerberos : {false, true}) {
      SCOPED_TRACE(kerberos ? "Kerberos" : "a token");
      for (const MemberMethod& method : methods_) {
        LoginClient client(server_->port(), encrypted ? client_tls_->context().get() : nullptr);
        ASSERT_TRUE(kerberos ? client.LogInByKerberos() : client.LogInByToken());
        client.Send(rpc::ConnectionHeaderUnit("", method.service, false));
        // That the call is passed on for another user is a member's to say.
        const std::string attribute = rpc::EncodeActingFor(rpc::CallContext());
        for (const std::string& value : {std::string(), attribute, std::string("nonsense")}) {
          EXPECT_EQ(client.Call(method.name, value), rpc::exception::kAccessDenied)
              << method.service << "." << method.name;
        }
      }
      received_ += 3 * methods_.size();
    }
    EXPECT_EQ(server_->stats().calls_received, received_);
    EXPECT_EQ(server_->stats().calls_refused, received_) << "refused before they wait anywhere";
  }
  [[nodiscard]] std::size_t methods() const { return methods_.size(); }

 private:
  void ExpectRefusalsOf(rpc::ChannelPoolOptions options, std::string_view refusal) {
    rpc::ChannelPool pool(std::move(options));
    for (const MemberMethod& method : methods_) {
      const auto answer =
          pool.Get(method.service, {"127.0.0.1", server_->port()})
              ->CallRawSync(method.name, hbase::pb::RequestHeader(), std::make_shared<hbase::pb::RequestHeader>(), {});
      EXPECT_EQ(answer.ok() ? "taken" : answer.error().remote_class(), refusal) << method.service << "." << method.name;
    }
    pool.Stop();
  }

  const std::vector<MemberMethod> methods_;
  rpc::TestCertificates files_;
  const std::shared_ptr<const tls::ProcessTls> tls_;
  const std::shared_ptr<const tls::ProcessTls> client_tls_;
  const std::shared_ptr<rpc::MemberIdentity> own_ = MakeMember({"proof-the key of the server"});
  std::unique_ptr<rpc::RpcServer> server_;
  std::size_t received_ = 0;
};

// Returns the number of methods.
inline std::size_t ExpectMembersOnly(const std::vector<std::shared_ptr<const rpc::Service>>& services) {
  MembersOnlyServer server(services);
  for (const bool encrypted : {false, true}) server.ExpectRefusals(encrypted);
  return server.methods();
}

}  // namespace ratchet
