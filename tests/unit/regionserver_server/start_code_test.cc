// S5 (rising start code): start codes rise, whatever the clock shows.
#include "regionserver/process/root_files.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {
namespace {

class StartCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/ratchet-start-code-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    path_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void Make(const std::string& name) { std::filesystem::create_directory(path_ / name); }
  std::uint64_t Choose(std::int64_t now) {
    auto wals = io::PosixDisk().Open(path_);
    EXPECT_TRUE(wals.ok());
    auto chosen = ChooseStartCode(**wals, "host", 1234, now);
    EXPECT_TRUE(chosen.ok());
    return *chosen;
  }
  std::filesystem::path path_;
};

TEST_F(StartCodeTest, IsTheTimeWhenNothingIsKnown) { EXPECT_EQ(Choose(5000), 5000u); }

TEST_F(StartCodeTest, RisesAboveAnOlderRunWhenTheClockWasSetBack) {
  Make("host,1234,9000");
  EXPECT_EQ(Choose(5000), 9001u);
  EXPECT_EQ(Choose(9000), 9001u);
  EXPECT_EQ(Choose(9002), 9002u);
}

TEST_F(StartCodeTest, CountsFencedDirectories) {
  Make("host,1234,9000-splitting");
  EXPECT_EQ(Choose(5000), 9001u);
}

TEST_F(StartCodeTest, IgnoresOtherServersAndOtherNames) {
  Make("host,12345,9000");
  Make("other,1234,9100");
  Make("host,1234,9200x");
  Make("host,1234,");
  EXPECT_EQ(Choose(5000), 5000u);
}

TEST_F(StartCodeTest, NoNameBarsTheAddress) {
  Make("host,1234,18446744073709551615");
  Make("host,1234,253402300799999");
  EXPECT_EQ(Choose(5000), 5000u);
}

#if defined(RATCHET_MUTANTS)
TEST_F(StartCodeTest, FollowingTheClockAloneIsCaught) {
  const ScopedMutant mutant("regionserver.clock_start_code");
  Make("host,1234,9000");
  EXPECT_LE(Choose(5000), 9000u) << "the name of the older run would come back";
}
#endif

}  // namespace
}  // namespace ratchet::regionserver
