// Writes of one row that share a sync: S126 (same fate as its source).
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "regionserver/filter/comparator_kinds.h"
#include "regionserver/region/row_locks.h"
#include "tests/costs/costs.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kRow = "hot";

AtomicMutation PutIf(const std::string& expected, const std::string& value) {
  AtomicMutation unit = Put(kRow, "q", value);
  unit.condition = Condition{};
  unit.condition->row = kRow;
  unit.condition->family = "f";
  unit.condition->qualifier = "q";
  unit.condition->comparator = filters::MakeBinary(expected);
  return unit;
}

// The first value of a result, or "!" and the error, or "-" if the condition did not hold.
std::string Shown(const Result<MutationResult>& result) {
  if (!result.ok()) return "!" + result.error().remote_class();
  if (!result->processed) return "-";
  std::string text;
  for (const auto& cells : result->results)
    for (const Cell& cell : cells) {
      std::int64_t number = 0;
      text += DecodeInt64(cell.value, number) ? std::to_string(number) : cell.value;
    }
  return text;
}

// One region whose log can be stopped before a sync. While it is stopped, mutations pile up in its queue.
class Place {
 public:
  explicit Place(std::uint64_t max_entry_bytes = 0) {
    if (max_entry_bytes > 0) world.log_options.max_entry_bytes = max_entry_bytes;
    world.Format().value();
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
  }
  ~Place() { Resume(); }

  // The log's thread stops in the sync of another row's write.
  void Stop() {
    FaultPoints::Instance().ArmFromText("log.before_sync=pause").value();
    const std::uint64_t fired = FaultPoints::Instance().Fired("log.before_sync");
    Send(Put("other", "q", "v"));
    while (FaultPoints::Instance().Fired("log.before_sync") == fired) std::this_thread::yield();
    stopped = true;
  }
  void Resume() {
    if (!stopped) return;
    stopped = false;
    FaultPoints::Instance().Disarm("log.before_sync");
    FaultPoints::Instance().Resume("log.before_sync");
  }
  // Returns at once; the answer is in `answers`, in the order of the answers, as "number:answer".
  std::size_t Send(AtomicMutation unit) {
    const std::size_t number = sent++;
    server->region->Mutate(std::move(unit), [this, number](const Result<MutationResult>& result) {
      const MutexLock lock(mutex);
      answers.push_back(fmt::format("{}:{}", number, Shown(result)));
    });
    return number;
  }
  std::vector<std::string> Answers() {
    const MutexLock lock(mutex);
    return answers;
  }
  std::vector<std::string> AllAnswers() {
    Resume();
    while (Answers().size() < sent) std::this_thread::yield();
    return Answers();
  }
  std::string Read() { return world.Read(*server->region, kRow, "q").value(); }
  std::int64_t ReadNumber() {
    std::int64_t number = 0;
    return DecodeInt64(Read(), number) ? number : -1;
  }

  Mutex mutex;  // outlives the server, whose end may answer
  std::vector<std::string> answers GUARDED_BY(mutex);
  std::atomic<std::size_t> sent{0};
  int full = 0;
  bool stopped = false;
  EngineWorld world;
  std::unique_ptr<Server> server;
};

class HotRowTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
};

TEST_F(HotRowTest, IncrementsOfOneRowShareASyncAndAreAnsweredInOrder) {
  Place place;
  place.Stop();
  std::vector<std::string> expected{"0:"};
  for (int i = 1; i <= 64; ++i) {
    place.Send(Increment(kRow, "q", 1));
    expected.push_back(fmt::format("{}:{}", i, i));
  }
  EXPECT_EQ(place.Read(), "") << "no read sees a write before its sync";
  EXPECT_TRUE(place.Answers().empty());
  EXPECT_EQ(place.AllAnswers(), expected);
  EXPECT_EQ(place.ReadNumber(), 64);
  // One sync is that of the write in which the log was stopped.
  costs::ExpectCounts("server.64_increments_of_one_row", {{"log", place.server->log->GetMetrics().syncs - 1}});
}

TEST_F(HotRowTest, IncrementsOfOneBatchShareASync) {
  Place place;
  std::vector<AtomicMutation> units;
  for (int i = 0; i < 30; ++i) units.push_back(Increment(kRow, "q", 1));
  const auto results = place.world.MutateBatch(*place.server->region, units);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Shown(results.at(static_cast<std::size_t>(i))), std::to_string(i + 1));
  EXPECT_LT(place.server->log->GetMetrics().syncs, 30U);
}

TEST_F(HotRowTest, PlanningWithoutTheQueueIsNoticed) {
  const ScopedMutant mutant("region.plan_on_readable");
  Place place;
  place.Stop();
  place.Send(Increment(kRow, "q", 1));
  place.Send(Increment(kRow, "q", 1));
  place.AllAnswers();
  EXPECT_EQ(place.ReadNumber(), 1);
}

TEST_F(HotRowTest, AConditionSeesTheQueueAndItsAnswerWaitsForIt) {
  Place place;
  place.Stop();
  place.Send(Put(kRow, "q", "a"));
  place.Send(PutIf("x", "wrong"));
  place.Send(PutIf("a", "b"));
  place.Send(Increment(kRow, "q", 1));
  EXPECT_TRUE(place.Answers().empty());
  EXPECT_EQ(place.AllAnswers(),
            (std::vector<std::string>{"0:", "1:", "2:-", "3:", "4:!org.apache.hadoop.hbase.DoNotRetryIOException"}));
  EXPECT_EQ(place.Read(), "b");
}

TEST_F(HotRowTest, AnsweringBeforeTheSourceIsNoticed) {
  const ScopedMutant mutant("region.answer_before_source");
  Place place;
  place.Stop();
  place.Send(Put(kRow, "q", "a"));
  place.Send(PutIf("x", "wrong"));
  EXPECT_EQ(place.Answers(), (std::vector<std::string>{"2:-"}));
  place.AllAnswers();
}

TEST_F(HotRowTest, ARetryFindsItsFirstAttemptInTheQueue) {
  const auto counted = [] {
    Place place;
    place.Stop();
    place.Send(Increment(kRow, "q", 1, Nonce{1, 7, {}}));
    place.Send(Increment(kRow, "q", 1, Nonce{1, 7, {}}));
    EXPECT_TRUE(place.Answers().empty());
    EXPECT_EQ(place.AllAnswers().size(), 3U);
    return place.ReadNumber();
  };
  EXPECT_EQ(counted(), 1);
  const ScopedMutant mutant("region.forget_staged_nonces");
  EXPECT_EQ(counted(), 2);
}

// The first write of the row is too large for the log, and is refused in its turn.
std::vector<std::string> AnswersAfterARefusal(Place& place) {
  place.Stop();
  AtomicMutation large = Put(kRow, "q", EncodeInt64(5));
  large.mutations[0].cells.push_back({kRow, "f", "r", kLatestTimestamp, CellType::kPut, std::string(3'000, 'v')});
  place.Send(large);
  place.Send(Increment(kRow, "q", 1));  // of the refused one
  place.Send(Increment(kRow, "q", 1));  // of the one before
  place.Send(PutIf("x", "wrong"));      // an answer without an entry
  place.Send(Put(kRow, "s", "independent"));
  return place.AllAnswers();
}

TEST_F(HotRowTest, AWriteIsRefusedWithItsSource) {
  Place place(2'000);
  const std::string busy = "!org.apache.hadoop.hbase.RegionTooBusyException";
  EXPECT_EQ(AnswersAfterARefusal(place),
            (std::vector<std::string>{"0:", "1:!org.apache.hadoop.hbase.DoNotRetryIOException", "2:" + busy,
                                      "3:" + busy, "4:" + busy, "5:"}));
  EXPECT_EQ(place.Read(), "");
  EXPECT_EQ(place.world.Read(*place.server->region, kRow, "s").value(), "independent");
  place.Send(Increment(kRow, "q", 1));
  EXPECT_EQ(place.AllAnswers().back(), "6:1") << "the row is usable again";
}

TEST_F(HotRowTest, WritingWithoutTheSourceIsNoticed) {
  const ScopedMutant mutant("log.write_without_source");
  Place place(2'000);
  AnswersAfterARefusal(place);
  EXPECT_EQ(place.ReadNumber(), 7) << "two increments of a value that was never written";
}

// The dependant enters the queue while the batch of its source fails, so it belongs to the next batch, for which there
// is space again.
std::vector<std::string> AnswersAfterAFullDisk(Place& place) {
  place.Stop();
  place.Send(Put(kRow, "q", EncodeInt64(5)));
  place.Send(Put("large", "q", std::string(2 << 20, 'v')));  // more than the space that the log has reserved
  place.server->process->SetHook([&place](const io::SimEvent& event) {
    if (event.op != io::SimOp::kReserve || place.full++ > 0) return io::SimVerdict::Proceed();
    place.Send(Increment(kRow, "q", 1));
    return io::SimVerdict::Fail(Code::kNoSpace);
  });
  return place.AllAnswers();
}

TEST_F(HotRowTest, AFullDiskRefusesAWriteAndWhatWasComputedFromIt) {
  Place place;
  const std::string busy = "!org.apache.hadoop.hbase.RegionTooBusyException";
  EXPECT_EQ(AnswersAfterAFullDisk(place), (std::vector<std::string>{"0:", "1:" + busy, "2:" + busy, "3:" + busy}));
  place.Send(Increment(kRow, "q", 1));
  EXPECT_EQ(place.AllAnswers().back(), "4:1");
}

TEST_F(HotRowTest, AFailedSyncAnswersNothingThatDependsOnIt) {  // S6 (failed sync ends the process)
  Place place;
  place.Stop();
  place.Send(Increment(kRow, "q", 1));
  place.Send(Increment(kRow, "q", 1));
  place.Send(PutIf("x", "wrong"));
  place.server->process->SetHook(io::FailOps(io::SimOp::kSyncFile, "log.", Code::kIo));
  place.Resume();
  while (!place.world.died()) std::this_thread::yield();
  place.server->log->Stop();
  for (const std::string& answer : place.Answers()) EXPECT_NE(answer.find('!'), std::string::npos) << answer;
}

TEST_F(HotRowTest, ALostRegionAnswersNothingThatDependsOnIt) {  // S21 (numbered openings)
  Place place;
  place.Stop();
  place.Send(Increment(kRow, "q", 1));
  place.Send(PutIf("x", "wrong"));
  auto other = place.world.Start("b,1,1").value();
  place.world.OpenRegion(*other, 2).value();
  for (const std::string& answer : place.AllAnswers()) EXPECT_NE(answer.find('!'), std::string::npos) << answer;
}

AtomicMutation RandomUnit(Prng& prng) {
  const std::string row = prng.Chance(3, 4) ? kRow : "warm";
  const std::string column = prng.Chance(1, 2) ? "q" : "r";
  const Nonce nonce = prng.Chance(1, 3) ? Nonce{row == kRow ? 1U : 2U, 1 + prng.Below(20), {}} : Nonce{};
  switch (prng.Below(8)) {
    case 0: return Put(row, column, EncodeInt64(static_cast<std::int64_t>(prng.Below(100))));
    case 1: return Put(row, column, "text", 1 + static_cast<std::int64_t>(prng.Below(3)));
    case 2: return Delete(row, column, CellType::kDelete);
    case 3: return Delete(row, column, CellType::kDeleteColumn);
    case 4: return DeleteRow(row);
    case 5: return Append(row, column, "x", nonce);
    case 6: return PutIf(EncodeInt64(static_cast<std::int64_t>(prng.Below(4))), EncodeInt64(1));
    default: return Increment(row, column, 1, nonce);
  }
}

// Answers that depend on no write in the queue may overtake others.
std::map<std::uint64_t, std::string> ByNumber(const std::vector<std::string>& answers) {
  std::map<std::uint64_t, std::string> sorted;
  for (const std::string& answer : answers) sorted[std::stoull(answer)] = answer;
  return sorted;
}

// Operations that run one after the other, and in piles that share a sync, have the same answers and leave the same
// cells.
TEST_F(HotRowTest, PilesInTheQueueChangeNoResult) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Prng prng(seed);
    Place single;
    Place piled;
    std::vector<std::string> expected;
    std::vector<std::string> got;
    for (int pile = 0; pile < 6; ++pile) {
      std::vector<AtomicMutation> units;
      for (std::uint64_t i = prng.Below(12); i > 0; --i) units.push_back(RandomUnit(prng));
      single.Send(Put("other", "q", "v"));
      single.AllAnswers();
      for (const AtomicMutation& unit : units) {
        single.Send(unit);
        single.AllAnswers();
      }
      piled.Stop();
      for (const AtomicMutation& unit : units) piled.Send(unit);
      ASSERT_EQ(ByNumber(piled.AllAnswers()), ByNumber(single.AllAnswers()));
      if (!prng.Chance(1, 3)) continue;
      single.server->region->Flush().value();
      piled.server->region->Flush().value();
    }
    ScanSpec raw;
    raw.raw = true;
    raw.max_versions = 100;
    EXPECT_EQ(piled.world.ScanAll(*piled.server->region, raw).value(),
              single.world.ScanAll(*single.server->region, raw).value());
  }
}

TEST(RowLocksTest, ARowHasABoundForWritesInTheQueue) {
  const auto locks = std::make_shared<RowLocks>(KeyOrder{});
  std::vector<std::shared_ptr<RowLocks::Held>> queued;
  for (std::size_t i = 0; i < RowLocks::kMostStaged; ++i) {
    queued.push_back(locks->Acquire({"a"}, Millis(0)).value());
    queued.back()->Unlock();
  }
  EXPECT_FALSE(locks->Acquire({"a"}, Millis(0)).ok());
  EXPECT_TRUE(locks->Acquire({"b"}, Millis(0)).ok()) << "other rows are free";
  queued.front()->Settle();
  EXPECT_TRUE(locks->Acquire({"a"}, Millis(0)).ok());
  queued.clear();
  EXPECT_EQ(locks->size(), 0U) << "rows without use are forgotten";
}

TEST(RowLocksTest, AWriteThatSettlesBeforeItsLocksAreReleasedLeavesNothing) {
  const auto locks = std::make_shared<RowLocks>(KeyOrder{});
  const auto held = locks->Acquire({"a"}, Millis(0)).value();
  held->Settle();
  EXPECT_FALSE(locks->Acquire({"a"}, Millis(0)).ok()) << "the lock is still held";
  held->Unlock();
  EXPECT_EQ(locks->size(), 0U);
}

TEST(RowLocksTest, WaitersGetTheLockOneAfterTheOther) {
  const auto locks = std::make_shared<RowLocks>(KeyOrder{});
  std::atomic<int> inside{0};
  std::atomic<int> entered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 200; ++turn) {
        const auto held = locks->Acquire({"a", "b"}, Millis(60'000)).value();
        EXPECT_EQ(++inside, 1);
        ++entered;
        --inside;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entered, 1'600);
  EXPECT_EQ(locks->size(), 0U);
}

}  // namespace
}  // namespace ratchet::regionserver
