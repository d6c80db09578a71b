// The limits of requests under a clock of the test's own.
#include "regionserver/rpc/throttle_limits.h"

#include <gtest/gtest.h>

#include "common/model/codec.h"

namespace ratchet::regionserver {
namespace {

namespace pb = ::hbase::pb;
using namespace std::chrono_literals;

const TimePoint kStart{std::chrono::hours(5)};

pb::TimedQuota Per(std::uint64_t limit, pb::TimeUnit unit) {
  pb::TimedQuota quota;
  quota.set_soft_limit(limit);
  quota.set_time_unit(unit);
  return quota;
}

TEST(RateLimitTest, GivesAPeriodsWorthAtOnceAndRefillsEvenly) {
  RateLimit limit(10, 1s);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(limit.WaitFor(1, kStart), Millis(0)) << i;
    limit.Use(1);
  }
  EXPECT_EQ(limit.WaitFor(1, kStart), Millis(100));
  EXPECT_EQ(limit.WaitFor(3, kStart + 100ms), Millis(200));
  EXPECT_EQ(limit.WaitFor(1, kStart + 100ms), Millis(0));
  // A limit never allows more than one period, however long no request came.
  EXPECT_EQ(limit.WaitFor(10, kStart + 1h), Millis(0));
  limit.Use(10);
  EXPECT_EQ(limit.WaitFor(1, kStart + 1h), Millis(100));
}

TEST(RateLimitTest, WhatIsMoreThanAPeriodAllowsPassesWhenItIsFullAndIsOwed) {
  RateLimit limit(100, 1s);
  EXPECT_EQ(limit.WaitFor(100'000, kStart), Millis(0));
  limit.Use(100'000);
  EXPECT_EQ(limit.WaitFor(1, kStart), Millis(1'010));  // the debt is at most one period
  limit.Use(-200);
  EXPECT_EQ(limit.WaitFor(100, kStart), Millis(0));
}

TEST(RateLimitTest, ManySmallPartsMakeTheWhole) {
  RateLimit limit(3, 1min);
  limit.Use(3);
  EXPECT_EQ(limit.WaitFor(3, kStart), Millis(60'000));
  for (int i = 1; i < 600; ++i) EXPECT_GT(limit.WaitFor(3, kStart + i * 100ms), Millis(0)) << i;
  EXPECT_EQ(limit.WaitFor(3, kStart + 60s), Millis(0));
}

TEST(ThrottleTextTest, IsHBasesForm) {
  EXPECT_EQ(ThrottleText({LimitKind::kRequests, Millis(1'500)}), "number of requests exceeded - wait 1sec, 500ms");
  EXPECT_EQ(ThrottleText({LimitKind::kReadBytes, Millis(3'723'004)}),
            "read size limit exceeded - wait 1hrs, 2mins, 3sec, 4ms");
  EXPECT_EQ(ThrottleText({LimitKind::kWrites, Millis(7)}), "number of write requests exceeded - wait 7ms");
  EXPECT_EQ(ThrottleText({LimitKind::kWriteUnits, Millis(60'000)}), "write capacity unit exceeded - wait 1mins, 0sec");
  EXPECT_EQ(ThrottleText({LimitKind::kRequestUnits, Millis(7'200'030)}),
            "request capacity unit exceeded - wait 2hrs, 0sec, 30ms");
  EXPECT_EQ(ThrottleText({LimitKind::kRequestBytes, Millis(2'000)}), "request size limit exceeded - wait 2sec");
  EXPECT_EQ(ThrottleText({LimitKind::kReadUnits, Millis(0)}), "read capacity unit exceeded - wait 0ms");
}

TEST(ThrottleLimitsTest, EachKindCountsItsOwn) {
  const ThrottleWork write{1, 0, 1500, 0};
  const ThrottleWork read{0, 1, 0, 100};
  struct Case {
    pb::TimedQuota* (pb::Throttle::*limit)();
    LimitKind kind;
    std::uint64_t of_write, of_read;
  };
  for (const Case& each : {Case{&pb::Throttle::mutable_req_num, LimitKind::kRequests, 1, 1},
                           Case{&pb::Throttle::mutable_req_size, LimitKind::kRequestBytes, 1500, 100},
                           Case{&pb::Throttle::mutable_req_capacity_unit, LimitKind::kRequestUnits, 2, 1},
                           Case{&pb::Throttle::mutable_write_num, LimitKind::kWrites, 1, 0},
                           Case{&pb::Throttle::mutable_write_size, LimitKind::kWriteBytes, 1500, 0},
                           Case{&pb::Throttle::mutable_write_capacity_unit, LimitKind::kWriteUnits, 2, 0},
                           Case{&pb::Throttle::mutable_read_num, LimitKind::kReads, 0, 1},
                           Case{&pb::Throttle::mutable_read_size, LimitKind::kReadBytes, 0, 100},
                           Case{&pb::Throttle::mutable_read_capacity_unit, LimitKind::kReadUnits, 0, 1}}) {
    for (const auto& [work, amount] : {std::pair{write, each.of_write}, std::pair{read, each.of_read}}) {
      pb::Throttle throttle;
      *(throttle.*each.limit)() = Per(3 * std::max<std::uint64_t>(1, amount), pb::HOURS);
      ThrottleLimits limits(throttle);
      for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(limits.WaitFor(work, kStart)) << static_cast<int>(each.kind);
        limits.Use(work);
      }
      const auto wait = limits.WaitFor(work, kStart);
      ASSERT_EQ(wait.has_value(), amount > 0) << static_cast<int>(each.kind);
      if (!wait) continue;
      EXPECT_EQ(wait->kind, each.kind);
      EXPECT_EQ(wait->wait, Millis(20 * 60'000));
    }
  }
}

TEST(ThrottleLimitsTest, WhatWasReadTakesThePlaceOfWhatWasExpected) {
  pb::Throttle throttle;
  *throttle.mutable_read_size() = Per(10'000, pb::SECONDS);
  ThrottleLimits limits(throttle);
  const ThrottleWork read{0, 1, 0, 100};
  EXPECT_FALSE(limits.WaitFor(read, kStart));
  limits.Use(read);
  limits.Correct(100, 15'000);  // 5,000 above the limit
  EXPECT_EQ(limits.WaitFor(read, kStart)->wait, Millis(510));
  limits.Correct(15'000, 0);
  EXPECT_FALSE(limits.WaitFor(read, kStart));
}

class ThrottleTableTest : public testing::Test {
 protected:
  pb::ThrottleOf& Add(std::uint64_t requests) {
    pb::ThrottleOf& of = *list_.add_throttle();
    *of.mutable_quotas()->mutable_throttle()->mutable_req_num() = Per(requests, pb::HOURS);
    return of;
  }
  pb::ThrottleOf& OfUser(const std::string& user, std::uint64_t requests) {
    pb::ThrottleOf& of = Add(requests);
    of.set_user(user);
    return of;
  }
  void Load() {
    list_.set_digest(1);
    list_.set_enabled(enabled_);
    list_.set_may_exceed(may_exceed_);
    table_ = ThrottleTable(list_, table_);
  }
  // Returns how many requests pass before one is refused; at most 100.
  int Passed(const std::string& user, const TableName& table) {
    for (int i = 0; i < 100; ++i) {
      std::vector<ThrottleTable::Shared> taken;
      if (table_.Take(user, table, {1, 0, 10, 0}, kStart, &taken)) return i;
    }
    return 100;
  }

  const TableName t_{"default", "t"};
  const TableName u_{"ns", "u"};
  bool enabled_ = true;
  bool may_exceed_ = false;
  pb::ThrottleList list_;
  ThrottleTable table_;
};

TEST_F(ThrottleTableTest, TheNarrowestQuotaOfAUserCountsAlone) {
  OfUser("ann", 5);
  ToProto(t_, *OfUser("ann", 7).mutable_table());
  OfUser("ann", 9).set_namespace_("ns");
  Load();
  EXPECT_EQ(Passed("ann", t_), 7);
  EXPECT_EQ(Passed("ann", u_), 9);
  EXPECT_EQ(Passed("ann", TableName("other", "x")), 5);
  EXPECT_EQ(Passed("bob", t_), 100);
}

TEST_F(ThrottleTableTest, TableNamespaceAndServerLimitAllUsersButThoseLetOff) {
  ToProto(t_, *Add(3).mutable_table());
  Add(5).set_namespace_("ns");
  Add(10);  // of the servers
  pb::ThrottleOf& let_off = *list_.add_throttle();
  let_off.set_user("root");
  let_off.mutable_quotas()->set_bypass_globals(true);
  Load();
  EXPECT_EQ(Passed("ann", t_), 3);
  EXPECT_EQ(Passed("bob", t_), 0);
  EXPECT_EQ(Passed("ann", u_), 5);
  EXPECT_EQ(Passed("ann", TableName("other", "x")), 2);  // the rest of the server's ten
  EXPECT_EQ(Passed("root", t_), 100);
}

TEST_F(ThrottleTableTest, ARefusedRequestTakesNothing) {
  ToProto(t_, *Add(3).mutable_table());
  Add(4).set_namespace_("default");
  Load();
  EXPECT_EQ(Passed("ann", t_), 3);
  EXPECT_EQ(Passed("ann", t_), 0);
  EXPECT_EQ(Passed("ann", TableName("default", "other")), 1);
}

TEST_F(ThrottleTableTest, RoomOfTheServerMayExceedOtherLimits) {
  ToProto(t_, *Add(3).mutable_table());
  Add(10);
  may_exceed_ = true;
  Load();
  EXPECT_EQ(Passed("ann", t_), 10);
}

TEST_F(ThrottleTableTest, AnotherListGoesOnWhereAnUnchangedLimitIs) {
  ToProto(t_, *Add(3).mutable_table());
  Load();
  EXPECT_EQ(Passed("ann", t_), 3);
  Add(100);
  Load();
  EXPECT_EQ(Passed("ann", t_), 0) << "the same limit is not full again";
  list_.mutable_throttle(0)->mutable_quotas()->mutable_throttle()->mutable_req_num()->set_soft_limit(4);
  Load();
  EXPECT_EQ(Passed("ann", t_), 4);
  enabled_ = false;
  Load();
  EXPECT_FALSE(table_.limits_anything());
}

}  // namespace
}  // namespace ratchet::regionserver
