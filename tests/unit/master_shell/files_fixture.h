// The cluster's files on a simulated disk; the master may be started again, and the disk may lose its power.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "common/io/fatal.h"
#include "master/storage/posix_cluster_files.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    io::SetFatalHandler([](const std::string& /*reason*/) {});  // the simulated process dies, not this one
    Restart();
  }
  ~FilesTest() override {
    files_.reset();
    io::SetFatalHandler({});
  }
  void Restart() {
    files_.reset();
    process_ = disk_.NewProcess("master");
    auto opened = PosixClusterFiles::Open(*process_, "/root", [this] { return owner_; });
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    files_ = std::move(*opened);
    ASSERT_TRUE(process_->Open("/root").value()->Sync().ok());  // as a master's claim
  }
  void PowerFailure() {
    files_.reset();
    disk_.PowerFailure(io::SimDisk::Loss::kEverything);
    Restart();
  }

  io::SimDisk disk_;
  Status owner_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<PosixClusterFiles> files_;
};

}  // namespace ratchet::master
