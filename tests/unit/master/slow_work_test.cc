// S88 (slow storage work on its own thread): work that may wait long for the storage runs where no order, report or
// answer waits for it.
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "master/repair/reconciler.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class SlowWorkTest : public MasterTest {
 protected:
  Reconciler& reconciler() { return master().logic().reconciler; }
  // After this call, slow work waits until RunWaiting.
  void HoldSlowWork() {
    master().logic().env.slow_work = [this](std::function<void()> work) {
      if (refuses_) return false;
      waiting_.push_back(std::move(work));
      return true;
    };
  }
  void RunWaiting() {
    std::vector<std::function<void()>> now;
    now.swap(waiting_);
    for (const auto& work : now) work();
  }
  std::optional<Status> Compare() {
    answer_.reset();
    reconciler().CompareWithMeta([this](Status status) { answer_ = std::move(status); });
    EXPECT_TRUE(cluster_.RunFor(Millis(100)));
    return answer_;
  }
  bool refuses_ = false;
  std::vector<std::function<void()>> waiting_;
  std::optional<Status> answer_;
};

TEST_F(SlowWorkTest, ComparisonListsDirectoriesOnTheSlowThread) {
  cluster_.Boot(1);
  GivenTable("t", 2);
  HoldSlowWork();
  EXPECT_FALSE(Compare().has_value());
  ASSERT_EQ(waiting_.size(), 1U);
  RunWaiting();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(answer_->ok());
  refuses_ = true;
  ASSERT_TRUE(Compare().has_value());
  EXPECT_EQ(answer_->error().code(), Code::kUnavailable);
  refuses_ = false;
  EXPECT_FALSE(Compare().has_value()) << "the next one begins, and is not treated as the running one";
  EXPECT_EQ(waiting_.size(), 1U);
}

TEST_F(SlowWorkTest, RequestedSurveyRunsOnTheSlowThread) {
  cluster_.Boot(1);
  GivenTable("t", 2);
  HoldSlowWork();
  std::vector<Status> answers;
  const auto look = [&] { reconciler().LookNow([&answers](Status status) { answers.push_back(std::move(status)); }); };
  look();
  EXPECT_TRUE(answers.empty());
  look();
  ASSERT_EQ(answers.size(), 1U) << "one at a time";
  EXPECT_EQ(answers[0].error().code(), Code::kUnavailable);
  EXPECT_EQ(waiting_.size(), 1U);
  RunWaiting();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_TRUE(answers[1].ok());
  refuses_ = true;
  look();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[2].error().code(), Code::kUnavailable);
  refuses_ = false;
  look();
  EXPECT_EQ(waiting_.size(), 1U);
}

TEST_F(SlowWorkTest, NewMasterReadsDescriptorsOnTheSlowThread) {
  cluster_.Boot(1);
  GivenTable("t", 2);
  cluster_.StartMaster();
  HoldSlowWork();
  refuses_ = true;
  ASSERT_TRUE(cluster_.RunFor(Millis(300)));
  EXPECT_FALSE(master().ready()) << "refused: it tries again";
  refuses_ = false;
  ASSERT_TRUE(cluster_.RunUntil([this] { return !waiting_.empty(); }));
  EXPECT_FALSE(master().ready());
  RunWaiting();
  EXPECT_TRUE(cluster_.RunUntil([this] { return master().ready(); }));
  master().logic().env.slow_work = {};
  ExpectServed("t", 2);
}

TEST_F(SlowWorkTest, RunningSlowWorkAtOnceIsNoticed) {
  cluster_.Boot(1);
  GivenTable("t", 2);
  HoldSlowWork();
  const ScopedMutant mutant("master.slow_work_at_once");
  EXPECT_TRUE(Compare().has_value()) << "on the thread that takes the answers of all region servers";
  EXPECT_TRUE(waiting_.empty());
}

}  // namespace
}  // namespace ratchet::master
