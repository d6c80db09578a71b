// The limit of descriptors, and its reserved part.
#include <sys/resource.h>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "common/base/descriptors.h"

namespace ratchet {
namespace {

class DescriptorsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0); }
  void TearDown() override { ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  static void SetSoft(std::uint64_t soft) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = soft;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  rlimit before_{};
};

TEST_F(DescriptorsTest, TheLimitIsRaisedToTheHardOne) {
  SetSoft(200);
  EXPECT_EQ(DescriptorLimit(), 200U);
  const DescriptorLimits limits = RaiseDescriptorLimit();
  EXPECT_EQ(limits.before, 200U);
  EXPECT_EQ(limits.now, before_.rlim_max);
  EXPECT_EQ(DescriptorLimit(), before_.rlim_max);
  EXPECT_NE(DescribeDescriptors(limits).find("the limit was 200"), std::string::npos);
  EXPECT_NE(DescribeDescriptors({10, 20, 20}).find("few for a server"), std::string::npos);
}

TEST_F(DescriptorsTest, AQuarterIsKeptAndNoMoreThan512) {
  EXPECT_EQ(ReservedDescriptors(0), 0U);
  EXPECT_EQ(ReservedDescriptors(256), 64U);
  EXPECT_EQ(ReservedDescriptors(4'096), 512U);
  EXPECT_EQ(ReservedDescriptors(1U << 20), 512U);
}

TEST_F(DescriptorsTest, FourFifthsOfWhatIsNotKeptAreAProblem) {
  EXPECT_FALSE(DescriptorProblem({0, 0}));
  EXPECT_FALSE(DescriptorProblem({600, 1'000}));
  const auto problem = DescriptorProblem({601, 1'000});
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->find("601 of 1000"), std::string::npos);
  EXPECT_TRUE(DescriptorProblem({UINT64_MAX, 1}));
  const DescriptorUse before = DescriptorsInUse();
  EXPECT_EQ(before.limit, DescriptorLimit());
  const int one = ::open("/", O_PATH | O_CLOEXEC);
  EXPECT_EQ(before.used, static_cast<std::uint64_t>(one));
  EXPECT_GT(DescriptorsInUse().used, before.used);
  SetSoft(static_cast<std::uint64_t>(one) + 1);
  EXPECT_EQ(DescriptorsInUse().used, DescriptorLimit());
  EXPECT_TRUE(DescriptorProblem(DescriptorsInUse()).has_value());
  ::close(one);
}

TEST_F(DescriptorsTest, WhatWouldTakeFromTheReserveIsRefused) {
  SetSoft(200);
  EXPECT_TRUE(CheckDescriptor(149, "a connection").ok());
  const Status refused = CheckDescriptor(150, "a connection");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted);
  EXPECT_NE(refused.error().message().find("a connection"), std::string::npos);
  EXPECT_NE(refused.error().message().find("50 of 200"), std::string::npos);
  EXPECT_TRUE(CheckNextDescriptor("another region").ok());
  std::vector<int> many;
  while (CheckNextDescriptor("another region").ok() && many.size() < 200)
    many.push_back(::open("/", O_PATH | O_CLOEXEC));
  EXPECT_LT(many.size(), 150U);
  for (int i = 0; i < 40; ++i) {  // the reserve still exists
    many.push_back(::open("/", O_PATH | O_CLOEXEC));
    EXPECT_GE(many.back(), 0);
  }
  while (many.back() >= 0) many.push_back(::open("/", O_PATH | O_CLOEXEC));
  EXPECT_FALSE(CheckNextDescriptor("another region").ok());
  for (const int fd : many)
    if (fd >= 0) ::close(fd);
}

}  // namespace
}  // namespace ratchet
