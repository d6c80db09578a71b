// Answers are sent until they are accepted, through lost replies and new masters, S20 (answers are repeated).
#include "regionserver/orders/order_reporter.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"
#include "tests/support/manual_time.h"

namespace ratchet::regionserver {
namespace {

class InlineLanes final : public Lanes {
 public:
  void Run(Lane /*lane*/, std::function<void()> work) override { work(); }
};

class FakeMaster final : public MasterPort {
 public:
  struct Call {
    OrderReport report;  // the first one
    std::function<void(Result<ReportVerdict>)> done;
    std::vector<OrderReport> reports;
  };
  void ReportTransitions(const std::vector<OrderReport>& reports,
                         std::function<void(Result<ReportVerdict>)> done) override {
    if (!active) {
      ++refused_at_once;
      const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
      shallowest_frame = std::max(shallowest_frame, here);
      deepest_frame = std::min(deepest_frame, here);
      return done(Error(Code::kUnavailable, "no active master is known"));
    }
    calls.push_back({reports.front(), std::move(done), reports});
  }
  void ReportProceduresDone(const std::vector<OrderReport>& reports, std::function<void(Status)> done) override {
    batches.push_back({reports, std::move(done)});
  }
  Call Next() {
    Call call = std::move(calls.front());
    calls.pop_front();
    return call;
  }
  bool active = true;  // otherwise each report is refused before the call returns
  std::size_t refused_at_once = 0;
  std::uintptr_t shallowest_frame = 0;
  std::uintptr_t deepest_frame = UINTPTR_MAX;
  std::deque<Call> calls;
  std::deque<std::pair<std::vector<OrderReport>, std::function<void(Status)>>> batches;
};

class OrderReporterTest : public testing::Test {
 protected:
  void Give(const OrderKey& key, std::uint64_t pid, std::uint64_t epoch, std::uint32_t attempt) {
    Order order;
    order.key = key;
    order.pid = ProcId(pid);
    order.address = {Epoch(epoch), attempt};
    order.execute = [] {
      OrderAnswer answer;
      answer.outcome = OrderOutcome::kOpened;
      return answer;
    };
    std::vector<Order> orders;
    orders.push_back(std::move(order));
    ASSERT_TRUE(desk_.Take(Epoch(epoch), ProcId{}, std::move(orders)).ok());
  }
  static Result<ReportVerdict> Taken(std::uint64_t epoch = 1) { return ReportVerdict{Epoch(epoch), false, {}}; }
  FakeMaster::Call TwoInOneCall(const OrderKey& a, const OrderKey& b);
  static Error Lost() { return Error(Code::kUnavailable, "connection lost"); }

  ManualTime time_;
  EpochGuard epochs_;
  InlineLanes lanes_;
  FakeMaster master_;
  OrderReporter* kick_target_ = nullptr;
  OrderQueue desk_{epochs_, lanes_, [this] {
                     if (kick_target_ != nullptr) kick_target_->Kick();
                   }};
  OrderReporter reporter_{desk_, epochs_, master_, time_, 1};
  const OrderKey region_ = OrderKey::ForRegion("r");
  void SetUp() override { kick_target_ = &reporter_; }
};

TEST_F(OrderReporterTest, ReportIsSentOnceAndThenDone) {
  Give(region_, 5, 1, 1);
  ASSERT_EQ(master_.calls.size(), 1u);
  master_.Next().done(Taken());
  EXPECT_TRUE(master_.calls.empty());
  EXPECT_EQ(time_.pending(), 0u);
}

TEST_F(OrderReporterTest, LostReplyIsFollowedByAnotherAttemptForEver) {
  Give(region_, 5, 1, 1);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(master_.calls.size(), 1u) << i;
    master_.Next().done(Lost());
    EXPECT_TRUE(master_.calls.empty()) << "waits before it tries again";
    time_.Advance(Millis(1200));
  }
  master_.Next().done(Taken());
  EXPECT_EQ(time_.pending(), 0u);
}

#if defined(RATCHET_MUTANTS)
TEST_F(OrderReporterTest, ReportingOnceIsCaught) {
  const ScopedMutant mutant("orders.report_once");
  Give(region_, 5, 1, 1);
  master_.Next().done(Lost());
  time_.Advance(Millis(10'000));
  EXPECT_TRUE(master_.calls.empty())
      << "the answer is permanently lost: LostReplyIsFollowedByAnotherAttemptForEver fails";
}
#endif

TEST_F(OrderReporterTest, AttemptAfterReaddressingCarriesTheNewestAddress) {
  Give(region_, 5, 1, 1);
  auto first = master_.Next();
  Give(region_, 5, 2, 1);
  first.done(Lost());
  time_.Advance(Millis(1200));
  ASSERT_EQ(master_.calls.size(), 1u);
  EXPECT_EQ(master_.calls.front().report.address, (OrderAddress{Epoch(2), 1}));
}

TEST_F(OrderReporterTest, ReaddressedWhileInFlightIsSentAgainAtOnce) {
  Give(region_, 5, 1, 1);
  auto first = master_.Next();
  Give(region_, 5, 1, 2);
  first.done(Taken());
  ASSERT_EQ(master_.calls.size(), 1u);
  EXPECT_EQ(master_.calls.front().report.address, (OrderAddress{Epoch(1), 2}));
  master_.Next().done(Taken());
  EXPECT_TRUE(master_.calls.empty());
}

TEST_F(OrderReporterTest, StaleWithExpectationIsSentToTheExpectedAddress) {
  Give(region_, 5, 1, 1);
  master_.Next().done(ReportVerdict{Epoch(2), true, OrderAddress{Epoch(2), 4}});
  ASSERT_EQ(master_.calls.size(), 1u);
  EXPECT_EQ(master_.calls.front().report.address, (OrderAddress{Epoch(2), 4}));
}

TEST_F(OrderReporterTest, StaleWithoutExpectationIsDroppedUntilTheOrderComesAgain) {
  Give(region_, 5, 1, 1);
  master_.Next().done(ReportVerdict{Epoch(2), true, std::nullopt});
  EXPECT_TRUE(master_.calls.empty());
  EXPECT_EQ(time_.pending(), 0u);
  Give(region_, 5, 2, 1);
  EXPECT_EQ(master_.calls.size(), 1u);
}

TEST_F(OrderReporterTest, AnswerTeachesTheEpoch) {
  Give(region_, 5, 1, 1);
  master_.Next().done(Taken(7));
  EXPECT_EQ(epochs_.highest(), Epoch(7));
  EXPECT_FALSE(desk_.Take(Epoch(6), ProcId{}, {}).ok()) << "model variant NOLEARN";
}

TEST_F(OrderReporterTest, NewMasterIsToldWithoutWaitingForTheTimer) {
  Give(region_, 5, 1, 1);
  master_.Next().done(Lost());
  ASSERT_TRUE(master_.calls.empty());
  reporter_.RetryNow();
  ASSERT_EQ(master_.calls.size(), 1u);
  time_.Advance(Millis(5000));
  EXPECT_EQ(master_.calls.size(), 1u) << "the old timer finds nothing to do";
}

TEST_F(OrderReporterTest, WindowIsBoundedAndEverythingGetsThrough) {
  for (std::uint64_t i = 0; i < 200; ++i) Give(OrderKey::ForRegion("r" + std::to_string(i)), 10 + i, 1, 1);
  EXPECT_EQ(master_.calls.size(), ReporterOptions{}.max_in_flight);
  std::set<std::string> seen;
  while (!master_.calls.empty()) {
    auto call = master_.Next();
    for (const OrderReport& report : call.reports) seen.insert(report.key.region);
    call.done(Taken());
  }
  EXPECT_EQ(seen.size(), 200u);
}

TEST_F(OrderReporterTest, ReportsThatAreDueTogetherTravelInOneCall) {
  const std::size_t window = ReporterOptions{}.max_in_flight;
  const std::size_t together = ReporterOptions{}.max_transitions;
  for (std::uint64_t i = 0; i < window + 1000; ++i) Give(OrderKey::ForRegion("r" + std::to_string(i)), 10 + i, 1, 1);
  std::size_t calls = 0;
  std::size_t largest = 0;
  for (; !master_.calls.empty(); ++calls) {
    auto call = master_.Next();
    largest = std::max(largest, call.reports.size());
    call.done(Taken());
  }
  EXPECT_EQ(largest, together);
  EXPECT_EQ(calls, window + (1000 + together - 1) / together);
}

// A refusal that comes before the call returns must not send the next report recursively: with thousands of them
// waiting, as after a mass opening without a master, that was a stack overflow.
TEST_F(OrderReporterTest, RefusalsAtOnceNeedNoMoreStackForMoreReports) {
  constexpr std::size_t kReports = 20'000;
  const std::size_t together = ReporterOptions{}.max_transitions;
  master_.active = false;
  for (std::uint64_t i = 0; i < kReports; ++i) Give(OrderKey::ForRegion("r" + std::to_string(i)), 10 + i, 1, 1);
  ASSERT_EQ(master_.refused_at_once, kReports);
  reporter_.RetryNow();
  EXPECT_EQ(master_.refused_at_once, kReports + (kReports + together - 1) / together);
  EXPECT_LT(master_.shallowest_frame - master_.deepest_frame, 16'384u) << "bytes of stack between two sends";
  // All of the reports arrive once there is a master.
  master_.active = true;
  reporter_.RetryNow();
  std::set<std::string> seen;
  while (!master_.calls.empty()) {
    auto call = master_.Next();
    for (const OrderReport& report : call.reports) seen.insert(report.key.region);
    call.done(Taken());
  }
  EXPECT_EQ(seen.size(), kReports);
}

TEST_F(OrderReporterTest, ServerWideAnswersTravelInBatches) {
  Give(OrderKey::ForProcedure(ProcId(20)), 20, 1, 1);
  ASSERT_EQ(master_.batches.size(), 1u);
  for (std::uint64_t pid = 21; pid < 24; ++pid) Give(OrderKey::ForProcedure(ProcId(pid)), pid, 1, 1);
  EXPECT_EQ(master_.batches.size(), 1u) << "one batch at a time";
  auto first = std::move(master_.batches.front());
  master_.batches.pop_front();
  first.second(Lost());
  ASSERT_EQ(master_.batches.size(), 1u);
  EXPECT_EQ(master_.batches.front().first.size(), 3u);
  auto second = std::move(master_.batches.front());
  master_.batches.pop_front();
  second.second(Ok());
  time_.Advance(Millis(1200));
  ASSERT_EQ(master_.batches.size(), 1u);
  ASSERT_EQ(master_.batches.front().first.size(), 1u);
  EXPECT_EQ(master_.batches.front().first.front().pid, ProcId(20));
}

// Fills the window, so that the reports of `a` and `b` travel in one call, and returns that call.
FakeMaster::Call OrderReporterTest::TwoInOneCall(const OrderKey& a, const OrderKey& b) {
  for (std::uint64_t i = 0; i < ReporterOptions{}.max_in_flight; ++i)
    Give(OrderKey::ForRegion("w" + std::to_string(i)), 100 + i, 1, 1);
  Give(a, 5, 1, 1);
  Give(b, 6, 1, 1);
  while (master_.calls.front().reports.size() == 1) master_.Next().done(Taken());
  EXPECT_EQ(master_.calls.front().reports.size(), 2u);
  return master_.Next();
}

TEST_F(OrderReporterTest, AfterARefusalEachReportOfTheCallIsSentAlone) {
  TwoInOneCall(OrderKey::ForRegion("a"), OrderKey::ForRegion("b"))
      .done(ReportVerdict{Epoch(2), true, OrderAddress{Epoch(2), 4}});
  ASSERT_EQ(master_.calls.size(), 2u);
  auto first = master_.Next();
  EXPECT_EQ(first.reports.size(), 1u);
  EXPECT_EQ(first.report.address, (OrderAddress{Epoch(1), 1})) << "the address of another report";
  first.done(Taken());
  auto second = master_.Next();
  EXPECT_EQ(second.reports.size(), 1u);
  second.done(ReportVerdict{Epoch(2), true, OrderAddress{Epoch(2), 4}});
  ASSERT_EQ(master_.calls.size(), 1u);
  EXPECT_EQ(master_.calls.front().report.address, (OrderAddress{Epoch(2), 4}));
  EXPECT_EQ(master_.calls.front().report.key.region, "b");
  master_.Next().done(Taken());
  EXPECT_TRUE(master_.calls.empty());
  EXPECT_EQ(time_.pending(), 0u);
}

TEST_F(OrderReporterTest, OneRefusalForAllIsNoticed) {
  ExpectKilled(
      "orders.stale_for_all",
      [this] {
        TwoInOneCall(OrderKey::ForRegion("a"), OrderKey::ForRegion("b"))
            .done(ReportVerdict{Epoch(2), true, OrderAddress{Epoch(2), 4}});
        ASSERT_FALSE(master_.calls.empty());
        EXPECT_EQ(master_.calls.front().report.address, (OrderAddress{Epoch(1), 1})) << "the address of another report";
      },
      "the address of another report");
}

TEST_F(OrderReporterTest, AReportThatTheMasterCannotReadHoldsUpNoOthers) {
  TwoInOneCall(OrderKey::ForRegion("a"), OrderKey::ForRegion("b"))
      .done(Error(Code::kFailedPrecondition, "transition 9 is not supported"));
  time_.Advance(Millis(1200));
  ASSERT_EQ(master_.calls.size(), 2u);
  EXPECT_EQ(master_.calls.front().reports.size(), 1u);
  master_.Next().done(Taken());
  master_.Next().done(Taken());
  EXPECT_EQ(time_.pending(), 0u);
}

TEST_F(OrderReporterTest, ACallThatDidNotArriveIsSentAgainAsOne) {
  TwoInOneCall(OrderKey::ForRegion("a"), OrderKey::ForRegion("b")).done(Lost());
  reporter_.RetryNow();
  ASSERT_EQ(master_.calls.size(), 1u);
  EXPECT_EQ(master_.calls.front().reports.size(), 2u);
}

TEST_F(OrderReporterTest, StoppedReporterSendsNothing) {
  reporter_.Stop();
  Give(region_, 5, 1, 1);
  EXPECT_TRUE(master_.calls.empty());
}

}  // namespace
}  // namespace ratchet::regionserver
