// Servers that start while the disk below --root is full resume without an operator when space is available.
#include "tests/cluster/full_disk.h"

namespace ratchet::chaos {
namespace {

using FullDiskTest = OnLoopDisk<ClusterTest>;

TEST_F(FullDiskTest, ServerStartedOnAFullDiskServesOnceThereIsSpace) {
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
  // A region server needs space for a directory. A new master needs space for a segment of the procedure store.
  ASSERT_OK(cluster().WaitLog("rs-1", "this process restarted itself", kPatience));
  ASSERT_OK(ProcessCluster::WaitUntil("a master that finds no room", kPatience, [&] {
    return !cluster().LogLines("master-1", "No space left on device").empty() ||
           !cluster().LogLines("master-2", "No space left on device").empty();
  }));
  for (const char* name : {"rs-1", "master-1", "master-2"}) EXPECT_TRUE(cluster().Running(name)) << name;
  ASSERT_OK(disk_->Free());
  ASSERT_OK(cluster().WaitServing(kPatience));
  for (const char* name : {"rs-1", "master-1", "master-2"}) EXPECT_TRUE(cluster().Running(name)) << name;
  Verify();
  SkipVerification();  // at the end the processes are killed before the disk is detached
}

}  // namespace
}  // namespace ratchet::chaos
