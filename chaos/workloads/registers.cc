#include "chaos/workloads/registers.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "chaos/history/json_lines.h"
#include "chaos/history/linearizability.h"
#include "chaos/workloads/load.h"
#include "chaos/workloads/register_pool.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint32_t kJudge = 1'000'000;  // client numbers of readers
constexpr std::uint32_t kLastReader = 1'000'001;
constexpr std::size_t kShownViolations = 3;
constexpr std::uint64_t kMostEvidence = 512U << 20U;  // bytes; beyond it only what is not plainly good is kept
constexpr std::uint64_t kMostHistory = std::uint64_t{64} << 30U;  // the same where the whole history was asked for

class Registers final : public Workload {
 public:
  explicit Registers(WorkloadContext context)
      : context_(std::move(context)),
        table_("default", context_.table_prefix + "_registers"),
        pool_(context_.regions),
        spool_(std::filesystem::temp_directory_path() /
               fmt::format("ratchet-registers-{}-{:x}.jsonl", getpid(), RandomSeed())) {}

  ~Registers() override {
    StopThreads();
    std::error_code ignored;
    std::filesystem::remove(spool_, ignored);
  }

  [[nodiscard]] std::string_view name() const override { return "registers"; }

  [[nodiscard]] Status Prepare() override {
    evidence_.open(spool_, std::ios::binary | std::ios::trunc);
    if (!evidence_) return Error(Code::kIo, fmt::format("{}: cannot be written", spool_.string()));
    return MakeLoadTable(context_.connection, table_, EvenPrefixes(context_.regions, true));
  }

  void Start() override {
    clients_.Start("registers", context_.threads, context_.seed,
                   [this](int thread, Prng& prng) { Step(thread, prng); });
    judge_.Start("judge", 1, context_.seed, [this](int, Prng&) { JudgeFinished(); });
  }

  void AskToStop() override {
    clients_.AskToStop();
    judge_.AskToStop();
  }
  void Stop() override { StopThreads(); }

  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    for (auto& left : pool_.TakeAll()) open_.push_back(std::move(left));
    std::vector<Finding> findings;
    CheckAgainstTable(findings);
    findings.insert(findings.begin(), HistoryFinding());
    return findings;
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    if (!std::exchange(complete_, true)) {
      for (const auto& left : open_) Keep(left.history, true);
      Keep(last_reads_, true);
    }
    evidence_.flush();
    if (!evidence_) return Error(Code::kIo, fmt::format("{}: cannot be written", spool_.string()));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::filesystem::copy_file(spool_, folder / "registers.jsonl", std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error) return Error(Code::kIo, fmt::format("{}: {}", (folder / "registers.jsonl").string(), error.message()));
    return Ok();
  }

 private:
  void StopThreads() {
    judge_.AskToStop();
    clients_.Stop();
    judge_.Stop();
  }

  void Step(int thread, Prng& prng) {
    const auto ticket = pool_.Begin(prng);
    Operation op = DrawOperation(ticket, fmt::format("c{}n{:x}", thread, prng.Next() >> 24U), prng);
    op.client = static_cast<std::uint32_t>(thread);
    client::Table table(context_.connection, table_, kLoadTimeout);
    ExecuteOperation(table, clock_, ticket.name, op);
    tally_.Add(op.outcome);
    pool_.End(ticket, std::move(op));
    clients_.Pause(kThinkTime);
  }

  // On the judge's thread.
  void JudgeFinished() {
    for (auto& finished : pool_.TakeFinished()) {
      if (judge_.stopping()) {
        open_.push_back(std::move(finished));
        continue;
      }
      Operation last;
      last.client = kJudge;
      client::Table table(context_.connection, table_, kLoadTimeout);
      ExecuteOperation(table, clock_, finished.name, last);
      const bool read = last.outcome == OperationOutcome::kOk;
      const Value value = last.observed;
      if (read) finished.history.push_back(std::move(last));
      // What has a change of unknown outcome may change yet; what could not be read has no last value.
      if (!read || finished.has_unknown) {
        open_.push_back(std::move(finished));
        continue;
      }
      const bool good = Judge(finished.name, finished.history);
      Keep(finished.history, !good);
      settled_[finished.name] = value;
    }
    judge_.Pause(Millis{50});
  }

  bool Judge(const RegisterName& name, const History& history) {
    auto verdict = CheckKey(history);
    ++keys_;
    operations_ += history.size();
    if (verdict.verdict == Linearizability::kNo) {
      ++violations_;
      if (explanations_.size() < kShownViolations)
        explanations_.push_back(fmt::format("{}: {}", name.key(), verdict.explanation));
    } else if (verdict.verdict == Linearizability::kUndecided) {
      ++undecided_;
    }
    return verdict.verdict == Linearizability::kYes;
  }

  void Keep(const History& history, bool always) {
    if (!always && evidence_bytes_ > (context_.whole_history ? kMostHistory : kMostEvidence)) {
      if (!std::exchange(left_out_, true)) evidence_ << "# from here on histories of good keys are left out\n";
      return;
    }
    for (const auto& op : history) {
      const std::string line = ToJsonLine(op);
      evidence_ << line << '\n';
      evidence_bytes_ += line.size() + 1;
    }
  }

  // Every register's value, in one scan; an error when the table cannot be read.
  Result<std::map<RegisterName, Value>> ReadAll() {
    std::map<RegisterName, Value> values;
    client::Table table(context_.connection, table_, kCheckTimeout);
    auto scanner = table.Scan({});
    for (;;) {
      RATCHET_ASSIGN(const auto row, scanner.Next());
      if (!row) return values;
      for (const bool number : {false, true}) {
        const RegisterName name{row->key, number};
        if (auto value = ReadRegister(name, *row)) values.emplace(name, std::move(value));
      }
    }
  }

  void CheckAgainstTable(std::vector<Finding>& findings) {
    const std::int64_t from = clock_.Now().time_since_epoch().count();
    auto read = ReadAll();
    const std::int64_t to = clock_.Now().time_since_epoch().count();
    if (!read.ok()) {
      findings.push_back({false, "the table of registers cannot be read: " + read.error().ToString()});
      return;
    }
    const auto take = [&](const RegisterName& name) {
      const auto found = read->find(name);
      Value value = found == read->end() ? Value() : std::move(found->second);
      if (found != read->end()) read->erase(found);
      Operation op;
      op.client = kLastReader;
      op.key = name.key();
      op.invoked_ns = from;
      op.returned_ns = to;
      op.observed = value;
      last_reads_.push_back(std::move(op));
      return value;
    };
    std::size_t changed = 0;
    std::string first;
    for (const auto& [name, value] : settled_) {
      const Value now = take(name);
      if (now == value) continue;
      if (changed++ == 0) first = fmt::format("; {} held {} and now holds {}", name.key(), ToText(value), ToText(now));
    }
    for (const auto& left : open_) {
      History history = left.history;
      take(left.name);
      history.push_back(last_reads_.back());
      Judge(left.name, history);
    }
    const std::size_t all = settled_.size() + open_.size();
    findings.push_back({changed == 0, fmt::format("{} read again: {} differ from their last acknowledged state{}",
                                                  Counted(all, "register"), changed, first)});
    const std::string strange = read->empty() ? "" : ", the first is " + read->begin()->first.key();
    findings.push_back(
        {read->empty(), fmt::format("{} that no client wrote{}", Counted(read->size(), "register"), strange)});
  }

  Finding HistoryFinding() const {
    std::string text = fmt::format("{} on {}: {} not linearizable, {} undecided", Counted(operations_, "operation"),
                                   Counted(keys_, "register"), violations_, undecided_);
    for (const auto& explanation : explanations_) text += "\n" + explanation;
    return {violations_ == 0 && undecided_ == 0 && keys_ > 0, text};
  }

  const WorkloadContext context_;
  const TableName table_;
  const SystemClock clock_{};
  RegisterPool pool_;
  Tally tally_;
  // The judge's while it runs, the driver's afterwards.
  const std::filesystem::path spool_;
  std::ofstream evidence_;
  std::uint64_t evidence_bytes_ = 0;
  bool left_out_ = false;                  // histories of good keys, for want of room
  bool complete_ = false;                  // what was still open at the end is in the evidence
  std::map<RegisterName, Value> settled_;  // judged good, nothing can change them any more
  std::vector<FinishedRegister> open_;     // judged in the end
  History last_reads_;
  std::size_t keys_ = 0;
  std::size_t operations_ = 0;
  std::size_t violations_ = 0;
  std::size_t undecided_ = 0;
  std::vector<std::string> explanations_;
  LoadThreads clients_;
  LoadThreads judge_;
};

}  // namespace

std::unique_ptr<Workload> MakeRegisters(WorkloadContext context) {
  return std::make_unique<Registers>(std::move(context));
}

}  // namespace ratchet::chaos
