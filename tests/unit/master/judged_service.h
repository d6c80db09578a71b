// The services of a simulated master, with rights, through the wire: for tests that ask as different users.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "common/rights/judge.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "master/rpc/master_services.h"
#include "tests/support/master_world/service_env.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::master {

// The master must outlive it.
class JudgedService {
 public:
  JudgedService(sim::SimCluster& cluster, const std::set<std::string>& superusers,
                const std::vector<rights::RightsEntry>& entries)
      : JudgedService(cluster, fmt::format("{}", fmt::join(superusers, ",")), "", entries) {}
  // `superusers`, `groups`: as in Users::Parse.
  JudgedService(sim::SimCluster& cluster, const std::string& superusers, const std::string& groups,
                const std::vector<rights::RightsEntry>& entries = {})
      : gate_({"h", 1, 1}, "cluster-x", "test", cluster.time()) {
    sim::SimMaster& master = cluster.master();
    gate_.Elected();
    gate_.Recovered({&master.logic(), &master.executor(), &master.store(), nullptr, master.executor().epoch()});
    gate_.WorkersStarted();
    gate_.Ready();
    env_.judge = &judge_;
    auto who = rights::Users::Parse(superusers, groups);
    EXPECT_TRUE(who.ok()) << who.error().ToString();
    who_->Set(rights::Mode::kEnforce, *std::move(who));
    EXPECT_TRUE(holder_.Take(
        std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<rights::Scope>())));
    rpc::ServerOptions options;
    options.judge = &judge_;
    server_ = std::make_unique<rpc::RpcServer>(std::move(options));
    for (const auto& service : {MakeMasterService(env_), MakeLockService(env_), MakeRatchetService(env_)})
      server_->Add(service);
    EXPECT_TRUE(server_->Start().ok());
  }
  ~JudgedService() { server_->Stop(); }
  JudgedService(const JudgedService&) = delete;
  JudgedService& operator=(const JudgedService&) = delete;

  template <class Request, class Response>
  Result<Response> As(const std::string& user, const rpc::Method<Request, Response>& method, const Request& request) {
    rpc::ChannelPoolOptions options;
    options.user = user;
    rpc::ChannelPool pool(options);
    auto answer = pool.CallSync(method, {"127.0.0.1", server_->port()}, request);
    pool.Stop();
    if (!answer.ok()) return answer.error();
    return std::move(answer->message);
  }

 private:
  MasterGate gate_;
  LoadBook loads_;
  ServiceEnv env_ = QuietServiceEnv(gate_, loads_);
  rights::RightsHolder holder_;
  std::shared_ptr<rights::Users> who_ = std::make_shared<rights::Users>();
  rights::Judge judge_{holder_, who_};
  std::unique_ptr<rpc::RpcServer> server_;
};

}  // namespace ratchet::master
