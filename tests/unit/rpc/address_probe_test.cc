// When a process counts as gone ahead of any time-out (S121: early findings are positive).
#include "common/rpc/address_probe.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <unistd.h>

#include <algorithm>

#include <vector>

#include "common/base/mutant.h"
#include "tests/support/manual_time.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

constexpr auto kRefused = ProbeFinding::kRefused;
constexpr auto kSame = ProbeFinding::kSame;
constexpr auto kYounger = ProbeFinding::kYounger;
constexpr auto kUnclear = ProbeFinding::kUnclear;

struct Ran {
  ProbeVerdict verdict;
  std::vector<Millis> at;  // of the probes
};

// The findings in their order; the last one repeats. `takes`: how long a probe takes.
Ran RunWith(const std::vector<ProbeFinding>& findings, Millis takes = Millis{0}) {
  ManualTime clock;
  const TimePoint begun = clock.Now();
  Ran ran{};
  ran.verdict = RunProbeSeries(
      clock,
      [&] {
        ran.at.push_back(std::chrono::duration_cast<Millis>(clock.Now() - begun));
        clock.Advance(takes);
        return findings[std::min(ran.at.size(), findings.size()) - 1];
      },
      [&](Millis wait) {
        clock.Advance(wait);
        return true;
      });
  return ran;
}

TEST(ProbeSeriesTest, TwoRefusalsApartAreADeath) {
  const Ran ran = RunWith({kRefused});
  EXPECT_EQ(ran.verdict, ProbeVerdict::kGone);
  EXPECT_EQ(ran.at, (std::vector{Millis{0}, Millis{3}, Millis{10}}));  // 0 and 3 are not far enough apart
}

TEST(ProbeSeriesTest, AnUnclearFindingBetweenTwoRefusalsBeginsAnew) {
  EXPECT_EQ(RunWith({kRefused, kUnclear, kRefused, kUnclear, kRefused}).verdict, ProbeVerdict::kNoFinding);
  EXPECT_EQ(RunWith({kUnclear, kUnclear, kRefused, kRefused}).verdict, ProbeVerdict::kGone);
}

TEST(ProbeSeriesTest, ANameDecidesAtOnce) {
  EXPECT_EQ(RunWith({kSame}).at.size(), 1U);
  EXPECT_EQ(RunWith({kRefused, kSame}).verdict, ProbeVerdict::kAlive);
  EXPECT_EQ(RunWith({kYounger}).verdict, ProbeVerdict::kGone);
}

TEST(ProbeSeriesTest, SilenceIsNoFinding) {
  const Ran ran = RunWith({kUnclear}, Millis{100});
  EXPECT_EQ(ran.verdict, ProbeVerdict::kNoFinding);
  EXPECT_EQ(ran.at.size(), ProbeSeries::kAt.size());
}

TEST(ProbeSeriesTest, AnEndedPauseEndsIt) {
  ManualTime clock;
  EXPECT_EQ(RunProbeSeries(
                clock, [] { return kRefused; }, [](Millis) { return false; }),
            ProbeVerdict::kNoFinding);
}

class TryConnectTest : public RpcTest {};

TEST_F(TryConnectTest, OnlyAClosedPortRefuses) {
  EXPECT_EQ(TryConnect("127.0.0.1", server_->port(), Millis{60'000}), ConnectOutcome::kAccepted);
  const std::uint16_t port = server_->port();
  server_->Stop();
  EXPECT_EQ(TryConnect("127.0.0.1", port, Millis{60'000}), ConnectOutcome::kRefused);
}

class StoppingServerTest : public RpcTest {
 protected:
  [[nodiscard]] ConnectOutcome ConnectWhileStopping() {
    server_->StopServing();
    return TryConnect("127.0.0.1", server_->port(), Millis{60'000});
  }
};

// A region server closes its logs after its last answer.
TEST_F(StoppingServerTest, ItsAddressRefusesOnlyAtItsEnd) {
  const std::uint16_t port = server_->port();
  EXPECT_EQ(ConnectWhileStopping(), ConnectOutcome::kAccepted);
  server_.reset();
  EXPECT_EQ(TryConnect("127.0.0.1", port, Millis{60'000}), ConnectOutcome::kRefused);
}

TEST_F(StoppingServerTest, AClosedAddressIsNoticed) {
  const ScopedMutant mutant("rpc.refuse_while_stopping");
  EXPECT_EQ(ConnectWhileStopping(), ConnectOutcome::kRefused);
}

// A listening socket whose queue is full answers nothing: the kernel drops what comes.
class FullBacklog {
 public:
  FullBacklog() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(fd_, 0), 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    waiting_.emplace_back(port_);
  }
  ~FullBacklog() { ::close(fd_); }
  FullBacklog(const FullBacklog&) = delete;
  FullBacklog& operator=(const FullBacklog&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
  std::vector<RawClient> waiting_;
};

TEST(SilentAddressTest, SilenceIsNotRefusal) {
  const FullBacklog silent;
  EXPECT_EQ(TryConnect("127.0.0.1", silent.port(), Millis{50}), ConnectOutcome::kUnclear);
}

TEST(SilentAddressTest, TakingSilenceForRefusalIsNoticed) {
  const ScopedMutant mutant("rpc.silence_is_refusal");
  const FullBacklog silent;
  EXPECT_EQ(TryConnect("127.0.0.1", silent.port(), Millis{50}), ConnectOutcome::kRefused);
}

}  // namespace
}  // namespace ratchet::rpc
