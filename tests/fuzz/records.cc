#include <memory>

#include "common/base/check.h"
#include "common/io/record_log.h"
#include "procedure/core/record.h"
#include "procedure/store/format.h"
#include "regionserver/wal/log_entry.h"
#include "tests/fuzz/targets.h"
#include "tests/support/sim_disk.h"

namespace ratchet::fuzz {
namespace {

void FeedPayload(std::string_view payload) {
  procedure::FrameParser parser(payload);
  procedure::FrameEntry entry;
  while (parser.Next(&entry)) (void)procedure::DecodeRecord(entry.bytes);
  (void)procedure::DecodeRecord(payload);
  (void)DecodeLogEntryKey(payload);
  const auto logged = regionserver::DecodeLogEntry(payload);
  if (!logged.ok()) return;
  // A parsed record can be encoded again, and parses to the same value.
  std::string again;
  regionserver::EncodeLogEntry(*logged, again);
  const auto twice = regionserver::DecodeLogEntry(again);
  RATCHET_CHECK(twice.ok() && twice->sequence == logged->sequence && twice->cells.size() == logged->cells.size(),
                "an entry does not survive its own encoding");
}

void ReadLog(std::string_view bytes, std::uint64_t sealed_length) {
  io::RecordReader::Options options;
  options.sealed_length = sealed_length;
  io::RecordReader reader(bytes, options);
  io::Record record;
  std::uint64_t last_end = 0;
  do {
    while (reader.Next(&record)) {
      RATCHET_CHECK(record.offset >= last_end && record.end > record.offset && record.end <= bytes.size() + 7,
                    "a record from {} to {} of {} bytes", record.offset, record.end, bytes.size());
      RATCHET_CHECK(record.payload.data() >= bytes.data() &&
                        record.payload.data() + record.payload.size() <= bytes.data() + bytes.size(),
                    "a payload outside its file");
      last_end = record.end;
      FeedPayload(record.payload);
    }
    RATCHET_CHECK(reader.tail().offset <= bytes.size() + 7, "the tail lies behind the end");
  } while (reader.SkipDamage());
}

void FeedLog(std::string_view bytes) {
  ReadLog(bytes, UINT64_MAX);
  if (!bytes.empty()) ReadLog(bytes, static_cast<unsigned char>(bytes.back()) * std::uint64_t{8});
}

std::string SomeEntry() {
  regionserver::LogEntry entry;
  entry.region = "0123456789abcdef0123456789abcdef";
  entry.sequence = 12;
  entry.cells.push_back({{"row", "f", "q", 5, CellType::kPut, "value"}, {}});
  entry.nonces.push_back({1, 2, 3});
  std::string bytes;
  regionserver::EncodeLogEntry(entry, bytes);
  return bytes;
}

std::string SomeRecord() {
  procedure::Identity identity;
  identity.pid = ProcId(7);
  identity.root = ProcId(7);
  identity.type = "TransitRegionState";
  procedure::Durable durable;
  durable.step = 1;
  durable.version = 1;
  durable.data = "data";
  return procedure::EncodeRecord(identity, durable);
}

std::vector<std::string> PayloadSeeds() { return {SomeEntry(), SomeRecord()}; }

std::vector<std::string> LogSeeds() {
  io::SimDisk disk;
  const auto process = disk.NewProcess();
  auto directory = process->OpenOrMake("/log");
  RATCHET_CHECK(directory.ok(), "the simulated disk");
  auto file = (*directory)->Create("log");
  RATCHET_CHECK(file.ok(), "the simulated disk");
  io::RecordWriter writer(std::move(*file), {kServerLogKind, io::LogFileId("fuzz/log")});
  for (std::uint64_t i = 1; i <= 4; ++i) {
    RATCHET_CHECK(writer.Add(1, 1, i, i % 2 == 0 ? SomeEntry() : SomeRecord()).ok() && writer.Sync().ok(), "a record");
  }
  return {(*directory)->ReadAll("log").value()};
}

}  // namespace

const Target kRecords{"records", FeedLog, LogSeeds};
const Target kPayloads{"payloads", FeedPayload, PayloadSeeds};

}  // namespace ratchet::fuzz
