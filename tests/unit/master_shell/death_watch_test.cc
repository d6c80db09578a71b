// A region server whose process is gone is expired ahead of its ZooKeeper session, on positive findings only (S121:
// early findings are positive).
#include "master/process/death_watch.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"

namespace ratchet::master {
namespace {

ServerName Server(std::uint16_t number) { return {"127.0.0.1", number, 100}; }

TEST(MassRuleTest, AThirdOfTheServersMayLookDeadAtOnce) {
  MassRule rule;
  const TimePoint now{};
  EXPECT_TRUE(rule.Believe(now, 9));
  EXPECT_TRUE(rule.Believe(now, 8));
  EXPECT_TRUE(rule.Believe(now, 7));
  EXPECT_FALSE(rule.Believe(now, 6));
  EXPECT_FALSE(rule.Believe(now + MassRule::kWithin, 6)) << "those of before still count";
  EXPECT_TRUE(rule.Believe(now + 3 * MassRule::kWithin, 6));
}

TEST(MassRuleTest, OneOfTwoIsBelieved) {
  MassRule rule;
  EXPECT_TRUE(rule.Believe({}, 2));
  EXPECT_FALSE(rule.Believe({}, 1));
}

TEST(MassRuleTest, BelievingAnyNumberIsNoticed) {
  const ScopedMutant mutant("master.believe_any_number");
  MassRule rule;
  EXPECT_TRUE(rule.Believe({}, 2));
  EXPECT_TRUE(rule.Believe({}, 1));
}

// Three servers, which refuse connections when they are in `dead_` or `cut_off_`. The others see only the dead.
class DeathWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    DeathWatch::Deps deps{clock_};
    deps.online = [this] {
      const MutexLock lock(mutex_);
      return std::vector<ServerName>(online_.begin(), online_.end());
    };
    deps.probe = [this](const ServerName& asked) {
      const MutexLock lock(mutex_);
      return dead_.contains(asked) || cut_off_.contains(asked) ? rpc::ProbeFinding::kRefused : rpc::ProbeFinding::kSame;
    };
    deps.ask = [this](const ServerName& other, const ServerName& suspect) -> Result<rpc::ProbeVerdict> {
      const MutexLock lock(mutex_);
      if (dead_.contains(other)) return Error(Code::kUnavailable, "dead");
      return dead_.contains(suspect) ? rpc::ProbeVerdict::kGone : rpc::ProbeVerdict::kAlive;
    };
    deps.expire = [this](const ServerName& dead, const std::string& why) {
      const MutexLock lock(mutex_);
      online_.erase(dead);
      expired_[dead] = why;
    };
    watch_ = std::make_unique<DeathWatch>(std::move(deps));
    for (std::uint16_t i = 1; i <= 3; ++i) watch_->HeardFrom(Server(i), i);
  }
  void Kill(std::uint16_t number) {
    {
      const MutexLock lock(mutex_);
      dead_.insert(Server(number));
    }
    watch_->ConnectionEnded(number);
  }
  std::string WhyExpired(std::uint16_t number) {
    const MutexLock lock(mutex_);
    const auto found = expired_.find(Server(number));
    return found == expired_.end() ? "" : found->second;
  }
  bool Ended(std::uint64_t DeathWatch::Counts::*of, std::uint64_t count = 1) {
    const TimePoint deadline = clock_.Now() + Millis{60'000};
    while (watch_->counts().*of != count && clock_.Now() < deadline) std::this_thread::yield();
    return watch_->counts().*of == count;
  }

  // Only this master cannot reach a server; why the server was expired.
  std::string BehindAFirewall() {
    {
      const MutexLock lock(mutex_);
      cut_off_.insert(Server(2));
    }
    watch_->ConnectionEnded(2);
    const TimePoint deadline = clock_.Now() + Millis{60'000};
    while (watch_->counts().not_confirmed + watch_->counts().gone == 0 && clock_.Now() < deadline)
      std::this_thread::yield();
    return WhyExpired(2);
  }

  SystemClock clock_;
  Mutex mutex_;
  std::set<ServerName> online_{Server(1), Server(2), Server(3)};
  std::set<ServerName> dead_, cut_off_;
  std::map<ServerName, std::string> expired_;
  std::unique_ptr<DeathWatch> watch_;
};

TEST_F(DeathWatchTest, ADeathThatTwoProcessesSeeIsBelieved) {
  Kill(2);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::gone));
  EXPECT_NE(WhyExpired(2).find("of this master and of 127.0.0.1,1,100"), std::string::npos) << WhyExpired(2);
}

TEST_F(DeathWatchTest, AConnectionThatEndsIsNoDeath) {
  watch_->ConnectionEnded(2);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::alive));
  EXPECT_EQ(WhyExpired(2), "");
}

TEST_F(DeathWatchTest, AnOldConnectionSaysNothing) {
  watch_->HeardFrom(Server(2), 12);
  watch_->ConnectionEnded(2);
  watch_->ConnectionEnded(12);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::alive));
}

TEST_F(DeathWatchTest, AFirewallAtTheMasterIsNoDeath) {
  EXPECT_EQ(BehindAFirewall(), "");
  EXPECT_EQ(watch_->counts().not_confirmed, 1U);
}

TEST_F(DeathWatchTest, BelievingTheOwnProbeAloneIsNoticed) {
  ExpectKilled(
      "master.believe_own_probe", [&] { return BehindAFirewall(); }, "refuses connections of this master");
}

TEST_F(DeathWatchTest, ASecondDeathAtOnceIsLeftToZooKeeper) {
  Kill(2);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::gone));
  Kill(3);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::too_many));
  EXPECT_EQ(WhyExpired(3), "");
}

TEST_F(DeathWatchTest, TheLastServerIsLeftToZooKeeper) {
  online_ = {Server(2)};
  Kill(2);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::not_confirmed));
}

TEST_F(DeathWatchTest, OneThatStoppedInOrderIsNotProbed) {
  {
    const MutexLock lock(mutex_);
    online_.erase(Server(2));
    dead_.insert(Server(2));
  }
  watch_->ConnectionEnded(2);
  Kill(3);
  EXPECT_TRUE(Ended(&DeathWatch::Counts::gone));
  EXPECT_EQ(WhyExpired(2), "");
}

}  // namespace
}  // namespace ratchet::master
