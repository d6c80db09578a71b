// The crash sweep of draining and undraining a server.
#include <memory>

#include <gtest/gtest.h>

#include "master/cluster/membership.h"
#include "master/requests/server_admin.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

sim::SimServer& First(Rig& rig) { return *rig.cluster.Alive().front(); }
master::ServerAdmin& Servers(Rig& rig) { return rig.cluster.master().logic().server_admin; }
std::vector<std::string> OpenOn(const sim::SimServer& server) {
  std::vector<std::string> open;
  for (const auto& [encoded, region] : server.regions()) open.push_back(encoded);
  return open;
}

// The server also has hbase:meta, and stops when the drain requests it.
TEST(MasterCrash, DrainServer) {
  const auto drained = std::make_shared<ServerName>();
  Sweep({"drain",
         [drained](Rig& rig) {
           Prepare(rig, 4);
           *drained = MetaHost(rig)->name();
         },
         [drained](Rig& rig, procedure::Nonce nonce, Done done) {
           Servers(rig).DrainServer({*drained, true, /*and_stop=*/true}, {"me", nonce}, std::move(done));
         },
         [drained](Rig& rig) {
           if (!rig.At("DrainServer", "STOP_SERVER") || !rig.cluster.master().ready()) return;
           sim::SimServer* server = rig.cluster.Find(*drained);
           const bool told = rig.cluster.master().logic().decommissions.IsToStop(*drained);
           if (!told || server == nullptr || !server->regions().empty() || !rig.Once("killed")) return;
           rig.happened["victim " + drained->ToString()] = true;
           rig.cluster.Kill(*server);
         },
         [drained](Rig& rig) {
           return CrashDealtWith(rig) && rig.cluster.master().logic().decommissions.IsMarked(*drained);
         }});
}

TEST(MasterCrash, RecommissionServer) {
  const auto drained = std::make_shared<ServerName>();
  const auto regions = std::make_shared<std::vector<std::string>>();
  Sweep({"undrain",
         [=](Rig& rig) {
           Prepare(rig, 4);
           *drained = First(rig).name();
           *regions = OpenOn(First(rig));
           Servers(rig).DrainServer({*drained}, {"me", {}}, [](const Result<ProcId>&) {});
           RATCHET_CHECK(rig.cluster.Settle() && First(rig).regions().empty(), "not prepared");
         },
         [=](Rig& rig, procedure::Nonce nonce, Done done) {
           Servers(rig).Recommission(*drained, *regions, {"me", nonce}, std::move(done));
         },
         nullptr,
         [=](Rig& rig) {
           return !rig.cluster.master().logic().decommissions.Has(*drained) && OpenOn(First(rig)) == *regions;
         }});
}

}  // namespace
}  // namespace ratchet::crash
