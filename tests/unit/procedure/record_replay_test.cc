// The check before an upgrade: which records a program could not continue, and why.
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "procedure/api/offline_store.h"
#include "procedure/api/state_machine_procedure.h"
#include "procedure/core/record.h"
#include "tests/support/script.pb.h"

namespace ratchet::procedure {
namespace {

using ::testing::ElementsAre;

// One type in two versions of a program: the later one lacks state 2, and its state 3 no longer has an undo.
template <bool kLater>
class Walk final : public StateMachineProcedure<Walk<kLater>, testing::pb::Script> {
 public:
  static constexpr std::string_view kTypeName = "Walk";
  static constexpr auto Steps() {
    if constexpr (kLater) {
      return std::array{Walk::template On<&Walk::Go>(1, "FIRST", Walk::kNothingToUndo),
                        Walk::template On<&Walk::Go>(3, "LAST", Walk::kNothingToUndo)};
    } else {
      return std::array{Walk::template On<&Walk::Go>(1, "FIRST", Walk::kNothingToUndo),
                        Walk::template On<&Walk::Go>(2, "MIDDLE", Walk::kNothingToUndo),
                        Walk::template On<&Walk::Go>(3, "LAST", Walk::template UndoBy<&Walk::Back>())};
    }
  }

 private:
  StepOutcome Go(StepContext& /*context*/) { return Done{}; }
  Status Back(StepContext& /*context*/) { return Ok(); }
};

StepHistoryEntry Entry(StepNo step, OutcomeKind outcome) {
  StepHistoryEntry entry;
  entry.step = step;
  entry.outcome = outcome;
  return entry;
}

class RecordReplayTest : public ::testing::Test {
 protected:
  RecordReplayTest() {
    earlier_.Register<Walk<false>>();
    later_.Register<Walk<true>>();
  }
  // A record of type Walk whose next state is `step`, after `change`.
  void Store(StepNo step, const std::function<void(Identity&, Durable&)>& change = nullptr) {
    const ProcId pid(contents_.records.size() + 1);
    Identity id;
    id.pid = id.root = pid;
    id.type = "Walk";
    Durable durable;
    durable.step = step;
    durable.version = 1;
    if (change) change(id, durable);
    contents_.records.push_back({pid, 1, EncodeRecord(id, durable)});
  }
  static std::vector<std::string> Told(const ReplayReport& report) {
    std::vector<std::string> told;
    for (const ReplayFinding& finding : report.findings)
      told.push_back((finding.would_park ? "parked: " : "history: ") + finding.why);
    return told;
  }

  ProcedureRegistry earlier_, later_;
  OfflineStore contents_;
};

TEST_F(RecordReplayTest, AStateThatIsGoneWouldBeParked) {
  for (const StepNo step : {1U, 2U, 3U}) Store(step);
  Store(1, [](Identity&, Durable& durable) { durable.undo = {{2, 1}}; });
  const ReplayReport same = ReplayRecords(earlier_, contents_);
  EXPECT_EQ(same.records, 4U);
  EXPECT_TRUE(same.findings.empty());
  const ReplayReport later = ReplayRecords(later_, contents_);
  EXPECT_THAT(Told(later),
              ElementsAre("parked: its step table has no state 2", "parked: its step table has no state 2"));
  EXPECT_EQ(later.findings[0].pid, ProcId(2));
  EXPECT_EQ(later.findings[1].pid, ProcId(4)) << "a state that is still to be undone";
  EXPECT_EQ(later.parked, 2U);
}

TEST_F(RecordReplayTest, WhatHasEndedIsTold) {
  Store(2, [](Identity&, Durable& durable) {
    durable.state = ProcState::kSuccess;
    durable.history.Add(Entry(2, OutcomeKind::kDone), 10);
  });
  Store(1, [](Identity&, Durable& durable) {
    durable.state = ProcState::kRolledBack;
    durable.history.Add(Entry(3, OutcomeKind::kUndone), 10);
  });
  EXPECT_TRUE(ReplayRecords(earlier_, contents_).findings.empty());
  const ReplayReport later = ReplayRecords(later_, contents_);
  EXPECT_EQ(later.unfinished, 0U);
  EXPECT_EQ(later.steps, 2U);
  EXPECT_THAT(Told(later),
              ElementsAre("history: its history has the state 2, which its step table does not have",
                          "history: its history has an undo of LAST, which has none: was the state 3 renumbered?"));
  EXPECT_EQ(later.told_wrongly, 2U);
}

TEST_F(RecordReplayTest, TypesAndDataThatAreNotKnownWouldBeParked) {
  Store(1, [](Identity& id, Durable&) { id.type = "Gone"; });
  Store(1, [](Identity& id, Durable&) { id.data_version = 7; });
  Store(1, [](Identity&, Durable& durable) { durable.data = "\xff\xff"; });
  contents_.records.push_back({ProcId(4), 1, "no record"});
  const ReplayReport report = ReplayRecords(earlier_, contents_);
  EXPECT_EQ(report.records, 4U);
  EXPECT_EQ(report.parked, 4U);
  const std::vector<std::string> told = Told(report);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0], "parked: unknown procedure type Gone");
  EXPECT_EQ(told[1], "parked: data version 7 is newer than 1");
  EXPECT_EQ(told[2], "parked: its data cannot be read");
  EXPECT_TRUE(told[3].starts_with("parked: its record cannot be read: ")) << told[3];
}

TEST_F(RecordReplayTest, TheListIsBoundedAndTheCountIsNot) {
  for (std::size_t i = 0; i < kMostFindings + 5; ++i) Store(2);
  const ReplayReport report = ReplayRecords(later_, contents_);
  EXPECT_EQ(report.findings.size(), kMostFindings);
  EXPECT_EQ(report.parked, kMostFindings + 5);
}

}  // namespace
}  // namespace ratchet::procedure
