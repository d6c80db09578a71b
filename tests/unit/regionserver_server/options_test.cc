// Settings of ratchet-regionserver that act beyond their value.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/base/config.h"
#include "regionserver/process/options.h"
#include "regionserver/store/block_cache.h"

namespace ratchet::regionserver {
namespace {

class OptionsTest : public ::testing::Test {
 protected:
  ~OptionsTest() override { std::filesystem::remove(file_); }
  void Write(std::string_view lines) { std::ofstream(file_) << "root = /r\nzookeeper = z:1\n" << lines; }
  void Parse(std::string_view lines) {
    Write(lines);
    BindOptions(settings_, options_);
    const std::string path = file_.string();
    const char* const arguments[] = {"ratchet-regionserver", "--config", path.c_str()};
    std::string output;
    const auto parsed = settings_.Parse(3, arguments, &output);
    ASSERT_TRUE(parsed.ok()) << parsed.error().ToString();
  }
  void Reload(std::string_view lines, std::size_t changes) {
    Write(lines);
    const auto report = settings_.Reload();
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    EXPECT_EQ(report->changed.size(), changes);
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / fmt::format("ratchet_options_{}", ::getpid());
  Settings settings_{"ratchet-regionserver", "test"};
  ServerOptions options_;
};

TEST_F(OptionsTest, AReloadChangesTheLimitOfTheBlockCacheAtOnce) {
  Parse("block-cache-bytes = 3MiB\n");
  EXPECT_EQ(options_.block_cache.bytes.Get(), 3U << 20);
  Reload("block-cache-bytes = 5MiB\n", 1);
  EXPECT_EQ(BlockCache::OfProcess().Look().limit_bytes, 5U << 20);
}

// The parts have copies of the options, and derived limits.
TEST_F(OptionsTest, AReloadReachesCopiesAndWhatFollowsFromThem) {
  Parse("memstore-flush-bytes = 1MiB\nmemstore-total-bytes = 100MiB\n");
  const RegionSettings regions = options_.regions.region;
  const MemstoreBudget budget(options_.memstores);
  EXPECT_EQ(regions.BlockingBytes(), 4U << 20);
  EXPECT_EQ(budget.FlushAt(), (100U << 20) / 10 * 9);
  Reload("memstore-flush-bytes = 2MiB\nmemstore-total-bytes = 200MiB\nmax-scanners = 7\n", 3);
  EXPECT_EQ(regions.flush_bytes.Get(), 2U << 20);
  EXPECT_EQ(regions.BlockingBytes(), 8U << 20);
  EXPECT_EQ(budget.limit.Get(), 200U << 20);
  EXPECT_EQ(budget.FlushAt(), (200U << 20) / 10 * 9);
  EXPECT_EQ(options_.scanners.max_open.Get(), 7);
}

TEST_F(OptionsTest, QueuesGetTheirThreadsAndLengths) {
  Parse("handlers = 5\nadmin-handlers = 6\nmeta-handlers = 7\nqueue-length = 80\n");
  std::vector<int> threads;
  for (const rpc::QueueOptions& queue : options_.listen.queues) {
    threads.push_back(queue.threads);
    EXPECT_EQ(queue.max_calls, 80U);
  }
  EXPECT_EQ(threads, (std::vector<int>{5, 6, 2, 7, 7}));  // data, admin, transition, meta, member-meta
}

}  // namespace
}  // namespace ratchet::regionserver
