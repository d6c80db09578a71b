#include "master/process/trace_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ratchet::master {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class TraceFileTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& path : {path_, path_ + ".1"}) fs::remove(path);
  }
  static ::ratchet::pb::EndedProcedure Ended(std::uint64_t pid) {
    ::ratchet::pb::EndedProcedure ended;
    ended.mutable_procedure()->set_pid(pid);
    ended.mutable_procedure()->set_type("CreateTable");
    ended.mutable_procedure()->set_state("SUCCESS");
    return ended;
  }
  const std::string path_ = ::testing::TempDir() + "ratchet_trace_" + std::to_string(::getpid());
};

TEST_F(TraceFileTest, EachEndIsALineAndAnEarlierFileGoesOn) {
  for (std::uint64_t pid = 1; pid <= 2; ++pid) {
    TraceFile file(path_, "cluster", Live<std::uint64_t>(1U << 20));
    file.Add(Ended(pid));
  }
  const auto lines = LinesOf(path_);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], ::testing::StartsWith("{\"resourceSpans\":[{"));
}

TEST_F(TraceFileTest, IsBegunAnewWhenItIsFull) {
  constexpr std::uint64_t kBytes = 4096;
  {
    TraceFile file(path_, "cluster", Live<std::uint64_t>(kBytes));
    for (std::uint64_t pid = 1; pid <= 50; ++pid) file.Add(Ended(pid));
  }
  EXPECT_LE(fs::file_size(path_), kBytes);
  EXPECT_LE(fs::file_size(path_ + ".1"), kBytes);
  EXPECT_GT(fs::file_size(path_ + ".1"), 0U);
}

TEST_F(TraceFileTest, APathThatCannotBeWrittenHoldsNothingUp) {
  TraceFile file("/nonexistent/trace", "cluster", Live<std::uint64_t>(4096));
  for (std::uint64_t pid = 1; pid <= 50; ++pid) file.Add(Ended(pid));
}

}  // namespace
}  // namespace ratchet::master
