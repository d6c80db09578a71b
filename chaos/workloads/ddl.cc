#include "chaos/workloads/ddl.h"

#include <algorithm>
#include <fstream>

#include <fmt/core.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/load.h"
#include "chaos/workloads/table_model.h"
#include "common/base/log.h"

namespace ratchet::chaos {
namespace {

constexpr int kTablesPerThread = 2;
constexpr std::size_t kShownAnswers = 5;
constexpr Millis kDdlPause{20};

constexpr DdlVerb kVerbs[] = {DdlVerb::kCreate, DdlVerb::kEnable, DdlVerb::kDisable, DdlVerb::kDelete};

// Used by its own thread, and by the driver's after that thread has ended.
struct OwnTable {
  TableName name;
  PossibleConditions conditions{TableCondition::kAbsent};
  // Accepted, but its end was not seen before the load stopped.
  std::optional<std::pair<DdlVerb, std::uint64_t>> unfinished;
};

class Ddl final : public Workload {
 public:
  explicit Ddl(WorkloadContext context)
      : context_(std::move(context)),
        split_keys_(EvenPrefixes(std::max(2, context_.regions / 4), true)),
        tables_(static_cast<std::size_t>(context_.threads * kTablesPerThread)) {
    for (std::size_t i = 0; i < tables_.size(); ++i)
      tables_[i].name = TableName("default", fmt::format("{}_ddl_{}", context_.table_prefix, i));
  }
  ~Ddl() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "ddl"; }
  [[nodiscard]] Status Prepare() override { return Ok(); }
  void Start() override {
    threads_.Start("ddl", context_.threads, context_.seed, [this](int thread, Prng& prng) { Step(thread, prng); });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    for (auto& table : tables_) {
      if (!table.unfinished) continue;
      const auto deadline = clock_.Now() + kCheckTimeout;
      const auto [verb, pid] = *table.unfinished;
      const auto end = WaitForEnd(context_.connection, pid, [&] { return clock_.Now() > deadline; });
      table.unfinished.reset();
      Learn(table, verb, end);
    }
    return {CheckTables(), procedures_.Check(context_.connection), AnswersFinding()};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "ddl.txt");
    for (const auto& table : tables_) out << table.name.ToString() << " expected " << table.conditions.ToText() << '\n';
    out << procedures_.ToText();
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "ddl.txt").string()));
    return Ok();
  }

 private:
  void Step(int thread, Prng& prng) {
    const std::size_t own = static_cast<std::size_t>(thread) * kTablesPerThread + prng.Below(kTablesPerThread);
    if (prng.Chance(1, 4))
      Move(tables_[prng.Below(tables_.size())].name, prng);
    else
      Change(tables_[own], prng);
    threads_.Pause(kDdlPause);
  }

  void Change(OwnTable& table, Prng& prng) {
    DdlVerb verb = kVerbs[prng.Below(std::size(kVerbs))];
    // Mostly chooses a legal operation; sometimes any operation, which may have to be refused.
    const bool any = prng.Chance(1, 8);
    while (!any && !table.conditions.Has(EffectOf(verb).from)) verb = kVerbs[prng.Below(std::size(kVerbs))];
    const auto request = MakeDdlRequest(context_.connection, verb, table.name, kLoadFamily, split_keys_);
    const DdlEnd end = RunToEnd(context_.connection, request, [this] { return threads_.stopping(); });
    if (end.outcome == DdlOutcome::kUnfinished) table.unfinished = {verb, *end.pid};
    Learn(table, verb, end);
    Count(end);
  }

  void Move(const TableName& table, Prng& prng) {
    client::Admin admin(context_.connection, kLoadTimeout);
    const auto regions = admin.Regions(table);
    // the table is absent, or meta is unavailable
    if (!regions.ok() || regions->empty() || threads_.stopping()) return;
    const auto& region = (*regions)[prng.Below(regions->size())].region;
    const auto request = MakeMoveRequest(context_.connection, region.encoded_name());
    const DdlEnd end = RunToEnd(context_.connection, request, [this] { return threads_.stopping(); });
    procedures_.Add(fmt::format("move of region {}", region.encoded_name()), end);
    Count(end);
  }

  void Count(const DdlEnd& end) {
    const OperationOutcome outcome = AsOperation(end.outcome);
    if (outcome == OperationOutcome::kUnknown) RATCHET_LOG(kWarn, "ddl: pid {}: {}", end.pid.value_or(0), end.error);
    tally_.Add(outcome);
  }

  // Learns the state of the table from the end of an operation.
  void Learn(OwnTable& table, DdlVerb verb, const DdlEnd& end) {
    const std::string what = fmt::format("{} of table {}", VerbName(verb), table.name.ToString());
    procedures_.Add(what, end);
    const PossibleConditions before = table.conditions;
    switch (end.outcome) {
      case DdlOutcome::kSucceeded: table.conditions = AfterSuccess(before, verb); break;
      case DdlOutcome::kFailed:
      case DdlOutcome::kRefused:
        // On a full disk a procedure may fail and be rolled back; that does not contradict the table's state.
        if (end.code == Code::kNoSpace) break;
        // When the load stops, a request that was never sent was not refused by the cluster.
        if (end.outcome == DdlOutcome::kFailed || !threads_.stopping()) table.conditions = AfterRefusal(before, verb);
        break;
      case DdlOutcome::kUnfinished: return;  // Check waits for it
      case DdlOutcome::kUnknown:
      case DdlOutcome::kLost: table.conditions = AfterUnknown(before, verb); break;
    }
    if (!table.conditions.empty()) return;
    const char* ended = end.outcome == DdlOutcome::kSucceeded ? "succeeded" : "failed";
    Blame(fmt::format("{} {}, but the table was {}{}", what, ended, before.ToText(),
                      end.error.empty() ? "" : ": " + end.error));
    for (const auto any : {TableCondition::kAbsent, TableCondition::kDisabled, TableCondition::kEnabled})
      table.conditions.Add(any);
  }

  void Blame(std::string wrong) {
    RATCHET_LOG(kWarn, "ddl: {}", wrong);
    MutexLock lock(mutex_);
    ++violations_;
    if (shown_.size() < kShownAnswers) shown_.push_back(std::move(wrong));
  }

  Finding AnswersFinding() const {
    MutexLock lock(mutex_);
    std::string text = fmt::format("{} contradict the table's earlier state", Counted(violations_, "answer"));
    for (const auto& wrong : shown_) text += "\n  " + wrong;
    return {violations_ == 0, text};
  }

  Finding CheckTables() {
    client::Admin admin(context_.connection, kCheckTimeout);
    const auto listed = admin.ListTables();
    if (!listed.ok()) return {false, "the tables cannot be listed: " + listed.error().ToString()};
    std::size_t wrong = 0;
    std::string text;
    for (const auto& table : tables_) {
      TableCondition actual = TableCondition::kAbsent;
      if (std::find(listed->begin(), listed->end(), table.name) != listed->end()) {
        const auto state = admin.State(table.name);
        if (!state.ok()) return {false, fmt::format("{}: {}", table.name.ToString(), state.error().ToString())};
        if (*state != TableState::kEnabled && *state != TableState::kDisabled) {
          ++wrong;
          text += fmt::format("\n  {} is neither enabled nor disabled", table.name.ToString());
          continue;
        }
        actual = *state == TableState::kEnabled ? TableCondition::kEnabled : TableCondition::kDisabled;
      }
      if (table.conditions.Has(actual)) continue;
      ++wrong;
      text += fmt::format("\n  {} must be {} and is {}", table.name.ToString(), table.conditions.ToText(),
                          ConditionName(actual));
    }
    return {wrong == 0,
            fmt::format("{} of {} tables are not as their clients left them{}", wrong, tables_.size(), text)};
  }

  const WorkloadContext context_;
  const std::vector<std::string> split_keys_;
  const SystemClock clock_{};
  std::vector<OwnTable> tables_;  // two for each thread
  AcceptedProcedures procedures_;
  Tally tally_;
  mutable Mutex mutex_;
  std::uint64_t violations_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> shown_ GUARDED_BY(mutex_);
  LoadThreads threads_;
};

}  // namespace

std::unique_ptr<Workload> MakeDdl(WorkloadContext context) { return std::make_unique<Ddl>(std::move(context)); }

}  // namespace ratchet::chaos
