// SilenceWatch carries out what its judge decides (S124: silence needs three witnesses).
#include "master/process/silence_watch.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/manual_time.h"

namespace ratchet::master {
namespace {

using rpc::PulseEnd;

ServerName Watched(std::uint16_t number) { return {"127.0.0.1", number, 100}; }

// Servers that answer at once, except those in `stopped_`, which never do.
class SilenceWatchTest : public testing::Test {
 protected:
  SilenceWatchTest() : watch_(Deps()) {}

  SilenceWatch::Deps Deps() {
    SilenceWatch::Deps deps{clock_};
    deps.online = [this] { return std::vector<ServerName>(online_.begin(), online_.end()); };
    deps.pulse = [this](const ServerName& asked, const SilenceWatch::Done& done) {
      if (!stopped_.contains(asked)) done(PulseEnd::kAnswered);
    };
    deps.ask_self = [this](const ServerName& asked, const SilenceWatch::Done& done) {
      done(stopped_.contains(asked) ? PulseEnd::kSilent : PulseEnd::kAnswered);
    };
    deps.ask_other = [this](const ServerName& other, const ServerName& suspect, const SilenceWatch::Done& done) {
      asked_.insert(other);
      done(stopped_.contains(suspect) && !others_deny_ ? PulseEnd::kSilent : PulseEnd::kUnclear);
    };
    deps.believe = [this] { return believe_; };
    deps.expire = [this](const ServerName& dead, const std::string& why) {
      online_.erase(dead);
      expired_[dead] = why;
    };
    return deps;
  }
  void Run(Millis duration) {
    for (const TimePoint until = clock_.Now() + duration; clock_.Now() < until;) {
      clock_.Advance(SilenceJudge::kTick);
      watch_.Tick();
    }
  }
  void StopTheSecond() {
    Run(Millis{15'000});  // answers must be known first, or silence means nothing
    stopped_.insert(Watched(2));
    Run(Millis{1'000});
  }

  ManualTime clock_;
  std::set<ServerName> online_{Watched(1), Watched(2), Watched(3), Watched(4)};
  std::set<ServerName> stopped_, asked_;
  std::map<ServerName, std::string> expired_;
  bool others_deny_ = false;
  bool believe_ = true;
  SilenceWatch watch_;
};

TEST_F(SilenceWatchTest, AStoppedServerIsExpiredWithItsReason) {
  StopTheSecond();
  ASSERT_TRUE(expired_.contains(Watched(2)));
  const std::string& why = expired_[Watched(2)];
  EXPECT_EQ(why.rfind("silent: no answer for ", 0), 0U) << why;
  EXPECT_EQ(asked_.size(), 2U);
  for (const ServerName& witness : asked_) EXPECT_NE(why.find(witness.ToString()), std::string::npos) << why;
  EXPECT_EQ(watch_.counts().silent, 1U);
}

TEST_F(SilenceWatchTest, WithoutTheOthersZooKeeperDecides) {
  others_deny_ = true;
  StopTheSecond();
  EXPECT_TRUE(expired_.empty());
  EXPECT_EQ(watch_.counts().not_confirmed, 1U);
}

TEST_F(SilenceWatchTest, TheMassRuleDecidesLast) {
  believe_ = false;
  StopTheSecond();
  EXPECT_TRUE(expired_.empty());
  EXPECT_EQ(watch_.counts().too_many, 1U);
}

TEST_F(SilenceWatchTest, AStandbyAsksNobody) {
  online_.clear();
  StopTheSecond();
  EXPECT_TRUE(asked_.empty());
}

TEST_F(SilenceWatchTest, ItsThreadTicksUntilItIsStopped) {
  watch_.Start();
  watch_.Stop();
  watch_.Stop();
}

}  // namespace
}  // namespace ratchet::master
