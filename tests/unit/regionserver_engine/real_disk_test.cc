// The engine on the operating system's files: many regions opened at once, many writers, a fence in between. Prints the
// durations, but does not check them.
#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

int Setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

class RealDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    root_ = std::filesystem::temp_directory_path() / fmt::format("ratchet_engine_{}", ::getpid());
    std::filesystem::remove_all(root_);
    root_directory_ = io::PosixDisk().OpenOrMake(root_.string()).value();
    table_.name = TableName{"default", "t"};
    table_.families = {DefaultFamily("f")};
    shared_ = table_;
    StartServer("a,1,1");
  }
  void TearDown() override {
    for (auto& region : regions_) region->Abandon();
    regions_.clear();
    log_.reset();
    std::filesystem::remove_all(root_);
    ConfigureLog({});
  }
  void StartServer(const std::string& name) {
    log_.reset();
    fenced_ = io::FencedDirectory::Make(*root_directory_, name).value();
    log_ = ServerLog::Open(*fenced_, {}).value();
  }
  Result<std::shared_ptr<Region>> OpenOne(int index, std::uint64_t open_number) {
    OpenParams params;
    params.info.table = table_.name;
    params.info.start_key = fmt::format("{:06}", index);
    params.info.end_key = fmt::format("{:06}", index + 1);
    params.info.region_id = 1;
    params.table = shared_;
    params.settings = settings_;
    params.open_number = open_number;
    RATCHET_ASSIGN(params.directory, io::PosixDisk().OpenOrMake((root_ / params.info.encoded_name()).string()));
    params.log = log_.get();
    params.clock = &clock_;
    return Region::Open(std::move(params));
  }
  void OpenAll(int count, std::uint64_t open_number) {
    regions_.assign(static_cast<std::size_t>(count), nullptr);
    std::atomic<int> next{0};
    std::vector<std::thread> openers;
    for (int i = 0; i < 4; ++i)
      openers.emplace_back([&] {
        for (int index = next++; index < count; index = next++)
          regions_[static_cast<std::size_t>(index)] = OpenOne(index, open_number).value();
      });
    for (std::thread& opener : openers) opener.join();
  }
  void WriteAll(int rows) {
    std::atomic<int> left{static_cast<int>(regions_.size()) * rows};
    for (int row = 0; row < rows; ++row)
      for (auto& region : regions_)
        region->Mutate(Put(fmt::format("{}-{}", region->info().start_key, row), "q", std::string(100, 'v')),
                       [&](const Result<MutationResult>& result) {
                         EXPECT_TRUE(result.ok());
                         --left;
                       });
    while (left > 0) std::this_thread::yield();
  }
  double MillisSince(TimePoint begun) const {
    return std::chrono::duration<double, std::milli>(clock_.Now() - begun).count();
  }

  const SystemClock clock_{};
  std::filesystem::path root_;
  std::unique_ptr<io::Directory> root_directory_;
  std::unique_ptr<io::FencedDirectory> fenced_;
  std::unique_ptr<ServerLog> log_;
  TableDescriptor table_;
  SharedTable shared_;
  SharedSettings settings_;
  std::vector<std::shared_ptr<Region>> regions_;
};

TEST_F(RealDiskTest, ManyRegionsOpenWriteFlushAndMove) {
  const int count = Setting("RATCHET_TEST_REGIONS", 100);
  const int rows = Setting("RATCHET_TEST_ROWS", 20);
  TimePoint begun = clock_.Now();
  OpenAll(count, 1);
  fmt::print("{} new regions opened in {:.0f} ms\n", count, MillisSince(begun));
  begun = clock_.Now();
  WriteAll(rows);
  const auto metrics = log_->GetMetrics();
  fmt::print("{} puts in {:.0f} ms, {} syncs\n", count * rows, MillisSince(begun), metrics.syncs);
  begun = clock_.Now();
  for (auto& region : regions_) region->Close().value();
  fmt::print("{} regions flushed and closed in {:.0f} ms\n", count, MillisSince(begun));
  begun = clock_.Now();
  OpenAll(count, 2);
  fmt::print("{} regions with a store file opened in {:.0f} ms\n", count, MillisSince(begun));
  for (auto& region : regions_) {
    GetSpec get;
    get.row = region->info().start_key + "-0";
    EXPECT_EQ(region->Get(get).value().size(), 1U);
    EXPECT_TRUE(region->CheckServing().ok());
  }
}

// A server may have very many regions without data. Zero where the allocator does not count, as in sanitizers' builds.
TEST_F(RealDiskTest, ARegionWithoutDataNeedsLessThanFourKilobytes) {
  OpenAll(1, 1);
  const std::vector<std::shared_ptr<Region>> first = regions_;
  const struct mallinfo2 before = mallinfo2();
  constexpr int kRegions = 100;
  regions_.clear();
  for (int index = 1; index <= kRegions; ++index) regions_.push_back(OpenOne(index, 1).value());
  const struct mallinfo2 after = mallinfo2();
  const auto bytes = static_cast<std::int64_t>(after.uordblks) - static_cast<std::int64_t>(before.uordblks);
  fmt::print("{} bytes for each region\n", bytes / kRegions);
  // Each region has some copies of its directory's path, which is long on some machines.
  EXPECT_LT(bytes / kRegions, 4'000 + 8 * static_cast<std::int64_t>(root_.string().size()));
  first.front()->Abandon();
}

TEST_F(RealDiskTest, AFenceStopsReadsAndWrites) {
  OpenAll(1, 1);
  WriteAll(1);
  ASSERT_TRUE(io::FencedDirectory::Fence(*root_directory_, "a,1,1").ok());
  EXPECT_FALSE(regions_[0]->CheckServing().ok());
  std::atomic<int> refused{0};
  regions_[0]->Mutate(Put("000000-x", "q", "v"),
                      [&](const Result<MutationResult>& result) { refused += result.ok() ? 100 : 1; });
  while (refused == 0) std::this_thread::yield();
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace ratchet::regionserver
