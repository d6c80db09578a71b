#include "chaos/report/phase_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/faults/phase_deck.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

FaultLine Met(std::string kind, std::string phase) {
  FaultLine line;
  line.kind = "in-phase";
  line.met = {{std::move(kind), std::move(phase)}};
  return line;
}

TEST(PhaseTableTest, CountsByFaultAndPhase) {
  const auto table = CountPhases({Met("kill-server", "ServerCrash:FENCE"), Met("kill-server", "ServerCrash:FENCE"),
                                  Met("slow-link", "ServerCrash:FENCE")});
  EXPECT_EQ(table.rows.at("ServerCrash:FENCE").at("kill-server"), 2U);
  EXPECT_EQ(table.covered, 1U) << "a fault that is none of the second faults covers no pair";
  EXPECT_GT(table.cells, 150U);
}

TEST(PhaseTableTest, AFaultWithoutEffectCoversNothing) {
  FaultLine line = Met("kill-server", "ServerCrash:FENCE");
  line.error = "not reached";
  const auto table = CountPhases({line});
  EXPECT_EQ(table.covered, 0U);
  EXPECT_EQ(PhaseTableText(table), "");
}

TEST(PhaseTableTest, APhaseThatIsNotProvokedIsCountedAndOwesNothing) {
  const auto table = CountPhases({Met("kill-server", "SplitTableRegion:GIVE_UP")});
  EXPECT_EQ(table.covered, 0U);
  EXPECT_EQ(table.rows.size(), 1U);
}

TEST(PhaseTableTest, AllPairsAreTheWhole) {
  std::vector<FaultLine> faults;
  for (const Phase& phase : AllPhases()) {
    for (const auto second : kSecondFaults) faults.push_back(Met(std::string(second), PhaseName(phase)));
  }
  const auto table = CountPhases(faults);
  EXPECT_EQ(table.covered, table.cells);
  EXPECT_EQ(table.Share(), 1);
}

TEST(PhaseTableTest, TheTextHasPhasesFaultsAndTheShare) {
  const std::string text = PhaseTableText(CountPhases({Met("kill-server", "Activation:claim store")}));
  EXPECT_THAT(text, HasSubstr("Activation:claim store"));
  EXPECT_THAT(text, HasSubstr("kill-meta-holder"));
  EXPECT_THAT(text, HasSubstr("covered: 1 of "));
}

TEST(PhaseOfTest, IsTheStepThatRuns) {
  pb::ProcedureInfo crash;
  crash.set_type("ServerCrash");
  crash.set_state("RUNNABLE");
  crash.set_step("FENCE");
  EXPECT_EQ(PhaseName(*PhaseOf(crash)), "ServerCrash:FENCE");
  crash.set_finished(true);
  EXPECT_FALSE(PhaseOf(crash));
}

TEST(PhaseOfTest, ProcedureWaitingForChildrenIsInItsSpawningStep) {
  pb::ProcedureInfo crash;
  crash.set_type("ServerCrash");
  crash.set_state("WAITING");
  crash.set_step("ASSIGN_REGIONS");
  crash.add_history()->set_step("SPLIT_LOG");
  EXPECT_EQ(PhaseName(*PhaseOf(crash)), "ServerCrash:SPLIT_LOG");
}

TEST(PhaseOfTest, OtherTypesHaveNone) {
  pb::ProcedureInfo table;
  table.set_type("CreateTable");
  table.set_step("PREPARE");
  EXPECT_FALSE(PhaseOf(table));
}

TEST(PhaseDeckTest, EveryPairIsDealtOnceBeforeAnyIsAgain) {
  const std::size_t cells = CountPhases({}).cells;
  PhaseDeck deck(7);
  std::vector<FaultLine> faults;
  for (std::size_t i = 0; i < cells; ++i) {
    const PhasePair pair = deck.Next();
    faults.push_back(Met(std::string(pair.second), PhaseName(pair.phase)));
  }
  EXPECT_EQ(CountPhases(faults).covered, cells);
}

TEST(PhaseDeckTest, APairThatMissedIsDealtAgainAtTheEndOfTheTurn) {
  const std::size_t cells = CountPhases({}).cells;
  PhaseDeck deck(7);
  const PhasePair missed = deck.Next();
  deck.Missed(missed);
  for (std::size_t i = 1; i < cells; ++i) EXPECT_FALSE(deck.Next() == missed);
  EXPECT_TRUE(deck.Next() == missed);
}

}  // namespace
}  // namespace ratchet::chaos
