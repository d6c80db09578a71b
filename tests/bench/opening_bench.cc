// Measures the opening of many regions on one server: time, and the syncs that the process makes. Real files, no
// network and no master. Not a test.
//
// opening_bench [--dir DIR] [--regions N] [--rounds N] [--delay-ms D] [--log-mib M]. Opens the regions with the
// server's lanes, in orders of 100 regions as a master sends them, first each opening alone and then together (S133:
// shared syncs), in turns. With M the regions have edits: M MiB in the logs of a dead server, which are split first,
// one after the other. Without M they are empty. Adds D to each sync, as on a slower disk. Prints a RESULT line for
// each round.
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/io/fenced_directory.h"
#include "common/io/log_bytes.h"
#include "common/io/record_log.h"
#include "common/model/codec.h"
#include "regionserver/host/region_host.h"
#include "regionserver/host/split_log.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/orders/order_queue.h"
#include "regionserver/wal/log_entry.h"

namespace {

std::atomic<std::uint64_t> syncs{0};
std::atomic<std::uint64_t> sync_ns{0};  // of all threads together
std::atomic<std::uint32_t> delay_ms{0};

int Counted(long call, int fd) {
  ++syncs;
  const auto begun = std::chrono::steady_clock::now();
  if (delay_ms > 0) ::poll(nullptr, 0, static_cast<int>(delay_ms));  // the slower disk
  const auto result = static_cast<int>(::syscall(call, fd));
  sync_ns += static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begun).count());
  return result;
}

double ProcessorMs() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

}  // namespace

// These take the place of the C library's functions in this program.
extern "C" int fsync(int fd) { return Counted(SYS_fsync, fd); }
extern "C" int fdatasync(int fd) { return Counted(SYS_fdatasync, fd); }
extern "C" int syncfs(int fd) noexcept { return Counted(SYS_syncfs, fd); }

namespace ratchet::bench {
namespace {

using namespace regionserver;
namespace fs = std::filesystem;

constexpr std::size_t kOrderedTogether = 100;

RegionInfo RegionOf(std::size_t i) {
  RegionInfo region;
  region.table = TableName("default", "t");
  region.start_key = fmt::format("{:06}", i);
  region.end_key = fmt::format("{:06}", i + 1);
  region.region_id = 77;
  return region;
}

hbase::pb::ExecuteProceduresRequest Orders(std::size_t begin, std::size_t end, std::uint64_t open_number) {
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families.push_back(DefaultFamily("f"));
  hbase::pb::ExecuteProceduresRequest request;
  request.set_epoch(1);
  auto* const open = request.add_open_region();
  for (std::size_t i = begin; i < end; ++i) {
    auto* const info = open->add_open_info();
    ToProto(RegionOf(i), *info->mutable_region());
    info->set_open_proc_id(static_cast<std::int64_t>(open_number + i));
    info->set_open_number(open_number + i);
    info->set_table_dir("default/t.7");
    ToProto(table, *info->mutable_schema());
  }
  return request;
}

constexpr std::uint64_t kLogBytes = std::uint64_t{32} << 20;
constexpr std::size_t kValueBytes = 1'000;
constexpr const char* kDead = "dead,1,100";

// Writes one log of the dead server; each entry is a row of the next region. Returns the order to split it.
SplitLogOrder WriteLog(io::Directory& directory, int number, std::uint64_t bytes, std::size_t regions,
                       std::map<std::string, std::uint64_t>& sequences) {
  SplitLogOrder order;
  const std::string name = fmt::format("log.{:010}", number);
  io::RecordWriter writer(directory.Create(name).value(),
                          {kServerLogKind, io::LogFileId(fmt::format("{}/{}", kDead, name))});
  std::uint64_t records = 0;
  for (std::uint64_t written = 0; written < bytes; written += kValueBytes) {
    const RegionInfo region = RegionOf(records % regions);
    LogEntry entry;
    entry.region = region.encoded_name();
    entry.sequence = ++sequences[entry.region];
    entry.greatest_timestamp = 1;
    entry.cells.push_back({Cell{fmt::format("{}{:08}", region.start_key, entry.sequence), "f", "q", 1, CellType::kPut,
                                std::string(kValueBytes, 'v')},
                           {}});
    std::string payload;
    EncodeLogEntry(entry, payload);
    RATCHET_CHECK(writer.Add(kEntryRecordType, kEntryVersion, ++records, payload).ok(), "no log");
    if (records % 1'000 == 0) RATCHET_CHECK(writer.Flush().ok(), "no log");
  }
  RATCHET_CHECK(writer.Sync().ok(), "no log");
  const std::unique_ptr<io::ReadableFile> file = directory.OpenForRead(name).value();
  const std::uint64_t length = file->size().value();
  constexpr std::size_t kStep = 1U << 20;
  io::LogBytes content(*file, length, kStep);
  order.parameter.set_wal_path(fmt::format("wals/{}-splitting/{}", kDead, name));
  order.parameter.set_sealed_length(length);
  order.parameter.set_sealed_crc32c(io::ChecksumOf(content, 0, length));
  order.parameter.set_sealed_last_sequence(records);
  for (std::size_t i = 0; i < regions; ++i) {
    auto* const hint = order.parameter.add_region();
    hint->set_encoded_name(RegionOf(i).encoded_name());
    hint->set_region_dir("default/t.7/" + RegionOf(i).encoded_name());
  }
  return order;
}

struct Figures {
  double split_ms = 0;
  std::uint64_t split_syncs = 0;
  double ms = 0;
  double processor_ms = 0;
  double sync_ms = 0;
  std::uint64_t syncs = 0;
};

// Splits the logs of a dead server with `mib` MiB together.
void SplitLogs(io::Directory& root, io::Directory& wals, std::uint64_t mib, std::size_t regions, Figures& figures) {
  RATCHET_CHECK(wals.MakeDir(std::string(kDead) + io::kSplittingSuffix).ok(), "no directory for logs");
  const auto directory = wals.OpenDir(std::string(kDead) + io::kSplittingSuffix).value();
  std::vector<SplitLogOrder> orders;
  std::map<std::string, std::uint64_t> sequences;
  std::uint64_t left = mib << 20;
  while (left > 0) {
    const std::uint64_t bytes = std::min(left, kLogBytes);
    orders.push_back(WriteLog(*directory, static_cast<int>(orders.size()) + 1, bytes, regions, sequences));
    left -= bytes;
  }
  ::sync();
  const std::uint64_t before = syncs;
  const auto begun = std::chrono::steady_clock::now();
  for (const SplitLogOrder& order : orders) {
    const auto report = RunSplit(root, order);
    RATCHET_CHECK(report.ok(), "no split: {}", report.error().ToString());
  }
  figures.split_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  figures.split_syncs = syncs - before;
}

Figures Round(const fs::path& dir, std::size_t regions, bool together, std::uint64_t log_mib) {
  fs::remove_all(dir);
  const auto root = io::PosixDisk().OpenOrMake(dir.string()).value();
  for (std::size_t i = 0; i < regions; ++i)
    fs::create_directories(dir / "data/default/t.7" / RegionOf(i).encoded_name());
  const auto wals = io::PosixDisk().OpenOrMake((dir / "wals").string()).value();
  const auto log_directory = io::FencedDirectory::Make(*wals, "host,1,100").value();
  SystemClock clock;
  LanePool lanes(LaneThreads{.regions = 4});
  HostOptions options;
  RegionHost host(*root, clock, lanes, options, [](int, const std::string& why) { RATCHET_CHECK(false, "{}", why); });
  RATCHET_CHECK(host.wals.UseDirectory(*log_directory).ok(), "no log");
  Mutex mutex;
  CondVar changed;
  std::size_t opened = 0;
  EpochGuard epochs;
  std::unique_ptr<OrderQueue> queue;
  queue = std::make_unique<OrderQueue>(epochs, lanes, [&] {
    std::size_t more = 0;
    for (const OrderKey& key : queue->DrainNewlyDue()) {
      const auto report = queue->BuildReport(key);
      RATCHET_CHECK(report && report->answer.outcome == OrderOutcome::kOpened, "a region did not open");
      ++more;
    }
    MutexLock lock(mutex);
    opened += more;
    changed.NotifyAll();
  });
  Figures figures;
  if (log_mib > 0) SplitLogs(*root, *wals, log_mib, regions, figures);
  ::sync();  // so that the figures have only what the openings write
  const std::uint64_t syncs_before = syncs;
  const std::uint64_t sync_ns_before = sync_ns;
  const double processor_before = ProcessorMs();
  const auto begun = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < regions; i += kOrderedTogether) {
    auto batch = DecodeOrders(Orders(i, std::min(regions, i + kOrderedTogether), 10), 1, host.orders).value();
    if (!together)
      for (Order& order : batch.orders) order.begin = nullptr;
    RATCHET_CHECK(queue->Take(batch.epoch, batch.lowest_live, std::move(batch.orders)).ok(), "orders refused");
  }
  {
    MutexLock lock(mutex);
    while (opened < regions) changed.Wait(mutex);
  }
  figures.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  figures.processor_ms = ProcessorMs() - processor_before;
  figures.sync_ms = static_cast<double>(sync_ns - sync_ns_before) / 1e6;
  figures.syncs = syncs - syncs_before;
  lanes.Stop();
  for (const auto& region : host.regions.All()) region->Abandon();
  host.wals.Stop();
  return figures;
}

int Main(int argc, char** argv) {
  std::string dir = "build/bench/openings";
  std::size_t regions = 1'000;
  int rounds = 3;
  std::uint64_t log_mib = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--dir")
      dir = argv[i + 1];
    else if (name == "--regions")
      regions = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--delay-ms")
      delay_ms = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    else if (name == "--log-mib")
      log_mib = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else
      return fmt::print(stderr, "opening_bench: unknown argument '{}'\n", name), 2;
  }
  ConfigureLog({LogLevel::kError, {}});
  for (int round = 0; round < rounds; ++round) {
    for (const bool together : {false, true}) {
      const Figures figures = Round(dir, regions, together, log_mib);
      fmt::print(
          "RESULT [openings={}, regions={}, ms={:.1f}, processor_ms={:.1f}, sync_ms={:.1f}, syncs={}, "
          "log_mib={}, split_ms={:.1f}, split_syncs={}]\n",
          together ? "together" : "alone", regions, figures.ms, figures.processor_ms, figures.sync_ms, figures.syncs,
          log_mib, figures.split_ms, figures.split_syncs);
      std::fflush(stdout);
    }
  }
  fs::remove_all(dir);
  return 0;
}

}  // namespace
}  // namespace ratchet::bench

int main(int argc, char** argv) { return ratchet::bench::Main(argc, argv); }
