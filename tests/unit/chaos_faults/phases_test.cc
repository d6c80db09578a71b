// The phases that chaos knows are the steps that the programs have.
#include "chaos/report/phases.h"

#include <set>

#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "master/procedures/register.h"
#include "master/startup/activation.h"
#include "procedure/api/procedure_registry.h"

namespace ratchet::chaos {
namespace {

TEST(PhasesTest, EachStepOfTheirTypesIsOne) {
  procedure::ProcedureRegistry registry;
  master::RegisterMasterProcedures(registry);
  std::set<std::string> steps;
  for (const auto* type : registry.Types()) {
    if (!HasPhases(type->name)) continue;
    for (const auto& row : type->rows) steps.insert(std::string(type->name) + ":" + std::string(row.name));
  }
  using Step = master::ActivationStep;
  for (int step = static_cast<int>(Step::kClaimStore); step < static_cast<int>(Step::kReady); ++step) {
    steps.insert("Activation:" + std::string(master::ActivationStepName(static_cast<Step>(step))));
  }
  std::set<std::string> phases;
  for (const Phase& phase : AllPhases()) phases.insert(PhaseName(phase));
  EXPECT_EQ(phases, steps);
}

TEST(PhasesTest, HoldingThemIsAnOrderThatServersTake) {
  const Status armed = FaultPoints::Instance().ArmFromText(HoldPhases(1));
  EXPECT_TRUE(armed.ok()) << armed.error().ToString();
  EXPECT_TRUE(HitFault("executor.before_commit", "ServerCrash:FENCE").ok());
  EXPECT_TRUE(HitFault("executor.before_commit", "Snapshot:PREPARE").ok());
  EXPECT_TRUE(HitFault("executor.before_commit", "CreateTable:PREPARE").ok());
  EXPECT_EQ(FaultPoints::Instance().Fired("executor.before_commit"), 2U) << "only types with phases are held";
  EXPECT_TRUE(HitFault("master.activation", "claim store").ok());
  EXPECT_EQ(FaultPoints::Instance().Fired("master.activation"), 1U);
  FaultPoints::Instance().DisarmAll();
}

}  // namespace
}  // namespace ratchet::chaos
