#include "chaos/workloads/replication.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>

#include <fmt/core.h>

#include "chaos/cluster/child_process.h"
#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/load.h"
#include "chaos/workloads/replicated_rows.h"
#include "chaos/workloads/second_cluster.h"
#include "common/base/log.h"
#include "common/client/admin.h"
#include "common/client/peers.h"
#include "common/client/table.h"
#include "common/model/replication_peer.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kPeer = "second";
constexpr Millis kBetweenWrites{15};
constexpr Millis kSlice{1'000};  // of a wait that ends early when the load stops
// Longer than a source waits for a peer's answer (10 s), so that deliveries fail instead of being late.
constexpr std::int64_t kLongCutMs = 12'000;
constexpr Millis kGathered{1'500};  // time for which writes wait for the peer before that

class Replication final : public Workload {
 public:
  explicit Replication(WorkloadContext context)
      : context_(std::move(context)),
        second_(context_.second),
        table_("default", context_.table_prefix + "_replicated"),
        rows_(static_cast<std::size_t>(std::max(1, context_.threads))) {}
  ~Replication() override { StopThreads(); }

  [[nodiscard]] std::string_view name() const override { return "replication"; }

  [[nodiscard]] Status Prepare() override {
    if (second_ == nullptr)
      return Error(Code::kFailedPrecondition, "there is no second cluster: only --target local starts one");
    RATCHET_TRY(MakeTable(second_->connection(), 2));
    RATCHET_TRY(MakeTable(context_.connection, std::max(2, context_.regions / 2)));
    hbase::pb::ReplicationPeer config;
    config.set_clusterkey(second_->PeerKey());
    config.set_replicate_all(true);
    config.set_serial(context_.seed % 2 == 1);
    client::Admin admin(context_.connection, kCheckTimeout);
    return admin.WaitOk(client::AddPeer(admin, kPeer, config, /*enabled=*/true));
  }

  void Start() override {
    writers_.Start("replicated", std::max(1, context_.threads), context_.seed,
                   [this](int writer, Prng& prng) { WriteOne(static_cast<std::size_t>(writer), prng); });
    if (second_ == nullptr) return;
    disturber_.Start("second", 1, context_.seed + 1, [this](int /*thread*/, Prng& prng) { Disturb(prng); });
  }
  void AskToStop() override {
    writers_.AskToStop();
    disturber_.AskToStop();
  }
  void Stop() override { StopThreads(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    deadline_ = clock_.Now() + context_.settle;
    for (const auto& [pid, what] : unfinished_)
      procedures_.Add(what, WaitForEnd(context_.connection, pid, [this] { return Late(); }));
    unfinished_.clear();
    std::vector<Finding> findings{Healed()};
    if (findings.front().good) {
      findings.push_back(SameRows());
      findings.push_back(NothingWaits());
    }
    std::string died = "no process of the second cluster ended unexpectedly";
    const auto defects = second_->CollectDefects();
    if (!defects.empty()) died = "of the second cluster:";
    for (const std::string& defect : defects) died += "\n  " + defect;
    findings.push_back({defects.empty(), died});
    findings.push_back(procedures_.Check(context_.connection));
    return findings;
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "replication.txt");
    {
      const MutexLock lock(mutex_);
      out << rows_.ToText();
    }
    out << procedures_.ToText();
    for (const std::string& event : events_) out << event << '\n';
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "replication.txt").string()));
    return Ok();
  }

 private:
  Status MakeTable(client::Connection& connection, int regions) const {
    TableDescriptor descriptor;
    descriptor.name = table_;
    descriptor.families.push_back(DefaultFamily(kLoadFamily));
    descriptor.families.back().attributes[std::string(kReplicationScopeAttribute)] = "1";
    client::Admin admin(connection, kCheckTimeout);
    const Status made = admin.WaitOk(admin.CreateTable(descriptor, EvenPrefixes(regions, true)));
    return made.ok() ? made : made.error().Annotate("making table " + table_.ToString());
  }
  void StopThreads() {
    AskToStop();
    writers_.Stop();
    disturber_.Stop();
  }
  [[nodiscard]] bool Late() const { return clock_.Now() > deadline_; }

  void WriteOne(std::size_t writer, Prng& prng) {
    ReplicatedRows::Write write;
    {
      const MutexLock lock(mutex_);
      write = rows_.Next(writer, prng.Next());
    }
    client::Mutation put = client::Mutation::Put(ReplicatedRows::KeyOf(writer, write.row));
    // A late write of unknown outcome does not hide a newer one.
    put.Set(kLoadFamily, "n", fmt::format("{}", write.number), static_cast<std::int64_t>(write.number));
    client::Table table(context_.connection, table_, kLoadTimeout);
    const auto written = table.Mutate(put);
    if (written.ok()) {
      const MutexLock lock(mutex_);
      rows_.Acknowledged(writer, write);
    }
    tally_.Add(written.ok() ? OperationOutcome::kOk : OutcomeOf(written.error()));
    writers_.Pause(kBetweenWrites);
  }

  // The first disturbance certainly makes deliveries fail: entries that waited for a disabled peer are sent after it is
  // enabled, and are lost.
  void Disturb(Prng& prng) {
    const std::int64_t draw = disturbances_++ == 0 ? 0 : prng.Between(1, 9);
    if (draw == 0) {
      SetPeer(false);
      disturber_.Pause(kGathered);
      CutLink(/*vanish=*/true, Millis(kLongCutMs), [this] { SetPeer(true); });
    } else if (draw <= 3) {
      CutLink(/*vanish=*/draw != 3, Millis(prng.Between(500, kLongCutMs)));
    } else if (draw <= 5) {
      SetPeer(false);
      disturber_.Pause(Millis(prng.Between(200, 5'000)));
      SetPeer(true);
    } else {
      BreakSecond(prng);
    }
    disturber_.Pause(Millis(prng.Between(200, 3'000)));
  }
  void CutLink(bool vanish, Millis time, const std::function<void()>& then = {}) {
    Note(fmt::format("the link is cut for {} ms, what is sent {}", time.count(), vanish ? "is lost" : "waits"));
    second_->CutLink(vanish);
    if (then) then();
    disturber_.Pause(time);
    second_->JoinLink();
    ++cuts_;
  }
  void BreakSecond(Prng& prng) {
    const auto broken = second_->Break(prng);
    Note(broken.ok() ? *broken : "nothing was broken: " + broken.error().ToString());
    if (broken.ok()) ++breaks_;
    disturber_.Pause(Millis(prng.Between(100, 3'000)));
    while (!disturber_.stopping() && !second_->Recover(kSlice).ok()) {
    }
  }
  // Changes the peer until it has this state, or the load stops.
  void SetPeer(bool enabled) {
    if (!PeerIs(enabled, [this] { return disturber_.stopping(); })) return;
    if (!enabled) ++disabled_;
    Note(enabled ? "the peer is enabled" : "the peer is disabled");
  }
  bool PeerIs(bool enabled, const GiveUp& give_up) {
    for (int round = 0; !give_up(); PollPause(round++)) {
      client::Admin admin(context_.connection, kSlice);
      const auto peer = client::DescribePeer(admin, kPeer);
      if (peer.ok() && IsEnabled(peer->state()) == enabled) return true;
      if (!peer.ok()) continue;
      const std::string what = enabled ? "enabling of the peer" : "disabling of the peer";
      const DdlEnd end = RunToEnd(
          context_.connection,
          [enabled](client::Connection& connection) {
            client::Admin asks(connection, kLoadTimeout);
            return enabled ? client::EnablePeer(asks, kPeer) : client::DisablePeer(asks, kPeer);
          },
          give_up);
      if (end.outcome == DdlOutcome::kUnfinished && end.pid) {
        unfinished_[*end.pid] = what;
      } else {
        procedures_.Add(what, end);
      }
    }
    return false;
  }

  [[nodiscard]] Finding Healed() {
    second_->JoinLink();
    const Status serves = second_->Recover(context_.settle);
    if (!serves.ok()) return {false, "the second cluster does not serve: " + serves.error().ToString()};
    if (!PeerIs(true, [this] { return Late(); })) return {false, "the peer cannot be enabled"};
    healed_at_ = clock_.Now();
    return {true, fmt::format("the link was cut {} ({} bytes and connections held back or lost), the peer disabled {}, "
                              "the second cluster broken {}",
                              Counted(cuts_, "time"), second_->Disturbed(), Counted(disabled_, "time"),
                              Counted(breaks_, "time"))};
  }

  [[nodiscard]] Result<ReplicatedRows::Copy> Read(client::Connection& connection) const {
    ReplicatedRows::Copy copy;
    client::Table table(connection, table_, kCheckTimeout);
    auto scanner = table.Scan({});
    for (;;) {
      RATCHET_ASSIGN(const auto row, scanner.Next());
      if (!row.has_value()) return copy;
      const auto text = row->Value(kLoadFamily, "n");
      std::uint64_t number = 0;
      if (text) std::from_chars(text->data(), text->data() + text->size(), number);
      copy[row->key] = number;
    }
  }

  // The first cluster's rows no longer change.
  [[nodiscard]] Finding SameRows() {
    const auto first = Read(context_.connection);
    if (!first.ok()) return {false, "the first cluster's rows cannot be read: " + first.error().ToString()};
    const MutexLock lock(mutex_);
    ReplicatedRows::Comparison compared;
    std::string trouble;
    for (int round = 0;; ++round) {
      const auto there = Read(second_->connection());
      trouble = there.ok() ? "" : "\n  the last reading failed: " + there.error().ToString();
      if (there.ok()) compared = rows_.Compare(*first, *there);
      if ((there.ok() && (compared.good() || compared.lost != 0)) || Late()) break;
      PollPause(round);
    }
    const auto after = std::chrono::duration_cast<Millis>(clock_.Now() - healed_at_).count();
    std::string text = fmt::format(
        "{} rows compared, {} of them acknowledged, {} ms after the last enabling: {} lost at the first cluster, {} "
        "missing at the second one, {} that only the second one has{}",
        compared.compared, rows_.acknowledged(), after, compared.lost, compared.missing, compared.foreign, trouble);
    for (const std::string& wrong : compared.shown) text += "\n  " + wrong;
    return {trouble.empty() && compared.compared != 0 && compared.good(), text};
  }

  [[nodiscard]] Finding NothingWaits() const {
    client::Admin admin(context_.connection, kSlice);
    std::string last;
    for (int round = 0;; ++round) {
      const auto progress = client::ReplicationProgress(admin, "");
      std::uint64_t lag = 0;
      if (progress.ok()) {
        for (const auto& source : progress->source()) lag = std::max<std::uint64_t>(lag, source.progress().lag_ms());
        last = fmt::format("{} of dead servers, lag {} ms",
                           Counted(static_cast<std::uint64_t>(progress->queue_size()), "queue"), lag);
        if (lag == 0 && progress->queue().empty()) return {true, "no entry waits for the peer"};
      } else {
        last = progress.error().ToString();
      }
      if (Late())
        return {false,
                fmt::format("entries wait for the peer {} ms after the load: {}", context_.settle.count(), last)};
      PollPause(round);
    }
  }

  void Note(std::string event) {
    RATCHET_LOG(kInfo, "replication: {}", event);
    constexpr std::size_t kMostEvents = 100'000;
    if (events_.size() < kMostEvents) events_.push_back(std::move(event));
  }

  const WorkloadContext context_;
  SecondCluster* const second_;
  const TableName table_;
  const SystemClock clock_{};
  AcceptedProcedures procedures_;
  Tally tally_;
  Mutex mutex_;
  ReplicatedRows rows_ GUARDED_BY(mutex_);
  // Used by the disturber's thread, and by the driver's thread after it has ended.
  std::map<std::uint64_t, std::string> unfinished_;
  std::vector<std::string> events_;
  std::uint64_t disturbances_ = 0;
  std::uint64_t cuts_ = 0;
  std::uint64_t disabled_ = 0;
  std::uint64_t breaks_ = 0;
  TimePoint deadline_{};
  TimePoint healed_at_{};
  LoadThreads writers_;
  LoadThreads disturber_;
};

}  // namespace

std::unique_ptr<Workload> MakeReplication(WorkloadContext context) {
  return std::make_unique<Replication>(std::move(context));
}

}  // namespace ratchet::chaos
