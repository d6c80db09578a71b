// The end of a log, S81 (whole bad record is damage): records that a crash may have left are torn; a bad record that
// lacks nothing is damaged.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/io/record_format.h"
#include "common/io/record_log.h"
#include "common/io/torn_write.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

constexpr LogIdentity kTailIdentity{0x4c494154, 7};

struct LogWithTail {
  std::string bytes;
  std::vector<std::uint64_t> offsets;  // of the records, and the end of the last
};

// `groups`: payloads, each group one sync.
LogWithTail WriteTail(const std::vector<std::vector<std::string>>& groups, std::size_t zeros_behind) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  RecordWriter writer(process->Open("/").value()->Create("log").value(), kTailIdentity);
  LogWithTail log;
  std::uint64_t sequence = 0;
  for (const auto& group : groups) {
    for (const std::string& payload : group) {
      log.offsets.push_back(writer.end_offset());
      EXPECT_TRUE(writer.Add(7, 1, ++sequence, payload).ok());
    }
    EXPECT_TRUE(writer.Sync().ok());
  }
  log.offsets.push_back(writer.end_offset());
  log.bytes = disk.Content("/log").value() + std::string(zeros_behind, '\0');
  return log;
}

struct TailFound {
  LogTail tail;
  bool whole = false;  // so the record counts as damaged if the file is at rest
};

TailFound TailOf(std::string_view bytes) {
  RecordReader reader(bytes, {kTailIdentity, UINT64_MAX});
  Record record;
  while (reader.Next(&record)) continue;
  LogBytes all(bytes);
  return {reader.tail(), WasWrittenWhole(all, reader.tail().offset)};
}

std::string Letters(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>('A' + i % 26));
  return text;
}

// A length that grew past the zeros, and an invalid header, count as torn: the function errs on that side.
TEST(TornTailTest, AFlippedBitInTheLastRecordIsToldFromATornWrite) {
  const std::vector<std::vector<std::string>> groups[] = {
      {{Letters(50)}, {Letters(90)}}, {{Letters(9'000)}}, {{Letters(10), Letters(700)}}};
  for (const auto& group : groups) {
    const LogWithTail log = WriteTail(group, 8'192);
    const std::uint64_t last = log.offsets[log.offsets.size() - 2];
    const std::size_t payload = group.back().back().size();
    for (std::size_t at = last + kRecordHeaderSize; at < last + kRecordHeaderSize + payload; ++at) {
      std::string bytes = log.bytes;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      const TailFound found = TailOf(bytes);
      EXPECT_EQ(found.tail.offset, last);
      EXPECT_TRUE(found.whole) << at << ": " << found.tail.reason;
    }
    for (std::size_t at : {0U, 1U, 2U, 3U, 8U, 15U, 21U}) {  // checksum, sequence, version
      std::string bytes = log.bytes;
      bytes[last + at] = static_cast<char>(bytes[last + at] ^ 0x10);
      EXPECT_TRUE(TailOf(bytes).whole) << at;
    }
  }
}

// The file has no zeros ahead. In a page with durable bytes, the bytes of the record are its own.
TEST(TornTailTest, AFileThatGrowsIsToldWithinAPageThatWasDurable) {
  LogWithTail log = WriteTail({{Letters(50)}, {Letters(90)}}, 0);
  log.bytes[log.offsets[1] + kRecordHeaderSize + 5] ^= 0x01;
  EXPECT_TRUE(TailOf(log.bytes).whole);
  log = WriteTail({{Letters(50)}, {Letters(9'000)}}, 0);
  log.bytes[log.offsets[1] + kRecordHeaderSize + 5] ^= 0x01;
  EXPECT_FALSE(TailOf(log.bytes).whole);
}

// Sectors lost by chance; an early end at any byte, with or without zeros after it; payloads with zeros of their own.
TEST(TornTailTest, WhatACrashCanLeaveIsTorn) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> group;
    for (std::int64_t left = prng.Between(1, 4); left > 0; --left) {
      group.push_back(Letters(static_cast<std::size_t>(prng.Between(1, prng.Chance(1, 3) ? 20'000 : 400))));
      if (prng.Chance(1, 3))
        group.back().replace(group.back().size() / 2, std::string::npos, std::string(group.back().size() / 3, '\0'));
    }
    const std::string before = Letters(static_cast<std::size_t>(prng.Between(1, 5'000)));
    const LogWithTail log = WriteTail({{before}, group}, prng.Chance(1, 2) ? 16'384 : 0);
    const std::uint64_t from = log.offsets[1];
    const std::uint64_t end = log.offsets.back();
    std::string bytes = log.bytes;
    if (prng.Chance(1, 2)) {
      const std::uint64_t one_in = prng.Chance(1, 2) ? 2 : 12;
      for (std::uint64_t at = from; at < end; at = (at / 512 + 1) * 512) {
        const std::uint64_t next = std::min<std::uint64_t>(end, (at / 512 + 1) * 512);
        if (prng.Chance(1, one_in)) bytes.replace(at, next - at, std::string(next - at, '\0'));
      }
    } else {
      const auto cut =
          static_cast<std::uint64_t>(prng.Between(static_cast<std::int64_t>(from), static_cast<std::int64_t>(end) - 1));
      bytes.replace(cut, end - cut, std::string(end - cut, '\0'));
      if (prng.Chance(1, 2)) bytes.resize(cut);
    }
    const TailFound found = TailOf(bytes);
    EXPECT_NE(found.tail.end, LogEnd::kDamage) << "round " << round;
    EXPECT_FALSE(found.tail.end == LogEnd::kTorn && found.whole) << "round " << round << ": " << found.tail.reason;
  }
}

// New blocks that show another file's older bytes, as in some file systems after a crash.
TEST(TornTailTest, OlderBytesInNewBlocksAreTorn) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  const LogWithTail log = WriteTail({{Letters(50)}, {Letters(20'000)}}, 0);
  for (const std::size_t from : {std::size_t{4'096}, std::size_t{8'192}}) {
    std::string bytes = log.bytes;
    for (std::size_t at = from; at < from + 4'096; ++at) bytes[at] = static_cast<char>(prng.Between(1, 255));
    EXPECT_FALSE(TailOf(bytes).whole);
  }
}

}  // namespace
}  // namespace ratchet::io
