#include "regionserver/orders/order_queue.h"

#include <deque>

#include <gtest/gtest.h>

namespace ratchet::regionserver {
namespace {

// Collects work, so that a test decides when an order is executed.
class HeldLanes final : public Lanes {
 public:
  void Run(Lane /*lane*/, std::function<void()> work) override { held_.push_back(std::move(work)); }
  bool RunOne() {
    if (held_.empty()) return false;
    auto work = std::move(held_.front());
    held_.pop_front();
    work();
    return true;
  }
  [[nodiscard]] std::size_t size() const { return held_.size(); }

 private:
  std::deque<std::function<void()>> held_;
};

class OrderQueueTest : public testing::Test {
 protected:
  Order Make(const std::string& region, std::uint64_t pid, std::uint64_t epoch, std::uint32_t attempt,
             OrderOutcome outcome) {
    Order order;
    order.key = OrderKey::ForRegion(region);
    order.pid = ProcId(pid);
    order.address = {Epoch(epoch), attempt};
    order.what = "test order";
    order.execute = [this, pid, outcome] {
      executed_.push_back(pid);
      OrderAnswer answer;
      answer.outcome = outcome;
      return answer;
    };
    return order;
  }
  Status Take(std::uint64_t epoch, Order order) {
    std::vector<Order> orders;
    orders.push_back(std::move(order));
    return desk_.Take(Epoch(epoch), ProcId{}, std::move(orders));
  }

  EpochGuard epochs_;
  HeldLanes lanes_;
  int kicks_ = 0;
  std::vector<std::uint64_t> executed_;
  OrderQueue desk_{epochs_, lanes_, [this] { ++kicks_; }};
};

TEST_F(OrderQueueTest, TakingReturnsBeforeExecution) {
  ASSERT_TRUE(Take(1, Make("r", 5, 1, 1, OrderOutcome::kOpened)).ok());
  EXPECT_TRUE(executed_.empty());
  EXPECT_TRUE(desk_.UnderWay("r"));
  EXPECT_TRUE(lanes_.RunOne());
  EXPECT_EQ(executed_, std::vector<std::uint64_t>{5});
  EXPECT_EQ(kicks_, 1);
  EXPECT_EQ(desk_.DrainNewlyDue().size(), 1u);
}

TEST_F(OrderQueueTest, RepetitionIsNotExecutedAgain) {
  ASSERT_TRUE(Take(1, Make("r", 5, 1, 1, OrderOutcome::kOpened)).ok());
  ASSERT_TRUE(Take(1, Make("r", 5, 1, 2, OrderOutcome::kOpened)).ok());
  while (lanes_.RunOne()) {
  }
  ASSERT_TRUE(Take(2, Make("r", 5, 2, 1, OrderOutcome::kOpened)).ok());
  EXPECT_EQ(lanes_.size(), 0u);
  EXPECT_EQ(executed_, std::vector<std::uint64_t>{5});
  EXPECT_EQ(desk_.BuildReport(OrderKey::ForRegion("r"))->address, (OrderAddress{Epoch(2), 1}));
}

TEST_F(OrderQueueTest, DeposedMastersBatchIsRefusedWhole) {
  ASSERT_TRUE(Take(2, Make("r", 5, 2, 1, OrderOutcome::kOpened)).ok());
  const Status deposed = Take(1, Make("s", 9, 1, 1, OrderOutcome::kOpened));
  ASSERT_FALSE(deposed.ok());
  EXPECT_EQ(deposed.error().code(), Code::kStale);
  while (lanes_.RunOne()) {
  }
  EXPECT_EQ(executed_, std::vector<std::uint64_t>{5});
}

TEST_F(OrderQueueTest, CloseWaitsForTheOpenOfTheSameRegion) {
  ASSERT_TRUE(Take(1, Make("r", 5, 1, 1, OrderOutcome::kOpened)).ok());
  ASSERT_TRUE(Take(1, Make("r", 6, 1, 1, OrderOutcome::kClosed)).ok());
  EXPECT_EQ(lanes_.size(), 1u);
  while (lanes_.RunOne()) {
  }
  EXPECT_EQ(executed_, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(desk_.BuildReport(OrderKey::ForRegion("r"))->answer.outcome, OrderOutcome::kClosed);
}

TEST_F(OrderQueueTest, WaitingOrderThatIsSupersededIsNeverExecuted) {
  ASSERT_TRUE(Take(1, Make("r", 5, 1, 1, OrderOutcome::kOpened)).ok());
  ASSERT_TRUE(Take(1, Make("r", 6, 1, 1, OrderOutcome::kClosed)).ok());
  ASSERT_TRUE(Take(1, Make("r", 7, 1, 1, OrderOutcome::kOpened)).ok());
  while (lanes_.RunOne()) {
  }
  EXPECT_EQ(executed_, (std::vector<std::uint64_t>{5, 7}));
}

}  // namespace
}  // namespace ratchet::regionserver
