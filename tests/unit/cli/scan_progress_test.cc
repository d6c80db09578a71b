#include "common/tools/cli/scan_progress.h"

#include <gtest/gtest.h>

namespace ratchet::cli {
namespace {

const std::vector<std::string> kStarts = {"", "b", "d", "f"};

client::Scan Range(const std::string& start, const std::string& stop, bool reversed = false) {
  client::Scan scan;
  scan.start_row = start;
  scan.stop_row = stop;
  scan.reversed = reversed;
  return scan;
}

std::string At(const client::Scan& scan, std::string_view row) {
  const Progress progress = ScannedRegions(kStarts, scan).At(row);
  return std::to_string(progress.done) + "/" + std::to_string(progress.total);
}

TEST(ScanProgressTest, RegionsThatWerePassedAreCounted) {
  EXPECT_EQ(At(Range("", ""), "a"), "0/4");
  EXPECT_EQ(At(Range("", ""), "b"), "1/4");
  EXPECT_EQ(At(Range("", ""), "g"), "3/4");
  EXPECT_EQ(At(Range("c", "e"), "c"), "0/2");
  EXPECT_EQ(At(Range("c", "e"), "d1"), "1/2");
  EXPECT_EQ(At(Range("c", "d"), "c"), "0/1");
  EXPECT_EQ(At(Range("x", ""), "y"), "0/1");
  EXPECT_EQ(At(Range("", "", true), "g"), "0/4");
  EXPECT_EQ(At(Range("", "", true), "a"), "3/4");
  EXPECT_EQ(At(Range("e", "c", true), "d"), "0/2");
  EXPECT_EQ(ScannedRegions().At("a").total, 0);
}

TEST(ScanProgressTest, TheLineTellsRateAndTimeLeft) {
  EXPECT_EQ(ScanText(1200, 0, {3, 8}, 3'000), "1200 rows, 3 of 8 regions, 400 rows/s, about 5 s left");
  EXPECT_EQ(ScanText(1200, 3000, {3, 8}, 3'000), "1200 of 3000 rows, 400 rows/s, about 4 s left");
  EXPECT_EQ(ScanText(1200, 0, {8, 8}, 3'000), "1200 rows, 8 of 8 regions, 400 rows/s");
  EXPECT_EQ(ScanText(5, 0, {}, 0), "5 rows");
}

}  // namespace
}  // namespace ratchet::cli
