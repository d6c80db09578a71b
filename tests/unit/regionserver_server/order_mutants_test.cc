// The rules behind the ledger, each checked with and without: with the rule left out, the harm that assignment.pml
// found must be visible here too (its variants FORGET and NOREADDR).
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "regionserver/orders/order_ledger.h"

namespace ratchet::regionserver {
namespace {

const OrderKey kRegion = OrderKey::ForRegion("56f9");

// Open here, close here, then the open's late duplicate arrives: is the region opened a second time?
bool LateDuplicateIsExecuted() {
  OrderLedger ledger;
  const OrderAddress address{Epoch(1), 1};
  for (const ProcId pid : {ProcId(1), ProcId(2)}) {
    EXPECT_EQ(ledger.Admit(kRegion, pid, address), Admission::kExecute);
    ledger.Executed(kRegion, pid, {});
    EXPECT_TRUE(ledger.Acknowledged(kRegion, pid, address));
  }
  return ledger.Admit(kRegion, ProcId(1), {Epoch(1), 2}) == Admission::kExecute;
}

// Master 1 orders, master 2 orders the same again while it is executed: does the report reach master 2?
bool NewMasterGetsItsAnswer() {
  OrderLedger ledger;
  EXPECT_EQ(ledger.Admit(kRegion, ProcId(1), {Epoch(1), 1}), Admission::kExecute);
  EXPECT_EQ(ledger.Admit(kRegion, ProcId(1), {Epoch(2), 1}), Admission::kReaddressed);
  ledger.Executed(kRegion, ProcId(1), {});
  return ledger.BuildReport(kRegion)->address == OrderAddress{Epoch(2), 1};
}

TEST(OrderMutants, MemoryForLifeKeepsALateOpenFromReviving) { EXPECT_FALSE(LateDuplicateIsExecuted()); }
TEST(OrderMutants, ReaddressingReachesTheNewMaster) { EXPECT_TRUE(NewMasterGetsItsAnswer()); }

#if defined(RATCHET_MUTANTS)
TEST(OrderMutants, ForgettingIsCaught) {
  const ScopedMutant mutant("orders.forget_executed");
  EXPECT_TRUE(LateDuplicateIsExecuted());
}

TEST(OrderMutants, NotReaddressingIsCaught) {
  const ScopedMutant mutant("orders.no_readdress");
  EXPECT_FALSE(NewMasterGetsItsAnswer());
}
#endif

}  // namespace
}  // namespace ratchet::regionserver
