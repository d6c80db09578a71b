// Inputs of recovery and orders: logs under the splitter, manifests, orders of a master, rows of hbase:meta. The
// checksums are right, but the values are arbitrary, or well-formed and impossible.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/crc32c.h"
#include "common/base/log.h"
#include "common/io/record_log.h"
#include "common/model/cell_codec.h"
#include "common/model/meta_row.h"
#include "procedure/api/pause_scope.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/store/manifest.h"
#include "regionserver/wal/log_splitter.h"
#include "tests/fuzz/targets.h"
#include "tests/support/sim_disk.h"

namespace ratchet::fuzz {
namespace {

constexpr const char* kServer = "a,1,1";
constexpr const char* kFile = "log.0000000001";
constexpr const char* kRegionName = "0123456789abcdef0123456789abcdef";

// {length (2 bytes), bytes}*: each becomes a record.
std::vector<std::string_view> ChunksOf(std::string_view bytes) {
  std::vector<std::string_view> chunks;
  while (bytes.size() >= 2) {
    const std::size_t length =
        static_cast<unsigned char>(bytes[0]) | static_cast<std::size_t>(static_cast<unsigned char>(bytes[1])) << 8;
    chunks.push_back(bytes.substr(2, length));
    bytes.remove_prefix(std::min(bytes.size(), 2 + length));
  }
  return chunks;
}

void PutChunk(std::string_view chunk, std::string& out) {
  out.push_back(static_cast<char>(chunk.size() & 0xff));
  out.push_back(static_cast<char>(chunk.size() >> 8));
  out += chunk;
}

std::string EntryBytes(const std::string& region, std::uint64_t sequence) {
  regionserver::LogEntry entry;
  entry.region = region;
  entry.sequence = sequence;
  entry.greatest_timestamp = 5;
  entry.cells.push_back({{"row", "f", "q", 5, CellType::kPut, "value"}, {}});
  std::string bytes;
  regionserver::EncodeLogEntry(entry, bytes);
  return bytes;
}

struct Storage {
  Storage() : process(disk.NewProcess()) {
    logs = process->OpenOrMake("/wals").value();
    region = process->OpenOrMake(std::string("/data/") + kRegionName).value();
  }
  io::SimDisk disk;
  std::unique_ptr<io::SimDisk::Process> process;
  std::unique_ptr<io::Directory> logs;
  std::unique_ptr<io::Directory> region;
};

// The last byte determines whether and where the log is damaged after it was sealed.
void FeedSplit(std::string_view bytes) {
  Storage storage;
  io::RecordWriter writer(storage.logs->Create(kFile).value(),
                          {kServerLogKind, io::LogFileId(fmt::format("{}/{}", kServer, kFile))});
  std::uint64_t sequence = 0;
  for (const std::string_view chunk : ChunksOf(bytes)) {
    const bool other = chunk.size() % 16 == 15;  // another program's record
    writer.Add(other ? 7 : kEntryRecordType, kEntryVersion, ++sequence, chunk).value();
  }
  writer.Sync().value();
  const std::string log = storage.logs->ReadAll(kFile).value();
  regionserver::SplitRequest request;
  request.server = kServer;
  request.file = kFile;
  request.sealed_length = log.size();
  request.sealed_crc32c = Crc32c(log);
  request.sealed_last_sequence = sequence;
  request.attempt_token = 1;
  request.memory_bytes = 64;  // several passes
  request.open_region = [&storage](const std::string& name) { return storage.process->Open("/data/" + name); };
  request.keep_edits = [](const std::string&, std::uint64_t) { return std::unique_ptr<io::Directory>(); };
  const auto salt = bytes.empty() ? 0U : static_cast<unsigned char>(bytes.back());
  if (salt % 2 == 1) {
    const std::uint64_t at = salt * log.size() / 256;
    const char flipped = static_cast<char>(log[at] ^ 0x20);
    storage.disk.Overwrite(std::string("/wals/") + kFile, at, {&flipped, 1}).value();
  }
  const auto report = regionserver::SplitLog(*storage.logs, request);
  RATCHET_CHECK(report.ok() || report.error().code() == Code::kCorruption, "{}", report.error().ToString());
  const std::vector<std::string> names = storage.region->List().value();
  for (const std::string& name : names) {
    RATCHET_CHECK(!name.starts_with("tmp."), "{} is left", name);
    const std::string edits = storage.region->ReadAll(name).value();
    io::RecordReader::Options options;
    options.expected = {regionserver::kRecoveredEditsKind, io::LogFileId(fmt::format("{}/{}", kRegionName, name))};
    options.sealed_length = edits.size();
    io::RecordReader reader(edits, options);
    io::Record record;
    while (reader.Next(&record)) (void)regionserver::DecodeLogEntry(record.payload);
    RATCHET_CHECK(reader.tail().end == io::LogEnd::kClean, "the splitter wrote damaged edits: {}",
                  reader.tail().reason);
  }
}

std::vector<std::string> SplitSeeds() {
  std::string falling;
  std::string strange;
  for (const std::uint64_t sequence : {5U, 6U, 7U, 2U, 3U, 7U, 1U})
    PutChunk(EntryBytes(kRegionName, sequence), falling);
  for (const char* region : {"", ".", "..", "a/b", "gone", kRegionName}) PutChunk(EntryBytes(region, 1), strange);
  PutChunk(EntryBytes(kRegionName, UINT64_MAX), strange);
  PutChunk(EntryBytes(kRegionName, 0), strange);
  return {falling, strange, falling + strange};
}

void FeedManifest(std::string_view bytes) {
  Storage storage;
  io::RecordWriter writer(storage.region->Create("manifest.1").value(),
                          {regionserver::kManifestKind, io::LogFileId(fmt::format("{}/manifest.1", kRegionName))});
  std::uint64_t sequence = 0;
  for (const std::string_view chunk : ChunksOf(bytes)) {
    ++sequence;
    writer.Add(sequence == 1 ? 1 : 2, 1, sequence, chunk).value();
  }
  writer.Sync().value();
  (void)regionserver::ReadManifest(*storage.region, kRegionName, 1);
  (void)regionserver::Manifest::Create(*storage.region, kRegionName, 2);
}

std::vector<std::string> ManifestSeeds() {
  Storage storage;
  {
    const auto manifest = regionserver::Manifest::Create(*storage.region, kRegionName, 1).value();
    regionserver::ManifestEdit edit;
    edit.flushed_sequence = 7;
    edit.added.push_back({"1-1.sst", 100, 2, 7, "smallest", "largest", {}});
    edit.consumed_edits = {"edits.a,1,1.log.0000000001"};
    edit.nonces = {{1, 2, 3}};
    manifest->Append(edit).value();
  }
  const std::string bytes = storage.region->ReadAll("manifest.1").value();
  std::string seed;
  io::RecordReader reader(bytes, {});
  io::Record record;
  while (reader.Next(&record)) PutChunk(record.payload, seed);
  return {seed};
}

class NoExecutor final : public regionserver::OrderExecutor {
 public:
  regionserver::OrderAnswer Open(const regionserver::OpenOrder&) override { return {}; }
  std::optional<regionserver::OrderAnswer> Close(const regionserver::CloseOrder&) override {
    return regionserver::OrderAnswer{};
  }
  regionserver::OrderAnswer SplitLog(const regionserver::SplitLogOrder&) override { return {}; }
  regionserver::OrderAnswer TakeRights(const regionserver::TakeRightsOrder&) override { return {}; }
  regionserver::OrderAnswer RefreshPeers(const regionserver::RefreshPeersOrder&) override { return {}; }
  regionserver::OrderAnswer Flush(const regionserver::FlushOrder&) override { return {}; }
  regionserver::OrderAnswer Compact(const regionserver::CompactOrder&) override { return {}; }
  regionserver::OrderAnswer Build(const regionserver::BuildOrder&) override { return {}; }
  regionserver::OrderAnswer Copy(const regionserver::CopyOrder&) override { return {}; }
};

class AtOnce final : public regionserver::Lanes {
 public:
  void Run(regionserver::Lane, std::function<void()> work) override { work(); }
};

void FeedOrders(std::string_view bytes) {
  ConfigureLog({LogLevel::kError, {}});
  hbase::pb::ExecuteProceduresRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  NoExecutor executor;
  AtOnce lanes;
  regionserver::EpochGuard epochs;
  regionserver::OrderQueue orders(epochs, lanes, [] {});
  for (int again = 0; again < 2; ++again) {
    auto batch = regionserver::DecodeOrders(request, 7, executor);
    if (!batch.ok()) return;
    (void)orders.Take(batch->epoch, batch->lowest_live, std::move(batch->orders));
    for (const auto& key : orders.DrainNewlyDue()) {
      if (const auto report = orders.BuildReport(key)) orders.Acknowledged(*report);
    }
  }
}

std::vector<std::string> OrderSeeds() {
  hbase::pb::ExecuteProceduresRequest request;
  request.set_epoch(3);
  request.set_lowest_live_pid(2);
  auto* close = request.add_close_region();
  close->mutable_region()->set_type(hbase::pb::RegionSpecifier::ENCODED_REGION_NAME);
  close->mutable_region()->set_value(kRegionName);
  close->set_close_proc_id(9);
  auto* open = request.add_open_region()->add_open_info();
  auto* region = open->mutable_region();
  region->set_region_id(1);
  region->mutable_table_name()->set_namespace_("default");
  region->mutable_table_name()->set_qualifier("t");
  open->set_open_proc_id(8);
  open->set_open_number(8);
  open->set_table_dir("default/t.1");
  open->mutable_schema()->mutable_table_name()->CopyFrom(region->table_name());
  auto* split = request.add_proc();
  split->set_proc_id(10);
  split->set_proc_class(regionserver::kSplitLogClass);
  hbase::pb::SplitWALParameter parameter;
  parameter.set_wal_path("wals/a,1,1-splitting/log.0000000001");
  split->set_proc_data(parameter.SerializeAsString());
  return {request.SerializeAsString()};
}

// A block of cells, as one row of hbase:meta, and the bytes as a record of the system.
void FeedMetaRow(std::string_view bytes) {
  CellBlockReader block(bytes);
  std::vector<Cell> cells;
  while (!block.AtEnd()) {
    auto more = block.Take(1);
    if (!more.ok()) break;
    cells.push_back(std::move(more->front()));
  }
  if (!cells.empty()) {
    (void)DecodeMetaRow(cells);
    (void)DecodeTableState(cells.front().value);
    (void)ServerName::Parse(cells.front().value);
  }
  (void)procedure::DecodePause(bytes);
  (void)procedure::DecodePauseLog(bytes);
}

std::vector<std::string> MetaRowSeeds() {
  MetaRow row;
  row.region.table = TableName{"default", "t"};
  row.region.region_id = 7;
  row.server = ServerName{"h", 1, 2};
  row.target = ServerName{"h", 1, 3};
  row.open_sequence = 4;
  row.state = RegionState::kOpen;
  row.transition = 5;
  std::string block;
  const std::vector<Cell> cells = EncodeMetaRow(row);
  for (const Cell& cell : cells) AppendCell(cell, block);
  return {block};
}

}  // namespace

const Target kSplits{"splits", FeedSplit, SplitSeeds};
const Target kManifests{"manifests", FeedManifest, ManifestSeeds};
const Target kOrders{"orders", FeedOrders, OrderSeeds};
const Target kMetaRows{"metarows", FeedMetaRow, MetaRowSeeds};

}  // namespace ratchet::fuzz
