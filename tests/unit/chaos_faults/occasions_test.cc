// Every fault point and every type of procedure has its occasion in a table: this test notices a new one without an
// entry, before a run waits for it in vain.
#include "chaos/faults/occasions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/faults/point_faults.h"
#include "common/base/fault_point.h"
#include "master/procedures/register.h"
#include "procedure/api/procedure_registry.h"

namespace ratchet::chaos {
namespace {

TEST(Occasions, EveryFaultPointHasOne) {
  std::vector<std::string> named;
  for (const PointFacts& facts : AllPoints()) named.emplace_back(facts.name);
  EXPECT_THAT(named, testing::UnorderedElementsAreArray(FaultPoints::Instance().Names()));
}

TEST(Occasions, EveryTypeOfProcedureHasOne) {
  procedure::ProcedureRegistry registry;
  master::RegisterMasterProcedures(registry);
  ASSERT_FALSE(registry.Types().empty());
  for (const auto* type : registry.Types()) EXPECT_TRUE(OccasionOfType(type->name).has_value()) << type->name;
}

TEST(Occasions, OrderSelectsOccasionsOfItsType) {
  const auto of = [](const char* name, const char* match) { return OccasionOf({name, match, "crash", 0}); };
  EXPECT_EQ(*of("executor.before_commit", "ServerCrash:SEAL"), Occasion::kServerCrash);
  EXPECT_EQ(*of("executor.after_commit", "RegisterServer:RECORD"), Occasion::kServerReturn);
  EXPECT_EQ(*of("executor.after_commit", "MendTable:WRITE_ROWS"), Occasion::kTable);
  EXPECT_EQ(*of("executor.after_commit", ""), Occasion::kMove);
  EXPECT_EQ(*of("master.before_fence", ""), Occasion::kServerCrash);
  // The text contains "Table", but it is not the type of a procedure of the master.
  const auto guessed = of("executor.before_commit", "TableSplitter:PREPARE");
  ASSERT_FALSE(guessed.ok());
  EXPECT_EQ(guessed.error().code(), Code::kInvalidArgument);
}

TEST(Occasions, AStepOfAnUnknownTypeIsRefusedAtOnce) {
  EXPECT_FALSE(MakePoint("step:TableSplitter:PREPARE").ok());
  EXPECT_TRUE(MakePoint("step:CreateTable:ADD_TO_META").ok());
}

}  // namespace
}  // namespace ratchet::chaos
