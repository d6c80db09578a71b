// The order protocol as seen by one server, S19 (executed orders are remembered) and S20 (answers are repeated). The
// names of the cases follow assignment.pml.
#include "regionserver/orders/order_ledger.h"

#include <gtest/gtest.h>

namespace ratchet::regionserver {
namespace {

constexpr ProcId kOpen{11};
constexpr ProcId kClose{12};
const OrderKey kRegion = OrderKey::ForRegion("56f9");

OrderAddress At(std::uint64_t epoch, std::uint32_t attempt) { return {Epoch(epoch), attempt}; }

OrderAnswer Opened() {
  OrderAnswer answer;
  answer.outcome = OrderOutcome::kOpened;
  answer.open_sequence = 7;
  return answer;
}

OrderAnswer Outcome(OrderOutcome outcome) {
  OrderAnswer answer;
  answer.outcome = outcome;
  return answer;
}

TEST(OrderLedger, NewOrderIsExecutedAndItsReportBecomesDue) {
  OrderLedger ledger;
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  EXPECT_TRUE(ledger.UnderWay(kRegion));
  EXPECT_FALSE(ledger.BuildReport(kRegion).has_value());
  EXPECT_EQ(ledger.Executed(kRegion, kOpen, Opened()), std::nullopt);
  EXPECT_EQ(ledger.DrainNewlyDue(), std::vector<OrderKey>{kRegion});
  const auto report = ledger.BuildReport(kRegion);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->pid, kOpen);
  EXPECT_EQ(report->address, At(1, 1));
  EXPECT_EQ(report->answer.outcome, OrderOutcome::kOpened);
  EXPECT_EQ(report->answer.open_sequence, 7u);
  EXPECT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, 1)));
  EXPECT_FALSE(ledger.BuildReport(kRegion).has_value());
}

// FORGET: a server that forgets an executed pid may execute it a second time, after a close.
TEST(OrderLedger, ExecutedOrderIsNeverExecutedAgainButAnsweredAgain) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  ASSERT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, 1)));
  (void)ledger.DrainNewlyDue();
  for (std::uint32_t attempt = 2; attempt < 5; ++attempt) {
    EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(1, attempt)), OrderAdmission::kAnswerAgain);
    EXPECT_EQ(ledger.DrainNewlyDue(), std::vector<OrderKey>{kRegion});
    EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(1, attempt));
    EXPECT_EQ(ledger.BuildReport(kRegion)->answer.outcome, OrderOutcome::kOpened);
    EXPECT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, attempt)));
  }
}

TEST(OrderLedger, LateOpenIsRefusedAfterTheCloseHoweverLongAgo) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  ASSERT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, 1)));
  ASSERT_EQ(ledger.Admit(kRegion, kClose, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kClose, Outcome(OrderOutcome::kClosed));
  ASSERT_TRUE(ledger.Acknowledged(kRegion, kClose, At(1, 1)));
  // The memory of this region still exists after ten thousand other regions.
  for (int i = 0; i < 10'000; ++i) {
    const auto other = OrderKey::ForRegion("r" + std::to_string(i));
    ASSERT_EQ(ledger.Admit(other, ProcId(100 + i), At(1, 1)), OrderAdmission::kExecute);
    ledger.Executed(other, ProcId(100 + i), Opened());
    ASSERT_TRUE(ledger.Acknowledged(other, ProcId(100 + i), At(1, 1)));
  }
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(1, 2)), OrderAdmission::kRefused);
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(9, 1)), OrderAdmission::kRefused) << "not even a newer epoch revives it";
  EXPECT_EQ(ledger.Remembered(kRegion), kClose);
}

// NOREADDR: a repetition while the order is executed must change the answer's address, or the sender waits without end.
TEST(OrderLedger, RepetitionDuringExecutionMovesTheAddress) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(2, 1)), OrderAdmission::kReaddressed);
  ledger.Executed(kRegion, kOpen, Opened());
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(2, 1));
}

TEST(OrderLedger, RepetitionWhileTheReportIsOnItsWaySendsItAgain) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  const auto sent = ledger.BuildReport(kRegion);
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(2, 3)), OrderAdmission::kReaddressed);
  EXPECT_FALSE(ledger.Acknowledged(kRegion, kOpen, sent->address)) << "the newest asker has no answer yet";
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(2, 3));
  EXPECT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(2, 3)));
}

TEST(OrderLedger, OlderAddressNeverReplacesANewerOne) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(2, 2)), OrderAdmission::kExecute);
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(2, 1)), OrderAdmission::kReaddressed);
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(1, 9)), OrderAdmission::kReaddressed);
  ledger.Executed(kRegion, kOpen, Opened());
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(2, 2));
}

TEST(OrderLedger, StaleReportGoesToTheExpectedAddress) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  EXPECT_TRUE(ledger.RefusedAsStale(kRegion, kOpen, At(1, 1), At(2, 2)));
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(2, 2));
  EXPECT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(2, 2)));
}

TEST(OrderLedger, StaleReportThatNobodyExpectsIsDroppedUntilAskedAgain) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  (void)ledger.DrainNewlyDue();
  EXPECT_FALSE(ledger.RefusedAsStale(kRegion, kOpen, At(1, 1), std::nullopt));
  EXPECT_FALSE(ledger.BuildReport(kRegion).has_value());
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(2, 1)), OrderAdmission::kAnswerAgain);
  EXPECT_EQ(ledger.DrainNewlyDue(), std::vector<OrderKey>{kRegion});
}

TEST(OrderLedger, StaleReportThatWasReaddressedMeanwhileIsSentAgain) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(2, 1)), OrderAdmission::kReaddressed);
  EXPECT_TRUE(ledger.RefusedAsStale(kRegion, kOpen, At(1, 1), std::nullopt));
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(2, 1));
}

TEST(OrderLedger, HigherOrderWaitsForTheOlderOneAndTakesItsPlace) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  EXPECT_EQ(ledger.Admit(kRegion, kClose, At(2, 1)), OrderAdmission::kExecuteLater);
  EXPECT_EQ(ledger.Admit(kRegion, kClose, At(2, 2)), OrderAdmission::kReaddressed);
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(2, 2)), OrderAdmission::kRefused);
  EXPECT_EQ(ledger.Executed(kRegion, kOpen, Opened()), kClose);
  EXPECT_FALSE(ledger.BuildReport(kRegion).has_value()) << "the older order's answer has no receiver";
  EXPECT_EQ(ledger.Executed(kRegion, kClose, Outcome(OrderOutcome::kClosed)), std::nullopt);
  EXPECT_EQ(ledger.BuildReport(kRegion)->pid, kClose);
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(2, 2));
}

TEST(OrderLedger, AcknowledgementOfAReplacedOrderChangesNothing) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  ASSERT_EQ(ledger.Admit(kRegion, kClose, At(1, 1)), OrderAdmission::kExecute);
  EXPECT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, 1)));
  EXPECT_FALSE(ledger.RefusedAsStale(kRegion, kOpen, At(1, 1), At(9, 9)));
  EXPECT_TRUE(ledger.UnderWay(kRegion));
  ledger.Executed(kRegion, kClose, Outcome(OrderOutcome::kClosed));
  EXPECT_EQ(ledger.BuildReport(kRegion)->address, At(1, 1));
}

TEST(OrderLedger, FailedOpenIsAnAnswerToo) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  OrderAnswer failed = Outcome(OrderOutcome::kFailedOpen);
  failed.error_message = "a higher opening exists";
  ledger.Executed(kRegion, kOpen, failed);
  ASSERT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, 1)));
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(1, 2)), OrderAdmission::kAnswerAgain)
      << "a failed order is not tried again";
  EXPECT_EQ(ledger.BuildReport(kRegion)->answer.error_message, "a higher opening exists");
}

TEST(OrderLedger, ServerWideOrdersAreForgottenOnlyBelowTheFloor) {
  OrderLedger ledger;
  const auto split_5 = OrderKey::ForProcedure(ProcId(5));
  const auto split_6 = OrderKey::ForProcedure(ProcId(6));
  ASSERT_EQ(ledger.Admit(split_5, ProcId(5), At(1, 1)), OrderAdmission::kExecute);
  ASSERT_EQ(ledger.Admit(split_6, ProcId(6), At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(split_5, ProcId(5), Outcome(OrderOutcome::kDone));
  ASSERT_TRUE(ledger.Acknowledged(split_5, ProcId(5), At(1, 1)));
  EXPECT_EQ(ledger.Admit(split_5, ProcId(5), At(1, 2)), OrderAdmission::kAnswerAgain);
  ASSERT_TRUE(ledger.Acknowledged(split_5, ProcId(5), At(1, 2)));
  ledger.RaiseFloor(ProcId(6));
  EXPECT_EQ(ledger.size(), 1u);
  EXPECT_EQ(ledger.Admit(split_5, ProcId(5), At(1, 3)), OrderAdmission::kRefused)
      << "forgotten, so it must not run again";
  EXPECT_EQ(ledger.Admit(split_6, ProcId(6), At(1, 2)), OrderAdmission::kReaddressed);
}

TEST(OrderLedger, OrderUnderWayBelowTheFloorStillAnswersAndIsThenForgotten) {
  OrderLedger ledger;
  const auto split = OrderKey::ForProcedure(ProcId(5));
  ASSERT_EQ(ledger.Admit(split, ProcId(5), At(1, 1)), OrderAdmission::kExecute);
  ledger.RaiseFloor(ProcId(9));
  ledger.Executed(split, ProcId(5), Outcome(OrderOutcome::kDone));
  EXPECT_TRUE(ledger.BuildReport(split).has_value());
  EXPECT_TRUE(ledger.Acknowledged(split, ProcId(5), At(1, 1)));
  EXPECT_EQ(ledger.size(), 0u);
}

TEST(OrderLedger, FloorNeverFallsAndRefusesWhatItForgets) {
  OrderLedger ledger;
  ASSERT_EQ(ledger.Admit(kRegion, kOpen, At(1, 1)), OrderAdmission::kExecute);
  ledger.Executed(kRegion, kOpen, Opened());
  ASSERT_TRUE(ledger.Acknowledged(kRegion, kOpen, At(1, 1)));
  ledger.RaiseFloor(ProcId(50));
  ledger.RaiseFloor(ProcId(20));
  EXPECT_EQ(ledger.floor(), ProcId(50));
  EXPECT_EQ(ledger.size(), 0u) << "answered, and below it";
  EXPECT_EQ(ledger.Admit(kRegion, kOpen, At(9, 9)), OrderAdmission::kRefused) << "as if it were remembered";
  EXPECT_EQ(ledger.Admit(OrderKey::ForRegion("never heard of"), ProcId(30), At(1, 1)), OrderAdmission::kRefused);
  EXPECT_EQ(ledger.Admit(kRegion, ProcId(), At(1, 1)), OrderAdmission::kRefused) << "no pid";
  ASSERT_EQ(ledger.Admit(kRegion, ProcId(60), At(1, 1)), OrderAdmission::kExecute);
  ledger.RaiseFloor(ProcId(70));
  EXPECT_EQ(ledger.Remembered(kRegion), ProcId(60)) << "it has no answer yet";
  ledger.Executed(kRegion, ProcId(60), Opened());
  ledger.RaiseFloor(ProcId(80));
  EXPECT_TRUE(ledger.BuildReport(kRegion).has_value()) << "nor has its answer been taken";
  ASSERT_TRUE(ledger.Acknowledged(kRegion, ProcId(60), At(1, 1)));
  EXPECT_EQ(ledger.size(), 0u);
}

// The memory grows with the live procedures, not with the regions that were ever here.
TEST(OrderLedger, DoesNotGrowWithTheRegionsThatCameAndWent) {
  OrderLedger ledger;
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    const auto region = OrderKey::ForRegion("r" + std::to_string(i));
    ASSERT_EQ(ledger.Admit(region, ProcId(i), At(1, 1)), OrderAdmission::kExecute);
    ledger.Executed(region, ProcId(i), Opened());
    ASSERT_TRUE(ledger.Acknowledged(region, ProcId(i), At(1, 1)));
    ledger.RaiseFloor(ProcId(i));
    ASSERT_LE(ledger.size(), 1u);
  }
}

}  // namespace
}  // namespace ratchet::regionserver
