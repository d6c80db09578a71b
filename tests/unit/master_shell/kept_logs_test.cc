// Logs of a dead server that are still shipped to peers: they wait where no cleaner comes.
#include <gtest/gtest.h>

#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/storage/posix_cluster_files.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

TEST(KeptLogsTest, AreArchivedWhenTheyAreShipped) {
  const ServerName server{"h", 16020, 100};
  const std::string log_name = "log.0000000001";
  io::SimDisk disk;
  const auto process = disk.NewProcess("master");
  const auto open = [&] { return PosixClusterFiles::Open(*process, "/root", [] { return Ok(); }).value(); };
  auto files = open();
  const auto server_process = disk.NewProcess("server");
  const auto wals = server_process->Open("/root/wals").value();
  const auto mine = io::FencedDirectory::Make(*wals, server.ToString()).value();
  {
    auto file = mine->directory().Create(log_name).value();
    io::RecordWriter log(std::move(file), {'L', io::LogFileId(server.ToString() + "/" + log_name)});
    ASSERT_TRUE(log.Add(1, 1, 1, "first").ok());
    ASSERT_TRUE(log.Sync().ok());
  }
  ASSERT_TRUE(mine->directory().Sync().ok());
  ASSERT_TRUE(files->FenceLogsNow(server).ok());
  const auto sealed = files->SealLogsNow(server).value();
  ASSERT_EQ(sealed.size(), 1U);
  ASSERT_TRUE(mine->directory().Create("split." + log_name).ok());
  ASSERT_TRUE(files->KeepLogs(server, sealed).ok());
  ASSERT_TRUE(files->KeepLogs(server, sealed).ok());
  EXPECT_TRUE(files->ListLogDirectories().value().empty());
  EXPECT_EQ(disk.Content("/root/oldWALs/h,16020,100/" + log_name).value().size(), sealed.front().length);
  ASSERT_TRUE(files->ArchiveKeptLogs(server, Epoch(4)).ok());
  ASSERT_TRUE(files->ArchiveKeptLogs(server, Epoch(4)).ok());
  EXPECT_TRUE(process->Open("/root/archive/4/oldWALs/h,16020,100").ok());
  EXPECT_FALSE(process->Open("/root/oldWALs/h,16020,100").ok());
}

}  // namespace
}  // namespace ratchet::master
