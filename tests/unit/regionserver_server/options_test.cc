// Settings of ratchet-regionserver that act beyond their value.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "common/base/config.h"
#include "regionserver/process/options.h"
#include "regionserver/store/block_cache.h"

namespace ratchet::regionserver {
namespace {

TEST(OptionsTest, AReloadChangesTheLimitOfTheBlockCacheAtOnce) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("ratchet_options_{}", ::getpid());
  const auto write = [&file](std::string_view size) {
    std::ofstream(file) << "root = /r\nzookeeper = z:1\nblock-cache-bytes = " << size << "\n";
  };
  write("3MiB");
  Settings settings("ratchet-regionserver", "test");
  ServerOptions options;
  BindOptions(settings, options);
  const std::string path = file.string();
  const char* const arguments[] = {"ratchet-regionserver", "--config", path.c_str()};
  std::string output;
  const auto parsed = settings.Parse(3, arguments, &output);
  ASSERT_TRUE(parsed.ok()) << parsed.error().ToString();
  EXPECT_EQ(options.block_cache_bytes.Get(), 3U << 20);
  write("5MiB");
  const auto report = settings.Reload();
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->changed.size(), 1U);
  EXPECT_EQ(BlockCache::OfProcess().Look().limit_bytes, 5U << 20);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace ratchet::regionserver
