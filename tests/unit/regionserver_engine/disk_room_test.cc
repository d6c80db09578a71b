// S90 (compactions leave space): a compaction begins only if there is room for it, and never uses the last of the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kKept = 2'000'000;
constexpr std::uint64_t kPart = 3'000'000;  // approximate size of each of two store files

class DiskRoomTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
    world.settings.room = std::make_shared<DiskRoom>(kKept);
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
    WritePart("a");
    WritePart("b");
    // These tests do not concern the log's own space.
    server->log->Roll().value();
  }
  void TearDown() override {
    world.disk.SetCapacity(UINT64_MAX);
    ConfigureLog({});
  }
  // A store file that cannot be compressed.
  void WritePart(const std::string& prefix) {
    Prng prng(7);
    for (int i = 0; i < 30; ++i) {
      std::string value(kPart / 30, ' ');
      for (char& byte : value) byte = static_cast<char>(prng.Next());
      ASSERT_TRUE(world.Mutate(*server->region, Put(prefix + std::to_string(i), "q", value)).value().ok());
    }
    server->region->Flush().value();
  }
  void LeaveFree(std::uint64_t bytes) { world.disk.SetCapacity(world.disk.used_bytes() + bytes); }
  std::vector<std::string> StoreFilesThere() {
    std::vector<std::string> names = world.RegionFiles();
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    return names;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST_F(DiskRoomTest, ACompactionThatDoesNotFitDoesNotBegin) {
  const std::vector<std::string> before = StoreFilesThere();
  LeaveFree(2 * kPart + kKept / 2);  // its file would fit, but not the reserve for others
  std::uint64_t appended = 0;
  server->process->SetHook([&appended](const io::SimEvent& event) {
    if (event.op == io::SimOp::kAppend) appended += event.bytes;
    return io::SimVerdict::Proceed();
  });
  const Status compacted = server->region->Compact(true);
  ASSERT_FALSE(compacted.ok());
  EXPECT_EQ(compacted.error().code(), Code::kNoSpace);
  EXPECT_THAT(compacted.error().message(), ::testing::HasSubstr("2000000 are kept for flushes and logs"));
  server->process->SetHook({});
  EXPECT_EQ(appended, 0U);
  EXPECT_EQ(StoreFilesThere(), before);
  LeaveFree(3 * kPart + kKept);
  server->region->Compact(true).value();
  EXPECT_NE(StoreFilesThere(), before);
  EXPECT_EQ(world.Read(*server->region, "a1", "q").value().size(), kPart / 30);
}

TEST_F(DiskRoomTest, WithoutARoomItTakesTheLastOfTheDisk) {
  const ScopedMutant mutant("region.compact_without_room");
  LeaveFree(2 * kPart + kKept / 2);
  std::uint64_t least = UINT64_MAX;
  const std::uint64_t capacity = world.disk.used_bytes() + 2 * kPart + kKept / 2;
  server->process->SetHook([&](const io::SimEvent&) {
    least = std::min(least, capacity - std::min(capacity, world.disk.used_bytes()));
    return io::SimVerdict::Proceed();
  });
  IgnoreResult(server->region->Compact(true), "it may or may not fit");
  server->process->SetHook({});
  EXPECT_LT(least, kKept);
}

// Another process uses the space of the compaction while it writes.
TEST_F(DiskRoomTest, ACompactionGivesUpWhenOthersTakeItsRoom) {
  const std::vector<std::string> before = StoreFilesThere();
  LeaveFree(3 * kPart + kKept);
  server->process->SetHook([&](const io::SimEvent& event) {
    if (event.op == io::SimOp::kAppend && event.path.ends_with(".sst"))
      world.disk.SetCapacity(world.disk.used_bytes() + event.bytes + kKept / 2);
    return io::SimVerdict::Proceed();
  });
  const Status compacted = server->region->Compact(true);
  ASSERT_FALSE(compacted.ok());
  EXPECT_EQ(compacted.error().code(), Code::kNoSpace);
  EXPECT_EQ(StoreFilesThere(), before);
  server->process->SetHook({});
  world.disk.SetCapacity(UINT64_MAX);
  server->region->Compact(true).value();
}

// Two compactions that run at the same time reserve separate space.
TEST(DiskRoomShareTest, WhatIsTakenIsTakenOnce) {
  io::SimDisk disk;
  const auto process = disk.NewProcess();
  const auto directory = process->OpenOrMake("/d").value();
  disk.SetCapacity(1000);
  DiskRoom room(100);
  auto first = std::make_unique<DiskRoom::Share>(room.Take(*directory, 600).value());
  EXPECT_EQ(room.Take(*directory, 301).error().code(), Code::kNoSpace);
  EXPECT_TRUE(room.Take(*directory, 300).ok());  // and given back at once
  first->Wrote(200).value();
  EXPECT_TRUE(room.Take(*directory, 500).ok());
  first.reset();
  EXPECT_TRUE(room.Take(*directory, 900).ok());
  EXPECT_EQ(room.Take(*directory, 901).error().code(), Code::kNoSpace);
}

// A flush frees room, so it begins, but leaves a little for records.
TEST_F(DiskRoomTest, AFlushLeavesTheLastBytesToRecords) {
  for (int i = 0; i < 3; ++i) {
    Prng prng(9);
    for (int k = 0; k < 30; ++k) {
      std::string value(kPart / 30, ' ');
      for (char& byte : value) byte = static_cast<char>(prng.Next());
      ASSERT_TRUE(
          world.Mutate(*server->region, Put(std::to_string(i) + "-" + std::to_string(k), "q", value)).value().ok());
    }
  }
  LeaveFree(3 * kPart + DiskRoom::kLast / 2);
  const std::uint64_t capacity = world.disk.used_bytes() + 3 * kPart + DiskRoom::kLast / 2;
  std::uint64_t least = UINT64_MAX;
  server->process->SetHook([&](const io::SimEvent&) {
    least = std::min(least, capacity - std::min(capacity, world.disk.used_bytes()));
    return io::SimVerdict::Proceed();
  });
  const Status flushed = server->region->Flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().code(), Code::kNoSpace);
  EXPECT_GT(least, DiskRoom::kLast / 4);
  server->process->SetHook({});
  world.disk.SetCapacity(UINT64_MAX);
  server->region->Flush().value();
}

}  // namespace
}  // namespace ratchet::regionserver
