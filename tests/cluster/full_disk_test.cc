// Servers that are started while the disk below --root is full go on when it has room again, without an operator.
#include "tests/cluster/full_disk.h"

namespace ratchet::chaos {
namespace {

using FullDiskTest = OnLoopDisk<ClusterTest>;

TEST_F(FullDiskTest, WhatIsStartedOnAFullDiskServesOnceThereIsRoom) {
  ClusterSpec spec;
  spec.environment["RATCHET_START_AGAIN"] = "true";
  Boot(2, 2, spec);
  if (HasFatalFailure() || IsSkipped()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  ASSERT_OK(cluster().Kill9("rs-1"));
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Kill9("master-2"));
  ASSERT_OK(disk_->Fill());
  for (const char* name : {"rs-1", "master-1", "master-2"}) ASSERT_OK(cluster().Start(name));
  // The region server needs a directory, a master that takes over a segment of the procedure store.
  ASSERT_OK(cluster().WaitLog("rs-1", "this process comes again by itself", kPatience));
  ASSERT_OK(ProcessCluster::WaitUntil("a master that finds no room", kPatience, [&] {
    return !cluster().LogLines("master-1", "No space left on device").empty() ||
           !cluster().LogLines("master-2", "No space left on device").empty();
  }));
  for (const char* name : {"rs-1", "master-1", "master-2"}) EXPECT_TRUE(cluster().Running(name)) << name;
  ASSERT_OK(disk_->Free());
  ASSERT_OK(cluster().WaitServing(kPatience));
  for (const char* name : {"rs-1", "master-1", "master-2"}) EXPECT_TRUE(cluster().Running(name)) << name;
  Verify();
  SkipVerification();  // at the end the processes are killed before the disk is taken away
}

}  // namespace
}  // namespace ratchet::chaos
