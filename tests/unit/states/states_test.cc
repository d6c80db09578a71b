// Each state machine's drawing in a README against the table that the program follows. Run from the root of the
// project.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "common/model/region_state.h"
#include "master/cluster/membership.h"
#include "procedure/api/proc_state.h"
#include "procedure/core/node.h"
#include "procedure/core/transition.h"

namespace ratchet {
namespace {

using DrawnMoves = std::set<std::pair<std::string, std::string>>;

// The arrows of the drawing that follows `<!-- moves: NAME -->`; arrows from and to [*] are not moves.
DrawnMoves DrawnIn(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto start = text.find("<!-- moves: " + name + " -->");
  if (start == std::string::npos) return {};
  const std::string drawing = text.substr(start, text.find("\n```\n", start) - start);
  static const std::regex arrow(R"(([A-Za-z_]+) --> ([A-Za-z_]+))");
  DrawnMoves moves;
  for (auto it = std::sregex_iterator(drawing.begin(), drawing.end(), arrow); it != std::sregex_iterator(); ++it) {
    moves.emplace((*it)[1], (*it)[2]);
  }
  return moves;
}

template <class States, class Name>
DrawnMoves Followed(const States& states, Name name) {
  DrawnMoves moves;
  for (const auto from : states) {
    for (const auto to : states) {
      if (from != to && IsLegalMove(from, to)) moves.emplace(name(from), name(to));
    }
  }
  return moves;
}

TEST(StatesTest, OfProceduresAreDrawnAsTheyAre) {
  EXPECT_EQ(DrawnIn("procedure/README.md", "ProcState"), Followed(procedure::kProcStates, procedure::ProcStateName));
}

TEST(StatesTest, PhasesAreDrawnAsTheyAre) {
  EXPECT_EQ(DrawnIn("procedure/README.md", "Phase"), Followed(procedure::kPhases, procedure::PhaseName));
}

TEST(StatesTest, NextActionsAreDrawnAsTheyAre) {
  EXPECT_EQ(DrawnIn("procedure/README.md", "NextActionKind"),
            Followed(procedure::kAllNextActionKinds, procedure::NextActionKindName));
}

TEST(StatesTest, OfRegionsAreDrawnAsTheyAre) {
  EXPECT_EQ(DrawnIn("master/README.md", "RegionState"), Followed(kRegionStates, RegionStateText));
}

TEST(StatesTest, OfServersAreDrawnAsTheyAre) {
  EXPECT_EQ(DrawnIn("master/README.md", "ServerPhase"), Followed(master::kServerPhases, master::ServerPhaseName));
}

TEST(StatesTest, NoProcedureLeavesAFinalStateButAChildThatIsUndone) {
  using procedure::ProcState;
  for (const ProcState to : procedure::kProcStates) {
    EXPECT_EQ(IsLegalMove(ProcState::kRolledBack, to), to == ProcState::kRolledBack);
    EXPECT_EQ(IsLegalMove(ProcState::kSuccess, to), to == ProcState::kSuccess || to == ProcState::kRolledBack);
  }
}

TEST(StatesDeathTest, AnIllegalMoveEndsTheProcess) {
  procedure::ProcState state = procedure::ProcState::kSuccess;
  EXPECT_DEATH(MoveTo(state, procedure::ProcState::kRunnable), "illegal move of a procedure: SUCCESS to RUNNABLE");
}

}  // namespace
}  // namespace ratchet
