#include "chaos/workloads/snapshots.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/client/admin.h"
#include "common/client/snapshots.h"
#include "common/client/table.h"

namespace ratchet::chaos {
namespace {

constexpr int kRowsPerThread = 40;
constexpr Millis kBetweenSnapshots{200};
constexpr std::size_t kShownWrongs = 5;

// A row with the same number in both of its columns.
struct GrowingRow {
  std::string key;
  std::uint64_t acknowledged = 0;
  std::uint64_t asked = 0;
};

class Snapshots final : public Workload {
 public:
  explicit Snapshots(WorkloadContext context)
      : context_(std::move(context)),
        table_("default", context_.table_prefix + "_snapshots"),
        clone_("default", context_.table_prefix + "s_clone") {
    const int rows = kRowsPerThread * std::max(1, context_.threads);
    for (int i = 0; i < rows; ++i) rows_.push_back({fmt::format("{:04x}-{}", (i * 65'536) / rows, i), 0, 0});
  }
  ~Snapshots() override { StopThreads(); }

  [[nodiscard]] std::string_view name() const override { return "snapshots"; }
  [[nodiscard]] Status Prepare() override {
    return MakeLoadTable(context_.connection, table_, EvenPrefixes(std::max(2, context_.regions / 2), true));
  }
  void Start() override {
    writers_.Start("grow", std::max(1, context_.threads), context_.seed,
                   [this](int thread, Prng& prng) { Grow(thread, prng); });
    taker_.Start("snapshots", 1, context_.seed + 1, [this](int /*thread*/, Prng& prng) { SnapshotOnce(prng); });
  }
  void AskToStop() override {
    writers_.AskToStop();
    taker_.AskToStop();
  }
  void Stop() override { StopThreads(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    procedures_.Await(context_.connection, std::exchange(unfinished_, {}), kCheckTimeout);
    const std::uint64_t compared = compared_;
    stopped_ = true;
    Prng prng(context_.seed + 2);
    SnapshotOnce(prng);
    std::vector<Finding> findings{CompareFinding(), procedures_.Check(context_.connection)};
    if (compared_ == compared)
      findings.push_back(
          {false, fmt::format("after the load, no snapshot could be cloned and read: {}", last_failure_)});
    return findings;
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "snapshots.txt");
    for (const GrowingRow& row : Now()) out << row.key << ' ' << row.acknowledged << ' ' << row.asked << '\n';
    if (unread_ > 0) out << "unread: " << unread_ << ", the last: " << last_failure_ << '\n';
    out << procedures_.ToText();
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "snapshots.txt").string()));
    return Ok();
  }

 private:
  void StopThreads() {
    AskToStop();
    writers_.Stop();
    taker_.Stop();
  }
  [[nodiscard]] Millis Timeout() const { return stopped_ ? kCheckTimeout : kLoadTimeout; }

  // Each row has one writer, so its numbers come in order; one mutation writes both columns.
  void Grow(int thread, Prng& prng) {
    const std::size_t at = static_cast<std::size_t>(thread) * kRowsPerThread + prng.Below(kRowsPerThread);
    std::string key;
    std::uint64_t number = 0;
    {
      MutexLock lock(mutex_);
      key = rows_[at].key;
      number = ++rows_[at].asked;
    }
    const std::string text = fmt::format("{}", number);
    client::Mutation put = client::Mutation::Put(key);
    // a late write of unknown outcome does not hide a newer one
    const auto version = static_cast<std::int64_t>(number);
    put.Set(kLoadFamily, "a", text, version).Set(kLoadFamily, "b", text, version);
    client::Table table(context_.connection, table_, kLoadTimeout);
    if (table.Mutate(put).ok()) {
      MutexLock lock(mutex_);
      rows_[at].acknowledged = number;
    }
    writers_.Pause(kThinkTime);
  }

  [[nodiscard]] std::vector<GrowingRow> Now() const {
    MutexLock lock(mutex_);
    return rows_;
  }

  // Returns true if it succeeded. `what` is for the evidence.
  bool Run(const DdlRequest& request, const std::string& what) {
    const TimePoint deadline = clock_.Now() + kCheckTimeout;
    const DdlEnd end =
        RunToEnd(context_.connection, request, [&] { return stopped_ ? clock_.Now() > deadline : taker_.stopping(); });
    if (end.outcome == DdlOutcome::kUnfinished && end.pid) {
      unfinished_[*end.pid] = what;
    } else {
      procedures_.Add(what, end);
    }
    return end.outcome == DdlOutcome::kSucceeded;
  }

  void SnapshotOnce(Prng& prng) {
    RemoveClone();
    const std::string name = fmt::format("{}_{}", context_.table_prefix, ++taken_);
    client::Snapshots snapshots(context_.connection, Timeout());
    const std::vector<GrowingRow> before = Now();
    const bool taken = Run(
        [name, table = table_](client::Connection& connection) {
          return client::Snapshots(connection, kLoadTimeout).Take(name, table, {});
        },
        "snapshot " + name);
    const std::vector<GrowingRow> after = Now();
    if (taken && (!IsExported(prng) || PassThroughAnExport(name))) {
      const bool cloned = Run(
          [name, clone = clone_](client::Connection& connection) {
            return client::Snapshots(connection, kLoadTimeout).PutBack(name, clone);
          },
          "clone of snapshot " + name);
      if (cloned) Compare(name, before, after);
      tally_.Add(cloned ? OperationOutcome::kOk : OperationOutcome::kUnknown);
    }
    IgnoreResult(snapshots.Delete(name), "it may not exist");
    taker_.Pause(kBetweenSnapshots + Millis(static_cast<std::int64_t>(prng.Below(200))));
  }

  [[nodiscard]] bool IsExported(Prng& prng) const { return !context_.exports.empty() && prng.Chance(1, 4); }

  // Exports the snapshot and imports it again under its name.
  bool PassThroughAnExport(const std::string& name) {
    const std::filesystem::path place = context_.exports / name;
    const bool exported = Run(
        [name, place](client::Connection& connection) {
          return client::Snapshots(connection, kLoadTimeout).Export(name, place.string());
        },
        "export of snapshot " + name);
    if (!exported) return false;
    client::Snapshots snapshots(context_.connection, Timeout());
    IgnoreResult(snapshots.Delete(name), "the import is refused while it exists");
    const bool imported = Run(
        [name, place](client::Connection& connection) {
          return client::Snapshots(connection, kLoadTimeout).Import(place.string(), name);
        },
        "import of snapshot " + name);
    exported_ += imported ? 1 : 0;
    std::error_code failed;
    std::filesystem::remove_all(place, failed);
    return imported;
  }

  void RemoveClone() {
    client::Admin admin(context_.connection, Timeout());
    const auto state = admin.State(clone_);
    if (!state.ok()) return;
    if (*state != TableState::kDisabled) {
      Run([clone = clone_](
              client::Connection& connection) { return client::Admin(connection, kLoadTimeout).DisableTable(clone); },
          "disabling of the clone");
    }
    Run([clone = clone_](
            client::Connection& connection) { return client::Admin(connection, kLoadTimeout).DeleteTable(clone); },
        "deletion of the clone");
  }

  void Compare(const std::string& name, const std::vector<GrowingRow>& before, const std::vector<GrowingRow>& after) {
    client::Table clone(context_.connection, clone_, Timeout());
    auto scanner = clone.Scan({});
    std::map<std::string, std::pair<std::string, std::string>> found;
    for (;;) {
      const auto row = scanner.Next();
      if (!row.ok()) {  // the cluster is being broken: check the next clone
        NoteUnread(fmt::format("clone of {}: {} rows, then {}", name, found.size(), row.error().ToString()));
        return;
      }
      if (!row->has_value()) break;
      found[(*row)->key] = {std::string((*row)->Value(kLoadFamily, "a").value_or("")),
                            std::string((*row)->Value(kLoadFamily, "b").value_or(""))};
    }
    ++compared_;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto row = found.find(before[i].key);
      const std::string seen = row == found.end() ? "" : row->second.first;
      if (row != found.end() && row->second.first != row->second.second) {
        Blame(fmt::format("{}: row {} is torn: {} and {}", name, before[i].key, seen, row->second.second));
        continue;
      }
      std::uint64_t number = 0;
      for (const char digit : seen) number = number * 10 + static_cast<std::uint64_t>(digit - '0');
      if (number >= before[i].acknowledged && number <= after[i].asked) continue;
      Blame(fmt::format("{}: row {} has {}, but {} was acknowledged before; {} was requested until its end", name,
                        before[i].key, seen.empty() ? "no value" : seen, before[i].acknowledged, after[i].asked));
    }
    rows_compared_ += before.size();
  }

  // During the load a clone without an answer is not a violation, but its error is evidence.
  void NoteUnread(std::string failure) {
    RATCHET_LOG(kWarn, "snapshots: cannot read the {}", failure);
    ++unread_;
    last_failure_ = std::move(failure);
  }

  void Blame(std::string wrong) {
    RATCHET_LOG(kWarn, "snapshots: {}", wrong);
    ++violations_;
    if (shown_.size() < kShownWrongs) shown_.push_back(std::move(wrong));
  }

  [[nodiscard]] Finding CompareFinding() const {
    std::string text = fmt::format(
        "{} rows of {} clones compared, {} of them of snapshots that were exported and imported: {} differ from "
        "the table",
        rows_compared_, compared_, exported_, violations_);
    if (unread_ > 0) text += fmt::format("\n  {} clones could not be read; the last: {}", unread_, last_failure_);
    for (const std::string& wrong : shown_) text += "\n  " + wrong;
    return {violations_ == 0, text};
  }

  const WorkloadContext context_;
  const TableName table_;
  const TableName clone_;
  const SystemClock clock_{};
  AcceptedProcedures procedures_;
  Tally tally_;
  mutable Mutex mutex_;
  std::vector<GrowingRow> rows_ GUARDED_BY(mutex_);
  // Used by the taker's thread, and by the driver's thread after it has ended.
  std::map<std::uint64_t, std::string> unfinished_;
  bool stopped_ = false;
  std::uint64_t taken_ = 0;
  std::uint64_t exported_ = 0;
  std::uint64_t compared_ = 0;
  std::uint64_t rows_compared_ = 0;
  std::uint64_t violations_ = 0;
  std::uint64_t unread_ = 0;
  std::string last_failure_ = "no scan was begun";
  std::vector<std::string> shown_;
  LoadThreads writers_;
  LoadThreads taker_;
};

}  // namespace

std::unique_ptr<Workload> MakeSnapshots(WorkloadContext context) {
  return std::make_unique<Snapshots>(std::move(context));
}

}  // namespace ratchet::chaos
