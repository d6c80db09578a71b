// The rules behind the ledger, each checked with and without: with the rule left out, the harm that assignment.pml
// found must be visible here too (its variants FORGET and NOREADDR).
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/orders/order_ledger.h"

namespace ratchet::regionserver {
namespace {

const OrderKey kOpening = OrderKey::ForRegion("56f9");

// Open here, close here, then the open's late duplicate arrives. Returns true if the region is opened a second time.
bool LateDuplicateIsExecuted() {
  OrderLedger ledger;
  const OrderAddress address{Epoch(1), 1};
  for (const ProcId pid : {ProcId(1), ProcId(2)}) {
    EXPECT_EQ(ledger.Admit(kOpening, pid, address), OrderAdmission::kExecute);
    ledger.Executed(kOpening, pid, {});
    EXPECT_TRUE(ledger.Acknowledged(kOpening, pid, address));
  }
  return ledger.Admit(kOpening, ProcId(1), {Epoch(1), 2}) == OrderAdmission::kExecute;
}

// Master 1 sends an order, master 2 repeats it while it is executed. Returns true if the report reaches master 2.
bool NewMasterGetsItsAnswer() {
  OrderLedger ledger;
  EXPECT_EQ(ledger.Admit(kOpening, ProcId(1), {Epoch(1), 1}), OrderAdmission::kExecute);
  EXPECT_EQ(ledger.Admit(kOpening, ProcId(1), {Epoch(2), 1}), OrderAdmission::kReaddressed);
  ledger.Executed(kOpening, ProcId(1), {});
  return ledger.BuildReport(kOpening)->address == OrderAddress{Epoch(2), 1};
}

// A split that was answered and then forgotten below the floor. Returns true if its late duplicate runs again.
bool OrderBelowTheFloorIsExecuted() {
  OrderLedger ledger;
  const auto split = OrderKey::ForProcedure(ProcId(5));
  EXPECT_EQ(ledger.Admit(split, ProcId(5), {Epoch(1), 1}), OrderAdmission::kExecute);
  ledger.Executed(split, ProcId(5), {});
  EXPECT_TRUE(ledger.Acknowledged(split, ProcId(5), {Epoch(1), 1}));
  ledger.RaiseFloor(ProcId(6));
  return ledger.Admit(split, ProcId(5), {Epoch(1), 2}) == OrderAdmission::kExecute;
}

// A deposed master's order arrives after the first contact with its successor.
bool DeposedMasterIsTaken() {
  EpochGuard guard;
  EXPECT_TRUE(guard.Admit(Epoch(2)).ok());
  return guard.Admit(Epoch(1)).ok();
}

// Returns true if a new master's first work on meta begins only after the pending work of the old one.
bool RaiseWaitsForLowerWrites() {
  EpochGuard guard;
  auto lower = guard.EnterMetaWork(Epoch(1));
  EXPECT_TRUE(lower.ok());
  std::atomic<bool> entered{false};
  std::thread raiser([&] {
    EXPECT_TRUE(guard.EnterMetaWork(Epoch(2)).ok());
    entered = true;
  });
  // Without the rule the raiser enters before the test can see its wait.
  while (!entered && !guard.waiting()) std::this_thread::yield();
  const bool waited = !entered;
  lower->Release();
  raiser.join();
  return waited;
}

TEST(OrderMutants, FloorRefusesWhatWasForgotten) { EXPECT_FALSE(OrderBelowTheFloorIsExecuted()); }
TEST(OrderMutants, LowerEpochIsRefused) { EXPECT_FALSE(DeposedMasterIsTaken()); }
TEST(OrderMutants, RaisingWaits) { EXPECT_TRUE(RaiseWaitsForLowerWrites()); }
TEST(OrderMutants, MemoryForLifeKeepsALateOpenFromReviving) { EXPECT_FALSE(LateDuplicateIsExecuted()); }
TEST(OrderMutants, ReaddressingReachesTheNewMaster) { EXPECT_TRUE(NewMasterGetsItsAnswer()); }

#if defined(RATCHET_MUTANTS)
TEST(OrderMutants, ForgettingIsCaught) {
  const ScopedMutant mutant("orders.forget_executed");
  EXPECT_TRUE(LateDuplicateIsExecuted());
}

TEST(OrderMutants, NoFloorIsCaught) {
  const ScopedMutant mutant("orders.no_floor");
  EXPECT_TRUE(OrderBelowTheFloorIsExecuted());
}

TEST(OrderMutants, TakingAnyEpochIsCaught) {
  const ScopedMutant mutant("orders.any_epoch");
  EXPECT_TRUE(DeposedMasterIsTaken());
}

TEST(OrderMutants, RaisingWithoutWaitingIsCaught) {
  const ScopedMutant mutant("orders.raise_without_wait");
  EXPECT_FALSE(RaiseWaitsForLowerWrites());
}

TEST(OrderMutants, NotReaddressingIsCaught) {
  const ScopedMutant mutant("orders.no_readdress");
  EXPECT_FALSE(NewMasterGetsItsAnswer());
}
#endif

}  // namespace
}  // namespace ratchet::regionserver
