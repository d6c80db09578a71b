// Store files and descriptors: a bounded number is open, whatever the number of regions; scans continue over files that
// were removed.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/light_directory.h"
#include "regionserver/store/open_files.h"
#include "regionserver/store/store_file.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

class CountedFile final : public io::ReadableFile {
 public:
  explicit CountedFile(int& open) : open_(open) { ++open_; }
  ~CountedFile() override { --open_; }
  CountedFile(const CountedFile&) = delete;
  CountedFile& operator=(const CountedFile&) = delete;
  Result<std::size_t> ReadAt(std::uint64_t, char*, std::size_t) const override { return std::size_t{0}; }
  [[nodiscard]] Result<std::uint64_t> size() const override { return std::uint64_t{0}; }
  Status Sync() override { return Ok(); }

 private:
  int& open_;
};

struct OpenFilesTest : public ::testing::Test {
  OpenFiles::Opener Opener() {
    return [this]() -> Result<std::unique_ptr<io::ReadableFile>> {
      ++opened;
      if (open >= descriptors) return Error(Code::kIo, "Too many open files");
      return std::unique_ptr<io::ReadableFile>(std::make_unique<CountedFile>(open));
    };
  }
  int open = 0;
  int opened = 0;
  int descriptors = 1'000'000;
};

TEST_F(OpenFilesTest, TheLeastRecentlyReadIsClosedFirst) {
  OpenFiles files(3);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 4; ++i) numbers.push_back(files.NewNumber());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(files.Get(numbers[static_cast<std::size_t>(i)], Opener()).ok());
  ASSERT_TRUE(files.Get(numbers[0], Opener()).ok());
  EXPECT_EQ(opened, 3);
  ASSERT_TRUE(files.Get(numbers[3], Opener()).ok());
  EXPECT_EQ(open, 3);
  ASSERT_TRUE(files.Get(numbers[0], Opener()).ok());
  EXPECT_EQ(opened, 4);
  ASSERT_TRUE(files.Get(numbers[1], Opener()).ok());  // had to go
  EXPECT_EQ(opened, 5);
}

TEST_F(OpenFilesTest, AHundredThousandFilesNeedNoMoreThanTheBound) {
  OpenFiles files(1'000);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(files.Get(files.NewNumber(), Opener()).ok());
    ASSERT_LE(open, 1'001);
  }
  EXPECT_EQ(files.size(), 1'000U);
}

TEST_F(OpenFilesTest, AReaderKeepsItsFileAndForgettingClosesIt) {
  OpenFiles files(1);
  const std::uint64_t number = files.NewNumber();
  auto reader = files.Get(number, Opener()).value();
  ASSERT_TRUE(files.Get(files.NewNumber(), Opener()).ok());
  EXPECT_EQ(open, 2);
  reader.reset();
  EXPECT_EQ(open, 1);
  ASSERT_TRUE(files.Hold(number, Opener()).ok());
  files.CloseAll();
  EXPECT_EQ(open, 1);  // held
  ASSERT_TRUE(files.Get(number, Opener()).ok());
  files.Forget(number);
  EXPECT_EQ(open, 0);
}

TEST_F(OpenFilesTest, WhereNoDescriptorIsLeftTheOlderHalfIsClosed) {
  OpenFiles files(100);
  descriptors = 10;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(files.Get(files.NewNumber(), Opener()).ok()) << i;
  EXPECT_LE(open, 10);
}

class ReplacedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }
  // A file was opened, the cleaner has removed its name, and it is closed: returns whether a scan that begins now can
  // read it.
  Status ReadWithoutName() {
    io::SimDisk disk;
    const auto process = disk.NewProcess();
    const std::shared_ptr<io::Directory> directory = process->OpenOrMake("/region").value();
    const StoreFiles files(directory, KeyOrder{});
    const auto writer = files.Create("1-1.sst").value();
    // Several blocks: opening may read the first and the last.
    const auto key = [](int row) { return CellKey(Cell{fmt::format("r{}", row), "f", "q", 1, CellType::kPut, ""}, 1); };
    for (int row = 0; row < 9; ++row)
      writer->Add(key(row), EncodeStoredValue(std::string(50'000, static_cast<char>('a' + row)), std::nullopt)).value();
    const auto reader = files.OpenFile(writer->Finish().value()).value();
    RATCHET_TRY(HoldOpen(*reader));
    directory->Unlink("1-1.sst").value();
    OpenFiles::OfProcess().CloseAll();
    const auto cursor = StoreFiles::NewCursor(reader);
    cursor->Seek(key(4));
    RATCHET_TRY(cursor->status());
    return cursor->Valid() ? Ok() : Status(Error(Code::kNotFound, "no cell"));
  }
};

TEST_F(ReplacedFilesTest, AreReadWhileTheyAreHeld) {
  const Status read = ReadWithoutName();
  EXPECT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(OpenFiles::OfProcess().held(), 0U);  // released with their last reader
}

TEST_F(ReplacedFilesTest, NotHoldingThemIsNoticed) {
  const ScopedMutant mutant("region.hold_nothing");
  EXPECT_FALSE(ReadWithoutName().ok());
}

TEST_F(ReplacedFilesTest, ACompactionHoldsWhatAScanReadsAndNothingElse) {
  EngineWorld world;
  world.Format().value();
  const auto server = world.Start("a,1,1").value();
  world.OpenRegion(*server, 1).value();
  const auto write = [&](const std::string& row) {
    EXPECT_TRUE(world.Mutate(*server->region, Put(row, "q", row)).value().ok());
    server->region->Flush().value();
  };
  write("r0");
  write("r1");
  server->region->Compact(true).value();
  EXPECT_EQ(OpenFiles::OfProcess().held(), 0U);
  write("r2");
  {
    const auto scanner = server->region->Scan({}).value();
    server->region->Compact(true).value();
    EXPECT_EQ(OpenFiles::OfProcess().held(), 2U);
    EXPECT_TRUE(world.Clean("a,1,1").ok());
    OpenFiles::OfProcess().CloseAll();
    EXPECT_EQ(scanner->Next({}).value().rows.size(), 3U);
  }
  EXPECT_EQ(OpenFiles::OfProcess().held(), 0U);
}

// On real files: the number of descriptors that open regions use.
TEST(RegionDescriptorsTest, AnOpenRegionHoldsNone) {
  ConfigureLog({LogLevel::kError, {}});
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ratchet_few_{}", ::getpid());
  std::filesystem::remove_all(path);
  const auto root = io::PosixDisk().OpenOrMake(path.string()).value();
  const auto fenced = io::FencedDirectory::Make(*root, "a,1,1").value();
  ServerLogOptions log_options;
  log_options.prepare_next = false;  // otherwise its file might or might not be counted
  const auto log = ServerLog::Open(*fenced, log_options).value();
  const SystemClock clock;
  const auto in_use = [] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      count += entry.path().empty() ? 0 : 1;
    return count;
  };
  std::vector<std::shared_ptr<Region>> regions;
  const auto open = [&](int index, std::uint64_t open_number) {
    OpenParams params;
    params.info.table = TableName{"default", "t"};
    params.info.start_key = fmt::format("{:06}", index);
    params.info.end_key = fmt::format("{:06}", index + 1);
    params.info.region_id = 1;
    TableDescriptor table;
    table.name = params.info.table;
    table.families = {DefaultFamily("f")};
    params.table = std::move(table);
    params.open_number = open_number;
    std::filesystem::create_directories(path / "data" / params.info.encoded_name());
    params.directory = io::OpenLightDirectory(*root, "data/" + params.info.encoded_name()).value();
    params.log = log.get();
    params.clock = &clock;
    regions.push_back(Region::Open(std::move(params)).value());
  };
  log->WaitForRoom();
  open(0, 1);
  OpenFiles::OfProcess().CloseAll();
  const std::size_t with_one = in_use();
  constexpr int kRegions = 60;
  for (int i = 1; i < kRegions; ++i) open(i, 1);
  OpenFiles::OfProcess().CloseAll();
  EXPECT_EQ(in_use(), with_one);
  std::atomic<int> left{kRegions};
  for (auto& region : regions)
    region->Mutate(Put(region->info().start_key, "q", "v"), [&](const Result<MutationResult>& result) {
      EXPECT_TRUE(result.ok());
      --left;
    });
  while (left > 0) std::this_thread::yield();
  for (auto& region : regions) region->Flush().value();
  EXPECT_LE(OpenFiles::OfProcess().size(), OpenFiles::OfProcess().capacity());
  OpenFiles::OfProcess().CloseAll();
  EXPECT_LE(in_use(), with_one + 1);  // the log may have prepared its next file
  for (auto& region : regions) {
    GetSpec get;
    get.row = region->info().start_key;
    EXPECT_EQ(region->Get(get).value().size(), 1U);
    EXPECT_TRUE(region->CheckServing().ok());
    region->Close().value();
  }
  regions.clear();
  log->Stop();
  std::filesystem::remove_all(path);
  ConfigureLog({});
}

}  // namespace
}  // namespace ratchet::regionserver
