#include "chaos/workloads/table_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/workloads/accepted_procedures.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

const PossibleConditions kAbsent(TableCondition::kAbsent);
const PossibleConditions kDisabled(TableCondition::kDisabled);
const PossibleConditions kEnabled(TableCondition::kEnabled);

TEST(TableModelTest, ATableGoesThroughItsLife) {
  PossibleConditions table = kAbsent;
  table = AfterSuccess(table, DdlVerb::kCreate);
  EXPECT_EQ(table, kEnabled);
  table = AfterSuccess(table, DdlVerb::kDisable);
  EXPECT_EQ(table, kDisabled);
  table = AfterSuccess(table, DdlVerb::kEnable);
  EXPECT_EQ(table, kEnabled);
  table = AfterSuccess(AfterSuccess(table, DdlVerb::kDisable), DdlVerb::kDelete);
  EXPECT_EQ(table, kAbsent);
}

TEST(TableModelTest, WhatCannotHaveHappenedIsImpossible) {
  EXPECT_TRUE(AfterSuccess(kEnabled, DdlVerb::kCreate).empty());
  EXPECT_TRUE(AfterSuccess(kEnabled, DdlVerb::kDelete).empty());
  EXPECT_TRUE(AfterSuccess(kAbsent, DdlVerb::kDisable).empty());
  EXPECT_TRUE(AfterRefusal(kAbsent, DdlVerb::kCreate).empty());
  EXPECT_TRUE(AfterRefusal(kDisabled, DdlVerb::kDelete).empty());
  EXPECT_EQ(AfterRefusal(kEnabled, DdlVerb::kDelete), kEnabled);
  EXPECT_EQ(PossibleConditions().ToText(), "impossible");
}

TEST(TableModelTest, AnUnknownOutcomeLeavesTwoPossibilitiesAndLaterAnswersNarrowThem) {
  const PossibleConditions either = AfterUnknown(kAbsent, DdlVerb::kCreate);
  EXPECT_EQ(either.ToText(), "absent or enabled");
  EXPECT_EQ(AfterSuccess(either, DdlVerb::kDisable), kDisabled);
  EXPECT_EQ(AfterRefusal(either, DdlVerb::kCreate), kEnabled);
  EXPECT_EQ(AfterRefusal(either, DdlVerb::kDisable), kAbsent);
  EXPECT_EQ(AfterUnknown(kEnabled, DdlVerb::kDelete), kEnabled);
}

pb::ProcedureInfo Ended(const std::vector<std::string>& outcomes, bool failed) {
  pb::ProcedureInfo procedure;
  procedure.set_finished(true);
  if (failed) procedure.set_error("went wrong");
  for (const auto& outcome : outcomes) {
    auto* step = procedure.add_history();
    step->set_step("STEP");
    step->set_outcome(outcome);
  }
  return procedure;
}

TEST(CheckEndedOnceTest, AcceptsWhatEndedOnceAsItsClientSaw) {
  EXPECT_EQ(CheckEndedOnce(DdlOutcome::kSucceeded, Ended({"next", "spawn", "done"}, false)), "");
  EXPECT_EQ(CheckEndedOnce(DdlOutcome::kFailed, Ended({"next", "fail", "undone"}, true)), "");
  EXPECT_EQ(CheckEndedOnce(DdlOutcome::kUnfinished, Ended({"next", "done"}, false)), "");
}

TEST(CheckEndedOnceTest, ABypassedProcedureHasNoLastStep) {
  pb::ProcedureInfo bypassed = Ended({"next"}, false);
  bypassed.set_bypassed(true);
  EXPECT_EQ(CheckEndedOnce(DdlOutcome::kUnfinished, bypassed), "");
  bypassed = Ended({"done", "done"}, false);
  bypassed.set_bypassed(true);
  EXPECT_THAT(CheckEndedOnce(DdlOutcome::kUnfinished, bypassed), HasSubstr("ended 2 times"));
}

TEST(CheckEndedOnceTest, NamesWhatIsWrong) {
  EXPECT_THAT(CheckEndedOnce(DdlOutcome::kSucceeded, Ended({"done", "done"}, false)), HasSubstr("ended 2 times"));
  EXPECT_THAT(CheckEndedOnce(DdlOutcome::kSucceeded, Ended({"fail"}, true)), HasSubstr("recorded as a failure"));
  EXPECT_THAT(CheckEndedOnce(DdlOutcome::kFailed, Ended({"done"}, false)), HasSubstr("recorded as a success"));
  EXPECT_THAT(CheckEndedOnce(DdlOutcome::kSucceeded, Ended({"next"}, false)), HasSubstr("without a last step"));
  pb::ProcedureInfo running;
  running.set_state("WAITING");
  running.set_step("ADD_TO_META");
  EXPECT_EQ(CheckEndedOnce(DdlOutcome::kUnfinished, running), "is WAITING, at step ADD_TO_META");
}

}  // namespace
}  // namespace ratchet::chaos
