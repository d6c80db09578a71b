#include "chaos/verdict/process_checks.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ratchet::chaos {
namespace {

TEST(ProcessChecksTest, SeesAnotherOpenFile) {
  const auto before = SampleProcess(getpid());
  ASSERT_TRUE(before.ok());
  EXPECT_GT(before->resident_bytes, 100'000U);
  EXPECT_GE(before->threads, 1U);
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto after = SampleProcess(getpid());
  close(file);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->descriptors, before->descriptors + 1);
}

TEST(ProcessChecksTest, AProcessThatIsGoneIsAnError) {
  EXPECT_EQ(SampleProcess(INT32_MAX).error().code(), Code::kNotFound);
}

TEST(ProcessChecksTest, EachLimitCounts) {
  const ProcessSample sample{100, 10, 5};
  EXPECT_TRUE(CheckBounded("p", sample, {100, 10, 5}).good);
  EXPECT_FALSE(CheckBounded("p", sample, {99, 10, 5}).good);
  EXPECT_FALSE(CheckBounded("p", sample, {100, 9, 5}).good);
  EXPECT_FALSE(CheckBounded("p", sample, {100, 10, 4}).good);
  EXPECT_THAT(CheckBounded("rs-1", sample).text, ::testing::StartsWith("rs-1: "));
}

}  // namespace
}  // namespace ratchet::chaos
