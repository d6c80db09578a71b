// S74 (clock skew limit): clocks that are far off are refused at registration, and shown while a server runs.
#include "master/telemetry/clock_book.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"

namespace ratchet::master {
namespace {

constexpr std::int64_t kWallNow = 1'800'000'000'000;
constexpr Millis kWarning{10'000};
const ServerName kClockServer{"rs1", 16020, 17};
const TimePoint kBegin{};

TEST(ClockBookTest, AnyNumberFromTheWireIsADistance) {
  EXPECT_EQ(ClockSkewMs(kWallNow + 5, kWallNow), 5);
  EXPECT_EQ(ClockSkewMs(kWallNow - 5, kWallNow), -5);
  EXPECT_EQ(ClockSkewMs(0, kWallNow), -kWallNow);
  EXPECT_EQ(ClockSkewMs(UINT64_MAX, kWallNow), INT64_MAX - kWallNow);
  EXPECT_EQ(ClockSkewMs(UINT64_MAX, 0), INT64_MAX);
}

TEST(ClockBookTest, AClockThatIsFarOffIsRefusedInEitherDirection) {
  for (const std::int64_t skew :
       {std::int64_t{30'001}, std::int64_t{-30'001}, std::int64_t{3'600'000}, -kWallNow, INT64_MAX}) {
    const Status refused = CheckClock(kClockServer, skew, Millis(30'000));
    ASSERT_FALSE(refused.ok()) << skew;
    EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kClockOutOfSync)) << refused.error().ToString();
    EXPECT_NE(refused.error().message().find("rs1,16020,17"), std::string::npos);
  }
  for (const std::int64_t skew : {0, 30'000, -30'000})
    EXPECT_TRUE(CheckClock(kClockServer, skew, Millis(30'000)).ok()) << skew;
}

TEST(ClockBookTest, TakingAnyClockIsCaught) {
  EXPECT_FALSE(CheckClock(kClockServer, 3'600'000, Millis(30'000)).ok());
  const ScopedMutant mutant("master.any_clock");
  EXPECT_TRUE(CheckClock(kClockServer, 3'600'000, Millis(30'000)).ok());
}

TEST(ClockBookTest, TheStatusNamesClocksAndRegions) {
  ClockBook book;
  const ServerName other{"rs2", 16020, 18};
  const ServerName third{"rs3", 16020, 19};
  const std::vector<ServerName> online{kClockServer, other, third};
  const auto report = [&](const ServerName& server, std::int64_t skew,
                          const std::vector<ClockBook::AheadRegion>& ahead) {
    book.Put(server, skew, ahead, kBegin);
    book.Put(server, skew, ahead, kBegin);
  };
  report(kClockServer, 9'999, {});
  EXPECT_TRUE(book.Problems(online, kWarning).empty());
  report(kClockServer, 20'000, {{"abc", 3'600'000}});
  const auto problems = book.Problems(online, kWarning);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].since, kBegin);
  EXPECT_EQ(problems[0].text, "rs1,16020,17: its clock is 20000 ms ahead of this master's; correct the wrong clock");
  EXPECT_EQ(problems[1].text, "rs1,16020,17: timestamps of 1 regions are ahead of its clock: abc by 3600000 ms");
  report(other, -20'000, {});
  EXPECT_NE(book.Problems(online, kWarning).back().text.find("2 of 3 servers"), std::string::npos)
      << "the master's own clock";
  // An incarnation that is gone reports nothing, and its successor reports its own clock.
  const ServerName successor{"rs1", 16020, 99};
  EXPECT_EQ(book.Problems({successor, third}, kWarning).size(), 0U);
  report(successor, 0, {});
  EXPECT_EQ(book.Problems({successor, third}, kWarning).size(), 0U);
}

TEST(ClockBookTest, OneHeartbeatThatWasLateIsNoWrongClock) {
  ClockBook book;
  const std::vector<ServerName> online{kClockServer};
  book.Put(kClockServer, -60'000, {}, kBegin);
  EXPECT_TRUE(book.Problems(online, kWarning).empty());
  book.Put(kClockServer, 3, {}, kBegin);
  EXPECT_TRUE(book.Problems(online, kWarning).empty());
  book.Put(kClockServer, -60'000, {}, kBegin);
  EXPECT_TRUE(book.Problems(online, kWarning).empty());
  book.Put(kClockServer, -61'000, {}, kBegin);
  EXPECT_EQ(book.Problems(online, kWarning).size(), 1U);
}

TEST(ClockBookTest, ManyRegionsAreCountedAndOldPagesGo) {
  ClockBook book;
  std::vector<ClockBook::AheadRegion> ahead(1'000, {"abc", 20'000});
  ahead[500] = {"far", 9'000'000};
  book.Put(kClockServer, 0, ahead, kBegin);
  const auto problems = book.Problems({kClockServer}, kWarning);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].text.find("of 1000 regions are ahead of its clock: far by 9000000 ms"), std::string::npos)
      << problems[0].text;
  EXPECT_NE(problems[0].text.find("and 990 more"), std::string::npos) << problems[0].text;
  book.Put({"rs2", 16020, 18}, 0, {}, kBegin + kClockPageAge + Millis(1));
  EXPECT_TRUE(book.Problems({kClockServer}, kWarning).empty());
}

}  // namespace
}  // namespace ratchet::master
