#include "chaos/workloads/huge_rows.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/core.h>

#include "chaos/workloads/huge_row.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/model/cell.h"
#include "common/rpc/exceptions.h"

namespace ratchet::chaos {
namespace {

constexpr int kThreads = 2;
constexpr std::size_t kRowsPerShape = 6;  // rows of each thread
constexpr std::size_t kBatch = 4;         // large cells in one batch
constexpr std::size_t kWrongKept = 10;    // limit of errors kept during the run
// Average of all threads together: logs and replaced files stay for minutes, even on a disk of 2 GiB.
constexpr std::uint64_t kBytesPerSecond = 192U << 10U;
constexpr Millis kAtLeast{250};
constexpr std::uint64_t kAppended = 1'024;

// The limit of a table; the servers' own limit is a setting that is not visible here.
std::uint64_t CellLimit(std::uint64_t seed) {
  constexpr std::uint64_t kLimits[] = {64U << 10U, 256U << 10U, 1U << 20U};
  return kLimits[Prng(seed).Below(3)];
}

class HugeRows final : public Workload {
 public:
  explicit HugeRows(WorkloadContext context)
      : context_(std::move(context)),
        table_("default", context_.table_prefix + "_huge"),
        cell_limit_(CellLimit(context_.seed)) {
    Prng prng(context_.seed);
    for (int thread = 0; thread < kThreads; ++thread) rows_.push_back(MakeRows(thread, prng));
  }
  ~HugeRows() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "huge-rows"; }
  [[nodiscard]] Status Prepare() override {
    TableDescriptor descriptor;
    descriptor.name = table_;
    descriptor.families.push_back(DefaultFamily(kLoadFamily));
    descriptor.attributes["hbase.server.keyvalue.maxsize"] = std::to_string(cell_limit_);
    client::Admin admin(context_.connection, kCheckTimeout);
    const Status made = admin.WaitOk(admin.CreateTable(descriptor, EvenPrefixes(context_.regions, true)));
    return made.ok() ? made : Status(made.error().Annotate("making table " + table_.ToString()));
  }
  void Start() override {
    threads_.Start("huge", kThreads, context_.seed, [this](int thread, Prng& prng) { Step(thread, prng); });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    std::uint64_t bytes = 0;
    std::size_t there = 0;
    std::map<std::string, HugeRow*> known;
    for (auto& thread : rows_) {
      for (auto& row : thread) known[row.key] = &row;
    }
    std::map<std::string, HugeRow*> missing = known;
    client::Table table(context_.connection, table_, kCheckTimeout);
    auto scanner = table.Scan({});
    for (;;) {
      const auto row = scanner.Next();
      if (!row.ok()) return {{false, "the table cannot be read: " + row.error().ToString()}};
      if (!*row) break;
      ++there;
      for (const Cell& cell : (*row)->cells) bytes += cell.value.size();
      const auto found = known.find((*row)->key);
      if (found == known.end()) {
        if (!IsAppended((*row)->key))
          Wrong(fmt::format("a row exists whose key of {} bytes was only in a refused request", (*row)->key.size()));
        continue;
      }
      missing.erase(found->first);
      if (auto wrong = Judge(**row, *found->second)) Wrong(std::move(*wrong));
    }
    for (const auto& [key, row] : missing) {
      if (auto wrong = Judge(client::Row{}, *row)) Wrong(std::move(*wrong));
    }
    MutexLock lock(mutex_);
    std::string text = fmt::format("{} rows hold what was acknowledged, {} KiB in all; cells up to {} KiB", there,
                                   bytes >> 10U, cell_limit_ >> 10U);
    for (const auto& wrong : wrong_) text += "\n  " + wrong;
    return {{wrong_.empty() && written_ > 0, text},
            {not_refused_.empty(), fmt::format("{} requests beyond the limits were refused by name{}", refused_,
                                               not_refused_.empty() ? "" : "; not: " + not_refused_)}};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "huge-rows.txt");
    for (const auto& thread : rows_) {
      for (const auto& row : thread) {
        out << fmt::format("{}... {} bytes of key, shape {}, seed {}, acknowledged {}, perhaps", row.key.substr(0, 12),
                           row.key.size(), static_cast<int>(row.shape), row.seed, row.acknowledged);
        for (const auto version : row.perhaps) out << ' ' << version;
        out << '\n';
      }
    }
    MutexLock lock(mutex_);
    for (const auto& wrong : wrong_) out << wrong << '\n';
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "huge-rows.txt").string()));
    return Ok();
  }

 private:
  std::vector<HugeRow> MakeRows(int thread, Prng& prng) const {
    std::vector<HugeRow> rows;
    for (const HugeShape shape : {HugeShape::kCell, HugeShape::kWide, HugeShape::kLongKey}) {
      for (std::size_t i = 0; i < kRowsPerShape; ++i) {
        const int region = static_cast<int>(prng.Below(static_cast<std::uint64_t>(context_.regions)));
        std::string prefix =
            fmt::format("{}-{}-{}-{}", PrefixOfRegion(region, context_.regions), thread, static_cast<int>(shape), i);
        rows.push_back(MakeHugeRow(shape, std::move(prefix), prng.Next(), cell_limit_));
      }
    }
    return rows;
  }
  [[nodiscard]] std::string AppendedKey(int thread) const {
    return fmt::format("{}-{}-append", PrefixOfRegion(0, context_.regions), thread);
  }
  [[nodiscard]] bool IsAppended(const std::string& key) const {
    for (int thread = 0; thread < kThreads; ++thread) {
      if (key == AppendedKey(thread)) return true;
    }
    return false;
  }

  void Step(int thread, Prng& prng) {
    std::uint64_t bytes = 0;
    switch (prng.Below(8)) {
      case 0:
      case 1:
      case 2: bytes = Write(thread, {PickRow(thread, prng)}); break;
      case 3: bytes = Write(thread, PickCells(thread, prng)); break;
      case 4: bytes = AskTooMuch(thread, prng); break;
      case 5: bytes = AppendTooMuch(thread); break;
      default: bytes = Read(thread, PickRow(thread, prng)); break;
    }
    threads_.Pause(std::max(kAtLeast, Millis(static_cast<std::int64_t>(bytes * 1'000 * kThreads / kBytesPerSecond))));
  }

  HugeRow* PickRow(int thread, Prng& prng) {
    auto& rows = rows_[static_cast<std::size_t>(thread)];
    return &rows[prng.Below(rows.size())];
  }
  std::vector<HugeRow*> PickCells(int thread, Prng& prng) {
    auto& rows = rows_[static_cast<std::size_t>(thread)];  // rows with cells come first
    const std::size_t from = prng.Below(kRowsPerShape);
    std::vector<HugeRow*> picked;
    for (std::size_t i = 0; i < kBatch; ++i) picked.push_back(&rows[(from + i) % kRowsPerShape]);
    return picked;
  }

  // Writes the next version of each row, several rows in one request. Returns the bytes sent.
  std::uint64_t Write(int thread, const std::vector<HugeRow*>& rows) {
    std::vector<client::Mutation> puts;
    std::uint64_t bytes = 0;
    for (HugeRow* row : rows) {
      puts.push_back(PutHugeRow(*row, ++row->newest));
      bytes += BytesOf(puts.back());
    }
    client::Table table(context_.connection, table_, kLoadTimeout);
    std::vector<Status> statuses;
    if (rows.size() == 1) {
      const auto done = table.Mutate(puts.front());
      statuses.push_back(done.ok() ? Ok() : Status(done.error()));
    } else {
      statuses = table.MutateMany(puts);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (statuses[i].ok()) {
        rows[i]->acknowledged = rows[i]->newest;
        rows[i]->perhaps.clear();
        tally_.Add(OperationOutcome::kOk);
        MutexLock lock(mutex_);
        ++written_;
        continue;
      }
      const Error& error = statuses[i].error();
      RATCHET_LOG(kWarn, "huge-{}: {}", thread, error.ToString());
      if (IsRefusal(error)) Wrong(fmt::format("a write within the limits was refused: {}", error.ToString()));
      // A batch does not report its attempts.
      const OperationOutcome outcome = rows.size() == 1 ? OutcomeOf(error) : OperationOutcome::kUnknown;
      if (outcome == OperationOutcome::kUnknown) rows[i]->perhaps.insert(rows[i]->newest);
      tally_.Add(outcome);
    }
    return bytes;
  }

  std::uint64_t Read(int thread, HugeRow* row) {
    client::Table table(context_.connection, table_, kLoadTimeout);
    client::Get get;
    get.row = row->key;
    const auto answer = table.Get(get);
    if (!answer.ok()) {
      RATCHET_LOG(kWarn, "huge-{}: {}", thread, answer.error().ToString());
      if (IsRefusal(answer.error()))
        Wrong(fmt::format("a read within the limits was refused: {}", answer.error().ToString()));
      tally_.Add(OperationOutcome::kFailed);
      return 0;
    }
    tally_.Add(OperationOutcome::kOk);
    if (auto wrong = Judge(*answer, *row)) Wrong(std::move(*wrong));
    return 0;
  }

  // Requests a cell that is one byte to 4 KiB too large, or a key that is one byte too long.
  std::uint64_t AskTooMuch(int thread, Prng& prng) {
    HugeRow* const row = PickCells(thread, prng).front();
    if (prng.Chance(1, 3)) {
      client::Table table(context_.connection, table_, kLoadTimeout);
      std::string key = row->key;
      key.resize(kMaxRowLength + 1, 'k');
      Expect("a key above the limit",
             table.Mutate(client::Mutation::Put(std::move(key)).Set(kLoadFamily, "q00000", "v")));
      return 0;
    }
    const auto put = PutHugeRow(*row, row->newest + 1, static_cast<std::uint64_t>(prng.Between(1, 4'096)));
    client::Table table(context_.connection, table_, kLoadTimeout);
    Expect("a cell above the limit", table.Mutate(put));
    return BytesOf(put);
  }

  // Appends too much to a cell that fits: the cell must stay.
  std::uint64_t AppendTooMuch(int thread) {
    client::Table table(context_.connection, table_, kLoadTimeout);
    HugeRow fits;
    fits.key = AppendedKey(thread);
    fits.cell_bytes = cell_limit_;
    // Uses the same bytes each time, so that the order of several attempts does not matter.
    const auto put = client::Mutation::Put(fits.key).Set(kLoadFamily, "q00000",
                                                         std::string(fits.LargestValue() - kAppended / 2, 'a'));
    const auto done = table.Mutate(put);
    if (!done.ok()) {
      tally_.Add(OutcomeOf(done.error()));
      return 0;
    }
    tally_.Add(OperationOutcome::kOk);
    Expect("an append that makes a cell above the limit",
           table.Mutate(client::Mutation::Append(fits.key).Set(kLoadFamily, "q00000", std::string(kAppended, 'b'))));
    return BytesOf(put);
  }

  static bool IsRefusal(const Error& error) {
    return rpc::IsClass(error, rpc::exception::kDoNotRetryIo) || rpc::IsClass(error, rpc::exception::kRequestTooBig);
  }

  void Expect(const char* what, const Result<client::Row>& answer) {
    const bool refused = !answer.ok() && IsRefusal(answer.error());
    tally_.Add(refused ? OperationOutcome::kOk : answer.ok() ? OperationOutcome::kOk : OutcomeOf(answer.error()));
    MutexLock lock(mutex_);
    if (refused) ++refused_;
    if (answer.ok()) not_refused_ = what;
  }

  void Wrong(std::string text) {
    MutexLock lock(mutex_);
    if (wrong_.size() < kWrongKept) wrong_.push_back(std::move(text));
  }

  const WorkloadContext context_;
  const TableName table_;
  const std::uint64_t cell_limit_;
  Tally tally_;
  std::vector<std::vector<HugeRow>> rows_;  // each thread's own; after Stop used by the checker
  Mutex mutex_;
  std::vector<std::string> wrong_ GUARDED_BY(mutex_);
  std::string not_refused_ GUARDED_BY(mutex_);
  std::uint64_t refused_ GUARDED_BY(mutex_) = 0;
  std::uint64_t written_ GUARDED_BY(mutex_) = 0;
  LoadThreads threads_;
};

}  // namespace

std::unique_ptr<Workload> MakeHugeRows(WorkloadContext context) {
  return std::make_unique<HugeRows>(std::move(context));
}

}  // namespace ratchet::chaos
