// A standby removes the registration of an active master whose process is gone, on positive findings only (S121: early
// findings are positive).
#include "master/process/active_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/expect_killed.h"
#include "tests/support/manual_time.h"

namespace ratchet::master {
namespace {

const ServerName kActive{"127.0.0.1", 1, 100};
const ServerName kRegionServer{"127.0.0.1", 2, 100};

class ActiveWatchTest : public testing::Test {
 protected:
  enum class State : std::uint8_t { kAnswers, kDead, kBehindAFirewall, kSilent };

  void SetUp() override {
    ActiveWatch::Deps deps{clock_};
    deps.reaches = [this](const ServerName&) { return Now() == State::kAnswers; };
    deps.probe = [this](const ServerName&) {
      switch (Now()) {
        case State::kAnswers: return rpc::ProbeFinding::kSame;
        case State::kSilent: return rpc::ProbeFinding::kUnclear;
        case State::kDead:
        case State::kBehindAFirewall: break;
      }
      return rpc::ProbeFinding::kRefused;
    };
    deps.region_servers = [this] {
      const MutexLock lock(mutex_);
      return region_servers_;
    };
    deps.ask = [this](const ServerName&, const ServerName&) -> Result<rpc::ProbeVerdict> {
      return Now() == State::kDead ? rpc::ProbeVerdict::kGone : rpc::ProbeVerdict::kAlive;
    };
    deps.remove = [this](const ServerName& dead, const std::string& why) {
      const MutexLock lock(mutex_);
      removed_ = dead.ToString() + ": " + why;
    };
    watch_ = std::make_unique<ActiveWatch>(std::move(deps));
    watch_->Follow(kActive);
  }
  void Becomes(State state) {
    const MutexLock lock(mutex_);
    state_ = state;
  }
  State Now() {
    const MutexLock lock(mutex_);
    return state_;
  }
  std::string Removed() {
    const MutexLock lock(mutex_);
    return removed_;
  }
  bool Ended(std::uint64_t ActiveWatch::Counts::*of) {
    const TimePoint deadline = clock_.Now() + Millis{60'000};
    while (watch_->counts().*of == 0 && clock_.Now() < deadline) std::this_thread::yield();
    return watch_->counts().*of > 0;
  }
  // Only this master cannot reach the active one; what was removed.
  std::string BehindAFirewall() {
    Becomes(State::kBehindAFirewall);
    const TimePoint deadline = clock_.Now() + Millis{60'000};
    while (watch_->counts().not_confirmed + watch_->counts().gone == 0 && clock_.Now() < deadline)
      std::this_thread::yield();
    return Removed();
  }

  SystemClock clock_;
  Mutex mutex_;
  State state_ = State::kAnswers;
  std::vector<ServerName> region_servers_{kRegionServer};
  std::string removed_;
  std::unique_ptr<ActiveWatch> watch_;
};

TEST_F(ActiveWatchTest, ADeathThatARegionServerSeesTooIsBelieved) {
  Becomes(State::kDead);
  EXPECT_TRUE(Ended(&ActiveWatch::Counts::gone));
  EXPECT_EQ(Removed(),
            kActive.ToString() + ": its address refuses connections of this master and of " + kRegionServer.ToString());
}

TEST_F(ActiveWatchTest, AFirewallAtTheStandbyIsNoDeath) {
  EXPECT_EQ(BehindAFirewall(), "");
  EXPECT_TRUE(Ended(&ActiveWatch::Counts::not_confirmed));
}

TEST_F(ActiveWatchTest, BelievingTheOwnProbeAloneIsNoticed) {
  ExpectKilled(
      "master.believe_own_probe_of_master", [&] { return BehindAFirewall(); }, "refuses connections of this master");
}

TEST_F(ActiveWatchTest, SilenceIsLeftToZooKeeper) {
  Becomes(State::kSilent);
  EXPECT_TRUE(Ended(&ActiveWatch::Counts::no_finding));
  EXPECT_EQ(Removed(), "");
}

TEST_F(ActiveWatchTest, WithoutARegionServerZooKeeperDecides) {
  {
    const MutexLock lock(mutex_);
    region_servers_.clear();
  }
  Becomes(State::kDead);
  EXPECT_TRUE(Ended(&ActiveWatch::Counts::not_confirmed));
  EXPECT_EQ(Removed(), "");
}

// The clock does not move, so the time of the next call never comes.
TEST(ActiveWatchEndTest, TheEndOfItsConnectionIsLookedAtAtOnce) {
  const ManualTime time;
  std::atomic<int> calls{0};
  ActiveWatch::Deps deps{time};
  deps.reaches = [&calls](const ServerName&) { return ++calls > 0; };
  ActiveWatch watch(std::move(deps));
  const auto reached = [&calls](int count) {
    const SystemClock clock;
    const TimePoint deadline = clock.Now() + Millis{60'000};
    while (calls < count && clock.Now() < deadline) std::this_thread::yield();
    return calls == count;
  };
  watch.Follow(kActive);
  EXPECT_TRUE(reached(1));
  watch.ConnectionEnded({kActive.host, kActive.port});
  EXPECT_TRUE(reached(2));
  watch.ConnectionEnded({kRegionServer.host, kRegionServer.port});
  watch.Follow(std::nullopt);
  watch.ConnectionEnded({kActive.host, kActive.port});
  watch.Stop();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace ratchet::master
