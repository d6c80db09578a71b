#include "master/page/recovery_book.h"

#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/procedures/crash/server_crash.h"

namespace ratchet::master {
namespace {

std::vector<procedure::StepHistoryEntry> History(std::initializer_list<std::pair<const char*, std::int64_t>> steps) {
  std::vector<procedure::StepHistoryEntry> history;
  for (const auto& [name, begin] : steps) {
    procedure::StepHistoryEntry entry;
    entry.step_name = name;
    entry.begin_ms = begin;
    history.push_back(entry);
  }
  return history;
}

TEST(RecoveryBookTest, APhaseLastsUntilTheNextOneBegins) {
  const auto times = PhaseTimes(History({{"START", 1000},
                                         {"FENCE", 1010},
                                         {"SEAL", 1030},
                                         {"SPLIT_META_LOG", 1060},
                                         {"ASSIGN_META", 1100},
                                         {"GET_REGIONS", 1150},
                                         {"SPLIT_LOG", 1160},
                                         {"ASSIGN_REGIONS", 1300},
                                         {"RETIRE_LOGS", 1700},
                                         {"FINISH", 1705}}),
                                1710);
  // The search for regions right after hbase:meta was assigned counts as part of the phase of hbase:meta.
  EXPECT_EQ(times, (std::array<std::int64_t, 5>{30, 30, 180, 460, 10}));
  EXPECT_EQ(std::accumulate(times.begin(), times.end(), std::int64_t{0}), 710) << "no time is lost";
}

TEST(RecoveryBookTest, AClockThatIsSetBackLosesNothingElse) {
  const auto times = PhaseTimes(History({{"FENCE", 1000}, {"SEAL", 900}, {"FINISH", 950}}), 940);
  EXPECT_EQ(times, (std::array<std::int64_t, 5>{0, 50, 0, 0, 0}));
}

// The phases follow the steps of the crash procedure, whatever steps are added there.
TEST(RecoveryBookTest, EveryStepHasAPhaseOfItsOwnName) {
  for (const auto& row : ServerCrash::Steps()) {
    if (row.name == "GET_REGIONS") continue;  // counts for the phase before it
    EXPECT_EQ(PhaseOfStep(row.name, RecoveryPhase::kFence), PhaseOfStep(row.name, RecoveryPhase::kRetire)) << row.name;
  }
}

TEST(RecoveryBookTest, TheBookCountsEachRecoveryOnceAPhase) {
  RecoveryBook book;
  book.Note({}, 5);  // it is unknown
  book.Note(History({{"START", 0}, {"SEAL", 100}}), 350);
  const LatencySnapshot seal = book.Look(RecoveryPhase::kSeal);
  EXPECT_EQ(seal.sum_us, 250'000U);
  EXPECT_EQ(std::accumulate(seal.counts.begin(), seal.counts.end(), std::uint64_t{0}), 1U);
}

}  // namespace
}  // namespace ratchet::master
