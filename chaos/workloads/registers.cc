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
#include "chaos/workloads/register_access.h"
#include "chaos/workloads/register_pool.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint32_t kJudge = 1'000'000;  // client numbers of readers
constexpr std::uint32_t kLastReader = 1'000'001;
constexpr std::size_t kShownViolations = 3;
constexpr std::uint64_t kMostEvidence = 512U << 20U;  // bytes; above it only histories that are not good are kept
constexpr std::uint64_t kMostHistory = std::uint64_t{64} << 30U;  // limit when the whole history was requested

// This project's client, in this process.
class OwnClients final : public RegisterClients {
 public:
  OwnClients(client::Connection& connection, TableName table) : connection_(connection), table_(std::move(table)) {}

  [[nodiscard]] History Execute(const RegisterName& name, Operation& operation) override {
    client::Table table(connection_, table_, kLoadTimeout);
    ExecuteOperation(table, clock_, name, operation);
    return {};
  }

 private:
  client::Connection& connection_;
  const TableName table_;
  const SystemClock clock_{};
};

class OwnReader final : public RegisterReader {
 public:
  OwnReader(client::Connection& connection, TableName table, int regions)
      : connection_(connection), table_(std::move(table)), regions_(regions) {}

  [[nodiscard]] Status MakeTable() override { return MakeLoadTable(connection_, table_, EvenPrefixes(regions_, true)); }
  void Read(const RegisterName& name, Operation& operation) override {
    client::Table table(connection_, table_, kLoadTimeout);
    ExecuteOperation(table, clock_, name, operation);
  }
  // One scan; an error when the table cannot be read.
  [[nodiscard]] Result<std::map<RegisterName, Value>> ReadAll() override {
    std::map<RegisterName, Value> values;
    client::Table table(connection_, table_, kCheckTimeout);
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

 private:
  client::Connection& connection_;
  const TableName table_;
  const int regions_;
  const SystemClock clock_{};
};

class Registers final : public Workload {
 public:
  Registers(std::string label, WorkloadContext context, std::unique_ptr<RegisterClients> users,
            std::unique_ptr<RegisterReader> reader)
      : label_(std::move(label)),
        context_(std::move(context)),
        users_(std::move(users)),
        reader_(std::move(reader)),
        pool_(context_.regions),
        spool_(std::filesystem::temp_directory_path() /
               fmt::format("ratchet-{}-{}-{:x}.jsonl", label_, getpid(), RandomSeed())) {}

  ~Registers() override {
    StopThreads();
    std::error_code ignored;
    std::filesystem::remove(spool_, ignored);
  }

  [[nodiscard]] std::string_view name() const override { return label_; }

  [[nodiscard]] Status Prepare() override {
    evidence_.open(spool_, std::ios::binary | std::ios::trunc);
    if (!evidence_) return Error(Code::kIo, fmt::format("{}: cannot be written", spool_.string()));
    RATCHET_TRY(reader_->MakeTable());
    return users_->Begin();
  }

  void Start() override {
    clients_.Start(label_, context_.threads, context_.seed, [this](int thread, Prng& prng) { Step(thread, prng); });
    judge_.Start("judge", 1, context_.seed, [this](int, Prng&) { JudgeFinished(); });
  }

  void AskToStop() override {
    clients_.AskToStop();
    judge_.AskToStop();
  }
  void Stop() override { StopThreads(); }

  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    for (auto& left : pool_.CollectAll()) open_.push_back(std::move(left));
    std::vector<Finding> findings;
    CheckAgainstTable(findings);
    findings.insert(findings.begin(), HistoryFinding());
    if (auto wrong = users_->Check()) findings.push_back(std::move(*wrong));
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
    const auto file = folder / (label_ + ".jsonl");
    std::filesystem::copy_file(spool_, file, std::filesystem::copy_options::overwrite_existing, error);
    if (error) return Error(Code::kIo, fmt::format("{}: {}", file.string(), error.message()));
    return users_->WriteEvidence(folder);
  }

 private:
  void StopThreads() {
    judge_.AskToStop();
    clients_.Stop();
    judge_.Stop();
    users_->End();
  }

  void Step(int thread, Prng& prng) {
    const auto ticket = pool_.Begin(prng);
    Operation op = DrawOperation(ticket, fmt::format("c{}n{:x}", thread, prng.Next() >> 24U), prng);
    op.client = static_cast<std::uint32_t>(thread);
    History perhaps = users_->Execute(ticket.name, op);
    tally_.Add(op.outcome);
    pool_.End(ticket, std::move(op), std::move(perhaps));
    clients_.Pause(kThinkTime);
  }

  // Runs on the judge's thread.
  void JudgeFinished() {
    for (auto& finished : pool_.CollectFinished()) {
      if (judge_.stopping()) {
        open_.push_back(std::move(finished));
        continue;
      }
      Operation last;
      last.client = kJudge;
      reader_->Read(finished.name, last);
      const bool read = last.outcome == OperationOutcome::kOk;
      const Value value = last.observed;
      if (read) finished.history.push_back(std::move(last));
      // A change of unknown outcome may still happen; a register that could not be read has no last value.
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

  void CheckAgainstTable(std::vector<Finding>& findings) {
    const std::int64_t from = clock_.Now().time_since_epoch().count();
    auto read = reader_->ReadAll();
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

  const std::string label_;
  const WorkloadContext context_;
  const std::unique_ptr<RegisterClients> users_;
  const std::unique_ptr<RegisterReader> reader_;
  const SystemClock clock_{};
  RegisterPool pool_;
  Tally tally_;
  // Used by the judge while it runs, by the driver afterwards.
  const std::filesystem::path spool_;
  std::ofstream evidence_;
  std::uint64_t evidence_bytes_ = 0;
  bool left_out_ = false;                  // histories of good keys were left out for lack of space
  bool complete_ = false;                  // the evidence includes registers that were open at the end
  std::map<RegisterName, Value> settled_;  // judged good, and no change is pending
  std::vector<FinishedRegister> open_;     // judged at the end
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

std::unique_ptr<Workload> MakeRegisterLoad(std::string label, WorkloadContext context,
                                           std::unique_ptr<RegisterClients> clients,
                                           std::unique_ptr<RegisterReader> reader) {
  return std::make_unique<Registers>(std::move(label), std::move(context), std::move(clients), std::move(reader));
}

std::unique_ptr<RegisterReader> MakeRegisterReader(const WorkloadContext& context, TableName table) {
  return std::make_unique<OwnReader>(context.connection, std::move(table), context.regions);
}

std::unique_ptr<Workload> MakeRegisters(WorkloadContext context) {
  const TableName table("default", context.table_prefix + "_registers");
  auto clients = std::make_unique<OwnClients>(context.connection, table);
  auto reader = MakeRegisterReader(context, table);
  return MakeRegisterLoad("registers", std::move(context), std::move(clients), std::move(reader));
}

}  // namespace ratchet::chaos
