// Each fault of processes and links on a real cluster: it records evidence, and the cluster serves again afterwards.
#include <set>

#include "chaos/cluster/credentials.h"
#include "chaos/report/phases.h"
#include "tests/cluster/faults_fixture.h"

namespace ratchet::chaos {
namespace {

TEST_F(FaultsTest, OfProcessesTakeEffectAndTheClusterServesAgain) {
  BreakAndHealEach({"kill-active-master", "kill-standby", "kill-meta-holder", "kill-some", "kill-all-servers",
                    "kill-master-and-meta-holder", "pause-server", "pause-server-briefly", "pause-active-master",
                    "stall", "swizzle", "kill-zookeeper", "zookeeper-outage"});
}

// At the first kill-splitter, the writer has just started: the first victim may have no log to split.
TEST_F(FaultsTest, OfProceduresAndSessionsTakeEffectAndTheClusterServesAgain) {
  BreakAndHealEach({"kill-splitter", "kill-open-target", "kill-builder", "kill-splitter", "expire-session"});
}

TEST_F(FaultsTest, OfTheRootAreRefusedAndLoseNothing) {
  BreakAndHealEach({"lose-piece:procedures-away", "lose-piece:procedures-older", "lose-piece:logs-away",
                    "lose-piece:region-away", "lose-piece:region-older", "lose-piece:mark-away", "flip-bytes"});
}

TEST_F(FaultsTest, OfCallsAndOperatorsTakeEffectAndTheClusterServesAgain) {
  BreakAndHealEach({"call-storm", "operator", "zookeeper-back"});
}

TEST_F(FaultsTest, OfLinksTakeEffectAndTheClusterServesAgain) {
  BreakAndHealEach({"partition-server-from-zookeeper", "partition-master-from-zookeeper",
                    "partition-master-from-server", "partition-master-from-server-one-way",
                    "partition-client-from-server", "isolate-server", "slow-link", "slow-network", "lossy-links",
                    "reset-links", "half-open-link", "swizzle-links"});
}

class EnsembleFaultsTest : public FaultsTest {
 protected:
  void Configure(ClusterSpec& spec, LocalTargetOptions& options) override {
    spec.zookeepers = 3;
    // a third of it is left for the connection to another member, enough on a busy machine
    spec.session_timeout = Millis(3'000);
    options.shims = false;
  }
};

TEST_F(EnsembleFaultsTest, NobodyLosesItsSessionWithOneMember) {
  for (const auto kind : {"kill-zookeeper", "kill-zookeeper-leader", "pause-zookeeper", "pause-zookeeper-leader",
                          "partition-from-zookeeper-member"}) {
    BreakAndHeal(kind);
    if (HasFatalFailure()) return;
    for (const auto& death : deaths_)
      ADD_FAILURE() << death.name << " left with exit code " << death.exit_code << " after " << kind;
  }
}

TEST_F(EnsembleFaultsTest, WithoutAMajorityNothingIsLost) {
  BreakAndHealEach({"kill-zookeeper-majority", "zookeeper-outage-brief", "zookeeper-outage",
                    "partition-server-from-zookeeper", "isolate-server", "expire-session"});
}

class SecureFaultsTest : public FaultsTest {
 protected:
  void Configure(ClusterSpec& spec, LocalTargetOptions& options) override {
    options.shims = false;
    ASSERT_TRUE(Secure(spec).ok());
    auto own = ClientTls(CredentialsDir(spec), {"admin.pem"});
    ASSERT_TRUE(own.ok()) << own.error().ToString();
    tls::ProcessTls::SetOfProcess(*own);
  }
  void TearDown() override {
    FaultsTest::TearDown();
    tls::ProcessTls::SetOfProcess(nullptr);
  }
};

TEST_F(SecureFaultsTest, OfIdentityTakeEffectAndTheClusterServesAgain) {
  BreakAndHealEach({"rotate-certificate", "rotate-authority", "expired-certificate", "half-written-file",
                    "rotate-authority", "image-lost", "rotate-certificate"});
}

class PhaseFaultsTest : public FaultsTest {
 protected:
  void Configure(ClusterSpec& spec, LocalTargetOptions& options) override {
    spec.environment = ArmedWith(HoldPhases(200));
    options.shims = false;
  }
};

TEST_F(PhaseFaultsTest, ASecondFaultStrikesInAPhase) { BreakAndHealEach({"in-phase", "in-phase", "in-phase"}); }

TEST(FaultKinds, AreListedOnceAndCanBeMade) {
  std::set<std::string_view> seen;
  for (const auto kind : FaultKinds()) {
    EXPECT_TRUE(seen.insert(kind).second) << kind;
    const auto fault = MakeFault(kind);
    ASSERT_TRUE(fault.ok()) << kind;
    EXPECT_EQ((*fault)->kind(), kind);
  }
  const auto unknown = MakeFault("kill-everything");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message().find("kill-server"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::chaos
