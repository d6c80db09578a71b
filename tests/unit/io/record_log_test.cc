// The record log: records that were written are read, a torn tail is cut, damage is distinguished from it.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/crc32c.h"
#include "common/base/prng.h"
#include "common/io/little_endian.h"
#include "common/io/range_checksums.h"
#include "common/io/record_log.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

constexpr LogIdentity kIdentity{0x54534554, 42};

struct Written {
  std::string bytes;
  std::vector<Record> records;  // payload views into `payloads`
  std::vector<std::string> payloads;
  std::vector<std::uint64_t> synced_at;  // offsets at which a sync took place
};

// `groups`: payload sizes, each group one sync.
Written Write(const std::vector<std::vector<std::size_t>>& groups, std::uint64_t zero_tail = 0) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  auto directory = process->Open("/").value();
  RecordWriter writer(directory->Create("log").value(), kIdentity);
  Written written;
  std::uint64_t sequence = 0;
  for (const auto& group : groups) {
    for (const std::size_t size : group) {
      ++sequence;
      std::string payload;
      for (std::size_t i = 0; i < size; ++i) payload.push_back(static_cast<char>('A' + (sequence + i) % 26));
      Record record;
      record.offset = writer.end_offset();
      record.sequence = sequence;
      EXPECT_TRUE(writer.Add(7, 1, sequence, payload).ok());
      record.end = writer.end_offset();
      written.records.push_back(record);
      written.payloads.push_back(payload);
    }
    EXPECT_TRUE(writer.Sync().ok());
    written.synced_at.push_back(writer.durable_offset());
  }
  written.bytes = disk.Content("/log").value() + std::string(zero_tail, '\0');
  return written;
}

struct Read {
  std::vector<Record> records;
  LogTail tail;
};

// The payloads point into `bytes`.
Read ReadBack(std::string_view bytes, std::uint64_t sealed = UINT64_MAX) {
  RecordReader reader(bytes, {kIdentity, sealed});
  Read read;
  Record record;
  while (reader.Next(&record)) read.records.push_back(record);
  read.tail = reader.tail();
  return read;
}

// The records read are the first ones written, unchanged.
void ExpectPrefix(const Read& read, const Written& written) {
  ASSERT_LE(read.records.size(), written.records.size());
  for (std::size_t i = 0; i < read.records.size(); ++i) {
    EXPECT_EQ(read.records[i].payload, written.payloads[i]);
    EXPECT_EQ(read.records[i].sequence, written.records[i].sequence);
    EXPECT_EQ(read.records[i].offset, written.records[i].offset);
  }
}

const std::vector<std::vector<std::size_t>> kGroups = {{5, 0, 700}, {16}, {100, 1, 33}, {8, 9}};

TEST(RecordLogTest, EverythingIsReadBackAlsoBeforeZeros) {
  for (const std::uint64_t zeros : {0, 1, 8, 5000}) {
    const Written written = Write(kGroups, zeros);
    const Read read = ReadBack(written.bytes);
    ExpectPrefix(read, written);
    EXPECT_EQ(read.records.size(), 9U);
    EXPECT_EQ(read.tail.end, LogEnd::kClean) << read.tail.reason;
    EXPECT_EQ(read.tail.offset, written.records.back().end);
  }
}

TEST(RecordLogTest, TornAtEveryByteIsCutAtTheLastWholeRecord) {
  const Written written = Write(kGroups);
  for (std::size_t length = 0; length <= written.bytes.size(); ++length) {
    for (const std::size_t zeros : {0, 4096}) {  // an extended file, and a zero-filled one
      const std::string bytes = written.bytes.substr(0, length) + std::string(zeros, '\0');
      const Read read = ReadBack(bytes);
      ExpectPrefix(read, written);
      EXPECT_NE(read.tail.end, LogEnd::kDamage) << "at " << length << ": " << read.tail.reason;
      std::size_t whole = 0;
      while (whole < written.records.size() && written.records[whole].end <= length) ++whole;
      // A record that lacks only zero bytes of padding is whole again if zeros follow it.
      EXPECT_GE(read.records.size(), whole) << "at " << length;
      EXPECT_LE(read.records.size(), whole + (zeros > 0 ? 1 : 0)) << "at " << length;
    }
  }
}

TEST(RecordLogTest, AFlippedBitInAnythingThatWasDurableBeforeLaterWritesIsDamage) {
  const Written written = Write(kGroups, 64);
  const std::uint64_t last_group = written.synced_at[written.synced_at.size() - 2];
  for (std::size_t at = 0; at < last_group; ++at) {
    for (const std::size_t bit : {at % 8}) {
      std::string bytes = written.bytes;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const Read read = ReadBack(bytes);
      ExpectPrefix(read, written);
      ASSERT_EQ(read.tail.end, LogEnd::kDamage) << "byte " << at << " bit " << bit;
      EXPECT_LE(read.tail.offset, at);
      std::uint64_t end = kLogHeaderSize;
      for (const Record& record : written.records) {
        if (record.end <= at) end = record.end;
      }
      if (at < kLogHeaderSize) end = 0;
      EXPECT_EQ(read.tail.offset, end) << "named where the bad record begins";
    }
  }
}

TEST(RecordLogTest, AFlippedBitInTheLastGroupCutsItAndHandsOutNothingWrong) {
  const Written written = Write(kGroups);
  for (std::size_t at = written.synced_at[written.synced_at.size() - 2]; at < written.bytes.size(); ++at) {
    std::string bytes = written.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const Read read = ReadBack(bytes);
    ExpectPrefix(read, written);
    EXPECT_EQ(read.tail.end, LogEnd::kTorn);
  }
}

// One unsynced write may survive in any part: whole records after a lost sector were never acknowledged.
TEST(RecordLogTest, AHoleInAnUnsyncedGroupIsATornTail) {
  const Written written = Write({{100}, {1000, 1000, 1000}});
  std::string bytes = written.bytes;
  bytes.replace(written.records[1].offset, 512, std::string(512, '\0'));
  const Read read = ReadBack(bytes);
  EXPECT_EQ(read.records.size(), 1U);
  EXPECT_EQ(read.tail.end, LogEnd::kTorn);
  EXPECT_EQ(read.tail.next_valid, written.records[2].offset);
  // A hole with one more synced group after it is damage.
  const Written more = Write({{100}, {1000, 1000, 1000}, {1}});
  bytes = more.bytes;
  bytes.replace(more.records[1].offset, 512, std::string(512, '\0'));
  EXPECT_EQ(ReadBack(bytes).tail.end, LogEnd::kDamage);
}

TEST(RecordLogTest, BelowASealEverythingBadIsDamage) {
  const Written written = Write(kGroups, 64);
  const std::uint64_t end = written.records.back().end;
  EXPECT_EQ(ReadBack(written.bytes, end).tail.end, LogEnd::kClean);
  const Read shorter = ReadBack(written.bytes, written.records[3].end);
  EXPECT_EQ(shorter.records.size(), 4U);
  EXPECT_EQ(shorter.tail.end, LogEnd::kClean);
  EXPECT_EQ(ReadBack(written.bytes.substr(0, end - 1), end).tail.end, LogEnd::kDamage) << "shorter than its seal";
  EXPECT_EQ(ReadBack("", end).tail.end, LogEnd::kDamage);
  for (std::size_t at = 0; at < end; ++at) {
    std::string bytes = written.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_EQ(ReadBack(bytes, end).tail.end, LogEnd::kDamage) << at;
  }
}

TEST(RecordLogTest, AnotherFilesRecordsAreNotThisFiles) {
  const Written written = Write(kGroups);
  RecordReader reader(written.bytes, {LogIdentity{kIdentity.kind, 43}, UINT64_MAX});
  Record record;
  EXPECT_FALSE(reader.Next(&record));
  EXPECT_EQ(reader.tail().end, LogEnd::kDamage);
  // A record that was moved to another place is not valid.
  std::string bytes = written.bytes;
  const auto [offset, end] = std::pair(written.records[0].offset, written.records[0].end);
  bytes.replace(written.records[2].offset, end - offset, bytes, offset, end - offset);
  EXPECT_EQ(ReadBack(bytes).records.size(), 2U);
}

TEST(RecordLogTest, ToolsCanGoOnBehindDamage) {
  const Written written = Write(kGroups);
  std::string bytes = written.bytes;
  bytes[written.records[3].offset + kRecordHeaderSize] = '?';
  RecordReader reader(bytes, {LogIdentity{}, UINT64_MAX});
  EXPECT_EQ(reader.identity().file_id, kIdentity.file_id);
  Record record;
  int count = 0;
  while (reader.Next(&record)) ++count;
  EXPECT_EQ(count, 3);
  ASSERT_TRUE(reader.SkipDamage());
  while (reader.Next(&record)) ++count;
  EXPECT_EQ(count, 8);
  EXPECT_EQ(reader.tail().end, LogEnd::kClean);
}

TEST(RecordLogTest, TooLargeAGroupIsRefusedBeforeItIsWritten) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  auto directory = process->Open("/").value();
  RecordWriter writer(directory->Create("log").value(), kIdentity);
  ASSERT_TRUE(writer.Add(1, 1, 1, "fine").ok());
  const std::uint64_t before = writer.end_offset();
  writer.Begin().append(std::string(std::size_t{kMaxRecordLength} + 1, 'x'));
  EXPECT_EQ(writer.End(1, 1, 2).error().code(), Code::kResourceExhausted);
  EXPECT_EQ(writer.end_offset(), before);
}

// Whatever happens to the bytes: no crash, and no record that was not written there.
TEST(RecordLogTest, FuzzedBytesNeverYieldAWrongRecord) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Prng prng(seed);
  const Written written = Write({{5, 0, 700}, {16, 90}, {100, 1, 33}, {8, 9}, {300}}, 100);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = written.bytes;
    const std::uint64_t edits = 1 + prng.Below(6);
    for (std::uint64_t i = 0; i < edits; ++i) {
      const std::uint64_t at = prng.Below(bytes.size());
      const std::uint64_t length = std::min<std::uint64_t>(1 + prng.Below(60), bytes.size() - at);
      switch (prng.Below(4)) {
        case 0: bytes[at] = static_cast<char>(prng.Next()); break;
        case 1: bytes.replace(at, length, std::string(length, '\0')); break;
        case 2: bytes.resize(at + 1); break;
        default: bytes.replace(at, length, written.bytes, prng.Below(written.bytes.size() - length), length); break;
      }
    }
    const Read read = ReadBack(bytes);
    ExpectPrefix(read, written);
    ReadBack(bytes, prng.Below(bytes.size() + 10));
    RecordReader reader(bytes, {LogIdentity{}, UINT64_MAX});
    Record record;
    do {
      while (reader.Next(&record)) {
      }
    } while (reader.SkipDamage());
  }
}

TEST(RecordLogTest, ASequenceThatFallsIsAnErrorAndTheWriterGoesOn) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  auto directory = process->Open("/").value();
  RecordWriter writer(directory->Create("log").value(), kIdentity);
  ASSERT_TRUE(writer.Add(7, 1, 10, "first").ok());
  const Status fallen = writer.Add(7, 1, 9, "impossible");
  ASSERT_FALSE(fallen.ok());
  EXPECT_EQ(fallen.error().code(), Code::kInvalidArgument);
  ASSERT_TRUE(writer.Add(7, 1, 10, "second").ok());
  ASSERT_TRUE(writer.Sync().ok());
  const std::string bytes = disk.Content("/log").value();
  const Read read = ReadBack(bytes);
  ASSERT_EQ(read.records.size(), 2U);
  EXPECT_EQ(read.records[1].payload, "second");
  EXPECT_EQ(read.tail.end, LogEnd::kClean);
}

// A file in memory that counts what is read, and can fail.
class CountingFile final : public ReadableFile {
 public:
  explicit CountingFile(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const override {
    if (offset + length > fails_from) return Error(Code::kIo, "the disk");
    const std::size_t got =
        std::min<std::uint64_t>(length, bytes_.size() - std::min<std::uint64_t>(offset, bytes_.size()));
    bytes_.copy(out, got, offset);
    read += got;
    largest = std::max(largest, length);
    return got;
  }
  Result<std::uint64_t> size() const override { return bytes_.size(); }
  Status Sync() override { return Ok(); }

  mutable std::uint64_t read = 0;
  mutable std::size_t largest = 0;
  std::uint64_t fails_from = UINT64_MAX;

 private:
  const std::string bytes_;
};

Read ReadFromFile(const CountingFile& file, std::vector<std::string>* payloads) {
  RecordReader reader(file, file.size().value(), {kIdentity, UINT64_MAX});
  Read read;
  Record record;
  while (reader.Next(&record)) {
    payloads->emplace_back(record.payload);
    record.payload = {};
    read.records.push_back(record);
  }
  read.tail = reader.tail();
  return read;
}

TEST(RecordLogTest, AFileIsReadPieceByPieceAndSaysTheSame) {
  const Written written = Write({{5, 0, 700'000}, {300'000, 3'000'000}, {1, 900'000, 900'000, 900'000}}, 100'000);
  for (const std::uint64_t flip : {std::uint64_t{0}, written.records[5].offset + 30, written.records[8].offset + 1}) {
    std::string bytes = written.bytes;
    if (flip != 0) bytes[flip] = static_cast<char>(bytes[flip] ^ 0x40);
    const Read whole = ReadBack(bytes);
    const CountingFile file(bytes);
    std::vector<std::string> payloads;
    const Read pieces = ReadFromFile(file, &payloads);
    ASSERT_EQ(pieces.records.size(), whole.records.size()) << flip;
    for (std::size_t i = 0; i < payloads.size(); ++i) EXPECT_EQ(payloads[i], whole.records[i].payload);
    EXPECT_EQ(pieces.tail.end, whole.tail.end) << flip;
    EXPECT_EQ(pieces.tail.offset, whole.tail.offset);
    EXPECT_EQ(pieces.tail.next_valid, whole.tail.next_valid);
    EXPECT_EQ(pieces.tail.reason, whole.tail.reason);
    EXPECT_LT(file.largest, 4U << 20);  // the largest record, not the file
  }
}

TEST(RecordLogTest, AnUnreadableFileIsNoTornTail) {
  const Written written = Write({{5}, {1'500'000}, {1'500'000}});
  CountingFile file(written.bytes);
  file.fails_from = 2'000'000;
  RecordReader reader(file, written.bytes.size(), {kIdentity, UINT64_MAX});
  Record record;
  while (reader.Next(&record)) continue;
  EXPECT_FALSE(reader.status().ok());
  EXPECT_EQ(reader.tail().end, LogEnd::kDamage);
  EXPECT_NE(reader.tail().reason.find("cannot be read"), std::string::npos);
}

// Each place after the torn record claims to be a record that reaches far: a client can write such a value.
TEST(RecordLogTest, TheSearchBehindATornTailIsLinearForCraftedValues) {
  for (const bool to_the_end : {true, false}) {
    std::string bytes = Write({{50}}).bytes;
    const std::uint64_t torn_at = bytes.size();
    Prng prng(7);
    constexpr std::uint64_t kCrafted = 2U << 20;
    bytes.resize(torn_at + kCrafted);
    for (std::uint64_t at = torn_at; at + kRecordHeaderSize <= bytes.size(); at += kRecordHeaderSize) {
      const std::uint64_t left = bytes.size() - at - kRecordHeaderSize;
      const auto length = static_cast<std::uint32_t>(to_the_end ? left : prng.Below(left + 1));
      PutFixed(bytes.data() + at + 4, length);
      bytes[at + 20] = 1;  // a type
    }
    const CountingFile file(bytes);
    std::vector<std::string> payloads;
    const Read read = ReadFromFile(file, &payloads);
    EXPECT_EQ(read.records.size(), 1U);
    EXPECT_EQ(read.tail.end, LogEnd::kTorn);
    EXPECT_EQ(read.tail.offset, torn_at);
    EXPECT_LT(file.read, 64 * bytes.size()) << to_the_end;
  }
}

TEST(RangeChecksumsTest, TellWhatReadingWouldTell) {
  Prng prng(11);
  std::string bytes(10'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(prng.Next());
  LogBytes all(bytes);
  LogBytes near_begin(bytes);
  LogBytes near_end(bytes);
  RangeChecksums checksums(all, 40);
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t begin = 40 + prng.Below(bytes.size() - 40);
    const std::uint64_t end = begin + prng.Below(bytes.size() - begin + 1);
    const auto seed = static_cast<std::uint32_t>(prng.Next());
    EXPECT_EQ(checksums.Of(begin, near_begin, end, near_end, seed),
              Crc32c(std::string_view(bytes).substr(begin, end - begin), seed));
  }
}

}  // namespace
}  // namespace ratchet::io
