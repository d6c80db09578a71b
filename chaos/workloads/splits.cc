#include "chaos/workloads/splits.h"

#include <algorithm>
#include <fstream>

#include <fmt/core.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/ddl_client.h"
#include "chaos/workloads/key_ranges.h"
#include "chaos/workloads/load.h"
#include "common/base/log.h"
#include "common/base/printable.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kSplitsPause{150};
constexpr int kDrawnKeys = 64;

class Splits final : public Workload {
 public:
  explicit Splits(WorkloadContext context) : context_(std::move(context)) {}
  ~Splits() override { threads_.Stop(); }

  [[nodiscard]] std::string_view name() const override { return "splits"; }
  [[nodiscard]] Status Prepare() override { return Ok(); }
  void Start() override {
    const int threads = std::max(1, context_.threads / 2);
    threads_.Start("splits", threads, context_.seed, [this](int /*thread*/, Prng& prng) { Step(prng); });
  }
  void AskToStop() override { threads_.AskToStop(); }
  void Stop() override { threads_.Stop(); }
  [[nodiscard]] WorkloadCounters counters() const override { return tally_.Snapshot(); }

  [[nodiscard]] std::vector<Finding> Check() override {
    procedures_.Await(context_.connection, unfinished_, kCheckTimeout);
    return {CheckRanges(), procedures_.Check(context_.connection)};
  }

  [[nodiscard]] Status WriteEvidence(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::ofstream out(folder / "splits.txt");
    out << procedures_.ToText();
    out.close();
    if (!out) return Error(Code::kIo, fmt::format("{}: cannot be written", (folder / "splits.txt").string()));
    return Ok();
  }

 private:
  // Returns the current tables of the other loads. Those of "ddl" are created and deleted.
  [[nodiscard]] std::vector<TableName> Tables(client::Admin& admin) const {
    const auto listed = admin.ListTables();
    std::vector<TableName> tables = listed.ok() ? *listed : std::vector<TableName>();
    std::erase_if(tables, [&](const TableName& table) {
      return !table.qualifier.starts_with(context_.table_prefix + "_") ||
             table.qualifier.find("_ddl_") != std::string::npos;
    });
    return tables;
  }

  void Step(Prng& prng) {
    client::Admin admin(context_.connection, kLoadTimeout);
    const std::vector<TableName> tables = Tables(admin);
    if (!tables.empty() && !threads_.stopping()) {
      const TableName& table = tables[prng.Below(tables.size())];
      const auto regions = admin.Regions(table);
      if (regions.ok() && !regions->empty() && !threads_.stopping()) Change(*regions, prng);
    }
    threads_.Pause(kSplitsPause);
  }

  // Keeps the number of regions between half and twice the initial one.
  void Change(const std::vector<client::RegionLocation>& regions, Prng& prng) {
    const auto usual = static_cast<std::size_t>(std::max(2, context_.regions));
    const bool few = regions.size() <= std::max<std::size_t>(1, usual / 2);
    const bool many = regions.size() >= 2 * usual;
    if (few || (!many && prng.Chance(1, 2))) {
      Split(regions[prng.Below(regions.size())].region, prng);
    } else if (regions.size() >= 2) {
      const std::size_t most = std::min<std::size_t>(3, regions.size());
      const auto count = static_cast<std::size_t>(prng.Between(2, static_cast<std::int64_t>(most)));
      const std::size_t first = prng.Below(regions.size() - count + 1);
      std::vector<std::string> neighbours;
      for (std::size_t i = 0; i < count; ++i) neighbours.push_back(regions[first + i].region.encoded_name());
      Run(MakeMergeRequest(context_.connection, neighbours),
          fmt::format("merge of {} regions from {} on", count, neighbours.front()));
    }
  }

  // Splits at a key in the form of the loads: four hex digits, or two bytes.
  void Split(const RegionInfo& region, Prng& prng) {
    for (int drawn = 0; drawn < kDrawnKeys; ++drawn) {
      const auto number = static_cast<unsigned>(prng.Below(1U << 16));
      std::string key = fmt::format("{:04x}", number);
      if (prng.Chance(1, 2)) key = {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)};
      if (!region.Contains(key) || key == region.start_key) continue;
      Run(MakeSplitRequest(context_.connection, region, key),
          fmt::format("split of region {} at {}", region.encoded_name(), PrintableText(key)));
      return;
    }
  }

  void Run(const DdlRequest& request, const std::string& what) {
    const DdlEnd end = RunToEnd(context_.connection, request, [this] { return threads_.stopping(); });
    if (end.outcome == DdlOutcome::kUnfinished) {
      MutexLock lock(mutex_);
      unfinished_[*end.pid] = what;
    } else {
      procedures_.Add(what, end);
    }
    const OperationOutcome outcome = AsOperation(end.outcome);
    if (outcome == OperationOutcome::kUnknown) RATCHET_LOG(kWarn, "splits: pid {}: {}", end.pid.value_or(0), end.error);
    tally_.Add(outcome);
  }

  // Checks the ranges that clients find in hbase:meta.
  Finding CheckRanges() {
    client::Admin admin(context_.connection, kCheckTimeout);
    std::string wrong;
    std::size_t tables = 0;
    std::size_t regions = 0;
    for (const TableName& table : Tables(admin)) {
      const auto located = admin.Regions(table);
      if (!located.ok()) return {false, fmt::format("{}: {}", table.ToString(), located.error().ToString())};
      ++tables;
      std::vector<KeyRange> ranges;
      for (const auto& location : *located) ranges.push_back({location.region.start_key, location.region.end_key});
      regions += ranges.size();
      for (const std::string& what : WrongRanges(table.ToString(), std::move(ranges))) wrong += "\n  " + what;
    }
    return {wrong.empty(), fmt::format("{} regions cover the keys of {} tables {}{}", regions, tables,
                                       wrong.empty() ? "without a hole and without an overlap" : "wrongly", wrong)};
  }

  const WorkloadContext context_;
  AcceptedProcedures procedures_;
  Tally tally_;
  Mutex mutex_;
  std::map<std::uint64_t, std::string> unfinished_;  // by pid; read when the threads have ended
  LoadThreads threads_;
};

}  // namespace

std::unique_ptr<Workload> MakeSplits(WorkloadContext context) { return std::make_unique<Splits>(std::move(context)); }

}  // namespace ratchet::chaos
