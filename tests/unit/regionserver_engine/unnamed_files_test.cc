// S80 (remove only unnamed files): files that an opening made and no manifest can name are removed at once, and no
// others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::IsEmpty;

constexpr std::size_t kValueBytes = 50'000;
constexpr std::uint64_t kRoomForAPart = 1'500'000;

class UnnamedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
    server = world.Start("a,1,1").value();
    world.OpenRegion(*server, 1).value();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  void Write(const std::string& row, const std::string& value) {
    ASSERT_TRUE(world.Mutate(*server->region, Put(row, "q", value)).value().ok());
  }
  void FailOnceAt(const std::string& point) {
    FaultSpec spec;
    spec.action = FaultAction::kFail;
    FaultPoints::Instance().Arm(point, spec);
  }
  std::vector<std::string> StoreFileNames() {
    std::vector<std::string> names = world.RegionFiles();
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    return names;
  }
  // Returns how much space three failed flushes leave used on a disk of this size.
  std::uint64_t LeftByFailedFlushes(std::uint64_t room) {
    const std::uint64_t used = world.disk.used_bytes();
    for (int i = 0; i < 3; ++i) {
      world.disk.SetCapacity(std::max(used + room, world.disk.used_bytes() + room));
      const Status flushed = server->region->Flush();
      EXPECT_FALSE(flushed.ok());
      if (!flushed.ok()) {
        EXPECT_EQ(flushed.error().code(), Code::kNoSpace) << flushed.error().ToString();
      }
      // Frees the space of removed files, as a journal does after a while.
      world.disk.NewProcess()->Open("/data/" + world.info.encoded_name()).value()->Sync().value();
    }
    return world.disk.used_bytes() - used;
  }
  // Others use the last byte while the file of a memory store is written, whose record needs its own room.
  Status FlushWhileTheDiskFills() {
    Write(std::string(6'000, 'a'), "v");
    Write(std::string(6'000, 'z'), "v");
    FaultSpec spec;
    spec.action = FaultAction::kCall;
    spec.call = [this](std::string_view) { world.disk.SetCapacity(world.disk.used_bytes()); };
    FaultPoints::Instance().Arm("region.file_written", spec);
    const Status flushed = server->region->Flush();
    world.disk.SetCapacity(UINT64_MAX);
    return flushed;
  }
  // The next opening, after the end of this one.
  Status Reopen(std::uint64_t open_number) {
    server.reset();
    world.Recover("a,1,1").value();
    server = world.Start("b,1,1").value();
    return world.OpenRegion(*server, open_number);
  }

  // Some MiB that cannot be compressed.
  void WriteMuch() {
    Prng prng(7);
    for (int i = 0; i < 60; ++i) {
      std::string value(kValueBytes, ' ');
      for (char& byte : value) byte = static_cast<char>(prng.Next());
      Write("r" + std::to_string(i), value);
    }
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST_F(UnnamedFilesTest, AFailedFlushLeavesNothingOnAFullDisk) {
  WriteMuch();
  for (const std::uint64_t room : {std::uint64_t{0}, kRoomForAPart})
    EXPECT_LE(LeftByFailedFlushes(room), 8192U) << "room=" << room;
  EXPECT_THAT(StoreFileNames(), IsEmpty());
  world.disk.SetCapacity(UINT64_MAX);
  server->region->Flush().value();
  EXPECT_EQ(StoreFileNames().size(), 1U);
  Reopen(2).value();
  EXPECT_EQ(world.Read(*server->region, "r1", "q").value().size(), kValueBytes);
}

TEST_F(UnnamedFilesTest, KeepingThemFillsTheDisk) {
  const ScopedMutant mutant("store.keep_unfinished");
  WriteMuch();
  EXPECT_GT(LeftByFailedFlushes(kRoomForAPart), kRoomForAPart);
}

// A flush that has written its file can record it: that room was reserved first.
TEST_F(UnnamedFilesTest, AFlushTakesTheRoomForItsRecordFirst) {
  FlushWhileTheDiskFills().value();
  EXPECT_EQ(StoreFileNames().size(), 1U);
}

TEST_F(UnnamedFilesTest, AFileBeforeItsRoomIsNotRecorded) {
  const ScopedMutant mutant("region.file_before_room");
  EXPECT_FALSE(FlushWhileTheDiskFills().ok());
}

TEST_F(UnnamedFilesTest, AnInterruptedFlushOrCompactionLeavesNothing) {
  Write("r", "v");
  FailOnceAt("region.file_written");
  EXPECT_FALSE(server->region->Flush().ok());
  EXPECT_THAT(StoreFileNames(), IsEmpty());
  server->region->Flush().value();
  Write("s", "v");
  server->region->Flush().value();
  const std::vector<std::string> inputs = StoreFileNames();
  FailOnceAt("region.compacted");
  EXPECT_FALSE(server->region->Compact(true).ok());
  EXPECT_EQ(StoreFileNames(), inputs);
  server->region->Compact(true).value();
  Reopen(2).value();
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "v");
}

// A record that was begun becomes durable with the next one: the files that it names stay.
TEST_F(UnnamedFilesTest, WhatARecordMayNameStays) {
  Write("r", "v");
  FailOnceAt("manifest.before_write");
  EXPECT_FALSE(server->region->Flush().ok());
  server->region->Flush().value();
  Reopen(2).value();
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "v");
}

TEST_F(UnnamedFilesTest, RemovingWhatARecordMayNameIsNoticed) {
  const ScopedMutant mutant("region.remove_what_may_be_named");
  Write("r", "v");
  FailOnceAt("manifest.before_write");
  EXPECT_FALSE(server->region->Flush().ok());
  server->region->Flush().value();
  EXPECT_FALSE(Reopen(2).ok());
}

}  // namespace
}  // namespace ratchet::regionserver
