// One region on many servers that die, with a source for each one's logs, all at once: the peer gets its writes in
// order.
#include <algorithm>
#include <cstdio>
#include <set>

#include "common/base/mutant.h"
#include "tests/unit/regionserver_replication/replication_world.h"

namespace ratchet::regionserver {
namespace {

class SerialSweep {
 public:
  explicit SerialSweep(std::uint64_t seed) : prng_(seed) {}

  // Openings one after the other, each on some server. They end with a close or with the server's death, and write
  // nothing, or a few cells.
  void Run(int openings) {
    for (int i = 0; i < 3; ++i) Join();
    std::vector<QueuePoint> before;
    for (int i = 0; i < openings; ++i) {
      const std::size_t at = prng_.Below(alive_.size());
      Logs& logs = *alive_[at].logs;
      logs.Write(Turn(true, before));
      for (std::uint64_t left = prng_.Below(4); left > 0; --left)
        logs.Write(EntryOf(fmt::format("{:04}", ++writes_), 1));
      if (prng_.Below(4) == 0) logs.Roll();
      if (prng_.Below(5) == 0) {
        before = {{alive_[at].name, kEndOfQueue, 0}};
        Die(at);
        continue;
      }
      const QueueFile file = logs.Live().files().value().back();
      before = {{alive_[at].name, file.number, file.bytes}};
      logs.Write(Turn(false, {}));
      if (prng_.Below(3) == 0) sink_->FailTheNext(static_cast<int>(prng_.Below(3)));
    }
  }
  [[nodiscard]] bool AwaitAll() {
    return Becomes([&] { return First().size() == static_cast<std::size_t>(writes_); });
  }
  // Each write as it came for the first time.
  [[nodiscard]] std::vector<std::string> First() {
    std::vector<std::string> first;
    std::set<std::string> seen;
    for (std::string& row : sink_->rows())
      if (seen.insert(row).second) first.push_back(std::move(row));
    return first;
  }
  void Stop() {
    sink_->Close();
    sources_.clear();
  }

 private:
  struct Alive {
    std::string name;
    std::shared_ptr<Logs> logs;
    std::size_t source = 0;
  };
  static LogEntry Turn(bool opens, std::vector<QueuePoint> after) {
    LogEntry entry;
    entry.region = "region";
    entry.sequence = 1;
    entry.shipped = {"t", {"f"}, {}, 1'000};
    entry.mark = OpeningMark{opens, std::move(after)};
    return entry;
  }
  void Join() {
    const std::string name = fmt::format("s{},1,1", ++joined_);
    auto logs = std::make_shared<Logs>(name);
    logs->Roll();
    all_.push_back(logs);
    Begin(logs->Live(), LogPosition{});
    alive_.push_back({name, logs, sources_.size() - 1});
  }
  // Its source stops with its kept position, and another one continues from there.
  void Die(std::size_t at) {
    const Alive dead = alive_[at];
    alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(at));
    sources_[dead.source]->RequestStop();
    std::shared_ptr<io::Directory> directory =
        dead.logs->root().OpenDir(kKeptLogsFolder).value()->OpenDir(dead.name).value();
    Begin(QueueOfDead(dead.name, directory), std::nullopt);
    Join();
  }
  void Begin(LogQueue queue, std::optional<LogPosition> start) {
    ReplicationSource::Parts parts;
    parts.peer = "p";
    parts.own_id = kOwnId;
    parts.queue = std::move(queue);
    parts.start = start;
    parts.sink = sink_;
    parts.positions = positions_;
    parts.clock = &clock_;
    auto peer = PeerNamed("p");
    peer.mutable_config()->set_serial(true);
    SourceOptions options = Quick();
    options.wait_every = Millis(2);
    options.save_every = Millis(static_cast<std::int64_t>(prng_.Below(20)));
    options.batch_cells = 1 + prng_.Below(4);
    sources_.push_back(std::make_unique<ReplicationSource>(std::move(parts), peer, options));
  }

  Prng prng_;
  SystemClock clock_;
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  std::shared_ptr<FakePositions> positions_ = std::make_shared<FakePositions>();
  std::vector<std::shared_ptr<Logs>> all_;  // outlive the sources
  std::vector<Alive> alive_;
  std::vector<std::unique_ptr<ReplicationSource>> sources_;
  int joined_ = 0;
  int writes_ = 0;
};

// Returns true if the order is right.
bool RunSweep(std::uint64_t seed) {
  SerialSweep sweep(seed);
  sweep.Run(25);
  EXPECT_TRUE(sweep.AwaitAll()) << "seed " << seed;
  const auto first = sweep.First();
  sweep.Stop();
  return std::is_sorted(first.begin(), first.end());
}

TEST(SerialSweepTest, WritesOfARegionComeInTheirOrder) {
  const std::uint64_t seed = RandomSeed();
  std::puts(fmt::format("seed {}", seed).c_str());
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(RunSweep(seed + i)) << "seed " << seed + i;
}

TEST(SerialSweepTest, AnyOrderIsNoticed) {
  const ScopedMutant mutant("replication.any_order");
  bool noticed = false;
  for (std::uint64_t seed = 1; seed <= 50 && !noticed; ++seed) noticed = !RunSweep(seed);
  EXPECT_TRUE(noticed);
}

}  // namespace
}  // namespace ratchet::regionserver
