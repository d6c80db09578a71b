#include "chaos/workloads/bank.h"

#include <fstream>

#include <fmt/core.h>

#include "chaos/workloads/bank_ledger.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/client/table.h"

namespace ratchet::chaos {
namespace {

using client::Mutation;

constexpr std::size_t kShownRows = 5;
constexpr std::uint64_t kRowsPerScan = 4;

class Bank final : public Workload {
 public:
  explicit Bank(WorkloadContext context)
      : context_(std::move(context)),
        table_("default", context_.table_prefix + "_bank"),
        rows_(static_cast<std::size_t>(context_.regions) * 2),
        ledger_(rows_) {}
  ~Bank() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "bank"; }

  [[nodiscard]] Status Prepare() override {
    RATCHET_TRY(MakeLoadTable(context_.connection, table_, EvenPrefixes(context_.regions, true)));
    client::Table table(context_.connection, table_, kCheckTimeout);
    for (std::size_t row = 0; row < rows_; ++row) {
      Mutation put = Mutation::Put(KeyOf(row)).Set(kLoadFamily, kVersionColumn, EncodeInt64(0));
      for (std::size_t i = 0; i < kAccounts; ++i) put.Set(kLoadFamily, AccountColumn(i), EncodeInt64(kOpeningBalance));
      RATCHET_TRY(table.Mutate(put));
    }
    return Ok();
  }

  void Start() override {
    threads_.Start("bank", context_.threads, context_.seed, [this](int, Prng& prng) { Step(prng); });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    client::Table table(context_.connection, table_, kCheckTimeout);
    const auto read = ReadRows(table, 0, 0);
    if (!read.ok()) return {{false, "the bank's table cannot be read: " + read.error().ToString()}};
    MutexLock lock(mutex_);
    std::string text = fmt::format("{} at the end, {} during the load: {} torn, lost or done twice",
                                   Counted(*read, "row"), Counted(reads_ - *read, "row read"), violations_);
    for (const auto& violation : shown_) text += "\n  " + violation;
    return {{*read == rows_, fmt::format("{} of {} rows of accounts exist", *read, rows_)},
            {violations_ == 0 && reads_ > *read, text}};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "bank.txt");
    MutexLock lock(mutex_);
    out << fmt::format("{} rows, {} row reads, {} violations\n", rows_, reads_, violations_);
    for (const auto& violation : shown_) out << violation << '\n';
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "bank.txt").string()));
    return Ok();
  }

 private:
  [[nodiscard]] std::string KeyOf(std::size_t row) const {
    return fmt::format("{}-b{}", PrefixOfRegion(static_cast<int>(row / 2), context_.regions), row % 2);
  }

  void Step(Prng& prng) {
    client::Table table(context_.connection, table_, kLoadTimeout);
    const std::size_t row = prng.Below(rows_);
    const std::uint64_t draw = prng.Below(100);
    if (draw < 30)
      Count(ReadRow(table, row));
    else if (draw < 45)
      Count(ReadRows(table, row, kRowsPerScan));
    else
      Transfer(table, row, draw < 75, prng);
    threads_.Pause(kThinkTime);
  }

  template <class T>
  void Count(const Result<T>& done) {
    if (!done.ok()) RATCHET_LOG(kWarn, "bank: {}", done.error().ToString());
    tally_.Add(done.ok() ? OperationOutcome::kOk : OutcomeOf(done.error()));
  }

  Result<client::Row> ReadRow(client::Table& table, std::size_t row) {
    const std::int64_t floor = ledger_.Floor(row);
    RATCHET_ASSIGN(auto read, table.Get({KeyOf(row), {}, 1, {}}));
    Judge(row, floor, read);
    return read;
  }

  // Scans from row `first` on; `limit` 0: all rows. Returns the number of rows.
  Result<std::size_t> ReadRows(client::Table& table, std::size_t first, std::uint64_t limit) {
    std::vector<std::int64_t> floors;
    for (std::size_t row = first; row < rows_; ++row) floors.push_back(ledger_.Floor(row));
    client::Scan scan;
    scan.start_row = KeyOf(first);
    scan.limit = limit;
    auto scanner = table.Scan(scan);
    std::size_t row = first;
    for (;; ++row) {
      if (limit != 0 && threads_.stopping()) break;  // each region may take as long as one operation
      RATCHET_ASSIGN(const auto read, scanner.Next());
      if (!read) break;
      // A wrong or missing row: the following rows cannot be compared.
      if (row >= rows_ || read->key != KeyOf(row)) {
        Blame(
            fmt::format("lost: a scan returned row {} instead of {}", read->key, row < rows_ ? KeyOf(row) : "the end"));
        break;
      }
      Judge(row, floors[row - first], *read);
    }
    return row - first;
  }

  void Judge(std::size_t row, std::int64_t floor, const client::Row& read) {
    auto wrong = ledger_.Observe(row, floor, read);
    {
      MutexLock lock(mutex_);
      ++reads_;
    }
    if (wrong) Blame(std::move(*wrong));
  }

  void Blame(std::string wrong) {
    MutexLock lock(mutex_);
    ++violations_;
    if (shown_.size() < kShownRows) shown_.push_back(std::move(wrong));
  }

  void EndChange(std::size_t row, BankLedger::Ticket change, OperationOutcome outcome) {
    if (auto wrong = ledger_.EndChange(row, change, outcome)) Blame(std::move(*wrong));
  }

  void Transfer(client::Table& table, std::size_t row, bool conditional, Prng& prng) {
    const std::size_t from = prng.Below(kAccounts);
    const std::size_t to = (from + 1 + prng.Below(kAccounts - 1)) % kAccounts;
    const std::int64_t amount = prng.Between(1, 100);
    if (!conditional) {
      const auto change = ledger_.BeginChange(row);
      const auto done = table.Mutate(Mutation::Increment(KeyOf(row))
                                         .Add(kLoadFamily, AccountColumn(from), -amount)
                                         .Add(kLoadFamily, AccountColumn(to), amount)
                                         .Add(kLoadFamily, kVersionColumn, 1));
      EndChange(row, change, done.ok() ? OperationOutcome::kOk : OutcomeOf(done.error()));
      return Count(done);
    }
    const auto read = ReadRow(table, row);
    if (!read.ok() || threads_.stopping()) return Count(read);
    const auto before = ParseBankRow(*read);
    if (!before.ok()) return;  // a violation that was already reported
    const auto put = [](std::int64_t number) { return EncodeInt64(number); };
    const auto change = ledger_.BeginChange(row);
    const auto done =
        table.CheckAndMutate({kLoadFamily, kVersionColumn, client::CompareOp::kEqual, put(before->version)},
                             Mutation::Put(KeyOf(row))
                                 .Set(kLoadFamily, AccountColumn(from), put(before->balances[from] - amount))
                                 .Set(kLoadFamily, AccountColumn(to), put(before->balances[to] + amount))
                                 .Set(kLoadFamily, kVersionColumn, put(before->version + 1)));
    // A version never returns, so a refusal is final even if an earlier attempt is still in progress.
    const OperationOutcome refused = OperationOutcome::kFailed;
    EndChange(row, change, !done.ok() ? OutcomeOf(done.error()) : *done ? OperationOutcome::kOk : refused);
    Count(done);
  }

  const WorkloadContext context_;
  const TableName table_;
  const std::size_t rows_;
  BankLedger ledger_;
  Tally tally_;
  mutable Mutex mutex_;
  std::uint64_t reads_ GUARDED_BY(mutex_) = 0;
  std::uint64_t violations_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> shown_ GUARDED_BY(mutex_);
  LoadThreads threads_;
};

}  // namespace

std::unique_ptr<Workload> MakeBank(WorkloadContext context) { return std::make_unique<Bank>(std::move(context)); }

}  // namespace ratchet::chaos
