// The syncs of a region's operations on a region server, by the kind of file: exact counts, compared with
// tests/costs/costs.json.
#include "tests/costs/costs.h"
#include "tests/costs/counting_disk.h"
#include "tests/unit/regionserver_engine/build_world.h"

namespace ratchet::regionserver {
namespace {

class SyncCostsTest : public BuildRegionsTest {
 protected:
  std::shared_ptr<Region> OpenCounted(const RegionInfo& region, std::uint64_t open_number,
                                      std::uint64_t build_number = 0) {
    world.info = region;
    world.build_number = build_number;
    costs::CountingDisk disk(*server->process, syncs_);
    return world.OpenRegionIn(*server, open_number, disk.Open(PathOf(region)).value()).value();
  }
  // Compares the syncs since the previous call.
  void ExpectSyncs(const std::string& operation) {
    costs::Counts counts;
    for (const char* kind : {"directory", "manifest", "store_file", "edits", "log", "other"}) {
      if (const std::uint64_t count = syncs_.Of(kind); count > 0) counts.emplace_back(kind, count);
    }
    costs::ExpectCounts("server." + operation, counts);
    syncs_.Clear();
  }
  // The logs of the server are split into recovered edits by a process whose syncs count.
  void SplitLogsCounted() {
    const auto seals = world.FenceAndSeal(server->name).value();
    costs::CountingDisk disk(*worker, syncs_);
    for (const EngineWorld::Seal& seal : seals) ASSERT_TRUE(world.Split(disk, server->name, seal, 1).ok());
  }

  costs::SyncCounts syncs_;
};

TEST_F(SyncCostsTest, OpenAndCloseWithoutWrites) {
  auto region = OpenCounted(parent, 1);
  ExpectSyncs("open_new_region");
  region->Close().value();
  ExpectSyncs("close_untouched_region");
  region = OpenCounted(parent, 2);
  ExpectSyncs("open_region");
  region->Abandon();
}

TEST_F(SyncCostsTest, CloseFlushesOneFile) {
  auto region = OpenCounted(parent, 1);
  syncs_.Clear();
  Write(*region, "r", "1");
  region->Close().value();
  ExpectSyncs("close_written_region");
  region = OpenCounted(parent, 2);
  ExpectSyncs("open_region_with_a_file");
  Write(*region, "r", "2");
  region->Flush().value();
  ExpectSyncs("first_flush");
  Write(*region, "r", "3");
  region->Flush().value();
  ExpectSyncs("next_flush");
  region->Abandon();
}

TEST_F(SyncCostsTest, RecoveryOfOneRegionWithEdits) {
  auto region = OpenCounted(parent, 1);
  Write(*region, "r", "1");
  region->Abandon();
  region.reset();
  syncs_.Clear();
  SplitLogsCounted();
  ExpectSyncs("split_log_of_one_region");
  server = std::move(world.Start("b,1,1")).value();
  region = OpenCounted(parent, 2);
  ExpectSyncs("open_region_with_edits");
  region->Abandon();
}

TEST_F(SyncCostsTest, SplitIntoTwoDaughters) {
  MakeParent();
  costs::CountingDisk disk(*worker, syncs_);
  ASSERT_EQ(Build(10, {parent}, {left, right}, &disk).value().not_clean, "");
  ExpectSyncs("build_two_daughters");
  auto region = OpenCounted(left, 20, 10);
  ExpectSyncs("open_daughter");
  region->Abandon();
}

}  // namespace
}  // namespace ratchet::regionserver
