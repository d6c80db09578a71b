// S25 (recovered edits stay until flushed): an opening serves recovered edits from memory, and they stay inputs of the
// next opening until a flush covers them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "common/base/log.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr const char* kEdits = "edits.a,1,1.log.0000000001";
constexpr const char* kUnneededEdits = "unneeded.edits.a,1,1.log.0000000001";
constexpr const char* kFirstFile = "2-1.sst";

class ReplayedEditsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
  }
  void TearDown() override { ConfigureLog({}); }

  void Write(Server& server, const std::string& row) {
    ASSERT_TRUE(world.Mutate(*server.region, Put(row, "q", row)).value().ok());
  }
  // Server "a,1,1" dies with the row "first" in its log; its log is split.
  void LeaveEdits(bool flushed = false) {
    auto server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
    Write(*server, "first");
    if (flushed) server->region->Flush().value();
    server->process->Crash();  // before it marks its log as covered
    server.reset();
    world.Recover("a,1,1").value();
  }
  std::unique_ptr<Server> Serve(const std::string& name, std::uint64_t open_number) {
    auto server = world.Start(name).value();
    world.OpenRegion(*server, open_number).value();
    return server;
  }
  std::string Read(Server& server, const std::string& row) { return world.Read(*server.region, row, "q").value(); }

  EngineWorld world;
};

TEST_F(ReplayedEditsTest, AnOpeningServesThemWithoutAFlush) {
  LeaveEdits();
  auto server = Serve("b,1,1", 2);
  EXPECT_EQ(Read(*server, "first"), "first");
  EXPECT_THAT(world.RegionFiles(), Contains(kEdits));
  EXPECT_THAT(world.RegionFiles(), Not(Contains(kFirstFile)));
  server->region->Flush().value();
  EXPECT_THAT(world.RegionFiles(), Contains(kUnneededEdits));
  EXPECT_THAT(world.RegionFiles(), Not(Contains(kEdits)));
  EXPECT_THAT(world.RegionFiles(), Contains(kFirstFile));
}

TEST_F(ReplayedEditsTest, AnotherDeathBeforeTheFlushLeavesThemToTheNextOpening) {
  LeaveEdits();
  auto server = Serve("b,1,1", 2);
  const std::uint64_t first = server->region->first_sequence();
  Write(*server, "second");
  server.reset();
  world.Recover("b,1,1").value();
  server = Serve("c,1,1", 3);
  EXPECT_EQ(Read(*server, "first"), "first");
  EXPECT_EQ(Read(*server, "second"), "second");
  EXPECT_GT(server->region->first_sequence(), first);
}

TEST_F(ReplayedEditsTest, ACloseFlushesThem) {
  LeaveEdits();
  Serve("b,1,1", 2)->region->Close().value();
  EXPECT_THAT(world.RegionFiles(), Contains(kUnneededEdits));
  EXPECT_TRUE(world.Clean("b,1,1").ok());
  EXPECT_EQ(Read(*Serve("c,1,1", 3), "first"), "first");
}

TEST_F(ReplayedEditsTest, ACloseEndsEditsThatFilesCovered) {
  LeaveEdits(true);
  auto server = Serve("b,1,1", 2);
  EXPECT_THAT(world.RegionFiles(), Contains(kEdits));
  server->region->Close().value();
  EXPECT_THAT(world.RegionFiles(), Contains(kUnneededEdits));
}

TEST_F(ReplayedEditsTest, MoreThanAMemstoreHoldsIsFlushedAtOnce) {
  LeaveEdits();
  world.settings.flush_bytes = 1;
  world.settings.blocking_bytes = 256ULL << 20;
  const auto server = Serve("b,1,1", 2);
  EXPECT_THAT(world.RegionFiles(), Contains(kFirstFile));
  EXPECT_THAT(world.RegionFiles(), Contains(kUnneededEdits));
}

TEST_F(ReplayedEditsTest, MoreThanTheServersMemoryHoldsIsFlushedAtOnce) {
  LeaveEdits();
  world.settings.budget = std::make_shared<MemstoreBudget>();
  world.settings.budget->flush_at = 1;
  const auto server = Serve("b,1,1", 2);
  EXPECT_THAT(world.RegionFiles(), Contains(kFirstFile));
  EXPECT_THAT(world.RegionFiles(), Contains(kUnneededEdits));
}

// Each server dies with one more row in its log, before any flush.
TEST_F(ReplayedEditsTest, ManyFilesAreFlushedAtOnce) {
  constexpr int kDeaths = 18;
  const auto waiting = [this] {
    const auto names = world.RegionFiles();
    return std::count_if(names.begin(), names.end(),
                         [](const std::string& name) { return name.starts_with("edits."); });
  };
  for (int i = 1; i <= kDeaths; ++i) {
    const std::string name = fmt::format("s,1,{}", i);
    auto server = Serve(name, static_cast<std::uint64_t>(i));
    Write(*server, fmt::format("r{}", i));
    server.reset();
    world.Recover(name).value();
    EXPECT_LE(waiting(), 17);
  }
  const auto server = Serve("reader,1,1", kDeaths + 1);
  for (int i = 1; i <= kDeaths; ++i) EXPECT_EQ(Read(*server, fmt::format("r{}", i)), fmt::format("r{}", i));
}

}  // namespace
}  // namespace ratchet::regionserver
