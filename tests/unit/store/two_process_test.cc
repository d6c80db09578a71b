// Two real processes race for the store: the owner is stopped (SIGSTOP) at a random moment, another claims, the owner
// continues.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/io/disk.h"
#include "procedure/store/wal_store.h"

namespace ratchet::procedure {
namespace {

constexpr int kExitFenced = 7;
constexpr int kExitFailed = 9;
SystemClock real_clock;

std::unique_ptr<WalStore> Open(const std::string& root) {
  WalStoreOptions options;
  options.segment_bytes = 4096;  // rolls all the time
  options.max_frame_bytes = 4096;
  options.max_segments = 3;
  options.spares = 1;
  return std::make_unique<WalStore>(io::PosixDisk().OpenOrMake(root + "/procedures").value(),
                                    io::PosixDisk().OpenOrMake(root + "/quarantine").value(), real_clock, options);
}

// Commits pid after pid and writes each acknowledged one into the pipe; ends when fenced. Never returns.
[[noreturn]] void RunOwner(const std::string& root, int acknowledged) {
  FaultSpec slow;  // widens the windows inside the claim, before the write, and between sync and CHECK
  slow.action = FaultAction::kDelay;
  slow.delay = Millis(2);
  slow.times = UINT64_MAX;
  for (const char* point : {"store.claimed", "store.before_write", "store.before_check"}) {
    FaultPoints::Instance().Arm(point, slow);
  }
  const auto store = Open(root);
  const auto loaded = store->Claim();
  if (!loaded.ok()) _exit(loaded.error().code() == Code::kFenced ? kExitFenced : kExitFailed);
  std::atomic<int> in_flight{0};
  for (std::uint64_t pid = loaded->max_pid.value() + 1;; ++pid) {
    StoreBatch batch;
    batch.upserts.push_back({ProcId(pid), 1, std::string(100, 'x')});
    ++in_flight;
    store->Commit(std::move(batch), [&in_flight, acknowledged, pid](Result<std::uint64_t> done) {
      if (!done.ok()) _exit(done.error().code() == Code::kFenced ? kExitFenced : kExitFailed);
      if (write(acknowledged, &pid, sizeof(pid)) != sizeof(pid)) _exit(kExitFailed);
      --in_flight;
    });
    while (in_flight > 20) usleep(100);
  }
}

// The pids in the pipe: those available now when `wait` is false, all until its other end closes when it is true.
void Drain(int pipe, bool wait, std::set<std::uint64_t>* pids) {
  std::uint64_t pid = 0;
  for (;;) {
    pollfd ready{pipe, POLLIN, 0};
    if (poll(&ready, 1, wait ? 10'000 : 0) <= 0) return;
    if (read(pipe, &pid, sizeof(pid)) != sizeof(pid)) return;
    pids->insert(pid);
  }
}

// One race. Returns how many acknowledged records the successor does not have.
std::size_t LostInOneRace(const std::string& root, Prng& prng) {
  std::filesystem::remove_all(root);
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    RunOwner(root, ends[1]);
  }
  close(ends[1]);
  std::set<std::uint64_t> acknowledged;
  while (acknowledged.size() < 20) {  // it has claimed and is at work
    std::uint64_t pid = 0;
    if (read(ends[0], &pid, sizeof(pid)) != sizeof(pid)) break;
    acknowledged.insert(pid);
  }
  usleep(static_cast<useconds_t>(prng.Below(6000)));
  kill(child, SIGSTOP);
  const auto store = Open(root);
  const auto loaded = store->Claim();
  EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
  kill(child, SIGCONT);
  Drain(ends[0], true, &acknowledged);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(ends[0]);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kExitFenced) << "it ends by itself";
  if (loaded.ok()) {
    for (const auto& record : loaded->records) acknowledged.erase(record.pid.value());
  }
  return acknowledged.size();
}

TEST(TwoProcessTest, AStoppedOwnerAcknowledgesNothingThatItsSuccessorDoesNotHave) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Prng prng(seed);
  char name[] = "/tmp/ratchet-store-XXXXXX";
  const std::string root = mkdtemp(name);
  for (int round = 0; round < 15; ++round) EXPECT_EQ(LostInOneRace(root, prng), 0U) << "round " << round;
  // The race is lost without the rule.
  const ScopedMutant mutant("store.check_before_sync");
  std::size_t lost = 0;
  for (int round = 0; round < 40 && lost == 0; ++round) lost += LostInOneRace(root, prng);
  EXPECT_GT(lost, 0U) << "this test would not notice a CHECK before the sync";
  std::filesystem::remove_all(root);
}

// A process that claims and commits, and the commits that it has acknowledged.
class Racer {
 public:
  explicit Racer(const std::string& root) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      RunOwner(root, ends[1]);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Racer() {
    if (!ended_) kill(pid_, SIGKILL), waitpid(pid_, &status_, 0);
    close(pipe_);
  }
  Racer(const Racer&) = delete;
  Racer& operator=(const Racer&) = delete;

  void Stop() const { kill(pid_, SIGSTOP); }
  void Continue() const { kill(pid_, SIGCONT); }
  // Without waiting.
  bool Ended() {
    Drain(pipe_, false, &acknowledged_);
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  [[nodiscard]] bool Fenced() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == kExitFenced; }
  [[nodiscard]] const std::set<std::uint64_t>& acknowledged() const { return acknowledged_; }

 private:
  pid_t pid_ = 0;
  int pipe_ = -1;
  int status_ = 0;
  bool ended_ = false;
  std::set<std::uint64_t> acknowledged_;
};

bool WaitUntil(const std::function<bool()>& done) {
  for (int i = 0; i < 100'000; ++i) {  // ten seconds and more
    if (done()) return true;
    usleep(100);
  }
  return false;
}

// One claims and is stopped somewhere on its way, another one claims. When both continue, only one remains, and the
// next owner misses no commit that either has acknowledged.
TEST(TwoProcessTest, OfTwoThatRaceForTheEpochOneRemainsAndNothingAcknowledgedIsLost) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Prng prng(seed);
  char name[] = "/tmp/ratchet-store-XXXXXX";
  const std::string root = mkdtemp(name);
  int first_wins = 0;
  for (int round = 0; round < 12; ++round) {
    std::filesystem::remove_all(root);
    Racer first(root);
    usleep(static_cast<useconds_t>(prng.Below(12'000)));
    first.Stop();
    Racer second(root);
    if (!WaitUntil([&] { return second.Ended() || second.acknowledged().size() >= 5; }))
      FAIL() << "the second makes no progress";
    first.Continue();
    ASSERT_TRUE(WaitUntil([&] { return first.Ended() || second.Ended(); })) << "two owners";
    Racer& loser = first.Ended() ? first : second;
    Racer& winner = &loser == &first ? second : first;
    first_wins += &winner == &first ? 1 : 0;
    EXPECT_TRUE(loser.Fenced());
    const std::size_t before = winner.acknowledged().size();
    ASSERT_TRUE(WaitUntil([&] { return winner.Ended() || winner.acknowledged().size() >= before + 5; }));
    winner.Stop();
    const auto store = Open(root);
    const auto loaded = store->Claim();
    ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
    winner.Continue();
    ASSERT_TRUE(WaitUntil([&] { return winner.Ended(); }));
    EXPECT_TRUE(winner.Fenced());
    std::set<std::uint64_t> stored;
    for (const auto& record : loaded->records) stored.insert(record.pid.value());
    for (const Racer* racer : {&first, &second}) {
      for (const std::uint64_t pid : racer->acknowledged())
        EXPECT_TRUE(stored.contains(pid)) << "round " << round << " pid " << pid;
    }
  }
  RecordProperty("first_wins", first_wins);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace ratchet::procedure
