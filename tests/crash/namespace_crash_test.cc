// The crash sweep of namespaces and of the cluster's switches.
#include <gtest/gtest.h>

#include "master/procedures/admin/set_switches.h"
#include "master/requests/namespace_admin.h"
#include "master/requests/submit_asked.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

master::NamespaceAdmin& Namespaces(Rig& rig) { return rig.cluster.master().logic().namespace_admin; }
const NamespaceDescriptor kSales{"sales", {{std::string(kMaxTablesProperty), "3"}}};

void PrepareNamespace(Rig& rig) {
  Prepare(rig, 0);
  bool made = false;
  Namespaces(rig).Create(kSales, {"me", {}}, [&made](const Result<ProcId>& pid) { made = pid.ok(); });
  RATCHET_CHECK(rig.cluster.Settle() && made, "not prepared");
}

TEST(MasterCrash, CreateNamespace) {
  Sweep({"create namespace", [](Rig& rig) { Prepare(rig, 0); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Namespaces(rig).Create(kSales, {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return rig.cluster.master().logic().namespaces.Get("sales") == kSales; }});
}

TEST(MasterCrash, ModifyNamespace) {
  const NamespaceDescriptor changed{"sales", {{"owner", "x"}}};
  Sweep({"modify namespace", PrepareNamespace,
         [changed](Rig& rig, procedure::Nonce nonce, Done done) {
           Namespaces(rig).Modify(changed, {"me", nonce}, std::move(done));
         },
         nullptr, [changed](Rig& rig) { return rig.cluster.master().logic().namespaces.Get("sales") == changed; }});
}

TEST(MasterCrash, DeleteNamespace) {
  Sweep({"delete namespace", PrepareNamespace,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Namespaces(rig).Delete("sales", {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return !rig.cluster.master().logic().namespaces.Get("sales").has_value(); }});
}

TEST(MasterCrash, SetSwitches) {
  Sweep({"set switches", [](Rig& rig) { Prepare(rig, 0); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           master::SubmitAsked(rig.cluster.master().logic().env,
                               master::SetSwitches::Make({master::Switch::kSplit, master::Switch::kMerge}, false),
                               {"me", nonce}, {}, std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           const master::Switches& switches = rig.cluster.master().logic().switches;
           return !switches.IsOn(master::Switch::kSplit) && !switches.IsOn(master::Switch::kMerge) &&
                  switches.IsOn(master::Switch::kBalancer);
         }});
}

}  // namespace
}  // namespace ratchet::crash
