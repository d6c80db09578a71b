// S114 (no start without the past): at which roots a master must not begin, by the names below them.
#include <algorithm>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "common/io/root_history.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

class RootGuardTest : public testing::Test {
 protected:
  void Dir(const std::string& path) { ASSERT_TRUE(process_->OpenOrMake("/root/" + path).ok()); }
  void File(const std::string& folder, const std::string& name) {
    auto directory = process_->OpenOrMake(folder.empty() ? "/root" : "/root/" + folder);
    ASSERT_TRUE(directory.ok());
    auto made = (*directory)->Create(name);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    ASSERT_TRUE((*made)->Close().ok());
  }
  // Makes the names that a master of this version leaves after three epochs.
  void Used() {
    for (const char* claim : {"claim.1", "claim.2", "claim.3"}) {
      File("", claim);
      File("procedures", claim);
    }
    File("numbers", "store.3.900");
    File("numbers", "pid.3145731");
    Dir("data/hbase/meta.1");
  }
  void Remove(const std::string& folder, const std::string& name) {
    ASSERT_TRUE(process_->Open("/root/" + folder).value()->Unlink(name).ok());
  }
  void LoseStore() {
    for (const char* claim : {"claim.1", "claim.2", "claim.3"}) Remove("procedures", claim);
    ASSERT_TRUE(root_->RemoveDir("procedures").ok());
  }
  // Returns the refusal; empty: a master may start.
  std::string Cause() {
    const Status checked = CheckRootPast(*root_);
    if (checked.ok()) return {};
    EXPECT_TRUE(IsWentBack(checked.error()));
    return checked.error().message();
  }
  bool Says(const std::string& part) {
    const std::string cause = Cause();
    EXPECT_NE(cause.find(part), std::string::npos) << cause;
    return cause.find(part) != std::string::npos;
  }

  SimDisk disk_;
  std::unique_ptr<SimDisk::Process> process_ = disk_.NewProcess();
  std::unique_ptr<Directory> root_ = process_->OpenOrMake("/root").value();
};

TEST_F(RootGuardTest, ANewRootIsNotRefused) {
  EXPECT_EQ(Cause(), "");
  // Makes the names that processes make there before the first claim.
  File("", "cluster.id");
  File("", "client.master.1.4711.node");
  Dir("wals/h,1,2");
  for (const char* folder : {"data", "archive", "quarantine", "history", "procedures"}) Dir(folder);
  EXPECT_EQ(Cause(), "");
  EXPECT_FALSE(HasHistory(*root_).value());
}

// A first master may die anywhere in its claim, any number of times.
TEST_F(RootGuardTest, AFirstClaimThatWasCutShortIsNotRefused) {
  ASSERT_TRUE(EnsureRootNumbers(*root_).ok());
  EXPECT_EQ(Cause(), "");
  File("", "claim.1");
  EXPECT_EQ(Cause(), "");
  File("", "claim.2");
  File("procedures", "claim.1");
  File("procedures", "claim.2");
  EXPECT_EQ(Cause(), "");
}

TEST_F(RootGuardTest, AUsedRootIsNotRefused) {
  Used();
  EXPECT_EQ(Cause(), "");
  EXPECT_TRUE(HasHistory(*root_).value());
  File("", "claim.4");  // a master that died in its claim
  EXPECT_EQ(Cause(), "");
}

TEST_F(RootGuardTest, AMissingStoreIsRefused) {
  Used();
  LoseStore();
  EXPECT_TRUE(Says("procedures/ is missing, but epochs up to 3 were claimed here"));
  EXPECT_TRUE(HasHistory(*root_).value());
}

TEST_F(RootGuardTest, AnEmptyStoreIsRefused) {
  Used();
  LoseStore();
  Dir("procedures");
  EXPECT_TRUE(Says("procedures/ is empty, but epochs up to 3 were claimed here"));
}

TEST_F(RootGuardTest, AStoreWithoutClaimsIsRefused) {
  Used();
  for (const char* claim : {"claim.1", "claim.2", "claim.3"}) Remove("procedures", claim);
  File("procedures", "segment.3.1");
  EXPECT_TRUE(Says("procedures/ is without claims"));
}

// A root of version 0.1 has no claims in it and no numbers/: each of its other names is enough.
TEST_F(RootGuardTest, EachTraceOfAPastIsEnough) {
  const std::vector<std::pair<std::string, std::string>> traces = {
      {"data/hbase", "meta.1"},   {"history", "e0000000000000012-00000003"},
      {"archive", "7"},           {"snapshots", "s.5"},
      {"oldWALs", "h,1,2"},       {"wals", "h,1,2-splitting"},
      {"", "client.master.2.1.n"}};
  for (const auto& [folder, name] : traces) {
    File(folder, name);
    EXPECT_TRUE(Says("procedures/ is missing")) << name;
    Remove(folder, name);
    EXPECT_EQ(Cause(), "") << name;
  }
}

TEST_F(RootGuardTest, ARootOfAnEarlierVersionIsNotRefused) {
  File("procedures", "claim.12");
  Dir("data/default/t.7");
  File("history", "e0000000000000012-00000003");
  File("archive", "12");
  EXPECT_EQ(Cause(), "");
}

TEST_F(RootGuardTest, AnOlderStoreIsRefused) {
  Used();
  Remove("procedures", "claim.3");
  EXPECT_TRUE(Says("its newest claim is of epoch 2, but epoch 3 has worked here (numbers/store)"));
}

// The master is refused even if no mark shows the loss, because the names that owners leave contain their epoch.
TEST_F(RootGuardTest, AnOlderStoreOfAnEarlierVersionIsRefused) {
  File("procedures", "claim.12");
  File("history", "e0000000000000017-00000003");
  EXPECT_TRUE(Says("but epoch 17 has worked here (history/e0000000000000017-00000003)"));
}

TEST_F(RootGuardTest, MissingNumbersAreRefused) {
  Used();
  Remove("numbers", "store.3.900");
  EXPECT_TRUE(Says("numbers/store.* is missing"));
  File("numbers", "store.0.0");  // an operator has decided
  EXPECT_EQ(Cause(), "");
}

TEST_F(RootGuardTest, NumbersAreOnlyRaised) {
  auto numbers = EnsureRootNumbers(*root_).value();
  ASSERT_TRUE(RaiseStoreMark(*numbers, {2, 50}).ok());
  ASSERT_TRUE(RaiseStoreMark(*numbers, {1, 90}).ok());
  ASSERT_TRUE(RaisePidLimit(*numbers, 100).ok());
  ASSERT_TRUE(RaisePidLimit(*numbers, 70).ok());
  disk_.PowerFailure();
  process_ = disk_.NewProcess();
  root_ = process_->OpenOrMake("/root").value();
  const RootNumbers found = ReadRootNumbers(*root_).value();
  EXPECT_EQ(found.mark, (StoreMark{2, 50}));
  EXPECT_EQ(found.pid_limit, 100U);
  EXPECT_EQ(process_->Open("/root/numbers").value()->List().value().size(), 2U) << "each name replaces the one before";
}

// An owner raises both at its start.
TEST_F(RootGuardTest, BothNumbersAreRaisedWithOneSync) {
  auto numbers = EnsureRootNumbers(*root_).value();
  process_->Trace(true);
  ASSERT_TRUE(RaiseRootNumbers(*numbers, {StoreMark{1, 20}, 100}).ok());
  ASSERT_TRUE(RaiseRootNumbers(*numbers, {StoreMark{2, 50}, 300}).ok());
  ASSERT_TRUE(RaiseRootNumbers(*numbers, {StoreMark{1, 90}, 200}).ok());
  const auto events = process_->trace();
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const SimEvent& event) { return event.op == SimOp::kSyncDirectory; }),
            3);
  disk_.PowerFailure();
  process_ = disk_.NewProcess();
  root_ = process_->OpenOrMake("/root").value();
  const RootNumbers found = ReadRootNumbers(*root_).value();
  EXPECT_EQ(found.mark, (StoreMark{2, 50}));
  EXPECT_EQ(found.pid_limit, 300U);
}

TEST_F(RootGuardTest, NamesThatAreNotNumbersCountForNothing) {
  const RootNumbers found =
      NumbersIn({"pid.", "pid.-1", "pid.07", "pid.9999999999999999999", "store.1", "store.1.x", "store.01.2", "pid.5"});
  EXPECT_FALSE(found.mark);
  EXPECT_EQ(found.pid_limit, 5U);
}

#if defined(RATCHET_MUTANTS)
TEST_F(RootGuardTest, BeginningWithoutAPastIsNoticed) {
  Used();
  LoseStore();
  const ScopedMutant mutant("guard.any_past");
  EXPECT_EQ(Cause(), "");
}
TEST_F(RootGuardTest, BeginningWithoutNumbersIsNoticed) {
  Used();
  Remove("numbers", "store.3.900");
  const ScopedMutant mutant("guard.any_numbers");
  EXPECT_EQ(Cause(), "");
}
TEST_F(RootGuardTest, BeginningWithAnOlderStoreIsNoticed) {
  Used();
  Remove("procedures", "claim.3");
  const ScopedMutant mutant("guard.any_age");
  EXPECT_EQ(Cause(), "");
}
#endif

}  // namespace
}  // namespace ratchet::io
