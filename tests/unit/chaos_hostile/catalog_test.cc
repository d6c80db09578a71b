// The catalog is compared with the services as they are: a method that the hostile client does not know is an error
// here.
#include "chaos/hostile/catalog.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "master/rpc/master_gate.h"
#include "master/rpc/master_services.h"
#include "master/telemetry/load_book.h"
#include "regionserver/rpc/admin_service.h"
#include "regionserver/rpc/data_service.h"
#include "tests/support/manual_time.h"
#include "tests/support/master_world/service_env.h"

namespace ratchet::chaos {
namespace {

void ExpectAllKnown(const rpc::Service& service) {
  const auto& services = HostileServices();
  EXPECT_NE(std::find(services.begin(), services.end(), service.name()), services.end()) << service.name();
  for (const std::string& name : service.MethodNames()) {
    if (IsLeftOut(name)) continue;
    const std::string wanted = service.Find(name)->new_request()->GetTypeName();
    const auto& methods = HostileMethods();
    const bool known = std::any_of(methods.begin(), methods.end(), [&](const HostileMethod& method) {
      return method.name == name && method.request->full_name() == wanted;
    });
    EXPECT_TRUE(known) << service.name() << "." << name << " takes " << wanted;
  }
}

TEST(CatalogTest, EveryMethodOfAMasterIsKnown) {
  ManualTime time;
  master::MasterGate gate({"h", 1, 1}, "cluster", "test", time);
  master::LoadBook loads;
  master::ServiceEnv env = master::QuietServiceEnv(gate, loads);
  ExpectAllKnown(*master::MakeMasterService(env));
  ExpectAllKnown(*master::MakeRegionServerStatusService(env));
  ExpectAllKnown(*master::MakeClientMetaService(env));
  ExpectAllKnown(*master::MakeHbckService(env));
  ExpectAllKnown(*master::MakeLockService(env));
  ExpectAllKnown(*master::MakeRatchetService(env));
}

TEST(CatalogTest, EveryMethodOfARegionServerIsKnown) {
  ManualTime time;
  regionserver::EpochGuard epochs;
  regionserver::ScannerTable scanners(time, time, 1, {});
  ExpectAllKnown(*regionserver::MakeDataService({{}, {}, epochs, scanners, time}));
  ExpectAllKnown(*regionserver::MakeAdminService({}));
}

}  // namespace
}  // namespace ratchet::chaos
