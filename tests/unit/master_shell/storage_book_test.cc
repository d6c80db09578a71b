#include "master/telemetry/storage_book.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/manual_time.h"

namespace ratchet::master {
namespace {

constexpr Millis kLimitOfBook{10'000};

ServerName BookServer(int number) { return ServerName{"h", static_cast<std::uint16_t>(16'020 + number), 1}; }

// Servers that report each second. A server whose storage hangs since `hangs` has an unfinished operation since then. A
// server that has nothing to do reports no state of its storage until it is asked for a proof.
class StorageBookTest : public ::testing::Test {
 protected:
  struct Server {
    std::optional<TimePoint> hangs;
    bool asked = false;
    bool idle = true;
    bool silent = false;
    bool may_withdraw = false;
  };

  void Tick() {
    time_.Advance(Millis(1'000));
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      Server& server = servers_[i];
      if (server.silent) continue;
      StorageReport report;
      report.limit = kLimitOfBook;
      if (server.hangs.has_value() && (!server.idle || server.asked)) report.oldest_unfinished = Age(*server.hangs);
      if (!server.hangs.has_value() && (!server.idle || server.asked)) report.proof = Millis(300);
      const StorageAnswer answer = book_.Put(BookServer(static_cast<int>(i)), report, time_.Now());
      server.asked = answer.prove;
      server.may_withdraw = server.may_withdraw || answer.may_withdraw;
    }
  }
  void Run(int seconds) {
    for (int i = 0; i < seconds; ++i) Tick();
  }
  Millis Age(TimePoint since) const { return std::chrono::duration_cast<Millis>(time_.Now() - since); }
  int Withdrawn() const {
    return static_cast<int>(
        std::count_if(servers_.begin(), servers_.end(), [](const Server& one) { return one.may_withdraw; }));
  }

  ManualTime time_;
  StorageBook book_;
  std::vector<Server> servers_ = std::vector<Server>(3);
};

TEST_F(StorageBookTest, SingleHangingServerMayWithdraw) {
  Run(5);
  servers_[0].hangs = time_.Now();
  servers_[0].idle = false;
  Run(2);
  EXPECT_EQ(book_.HangsFor(BookServer(0), time_.Now()), Millis(2'000));
  EXPECT_EQ(book_.HangsFor(BookServer(1), time_.Now()), std::nullopt);
  Run(6);
  EXPECT_EQ(Withdrawn(), 0) << "not before the limit";
  Run(3);
  EXPECT_TRUE(servers_[0].may_withdraw);
  EXPECT_EQ(Withdrawn(), 1);
}

TEST_F(StorageBookTest, RegionsThatRefuseEverythingAreShown) {  // S120 (unserved region is reported)
  StorageReport report;
  report.unserved_regions = 2;
  report.unserved_why = "region abc: the mark serving.5 is gone";
  static_cast<void>(book_.Put(BookServer(0), report, time_.Now()));
  EXPECT_EQ(book_.Refuses(BookServer(0)),
            "2 open regions refuse every request: region abc: the mark serving.5 is gone");
  EXPECT_EQ(book_.Refuses(BookServer(1)), std::nullopt);
  static_cast<void>(book_.Put(BookServer(0), StorageReport(), time_.Now()));
  EXPECT_EQ(book_.Refuses(BookServer(0)), std::nullopt);
}

TEST_F(StorageBookTest, NoServerMayWithdrawIfAllHang) {
  Run(5);
  for (Server& server : servers_) {
    server.hangs = time_.Now();
    server.idle = false;
  }
  Run(600);
  EXPECT_EQ(Withdrawn(), 0);
  EXPECT_FALSE(book_.AnswersSince(time_.Now() - Millis(20'000), time_.Now()));
}

// The others hang as well, and do not know it: they have nothing to sync, and the requested sync hangs.
TEST_F(StorageBookTest, ServerWithoutProofIsNotBetterOff) {
  Run(5);
  for (Server& server : servers_) server.hangs = time_.Now();
  servers_[0].idle = false;
  Run(600);
  EXPECT_EQ(Withdrawn(), 0);
}

TEST_F(StorageBookTest, TreatingIdleServersAsBetterOffIsNoticed) {
  const ScopedMutant mutant("storage.idle_is_better_off");
  servers_[0].hangs = time_.Now();
  servers_[0].idle = false;
  servers_[1].hangs = time_.Now();
  servers_[2].hangs = time_.Now();
  // They report no state, because the limit of the first server is over before the master can request a state from
  // them.
  for (int i = 0; i < 12; ++i) {
    servers_[1].asked = servers_[2].asked = false;
    Tick();
  }
  EXPECT_GT(Withdrawn(), 0);
}

TEST_F(StorageBookTest, SilentServerIsNotBetterOff) {
  for (Server& server : servers_) server.idle = false;
  Run(3);
  servers_[0].hangs = time_.Now();
  servers_[1].silent = servers_[2].silent = true;
  Run(60);
  EXPECT_EQ(Withdrawn(), 0);
}

// A region whose files hang each server that opens it must not empty the cluster at once.
TEST_F(StorageBookTest, WithdrawalsFollowEachOtherSlowly) {
  for (Server& server : servers_) server.idle = false;
  servers_[0].hangs = time_.Now();
  Run(12);
  ASSERT_TRUE(servers_[0].may_withdraw);
  servers_[0].silent = true;
  servers_[1].hangs = time_.Now();
  Run(40);
  EXPECT_FALSE(servers_[1].may_withdraw);
  Run(25);
  EXPECT_TRUE(servers_[1].may_withdraw) << "the better one waits, but not without end";
}

TEST_F(StorageBookTest, OneThatHangsLongAfterAnotherNeedNotWait) {
  for (Server& server : servers_) server.idle = false;
  servers_[0].hangs = time_.Now();
  Run(12);
  ASSERT_TRUE(servers_[0].may_withdraw);
  servers_[0].silent = true;
  Run(6);
  servers_[1].hangs = time_.Now();
  Run(12);
  EXPECT_TRUE(servers_[1].may_withdraw);
}

TEST_F(StorageBookTest, ServersThatHungTogetherMayWithdrawTogether) {
  for (Server& server : servers_) server.idle = false;
  servers_[0].hangs = servers_[1].hangs = time_.Now();
  Run(12);
  EXPECT_EQ(Withdrawn(), 2);
  EXPECT_FALSE(servers_[2].may_withdraw);
}

TEST(StorageBookRoomTest, AServerThatLacksRoomIsShown) {
  StorageBook book;
  const TimePoint now{std::chrono::seconds(1)};
  StorageReport report;
  book.Put(BookServer(1), report, now);
  EXPECT_EQ(book.LacksRoom(BookServer(1)), std::nullopt);
  report.put_off_compactions = 3;
  report.put_off_why = std::string(100'000, 'x');
  book.Put(BookServer(1), report, now);
  const auto shown = book.LacksRoom(BookServer(1));
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->rfind("3 compactions wait for disk space: x", 0), 0U) << *shown;
  EXPECT_LT(shown->size(), 1'000U);
  EXPECT_EQ(book.LacksRoom(BookServer(2)), std::nullopt);
  book.Put(BookServer(1), StorageReport(), now);
  EXPECT_EQ(book.LacksRoom(BookServer(1)), std::nullopt);
}

}  // namespace
}  // namespace ratchet::master
