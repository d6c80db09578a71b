#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/history/history_book.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

::ratchet::pb::EndedProcedure Past(std::uint64_t pid, std::int64_t at_ms, const std::string& type = "CreateTable",
                                   const std::string& text = "table=t, regions=1") {
  ::ratchet::pb::EndedProcedure ended;
  ended.set_root(pid);
  auto& info = *ended.mutable_procedure();
  info.set_pid(pid);
  info.set_type(type);
  info.set_state("SUCCESS");
  info.set_text(text);
  info.set_finished(true);
  info.set_updated_wall_ms(static_cast<std::uint64_t>(at_ms));
  info.add_history()->set_step("FINISH");
  return ended;
}

TEST(HistoryFilterTest, FindsTheTableInAText) {
  EXPECT_EQ(TableInText("table=t, regions=3"), "default:t");
  EXPECT_EQ(TableInText("snapshot=s, table=ns:t; x"), "ns:t");
  EXPECT_EQ(TableInText("mytable=t"), "");
  EXPECT_EQ(TableInText("table="), "");
  EXPECT_EQ(TableInText("server=rs1,16020,1"), "");
}

class HistoryTest : public ::testing::Test {
 protected:
  // A master of this epoch; its process is another one than the earlier ones.
  std::unique_ptr<HistoryBook> Book(std::uint64_t epoch, std::vector<::ratchet::pb::EndedProcedure> finished = {}) {
    process_ = disk_.NewProcess();
    auto book = std::make_unique<HistoryBook>(process_->OpenOrMake("/root/history").value(), Epoch(epoch), clock_,
                                              limits_, [] { return Ok(); });
    book->Start([finished = std::move(finished)] { return finished; });
    return book;
  }
  static ::ratchet::pb::ListHistoryResponse List(HistoryBook& book,
                                                 const ::ratchet::pb::ListHistoryRequest& request = {}) {
    while (true) {
      auto answer = book.List(request);
      if (answer.ok()) return *answer;
      EXPECT_EQ(answer.error().code(), Code::kUnavailable) << answer.error().ToString();
      if (answer.error().code() != Code::kUnavailable) return {};
      std::this_thread::yield();  // it reads the existing files
    }
  }
  static std::vector<std::uint64_t> Pids(HistoryBook& book, const ::ratchet::pb::ListHistoryRequest& request = {}) {
    std::vector<std::uint64_t> pids;
    const auto answer = List(book, request);
    for (const auto& ended : answer.procedure()) pids.push_back(ended.procedure().pid());
    return pids;
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_;
  const SystemClock clock_{};
  const std::int64_t now_ = clock_.WallMillis();
  HistoryLimits limits_;
};

TEST_F(HistoryTest, KeepsWhatEndedBeyondAFailover) {
  auto first = Book(1);
  first->Add(Past(1, now_ - 2));
  first->Add(Past(2, now_ - 1));
  EXPECT_THAT(Pids(*first), ElementsAre(2, 1));  // at once, not after the next sync
  first->Stop();
  disk_.PowerFailure();
  auto second = Book(2, {Past(1, now_ - 2), Past(3, now_)});  // 3: the first master had no time to write it
  second->Add(Past(4, now_));
  while (Pids(*second).size() < 4) std::this_thread::yield();
  auto pids = Pids(*second);
  std::sort(pids.begin(), pids.end());
  EXPECT_THAT(pids, ElementsAre(1, 2, 3, 4)) << "none twice";
}

TEST_F(HistoryTest, IsAskedForByTypeTableTimeOutcomeAndTree) {
  auto book = Book(1);
  book->Add(Past(1, now_ - 50'000));
  book->Add(Past(2, now_ - 40'000, "DropTable", "table=ns:u"));
  auto child = Past(4, now_ - 30'000, "AddRegion");
  child.set_root(3);
  child.mutable_procedure()->set_parent(3);
  book->Add(child);
  auto failed = Past(3, now_ - 20'000);
  failed.mutable_procedure()->set_state("ROLLEDBACK");
  book->Add(failed);
  ::ratchet::pb::ListHistoryRequest request;
  request.set_type("CreateTable");
  EXPECT_THAT(Pids(*book, request), ElementsAre(3, 1));
  request.set_outcome("failed");
  EXPECT_THAT(Pids(*book, request), ElementsAre(3));
  request = {};
  request.set_table("ns:u");
  EXPECT_THAT(Pids(*book, request), ElementsAre(2));
  request.set_table("t");
  request.set_limit(1);
  EXPECT_TRUE(List(*book, request).more());
  EXPECT_THAT(Pids(*book, request), ElementsAre(3));
  request = {};
  request.set_since_wall_ms(now_ - 40'000);
  request.set_until_wall_ms(now_ - 30'000);
  EXPECT_THAT(Pids(*book, request), ElementsAre(4, 2));
  request = {};
  request.set_tree_of(4);
  EXPECT_THAT(Pids(*book, request), ElementsAre(3, 4));
  EXPECT_EQ(List(*book, request).procedure(0).procedure().history_size(), 0);
  request.set_steps(true);
  EXPECT_EQ(List(*book, request).procedure(0).procedure().history_size(), 1);
  request.set_outcome("fine");
  EXPECT_EQ(book->List(request).error().code(), Code::kInvalidArgument);
  request = {};
  request.set_table("no table!");
  EXPECT_EQ(book->List(request).error().code(), Code::kInvalidArgument);
}

// A deposed master continues to write in parallel with its successor: each finds its own entries, and both find the
// earlier ones.
TEST_F(HistoryTest, ADeposedMasterDamagesNothing) {
  auto first = Book(1);
  first->Add(Past(1, now_));
  EXPECT_THAT(Pids(*first), ElementsAre(1));
  auto old_process = std::move(process_);
  auto second = Book(2);
  second->Add(Past(2, now_));
  EXPECT_THAT(Pids(*second), ElementsAre(2, 1));
  first->Add(Past(1'000, now_));
  EXPECT_THAT(Pids(*first), ElementsAre(1'000, 1));
  second->Add(Past(3, now_));
  EXPECT_THAT(Pids(*second), ElementsAre(3, 2, 1'000, 1));
  EXPECT_TRUE(List(*second).problem().empty());
}

TEST_F(HistoryTest, ADamagedTailAndADamagedFileLeaveTheRest) {
  auto first = Book(1);
  for (std::uint64_t pid = 1; pid <= 3; ++pid) first->Add(Past(pid, now_));
  first->Stop();
  const std::string file = "/root/history/e0000000000000001-00000001";
  const std::uint64_t size = disk_.Content(file)->size();
  ASSERT_TRUE(disk_.Truncate(file, size - 10).ok());
  auto second = Book(2);
  EXPECT_THAT(Pids(*second), ElementsAre(2, 1));
  second->Stop();
  ASSERT_TRUE(disk_.Overwrite(file, 60, "damage").ok());
  auto third = Book(3);
  third->Add(Past(7, now_));
  EXPECT_THAT(Pids(*third), ::testing::Contains(7));
  ASSERT_TRUE(disk_.Overwrite(file, 0, "no header").ok());
  EXPECT_THAT(Pids(*third), ::testing::Contains(7));
  EXPECT_FALSE(List(*third).problem().empty());
}

TEST_F(HistoryTest, AgeAndSizeBoundIt) {
  limits_.bytes = 1;
  auto first = Book(1);
  first->Add(Past(1, now_ - 2'000'000));
  EXPECT_THAT(Pids(*first), ElementsAre(1)) << "the file that is written to stays";
  first->Stop();
  limits_.bytes = 64U << 20;
  limits_.age = Millis{1'000'000};
  auto second = Book(2);
  second->Add(Past(2, now_));
  EXPECT_THAT(Pids(*second), ::testing::Contains(2));
  while (second->stats().segments != 1) std::this_thread::yield();
  EXPECT_THAT(Pids(*second), ElementsAre(2)) << "what was too old is gone, the rest stays";
  limits_.bytes = 0;  // no entry is kept from now on
  second->Add(Past(3, now_));
  EXPECT_THAT(Pids(*second), ElementsAre(2));
}

TEST_F(HistoryTest, ADiskThatRefusesLosesEntriesAndSaysSo) {
  auto book = Book(1);
  book->Add(Past(1, now_));
  EXPECT_THAT(Pids(*book), ElementsAre(1));
  disk_.SetCapacity(disk_.used_bytes());
  book->Add(Past(2, now_));
  EXPECT_EQ(List(*book).entries_lost(), 1U);
  EXPECT_THAT(Pids(*book), ElementsAre(1));
}

TEST_F(HistoryTest, FailoversAreBesideTheProcedures) {
  auto book = Book(5);
  ::ratchet::pb::Failover failover;
  failover.set_epoch(5);
  failover.set_elected_wall_ms(now_);
  failover.add_step()->set_name("claim the procedure store");
  book->Add(failover);
  book->Add(Past(1, now_));
  ::ratchet::pb::ListHistoryRequest request;
  EXPECT_EQ(List(*book, request).failover_size(), 0);
  request.set_failovers(true);
  request.set_limit(0);
  const auto answer = List(*book, request);
  ASSERT_EQ(answer.failover_size(), 1);
  EXPECT_EQ(answer.failover(0).step(0).name(), "claim the procedure store");
  EXPECT_EQ(answer.procedure_size(), 0);
}

}  // namespace
}  // namespace ratchet::master
