// S122 (actions on files end with their step): steps act on files on other threads, and nothing acts after its step.
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "master/env/file_actions.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

// Keeps what is not urgent until the test runs it.
class HeldActions final : public FileActions {
 public:
  [[nodiscard]] bool Run(std::function<void()> action, bool urgent) override {
    if (refuses) return false;
    (urgent ? urgent_ones : waiting).push_back(std::move(action));
    return true;
  }
  // Runs what waits now; the last one first, because threads keep no order.
  void RunWaiting() {
    std::vector<std::function<void()>> now;
    now.swap(waiting);
    for (auto it = now.rbegin(); it != now.rend(); ++it) (*it)();
  }
  void RunUrgent() {
    std::vector<std::function<void()>> now;
    now.swap(urgent_ones);
    for (const auto& action : now) action();
  }
  bool refuses = false;
  std::vector<std::function<void()>> waiting;
  std::vector<std::function<void()>> urgent_ones;
};

class FileActionsTest : public MasterTest {
 protected:
  // From here on, actions of the current master wait in `held_`.
  void HoldActions() { master().logic().env.file_actions = &held_; }
  // Begins to create table u, until its first action waits.
  ProcId GivenACreationThatActs() {
    std::optional<Result<ProcId>> pid;
    admin().CreateTable(Descriptor("u"), {}, {"me", {}}, [&](Result<ProcId> answer) { pid = std::move(answer); });
    EXPECT_TRUE(cluster_.RunFor(Millis(300)));
    EXPECT_TRUE(pid.has_value() && pid->ok());
    return pid && pid->ok() ? **pid : ProcId();
  }
  // Runs the cluster and everything that is held until all procedures have ended.
  void LetAllRun() {
    for (int i = 0; i < 200 && !master().AllFinished(); ++i) {
      held_.RunUrgent();
      held_.RunWaiting();
      EXPECT_TRUE(cluster_.RunFor(Millis(50)));
    }
    ExpectSettled();
  }
  bool HasDirectory(ProcId pid) {
    return cluster_.storage().tables.contains(TableDirectoryName(TableName("default", "u"), pid));
  }
  HeldActions held_;
  HeldActions held_by_next_;
};

TEST_F(FileActionsTest, OneThatHangsHoldsUpNoOtherProcedure) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  HoldActions();
  const ProcId creation = GivenACreationThatActs();
  ASSERT_EQ(held_.waiting.size(), 1U);
  EXPECT_FALSE(HasDirectory(creation));
  const auto info = master().executor().Get(creation);
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->waiting.own);
  EXPECT_EQ(info->waiting.detail, "making data/default/u." + std::to_string(creation.value()));

  const std::string region = Encoded("t");
  const auto moved = Move(region, OtherThan(HostOf(region)).name());
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(*moved).finished(); }));
  EXPECT_EQ(Outcome(moved), "success");
  // Also the recovery of hbase:meta's server.
  cluster_.Kill(MetaHost());
  ASSERT_TRUE(cluster_.RunUntil([&] {
    held_.RunUrgent();
    return !master().executor().FindUnfinished("ServerCrash").empty();
  }));
  EXPECT_TRUE(cluster_.RunUntil([&] {
    held_.RunUrgent();
    return master().executor().FindUnfinished("ServerCrash").empty();
  })) << master().Unfinished();
  EXPECT_EQ(held_.waiting.size(), 1U);
  LetAllRun();
  EXPECT_TRUE(HasDirectory(creation));
  ExpectServed("t", 3);
}

#if defined(RATCHET_MUTANTS)
TEST_F(FileActionsTest, ActingOnTheWorkerIsNoticed) {
  const ScopedMutant mutant("master.files_on_workers");
  cluster_.Boot(1);
  HoldActions();
  const ProcId creation = GivenACreationThatActs();
  EXPECT_TRUE(held_.waiting.empty());
  EXPECT_TRUE(HasDirectory(creation)) << "its worker has acted";
}
#endif

// A master that was deposed while its action waited for a thread.
class DeposedActionsTest : public FileActionsTest {
 protected:
  // Returns true if the deposed master has made the directory.
  bool DeposedOneActs() {
    cluster_.Boot(2);
    HoldActions();
    const ProcId creation = GivenACreationThatActs();
    cluster_.on_activation = [this](sim::SimMaster& next, ActivationStep) {
      next.logic().env.file_actions = &held_by_next_;
    };
    cluster_.StartMaster({}, /*keep_old=*/true);
    EXPECT_TRUE(cluster_.RunFor(Millis(500)));
    held_.RunWaiting();
    const bool made = HasDirectory(creation);
    held_.waiting.clear();
    for (int i = 0; i < 200 && !master().AllFinished(); ++i) {
      held_by_next_.RunWaiting();
      held_by_next_.RunUrgent();
      EXPECT_TRUE(cluster_.RunFor(Millis(50)));
    }
    EXPECT_TRUE(HasDirectory(creation)) << "the next master acts";
    cluster_.DropOldMasters();
    ExpectSettled();
    return made;
  }
};

TEST_F(DeposedActionsTest, MakeTheirCheckWhenTheyRun) { EXPECT_FALSE(DeposedOneActs()); }

#if defined(RATCHET_MUTANTS)
TEST_F(DeposedActionsTest, ActingWithoutACheckIsNoticed) {
  const ScopedMutant mutant("master.act_unchecked");
  EXPECT_TRUE(DeposedOneActs());
}
#endif

class AbortedActionsTest : public FileActionsTest {
 protected:
  // Returns true if the directory of the aborted creation has stayed.
  bool LeavesADirectory() {
    cluster_.Boot(2);
    HoldActions();
    const ProcId creation = GivenACreationThatActs();
    EXPECT_EQ(held_.waiting.size(), 1U);
    const auto make = std::exchange(held_.waiting, {});
    master().executor().Abort(creation, {"me", "enough"}, [](const Status&) {});
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(cluster_.RunFor(Millis(50)));
      held_.RunWaiting();
    }
    for (const auto& action : make) action();
    for (int i = 0; i < 200 && !master().AllFinished(); ++i) {
      EXPECT_TRUE(cluster_.RunFor(Millis(50)));
      held_.RunWaiting();
    }
    EXPECT_TRUE(master().executor().GetResult(creation).error.has_value());
    return HasDirectory(creation);
  }
};

TEST_F(AbortedActionsTest, EndBeforeTheirUndo) { EXPECT_FALSE(LeavesADirectory()); }

#if defined(RATCHET_MUTANTS)
TEST_F(AbortedActionsTest, AnUndoThatOvertakesAnActionIsNoticed) {
  const ScopedMutant mutant("procedure.own_work_outlives_step");
  EXPECT_TRUE(LeavesADirectory());
}
#endif

TEST_F(FileActionsTest, OneThatIsRefusedIsTriedAgain) {
  cluster_.Boot(2);
  HoldActions();
  held_.refuses = true;
  const ProcId creation = GivenACreationThatActs();
  EXPECT_TRUE(held_.waiting.empty());
  const auto info = master().executor().Get(creation);
  ASSERT_TRUE(info.has_value() && info->last_error.has_value());
  EXPECT_NE(info->last_error->message().find("too many actions on files"), std::string::npos);
  held_.refuses = false;
  LetAllRun();
  EXPECT_TRUE(HasDirectory(creation));
}

// An exception of the action fails the step, as one of the step does.
TEST_F(FileActionsTest, WhatAnActionThrowsIsThrownByItsStep) {
  cluster_.Boot(2);
  cluster_.storage().on_create_layout = [] { throw std::runtime_error("no such luck"); };
  HoldActions();
  const ProcId creation = GivenACreationThatActs();
  LetAllRun();
  const auto result = master().executor().GetResult(creation);
  ASSERT_TRUE(result.error.has_value());
  EXPECT_NE(result.error->message().find("no such luck"), std::string::npos) << result.error->ToString();
  EXPECT_FALSE(HasDirectory(creation));
}

}  // namespace
}  // namespace ratchet::master
