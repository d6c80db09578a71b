#include "chaos/workloads/alter.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/family_ledger.h"
#include "chaos/workloads/load.h"
#include "chaos/workloads/schema_model.h"
#include "common/base/log.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/rpc/exceptions.h"

namespace ratchet::chaos {
namespace {

using Step = SchemaStep::Kind;
constexpr std::array kOthers = {"g0", "g1", "g2"};
constexpr int kAlterRowsPerThread = 30;
constexpr Millis kBetweenChanges{250};
constexpr std::size_t kShownOfAlter = 5;

std::vector<std::string> Keys(int threads) {
  const int rows = kAlterRowsPerThread * threads;
  std::vector<std::string> keys;
  for (int i = 0; i < rows; ++i) keys.push_back(fmt::format("{:04x}-{}", (i * 65'536) / rows, i));
  return keys;
}

std::map<std::string, std::string> DrawAttributes(Prng& prng) {
  constexpr std::array kFilters = {"NONE", "ROW", "ROWCOL"};
  return {{"BLOOMFILTER", kFilters[prng.Below(kFilters.size())]}, {"VERSIONS", fmt::format("{}", prng.Between(1, 5))}};
}

DdlRequest RequestOf(client::Connection& connection, const TableName& table, const LoadSchema& now,
                     const SchemaStep& step) {
  switch (step.kind) {
    case Step::kAddFamily: return MakeAddFamilyRequest(connection, table, FamilyOf(step.family, step.attributes));
    case Step::kDropFamily: return MakeDeleteFamilyRequest(connection, table, step.family);
    case Step::kSetFamily: return MakeModifyFamilyRequest(connection, table, FamilyOf(step.family, step.attributes));
    case Step::kSetTable: break;
  }
  return MakeModifyTableRequest(connection, DescriptorOf(table, After(now, step)));
}

class Alter final : public Workload {
 public:
  explicit Alter(WorkloadContext context)
      : context_(std::move(context)),
        table_("default", context_.table_prefix + "_alter"),
        ledger_(Keys(std::max(1, context_.threads)), {kOthers.begin(), kOthers.end()}),
        schemas_(SchemaOf(DescriptorOf(table_, {{{kLoadFamily, {}}}, ""}))) {}
  ~Alter() override { StopThreads(); }

  [[nodiscard]] std::string_view name() const override { return "alter"; }
  [[nodiscard]] Status Prepare() override {
    return MakeLoadTable(context_.connection, table_, EvenPrefixes(std::max(2, context_.regions / 2), true));
  }
  void Start() override {
    writers_.Start("alter-w", std::max(1, context_.threads), context_.seed,
                   [this](int thread, Prng& prng) { UseRow(thread, prng); });
    changer_.Start("alter", 1, context_.seed + 1, [this](int /*thread*/, Prng& prng) { ChangeOnce(prng); });
  }
  void AskToStop() override {
    writers_.AskToStop();
    changer_.AskToStop();
  }
  void Stop() override { StopThreads(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    if (unfinished_) {
      const auto [pid, step] = *std::exchange(unfinished_, std::nullopt);
      const auto deadline = clock_.Now() + kCheckTimeout;
      Learn(step, WaitForEnd(context_.connection, pid, [&] { return clock_.Now() > deadline; }));
    }
    return {CheckDescriptor(), CheckRows(), procedures_.Check(context_.connection)};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "alter.txt");
    out << schemas_.ToText() << '\n' << ledger_.ToText() << procedures_.ToText();
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "alter.txt").string()));
    return Ok();
  }

 private:
  void StopThreads() {
    AskToStop();
    writers_.Stop();
    changer_.Stop();
  }

  // ---- rows ----
  void UseRow(int thread, Prng& prng) {
    const std::size_t row = static_cast<std::size_t>(thread) * kAlterRowsPerThread + prng.Below(kAlterRowsPerThread);
    if (prng.Chance(1, 3)) {
      ReadRow(row, kLoadTimeout);
    } else {
      WriteRow(row);
    }
    writers_.Pause(kThinkTime);
  }

  void WriteRow(std::size_t row) {
    client::Table table(context_.connection, table_, kLoadTimeout);
    const FamilyLedger::Write write = ledger_.Begin(row);
    const auto done = table.Mutate(write.put);
    if (done.ok()) {
      ledger_.Acknowledge(write);
      return tally_.Add(OperationOutcome::kOk);
    }
    if (!rpc::IsClass(done.error(), rpc::exception::kNoSuchColumnFamily)) return tally_.Add(OutcomeOf(done.error()));
    if (const auto wrong = ledger_.RefusedForFamily(write)) Blame(*wrong);
    tally_.Add(OperationOutcome::kFailed);
  }

  // Returns false when the read was not answered.
  bool ReadRow(std::size_t row, Millis timeout) {
    client::Table table(context_.connection, table_, timeout);
    const FamilyLedger::Read read = ledger_.BeginRead(row);
    const auto found = table.Get({ledger_.key(row), {}, 1, {}});
    if (!found.ok()) {
      NoteUnread(fmt::format("row {}: {}", ledger_.key(row), found.error().ToString()));
      return false;
    }
    if (const auto wrong = ledger_.Observe(read, *found)) Blame(*wrong);
    return true;
  }

  // ---- changes: used by the changer's thread, and by the driver's after that thread has ended ----
  void ChangeOnce(Prng& prng) {
    // After an unknown outcome the table is not changed again; the rows continue.
    if (schemas_.size() == 1 && !unfinished_) {
      const SchemaStep step = Draw(prng);
      if (Moves(step)) ledger_.BeginChange(step.family);
      const DdlRequest request = RequestOf(context_.connection, table_, schemas_.First(), step);
      const DdlEnd end = RunToEnd(context_.connection, request, [this] { return changer_.stopping(); });
      if (end.outcome == DdlOutcome::kUnfinished) {
        unfinished_ = {*end.pid, step};
      } else {
        Learn(step, end);
      }
      tally_.Add(AsOperation(end.outcome));
    }
    changer_.Pause(kBetweenChanges);
  }

  [[nodiscard]] SchemaStep Draw(Prng& prng) const {
    if (prng.Chance(1, 6)) return {Step::kSetTable, {}, {}, fmt::format("{}", 10'737'418'240 + prng.Between(0, 1000))};
    if (prng.Chance(1, 5)) return {Step::kSetFamily, kLoadFamily, DrawAttributes(prng), {}};
    const std::string family = kOthers[prng.Below(kOthers.size())];
    if (!schemas_.First().families.contains(family)) return {Step::kAddFamily, family, DrawAttributes(prng), {}};
    if (prng.Chance(1, 3)) return {Step::kSetFamily, family, DrawAttributes(prng), {}};
    return {Step::kDropFamily, family, {}, {}};
  }

  // True when the step adds or drops a family.
  static bool Moves(const SchemaStep& step) { return step.kind == Step::kAddFamily || step.kind == Step::kDropFamily; }

  void Learn(const SchemaStep& step, const DdlEnd& end) {
    const std::string what = fmt::format("{} of table {}", step.ToText(), table_.ToString());
    procedures_.Add(what, end);
    const bool added = step.kind == Step::kAddFamily;
    switch (end.outcome) {
      case DdlOutcome::kSucceeded:
        if (!schemas_.Succeeded(step)) Blame(fmt::format("{} succeeded, the table was {}", what, schemas_.ToText()));
        if (Moves(step)) ledger_.EndChange(step.family, added ? FamilyLedger::Now::kThere : FamilyLedger::Now::kGone);
        return;
      case DdlOutcome::kFailed:
      case DdlOutcome::kRefused:
        // All requests are legal. Only a full disk may prevent them, and a request that was not sent was not refused.
        if (end.code != Code::kNoSpace && !(end.outcome == DdlOutcome::kRefused && changer_.stopping()) &&
            !schemas_.Refused(step)) {
          Blame(fmt::format("{} failed, the table was {}: {}", what, schemas_.ToText(), end.error));
        }
        if (Moves(step)) ledger_.EndChange(step.family, added ? FamilyLedger::Now::kGone : FamilyLedger::Now::kThere);
        return;
      case DdlOutcome::kUnknown:
      case DdlOutcome::kUnfinished:
      case DdlOutcome::kLost: break;
    }
    RATCHET_LOG(kWarn, "alter: {}: pid {}: {}", what, end.pid.value_or(0), end.error);
    schemas_.Unknown(step);
  }

  // ---- the verdict ----
  Finding CheckDescriptor() {
    const auto described = client::Admin(context_.connection, kCheckTimeout).Describe(table_);
    if (!described.ok()) return {false, "the table cannot be described: " + described.error().ToString()};
    const LoadSchema found = SchemaOf(*described);
    if (!schemas_.Has(found))
      return {false, fmt::format("the table is [{}], but must be {}", found.ToText(), schemas_.ToText())};
    return {true, fmt::format("the table matches the last acknowledged change: {}", found.ToText())};
  }

  Finding CheckRows() {
    for (std::size_t row = 0; row < ledger_.rows(); ++row) {
      if (ReadRow(row, kCheckTimeout)) continue;
      const MutexLock lock(mutex_);
      return {false, "not every row can be read: " + last_unread_};
    }
    const MutexLock lock(mutex_);
    std::string text = fmt::format("{} read at the end; {} wrong in the whole run", Counted(ledger_.rows(), "row"),
                                   Counted(violations_, "thing"));
    if (unread_ > 0) text += fmt::format("; {} reads without an answer, the last: {}", unread_, last_unread_);
    for (const auto& wrong : shown_) text += "\n  " + wrong;
    return {violations_ == 0, text};
  }

  // During the load a read without an answer is not a violation, but its error is evidence.
  void NoteUnread(std::string failure) {
    RATCHET_LOG(kWarn, "alter: cannot read {}", failure);
    const MutexLock lock(mutex_);
    ++unread_;
    last_unread_ = std::move(failure);
  }

  void Blame(std::string wrong) {
    RATCHET_LOG(kWarn, "alter: {}", wrong);
    const MutexLock lock(mutex_);
    ++violations_;
    if (shown_.size() < kShownOfAlter) shown_.push_back(std::move(wrong));
  }

  const WorkloadContext context_;
  const TableName table_;
  const SystemClock clock_{};
  FamilyLedger ledger_;
  AcceptedProcedures procedures_;
  Tally tally_;
  PossibleSchemas schemas_;
  std::optional<std::pair<std::uint64_t, SchemaStep>> unfinished_;
  mutable Mutex mutex_;
  std::uint64_t violations_ GUARDED_BY(mutex_) = 0;
  std::uint64_t unread_ GUARDED_BY(mutex_) = 0;
  std::string last_unread_ GUARDED_BY(mutex_);
  std::vector<std::string> shown_ GUARDED_BY(mutex_);
  LoadThreads writers_;
  LoadThreads changer_;
};

}  // namespace

std::unique_ptr<Workload> MakeAlter(WorkloadContext context) { return std::make_unique<Alter>(std::move(context)); }

}  // namespace ratchet::chaos
