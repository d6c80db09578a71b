#include "chaos/workloads/scans.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "chaos/workloads/scan_ledger.h"
#include "common/base/log.h"
#include "common/client/table.h"
#include "common/model/proto/filter.pb.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kRowsPerRegion = 16;
constexpr std::size_t kShownScans = 5;

std::vector<std::string> Keys(int regions) {
  std::vector<std::string> keys;
  for (int region = 0; region < regions; ++region) {
    for (std::size_t row = 0; row < kRowsPerRegion; ++row) {
      keys.push_back(fmt::format("{}-s{:02}", PrefixOfRegion(region, regions), row));
    }
  }
  return keys;
}

template <class Message>
std::string FilterBytes(const char* name, const Message& message) {
  hbase::pb::Filter filter;
  filter.set_name(fmt::format("org.apache.hadoop.hbase.filter.{}", name));
  filter.set_serialized_filter(message.SerializeAsString());
  return filter.SerializeAsString();
}

class Scans final : public Workload {
 public:
  explicit Scans(WorkloadContext context)
      : context_(std::move(context)),
        table_("default", context_.table_prefix + "_scans"),
        ledger_(Keys(context_.regions)) {}
  ~Scans() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "scans"; }
  [[nodiscard]] Status Prepare() override {
    return MakeLoadTable(context_.connection, table_, EvenPrefixes(context_.regions, true));
  }
  void Start() override {
    threads_.Start("scans", context_.threads, context_.seed, [this](int thread, Prng& prng) { Step(thread, prng); });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    client::Table table(context_.connection, table_, kCheckTimeout);
    std::vector<Finding> findings;
    for (const bool reversed : {false, true}) {
      ScanQuestion question{0, ledger_.keys().size(), reversed, 0, {}};
      const Status read = ScanOnce(table, question, ScanOf(question, 100, kWholeAnswers), /*during_load=*/false);
      if (!read.ok()) findings.push_back({false, "the table of scans cannot be read: " + read.error().ToString()});
    }
    const MutexLock lock(mutex_);
    std::string text = fmt::format("{} ({} to the end, {} rows): {} out of order, not complete, or of a wrong version",
                                   Counted(scans_, "scan"), ended_, rows_, wrong_);
    for (const auto& shown : shown_) text += "\n  " + shown;
    findings.push_back({wrong_ == 0 && ended_ > 2 && rows_ > 0, std::move(text)});
    return findings;
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "scans.txt");
    {
      const MutexLock lock(mutex_);
      out << fmt::format("{} scans, {} whole, {} rows, {} wrong\n", scans_, ended_, rows_, wrong_);
      for (const auto& shown : shown_) out << shown << '\n';
    }
    const ScanLedger::Floors floors = ledger_.Before();
    for (std::size_t row = 0; row < floors.size(); ++row) {
      out << fmt::format("{} acknowledged {}\n", ledger_.keys()[row], floors[row]);
    }
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "scans.txt").string()));
    return Ok();
  }

 private:
  static constexpr std::uint64_t kWholeAnswers = 2U << 20U;

  void Step(int thread, Prng& prng) {
    client::Table table(context_.connection, table_, kLoadTimeout);
    const std::uint64_t draw = prng.Below(100);
    if (draw < 60) {
      Write(table, thread, prng);
    } else {
      const ScanQuestion question = Draw(draw >= 95, prng);
      constexpr std::array<std::uint32_t, 4> kRows{1, 3, 17, 1000};
      // Answers of few bytes cut rows into parts; each has room for one row at least.
      constexpr std::array<std::uint64_t, 3> kBytes{1'000, 4'000, kWholeAnswers};
      const std::uint32_t rows = kRows[prng.Below(kRows.size())];
      const std::uint64_t bytes = kBytes[prng.Below(kBytes.size())];
      const Status done = ScanOnce(table, question, ScanOf(question, rows, bytes), /*during_load=*/true);
      if (!done.ok()) RATCHET_LOG(kWarn, "scans: {}", done.error().ToString());
      tally_.Add(done.ok() ? OperationOutcome::kOk : OutcomeOf(done.error()));
    }
    threads_.Pause(kThinkTime);
  }

  // Rows belong to threads, so that a row has one put at a time.
  void Write(client::Table& table, int thread, Prng& prng) {
    const auto threads = static_cast<std::size_t>(context_.threads);
    const std::size_t row = prng.Below(ledger_.keys().size() / threads) * threads + static_cast<std::size_t>(thread);
    const std::string& key = ledger_.keys()[row];
    const std::int64_t version = ledger_.BeginPut(row);
    client::Mutation put = client::Mutation::Put(key);
    for (std::size_t i = 0; i < kScanColumns; ++i) {
      const std::string column = ScanColumn(i);
      put.Set(kLoadFamily, column, ScanValue(key, column, version), version);
    }
    const auto done = table.Mutate(put);
    if (done.ok()) ledger_.Acknowledge(row, version);
    tally_.Add(done.ok() ? OperationOutcome::kOk : OutcomeOf(done.error()));
  }

  ScanQuestion Draw(bool full, Prng& prng) const {
    ScanQuestion question;
    question.end = ledger_.keys().size();
    if (!full) {
      question.first = prng.Below(question.end);
      question.end = std::min(question.end, question.first + 1 + prng.Below(4 * kRowsPerRegion));
    }
    question.reversed = prng.Chance(1, 2);
    if (prng.Chance(1, 3)) question.limit = 1 + prng.Below(question.end - question.first + 2);
    if (prng.Chance(1, 3)) question.column_prefix = prng.Chance(1, 2) ? "a" : "b3";
    return question;
  }

  [[nodiscard]] client::Scan ScanOf(const ScanQuestion& question, std::uint32_t rows, std::uint64_t bytes) const {
    const auto& keys = ledger_.keys();
    client::Scan scan;
    scan.reversed = question.reversed;
    scan.start_row = question.reversed ? keys[question.end - 1] : keys[question.first];
    if (question.reversed) {
      scan.stop_row = keys[question.first];
      scan.include_stop = true;
    } else if (question.end < keys.size()) {
      scan.stop_row = keys[question.end];
    }
    scan.limit = question.limit;
    scan.rows_per_call = rows;
    scan.bytes_per_call = bytes;
    if (!question.column_prefix.empty()) {
      hbase::pb::ColumnPrefixFilter filter;
      filter.set_prefix(question.column_prefix);
      scan.filter = FilterBytes("ColumnPrefixFilter", filter);
    }
    return scan;
  }

  // Also judges the rows that arrived before an error.
  Status ScanOnce(client::Table& table, const ScanQuestion& question, const client::Scan& scan, bool during_load) {
    const ScanLedger::Floors floors = ledger_.Before();
    ScanAnswer answer;
    Status done = Ok();
    auto scanner = table.Scan(scan);
    for (;;) {
      auto row = scanner.Next();
      if (!row.ok()) done = row.error();
      answer.ended = row.ok() && !row->has_value();
      if (!row.ok() || !*row) break;
      answer.rows.push_back(std::move(**row));
      if (during_load && threads_.stopping()) break;  // each region may take as long as one operation
    }
    const auto wrong = ledger_.Judge(question, floors, answer);
    const MutexLock lock(mutex_);
    ++scans_;
    ended_ += answer.ended ? 1 : 0;
    rows_ += answer.rows.size();
    if (!wrong) return done;
    ++wrong_;
    if (shown_.size() < kShownScans) {
      shown_.push_back(fmt::format("scan of rows [{}, {}){}{}, limit {}, columns '{}', {} rows and {} bytes a call: {}",
                                   question.first, question.end, question.reversed ? ", reversed" : "",
                                   answer.ended ? "" : ", not ended", question.limit, question.column_prefix,
                                   scan.rows_per_call, scan.bytes_per_call, *wrong));
    }
    return done;
  }

  const WorkloadContext context_;
  const TableName table_;
  ScanLedger ledger_;
  Tally tally_;
  Mutex mutex_;
  std::uint64_t scans_ GUARDED_BY(mutex_) = 0;
  std::uint64_t ended_ GUARDED_BY(mutex_) = 0;
  std::uint64_t rows_ GUARDED_BY(mutex_) = 0;
  std::uint64_t wrong_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> shown_ GUARDED_BY(mutex_);
  LoadThreads threads_;
};

}  // namespace

std::unique_ptr<Workload> MakeScans(WorkloadContext context) { return std::make_unique<Scans>(std::move(context)); }

}  // namespace ratchet::chaos
