// S23 (epochs are a second safeguard) and S28 (conditional meta writes): lower epochs are refused, and raising the
// epoch waits for pending writes of lower ones.
#include "regionserver/orders/epoch_guard.h"

#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

namespace ratchet::regionserver {
namespace {

TEST(EpochGuard, RefusesLowerEpochs) {
  EpochGuard guard;
  EXPECT_TRUE(guard.Admit(Epoch(3)).ok());
  EXPECT_TRUE(guard.Admit(Epoch(3)).ok());
  const Status lower = guard.Admit(Epoch(2));
  ASSERT_FALSE(lower.ok());
  EXPECT_EQ(lower.error().code(), Code::kStale);
  EXPECT_EQ(guard.highest(), Epoch(3));
  EXPECT_FALSE(guard.EnterMetaWork(Epoch(2)).ok());
}

TEST(EpochGuard, MetaWorkRaisesTheEpochForOrdersToo) {
  EpochGuard guard;
  {
    auto ticket = guard.EnterMetaWork(Epoch(4));
    ASSERT_TRUE(ticket.ok());
  }
  EXPECT_FALSE(guard.Admit(Epoch(3)).ok());
}

TEST(EpochGuard, WorkOfOneEpochDoesNotWaitForItself) {
  EpochGuard guard;
  auto first = guard.EnterMetaWork(Epoch(4));
  auto second = guard.EnterMetaWork(Epoch(4));
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok());
}

TEST(EpochGuard, HigherEpochWaitsForAdmittedLowerWork) {
  EpochGuard guard;
  auto lower = guard.EnterMetaWork(Epoch(1));
  ASSERT_TRUE(lower.ok());
  std::atomic<bool> lower_released{false};
  bool seen_released = false;
  std::thread raiser([&] {
    auto higher = guard.EnterMetaWork(Epoch(2));
    EXPECT_TRUE(higher.ok());
    seen_released = lower_released.load();
  });
  // The raise refuses newcomers at once, which shows this test that it waits.
  while (guard.highest() < Epoch(2)) std::this_thread::yield();
  EXPECT_FALSE(guard.EnterMetaWork(Epoch(1)).ok());
  lower_released = true;
  lower->Release();
  raiser.join();
  EXPECT_TRUE(seen_released);
}

TEST(EpochGuard, RaisedByAnOrderTheNextMetaWorkStillWaits) {
  EpochGuard guard;
  auto lower = guard.EnterMetaWork(Epoch(1));
  ASSERT_TRUE(lower.ok());
  ASSERT_TRUE(guard.Admit(Epoch(2)).ok());
  std::atomic<bool> lower_released{false};
  std::atomic<bool> started{false};
  bool seen_released = false;
  std::thread worker([&] {
    started = true;
    auto higher = guard.EnterMetaWork(Epoch(2));
    EXPECT_TRUE(higher.ok());
    seen_released = lower_released.load();
  });
  while (!started) std::this_thread::yield();
  lower_released = true;
  lower->Release();
  worker.join();
  EXPECT_TRUE(seen_released);
}

TEST(EpochGuard, OvertakenWhileWaitingIsRefused) {
  EpochGuard guard;
  auto lower = guard.EnterMetaWork(Epoch(1));
  ASSERT_TRUE(lower.ok());
  std::optional<Code> outcome;
  std::thread middle([&] {
    auto ticket = guard.EnterMetaWork(Epoch(2));
    if (!ticket.ok()) outcome = ticket.error().code();
  });
  while (guard.highest() < Epoch(2)) std::this_thread::yield();
  ASSERT_TRUE(guard.Admit(Epoch(3)).ok());
  lower->Release();
  middle.join();
  EXPECT_EQ(outcome, Code::kStale);
}

}  // namespace
}  // namespace ratchet::regionserver
