// A file where only directories belong (left by hand, or by a copy) is skipped with a log line. It stops no activation,
// no comparison of files with records, and no crash handling.
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/io/fatal.h"
#include "common/io/fenced_directory.h"
#include "master/storage/posix_cluster_files.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

class StrayFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    files_ = PosixClusterFiles::Open(*process_, "/root", [] { return Ok(); }).value();
  }
  void TearDown() override { ConfigureLog({}); }
  void PutFile(const std::string& directory, const std::string& name) {
    ASSERT_TRUE(process_->OpenOrMake("/root/" + directory).value()->Create(name).ok());
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess("master");
  std::unique_ptr<PosixClusterFiles> files_;
};

TEST_F(StrayFilesTest, AmongTheLogDirectories) {
  const auto wals = process_->Open("/root/wals").value();
  ASSERT_TRUE(io::FencedDirectory::Make(*wals, "h,1,1").ok());
  for (const char* name : {"h,2,2", "h,3,3-splitting", "notes"}) PutFile("wals", name);
  const auto found = files_->ListLogDirectories().value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].server.ToString(), "h,1,1");
}

TEST_F(StrayFilesTest, AmongTheNamespaces) {
  ASSERT_TRUE(process_->OpenOrMake("/root/data/default/t.7").ok());
  PutFile("data", "notes");
  EXPECT_EQ(files_->ListTableDirectories().value(), std::vector<std::string>{"default/t.7"});
}

// A log that cannot be opened (no descriptor is free, or it is not a file) is an error of its server's recovery, not a
// failed sync, which would end this master and each one that takes over.
TEST_F(StrayFilesTest, ALogThatCannotBeOpenedEndsNoMaster) {
  int deaths = 0;
  io::SetFatalHandler([&deaths](const std::string&) { ++deaths; });
  const auto wals = process_->Open("/root/wals").value();
  ASSERT_TRUE(io::FencedDirectory::Make(*wals, "h,1,1").ok());
  PutFile("wals/h,1,1", "log.0000000001");
  const ServerName server{"h", 1, 1};
  ASSERT_TRUE(files_->FenceLogsNow(server).ok());
  process_->SetHook(io::FailOps(io::SimOp::kOpen, "log.0000000001", Code::kIo));
  EXPECT_EQ(files_->SealLogsNow(server).error().code(), Code::kIo);
  process_->SetHook({});
  EXPECT_TRUE(files_->SealLogsNow(server).ok());
  EXPECT_EQ(deaths, 0);
  io::SetFatalHandler({});
}

}  // namespace
}  // namespace ratchet::master
