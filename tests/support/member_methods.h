// Calls every method that a server declares as one for members only, without the proof, in each way that a client has
// (S77: members only; S123: only a proof makes a member).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/model/proto/rpc.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/server.h"
#include "tests/support/members.h"

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
      if (service->Find(name)->options.members_only) methods.push_back({service->name(), name});
    }
  }
  return methods;
}

// Returns the number of methods.
inline std::size_t ExpectMembersOnly(const std::vector<std::shared_ptr<const rpc::Service>>& services) {
  const auto own = MakeMember({"proof-the key of the server"});
  rpc::ServerOptions options;
  options.member = own;
  rpc::RpcServer server(std::move(options));
  for (const auto& service : services) server.Add(service);
  EXPECT_TRUE(server.Start().ok());
  NameMember(*own, server);
  rpc::ChannelPool strangers{rpc::ChannelPoolOptions{}};
  rpc::ChannelPool liars{MemberPool("proof-another key")};
  const rpc::Endpoint here{"127.0.0.1", server.port()};
  const auto methods = MemberMethodsOf(services);
  for (const MemberMethod& method : methods) {
    const auto call = [&](rpc::ChannelPool& pool) {
      const auto answer =
          pool.Get(method.service, here)
              ->CallRawSync(method.name, hbase::pb::RequestHeader(), std::make_shared<hbase::pb::RequestHeader>(), {});
      return answer.ok() ? std::string("taken") : answer.error().remote_class();
    };
    EXPECT_EQ(call(strangers), rpc::exception::kAccessDenied) << method.service << "." << method.name;
    EXPECT_EQ(call(liars), rpc::kNotSent) << method.service << "." << method.name;
  }
  EXPECT_EQ(server.stats().calls_received, methods.size());
  EXPECT_EQ(server.stats().calls_refused, methods.size()) << "refused before they wait anywhere";
  strangers.Stop();
  liars.Stop();
  server.Stop();
  return methods.size();
}

}  // namespace ratchet
