// Cursors of store files, compared with a map: inside blocks they step without RocksDB's iterator.
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "regionserver/store/store_file.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {
namespace {

using Cells = std::map<std::string, std::string>;

class FileCursorTest : public testing::Test {
 protected:
  std::unique_ptr<CellCursor> CursorOf(const Cells& cells, FileCompression compression,
                                       ReadSource from = ReadSource::kDisk) {
    if (files_ == nullptr) {
      process_ = disk_.NewProcess();
      std::shared_ptr<io::Directory> directory = process_->OpenOrMake("/region").value();
      files_ = std::make_unique<StoreFiles>(std::move(directory), KeyOrder{});
    }
    auto writer = files_->Create(fmt::format("1-{}.sst", ++last_file_), compression).value();
    for (const auto& [key, value] : cells) EXPECT_TRUE(writer->Add(key, value).ok());
    reader_ = files_->OpenFile(writer->Finish().value()).value();
    return StoreFiles::NewCursor(reader_, from);
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<StoreFiles> files_;
  std::shared_ptr<const StoreFiles::Reader> reader_;
  int last_file_ = 0;
};

// Keys that continue each other, also with bytes as at the end of RocksDB's keys, and values from nothing to more than
// a block.
Cells RandomCells(Prng& prng) {
  Cells cells;
  const std::uint64_t count = 1 + prng.Below(3'000);
  std::string key = "12345678";
  while (cells.size() < count) {
    switch (prng.Below(5)) {
      case 0: key = fmt::format("row{:08}", prng.Below(10'000)); break;
      case 1: key += std::string("\1\0\0", prng.Below(4)); break;
      case 2: key += static_cast<char>(prng.Below(256)); break;
      case 3: key.back() = static_cast<char>(prng.Below(256)); break;
      default: key += fmt::format("{:06}", prng.Below(1'000)); break;
    }
    if (key.size() > 200) key.resize(20);
    const std::uint64_t sizes[] = {0, 1, 100, 130, 300, 40'000};
    const std::uint64_t most = sizes[prng.Below(100) == 0 ? 5 : prng.Below(5)];
    std::string value(prng.Below(most + 1), '\0');
    for (char& byte : value) byte = static_cast<char>(prng.Below(prng.Below(2) == 0 ? 2 : 256));
    cells.emplace(key, std::move(value));
  }
  return cells;
}

void ExpectAt(const CellCursor& cursor, const Cells& cells, Cells::const_iterator place) {
  ASSERT_TRUE(cursor.status().ok());
  ASSERT_EQ(cursor.Valid(), place != cells.end());
  if (place == cells.end()) return;
  ASSERT_EQ(cursor.key(), place->first);
  ASSERT_EQ(cursor.value(), place->second);
}

// One random move of the cursor and of its model.
void Move(Prng& prng, const Cells& cells, CellCursor& cursor, Cells::const_iterator& place) {
  auto near = cells.lower_bound(fmt::format("row{:08}", prng.Below(10'000)));
  if (near == cells.end() || prng.Below(3) == 0) near = cells.begin();
  switch (prng.Below(6)) {
    case 0:
      cursor.Seek(near->first);
      place = near;
      break;
    case 1:
      cursor.SeekBefore(near->first);
      place = near == cells.begin() ? cells.end() : std::prev(near);
      break;
    case 2:
      if (place == cells.end()) break;
      cursor.Prev();
      place = place == cells.begin() ? cells.end() : std::prev(place);
      break;
    default:
      for (std::uint64_t steps = prng.Below(400); steps > 0 && place != cells.end(); --steps) {
        std::string_view key;
        const bool at_cell = prng.Below(2) == 0 ? cursor.Step(&key) : (cursor.Next(), cursor.Valid());
        ++place;
        ASSERT_EQ(at_cell, place != cells.end());
        ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, cells, place));
      }
  }
  ExpectAt(cursor, cells, place);
}

TEST_F(FileCursorTest, RandomWalksFindWhatWasWritten) {
  const std::uint64_t seed = 20261128;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  for (const auto compression :
       {FileCompression::kLz4, FileCompression::kSnappy, FileCompression::kGz, FileCompression::kZstd}) {
    for (int file = 0; file < 4; ++file) {
      const Cells cells = RandomCells(prng);
      const auto cursor = CursorOf(cells, compression);
      auto place = cells.begin();
      cursor->Seek({});
      for (int move = 0; move < 200; ++move) ASSERT_NO_FATAL_FAILURE(Move(prng, cells, *cursor, place));
    }
  }
}

TEST_F(FileCursorTest, AWalkInTheCacheEndsAtABlockOutsideOfIt) {
  Cells cells;
  for (int i = 0; i < 2'000; ++i) cells.emplace(fmt::format("row{:08}", i), std::string(100, 'v'));
  const auto cursor = CursorOf(cells, FileCompression::kLz4, ReadSource::kCache);
  cursor->Seek("row");
  EXPECT_FALSE(cursor->Valid());
  ASSERT_FALSE(cursor->status().ok());
  EXPECT_EQ(cursor->status().error().code(), Code::kResourceExhausted);
  StoreFiles::NewCursor(reader_)->Seek("row");  // reads the first block
  const auto again = StoreFiles::NewCursor(reader_, ReadSource::kCache);
  int walked = 0;
  for (again->Seek("row"); again->Valid(); again->Next()) ++walked;
  EXPECT_GT(walked, 50);
  EXPECT_LT(walked, 1'000);
  ASSERT_FALSE(again->status().ok());
  EXPECT_EQ(again->status().error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace ratchet::regionserver
