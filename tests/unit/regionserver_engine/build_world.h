// A world with one parent region and two regions to build: for tests of builds (S35: proof of a clean close, to S39:
// children inherit from all parents; S44: own name for each file).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "regionserver/region/build_regions.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {

class BuildRegionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    parent = world.info;
    left = Child("", "m", 20);
    right = Child("m", "", 20);
    for (const RegionInfo& region : {parent, left, right, Child("", "", 30)}) {
      world.info = region;
      world.Format().value();
    }
    server = std::move(world.Start("a,1,1")).value();
    worker = world.disk.NewProcess("worker");
  }
  void TearDown() override { ConfigureLog({}); }

  RegionInfo Child(const std::string& start, const std::string& end, std::uint64_t id) const {
    RegionInfo info = parent;
    info.start_key = start;
    info.end_key = end;
    info.region_id = id;
    return info;
  }
  static std::string PathOf(const RegionInfo& region) { return "/data/" + region.encoded_name(); }

  // An opening of `region` at `at`.
  Result<std::shared_ptr<Region>> Open(Server& at, const RegionInfo& region, std::uint64_t open_number,
                                       std::uint64_t build_number = 0) {
    world.info = region;
    world.build_number = build_number;
    RATCHET_ASSIGN(auto directory, at.process->Open(PathOf(region)));
    return world.OpenRegionIn(at, open_number, std::move(directory));
  }
  void Write(Region& region, const std::string& row, const std::string& value,
             std::int64_t timestamp = kLatestTimestamp) {
    world.time.Advance(Millis(1));
    ASSERT_TRUE(world.Mutate(region, Put(row, "q", value, timestamp))->ok()) << row;
  }
  Result<BuildReport> Build(std::uint64_t number, const std::vector<RegionInfo>& parents,
                            const std::vector<RegionInfo>& children, io::Disk* disk = nullptr) {
    if (disk == nullptr) disk = worker.get();
    std::vector<std::unique_ptr<io::Directory>> open;
    const auto parts = [&](const std::vector<RegionInfo>& regions) -> Result<std::vector<BuildPart>> {
      std::vector<BuildPart> made;
      for (const RegionInfo& region : regions) {
        RATCHET_ASSIGN(auto directory, disk->Open(PathOf(region)));
        made.push_back({region, directory.get()});
        open.push_back(std::move(directory));
      }
      return made;
    };
    BuildRequest request;
    request.number = number;
    RATCHET_ASSIGN(request.parents, parts(parents));
    RATCHET_ASSIGN(request.children, parts(children));
    request.families = world.table.families;
    return BuildRegions(request);
  }
  void MustBuild(std::uint64_t number, const std::vector<RegionInfo>& parents,
                 const std::vector<RegionInfo>& children) {
    const auto report = Build(number, parents, children);
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    ASSERT_EQ(report->not_clean, "");
  }
  // "row=value " for every cell that a reader sees.
  std::string All(Region& region) {
    std::string all;
    const std::vector<Cell> cells = world.ScanAll(region).value();
    for (const Cell& cell : cells) all += fmt::format("{}={} ", cell.row, cell.value);
    return all;
  }
  // A parent with rows b and x in one file, c and y in another one; closed.
  void MakeParent() {
    world.info = parent;
    world.Format().value();
    auto region = Open(*server, parent, 1).value();
    Write(*region, "b", "1");
    Write(*region, "x", "1");
    region->Flush().value();
    Write(*region, "c", "1");
    Write(*region, "y", "1");
    region->Close().value();
  }

  std::string AfterALateWorker();

  EngineWorld world;
  RegionInfo parent, left, right;
  std::unique_ptr<Server> server;
  std::unique_ptr<io::SimDisk::Process> worker;
};

}  // namespace ratchet::regionserver
