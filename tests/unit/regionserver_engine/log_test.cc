// The server log and the splitter by themselves: rolls, failed syncs, seals, damage, several splitters at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "regionserver/wal/byte_codec.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kServer = "a,1,1";

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  void StartServer() {
    server = std::move(world.Start(kServer)).value();
    world.OpenRegion(*server, 1).value();
  }
  bool Write(const std::string& row) {
    const auto answer = world.Mutate(*server->region, Put(row, "q", row));
    return answer && answer->ok();
  }
  // Rows "r0".."r<n-1>" written, the server gone, its log fenced and sealed.
  EngineWorld::Seal SealedLog(int rows) {
    StartServer();
    for (int i = 0; i < rows; ++i) EXPECT_TRUE(Write("r" + std::to_string(i)));
    server.reset();
    return world.FenceAndSeal(kServer).value().at(0);
  }
  std::string LogPath(const EngineWorld::Seal& seal) const {
    return std::string("/wals/") + kServer + "-splitting/" + seal.file;
  }
  std::string EditsPath(const EngineWorld::Seal& seal) const {
    return "/data/" + world.info.encoded_name() + "/edits." + kServer + "." + seal.file;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST_F(LogTest, EntriesSurviveTheirEncoding) {
  LogEntry entry;
  entry.region = "abc";
  entry.sequence = 77;
  entry.greatest_timestamp = -5;
  entry.cells.push_back({Cell{std::string("r\0w", 3), "f", "", INT64_MAX, CellType::kDeleteFamilyVersion, ""}, {}});
  entry.cells.push_back({Cell{"row", "f", "q", 0, CellType::kPut, std::string(1000, 'v')}, 60'000});
  Cell tagged{"tagged", "f", "q", 1, CellType::kPut, "v"};
  tagged.tags = std::string("\0\x03\x41xy", 5);
  entry.cells.push_back({tagged, 5});
  entry.cells.push_back({tagged, 0});
  entry.cells.push_back({tagged, INT64_MIN});
  entry.nonces.push_back({1, UINT64_MAX, 1'700'000'000'000});
  std::string bytes;
  EncodeLogEntry(entry, bytes);
  const LogEntry back = DecodeLogEntry(bytes).value();
  EXPECT_EQ(back.region, entry.region);
  EXPECT_EQ(back.sequence, entry.sequence);
  EXPECT_EQ(back.greatest_timestamp, entry.greatest_timestamp);
  EXPECT_EQ(back.nonces, entry.nonces);
  ASSERT_EQ(back.cells.size(), 5U);
  EXPECT_EQ(back.cells[0].ttl_ms, std::nullopt);
  EXPECT_EQ(back.cells[0].cell, entry.cells[0].cell);
  EXPECT_EQ(back.cells[1].cell, entry.cells[1].cell);
  EXPECT_EQ(back.cells[1].ttl_ms, 60'000);
  EXPECT_EQ(back.cells[2].cell, tagged);
  EXPECT_EQ(back.cells[2].ttl_ms, 5);
  EXPECT_EQ(back.cells[3].cell, tagged);
  EXPECT_EQ(back.cells[3].ttl_ms, 0) << "0 is a time to live, not 'none'";
  EXPECT_EQ(back.cells[4].ttl_ms, INT64_MIN);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(DecodeLogEntry(std::string_view(bytes).substr(0, length)).ok()) << length;
}

TEST(ByteReaderTest, ANumberOfMoreThan64BitsIsRefused) {
  std::string bytes(9, '\xff');
  const std::string greatest = bytes + '\x01';
  ByteReader most(greatest);
  EXPECT_EQ(most.Varint(), UINT64_MAX);
  EXPECT_TRUE(most.AtEnd());
  for (const char tenth : {'\x02', '\x7f', '\x81'}) {
    const std::string beyond = bytes + tenth;
    ByteReader more(beyond);
    EXPECT_EQ(more.Varint(), 0u);
    EXPECT_FALSE(more.ok()) << static_cast<int>(tenth);
  }
}

TEST_F(LogTest, ManyWritersShareSyncs) {
  StartServer();
  constexpr int kWrites = 400;
  std::atomic<int> answered{0};
  FaultPoints::Instance().ArmFromText("log.before_sync=pause").value();
  for (int i = 0; i < kWrites; ++i)
    server->region->Mutate(Put("r" + std::to_string(i), "q", "v"), [&](const Result<MutationResult>& result) {
      EXPECT_TRUE(result.ok());
      ++answered;
    });
  FaultPoints::Instance().Disarm("log.before_sync");
  FaultPoints::Instance().Resume("log.before_sync");
  while (answered < kWrites) std::this_thread::yield();
  const auto metrics = server->log->GetMetrics();
  EXPECT_EQ(metrics.entries, static_cast<std::uint64_t>(kWrites));
  EXPECT_LE(metrics.syncs, 3U);  // the batch of the first pause, and the rest
}

TEST_F(LogTest, AViewOfTheFilesCopiesNoMoreRegionsThanWanted) {
  StartServer();
  class Member final : public LogMember {
    Status CheckOpening() override { return Ok(); }
  };
  const auto member = std::make_shared<Member>();
  std::atomic<int> answered{0};
  for (int i = 0; i < 50; ++i) {
    LogEntry entry;
    entry.region = "region" + std::to_string(10 + i);
    entry.sequence = 5;
    ASSERT_TRUE(server->log->Append(entry, member, [&](const Status&) { ++answered; }));
  }
  while (answered < 50) std::this_thread::yield();
  EXPECT_EQ(server->log->Files().at(0).owed.size(), 50U);
  const auto some = server->log->Files(3).at(0);
  EXPECT_EQ(some.owed.size(), 3U);
  EXPECT_EQ(some.owed.begin()->first, "region10");
  EXPECT_EQ(some.owed_count, 50U);
}

TEST_F(LogTest, RollsBySizeAndKeepsWhatItNeedsToKnow) {
  world.log_options.roll_bytes = 300;
  StartServer();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Write("r" + std::to_string(i)));
  server->log->Roll().value();
  const auto files = server->log->Files();
  ASSERT_GE(files.size(), 3U);
  std::uint64_t last = 0;
  for (const auto& file : files) {
    if (&file == &files.back()) break;
    EXPECT_TRUE(file.closed);
    const std::uint64_t mine = file.owed.empty() ? last : file.owed.begin()->second;
    EXPECT_GE(mine, last);
    last = mine;
  }
  EXPECT_FALSE(files.back().closed);
  EXPECT_EQ(last, server->region->GetStatus().read_point);
  server.reset();
  world.Recover(kServer).value();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(world.Read(*next->region, "r" + std::to_string(i), "q").value(), "r" + std::to_string(i));
}

TEST_F(LogTest, APreparedNextFileIsALegalEmptyLog) {
  world.log_options.prepare_next = true;
  world.log_options.roll_bytes = 4096;
  StartServer();
  ASSERT_TRUE(Write("r"));
  for (int i = 0; i < 3; ++i) server->log->Roll().value();
  ASSERT_TRUE(Write("s"));
  world.disk.PowerFailure();
  server.reset();
  world.ForgetDeath();
  world.Recover(kServer).value();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  EXPECT_EQ(world.Read(*next->region, "r", "q").value(), "r");
  EXPECT_EQ(world.Read(*next->region, "s", "q").value(), "s");
}

TEST_F(LogTest, AFailedSyncEndsTheProcessAndAnswersNothing) {  // S6 (failed sync ends the process)
  StartServer();
  ASSERT_TRUE(Write("r"));
  server->process->SetHook(io::FailOps(io::SimOp::kSyncFile, "log.", Code::kIo));
  EXPECT_FALSE(world.Mutate(*server->region, Put("s", "q", "v")).has_value());
  EXPECT_TRUE(world.died());
}

// The page cache lies after a failed sync: a retry reports success, and the power failure shows that it is worthless.
TEST_F(LogTest, ASyncIsNotTriedAgain) {  // S6
  const auto acknowledged_and_lost = [&](const std::string& name, std::uint64_t opening) {
    auto fresh = world.Start(name).value();
    world.OpenRegion(*fresh, opening).value();
    bool failed = false;
    fresh->process->SetHook([&failed](const io::SimEvent& event) {
      const bool fail = !failed && event.op == io::SimOp::kSyncFile && event.path.find("log.") != std::string::npos;
      failed |= fail;
      return fail ? io::SimVerdict::Fail(Code::kIo) : io::SimVerdict::Proceed();
    });
    const auto answer = world.Mutate(*fresh->region, Put(name, "q", "v"));
    EXPECT_TRUE(failed);
    fresh.reset();
    world.disk.PowerFailure();
    world.ForgetDeath();
    world.Recover(name).value();
    auto next = world.Start(name + "9").value();
    world.OpenRegion(*next, opening + 1).value();
    return answer && answer->ok() && world.Read(*next->region, name, "q").value().empty();
  };
  EXPECT_FALSE(acknowledged_and_lost("a,1,1", 1));
  const ScopedMutant mutant("log.survive_failed_sync");
  EXPECT_TRUE(acknowledged_and_lost("b,1,1", 5));
}

TEST_F(LogTest, AFullDiskRefusesWritesAndGoesOnWhenThereIsSpace) {  // S6
  StartServer();
  ASSERT_TRUE(Write("r"));
  world.disk.SetCapacity(world.disk.used_bytes());
  int accepted = 0;
  std::optional<Result<MutationResult>> answer;
  do {  // the reserved space may still be used
    answer = world.Mutate(*server->region, Put("s" + std::to_string(accepted++), "q", std::string(1 << 19, 'v')));
    ASSERT_TRUE(answer.has_value());
  } while (answer->ok() && accepted < 100);
  ASSERT_FALSE(answer->ok());
  EXPECT_EQ(answer->error().code(), Code::kNoSpace);
  EXPECT_EQ(server->region->Flush().error().code(), Code::kNoSpace);
  EXPECT_FALSE(world.died());
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "r");
  world.disk.SetCapacity(UINT64_MAX);
  EXPECT_TRUE(Write("t"));
  server->region->Flush().value();
  server->region->Close().value();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  EXPECT_EQ(world.Read(*next->region, "t", "q").value(), "t");
  EXPECT_EQ(world.Read(*next->region, "s0", "q").value().size(), std::size_t{1 << 19});
}

TEST_F(LogTest, APreparationWithoutSpaceTakesNoneAndIsTheNextLog) {
  world.log_options.prepare_next = true;
  world.log_options.roll_bytes = 1 << 20;
  StartServer();
  ASSERT_TRUE(Write("r"));
  for (int i = 0; i < 3; ++i) {
    // Room for a part of the filling; the file that was prepared before is used as the next one.
    world.disk.SetCapacity(world.disk.used_bytes() + (1 << 19));
    server->log->Roll().value();
    ASSERT_TRUE(Write("s" + std::to_string(i)));
  }
  server->log->Roll().value();  // waits for the last preparation
  EXPECT_LT(world.disk.used_bytes(), std::uint64_t{3} << 20);
  EXPECT_FALSE(world.died());
  world.disk.SetCapacity(UINT64_MAX);
  ASSERT_TRUE(Write("t"));
  server.reset();
  world.Recover(kServer).value();
  auto next = world.Start("b,1,1").value();
  world.OpenRegion(*next, 2).value();
  for (const char* row : {"r", "s0", "s1", "s2", "t"}) EXPECT_EQ(world.Read(*next->region, row, "q").value(), row);
}

TEST_F(LogTest, AFencedLogSaysSoOnce) {
  std::atomic<int> fenced{0};
  world.log_options.fenced = [&](const Error& error) {
    EXPECT_EQ(error.code(), Code::kFenced);
    ++fenced;
  };
  StartServer();
  ASSERT_TRUE(world.FenceAndSeal(kServer).ok());
  EXPECT_FALSE(Write("r"));
  EXPECT_FALSE(Write("s"));
  EXPECT_EQ(fenced, 1);
}

TEST_F(LogTest, SplittingAgainAndByManyGivesTheSame) {  // S26 (split up to the seal)
  const EngineWorld::Seal seal = SealedLog(5);
  auto process = world.disk.NewProcess("splitter");
  const SplitReport first = world.Split(*process, kServer, seal, 1).value();
  EXPECT_EQ(first.entries, 5U);
  EXPECT_EQ(first.regions, 1U);
  const std::string edits = world.disk.Content(EditsPath(seal)).value();
  EXPECT_TRUE(world.Split(*process, kServer, seal, 2).value().already_done);
  // The mark is removed, so that the state is that of splitters that run at the same time.
  auto directory = process->Open(std::string("/wals/") + kServer + "-splitting").value();
  std::vector<std::thread> splitters;
  directory->Unlink("split." + seal.file).value();
  for (std::uint64_t attempt = 3; attempt < 7; ++attempt)
    splitters.emplace_back([&, attempt] { EXPECT_TRUE(world.Split(*process, kServer, seal, attempt).ok()); });
  for (std::thread& splitter : splitters) splitter.join();
  EXPECT_EQ(world.disk.Content(EditsPath(seal)).value(), edits);
}

TEST_F(LogTest, ALogThatIsGoneAfterItsSplitIsNoDamage) {  // S26
  const EngineWorld::Seal seal = SealedLog(3);
  auto process = world.disk.NewProcess("splitter");
  auto directory = process->Open(std::string("/wals/") + kServer + "-splitting").value();
  ASSERT_TRUE(world.Split(*process, kServer, seal, 1).ok());
  directory->Unlink(seal.file).value();
  EXPECT_TRUE(world.Split(*process, kServer, seal, 2).value().already_done);
  directory->Unlink("split." + seal.file).value();
  EXPECT_EQ(world.Split(*process, kServer, seal, 3).error().code(), Code::kNotFound);
}

TEST_F(LogTest, DamageBelowTheSealIsNamed) {
  const EngineWorld::Seal seal = SealedLog(5);
  auto process = world.disk.NewProcess("splitter");
  const std::string content = world.disk.Content(LogPath(seal)).value();
  for (const std::uint64_t offset : {std::uint64_t{3}, seal.length / 2, seal.length - 1}) {
    const char flipped = static_cast<char>(content[offset] ^ 0x10);
    world.disk.Overwrite(LogPath(seal), offset, {&flipped, 1}).value();
    const auto split = world.Split(*process, kServer, seal, offset + 100);
    ASSERT_FALSE(split.ok()) << offset;
    EXPECT_EQ(split.error().code(), Code::kCorruption);
    EXPECT_THAT(split.error().message(), HasSubstr(seal.file));
    world.disk.Overwrite(LogPath(seal), offset, {&content[offset], 1}).value();
  }
  world.disk.Truncate(LogPath(seal), seal.length - 1).value();
  const auto torn = world.Split(*process, kServer, seal, 9);
  ASSERT_FALSE(torn.ok());
  EXPECT_THAT(torn.error().message(), HasSubstr("sealed at"));
}

// A stopped server continues and appends after the seal: no splitter may use that entry, or two splitters would differ
// (S26).
std::uint64_t EntriesDespiteALateAppend(EngineWorld& world, Server& late) {
  std::vector<EngineWorld::Seal> seals;
  FaultSpec fence;
  fence.action = FaultAction::kCall;
  fence.call = [&](std::string_view) { seals = world.FenceAndSeal(kServer).value(); };
  FaultPoints::Instance().Arm("log.before_write", fence);
  EXPECT_FALSE(world.Mutate(*late.region, Put("late", "q", "v")).value().ok());
  auto process = world.disk.NewProcess("splitter");
  return world.Split(*process, kServer, seals.at(0), 1).value().entries;
}

TEST_F(LogTest, ASplitterStopsAtTheSeal) {
  StartServer();
  ASSERT_TRUE(Write("r"));
  EXPECT_EQ(EntriesDespiteALateAppend(world, *server), 1U);
}

TEST_F(LogTest, WithoutTheSealALateAppendWouldBeTaken) {
  const ScopedMutant mutant("split.ignore_seal");
  StartServer();
  ASSERT_TRUE(Write("r"));
  EXPECT_EQ(EntriesDespiteALateAppend(world, *server), 2U);
}

TEST_F(LogTest, EditsOfRegionsThatAreGoneOrFlushedAreLeftOut) {
  const EngineWorld::Seal seal = SealedLog(4);
  auto process = world.disk.NewProcess("splitter");
  auto directory = process->Open(std::string("/wals/") + kServer + "-splitting").value();
  SplitRequest request;
  request.server = kServer;
  request.file = seal.file;
  request.sealed_length = seal.length;
  request.sealed_crc32c = seal.crc;
  request.sealed_last_sequence = seal.last_sequence;
  request.attempt_token = 1;
  request.flushed_sequences[world.info.encoded_name()] = 2;
  request.open_region = [](const std::string& region) -> Result<std::unique_ptr<io::Directory>> {
    return Error(Code::kNotFound, region);
  };
  EXPECT_EQ(SplitLog(*directory, request).error().code(), Code::kFailedPrecondition)
      << "a missing directory does not show that the region is gone";
  std::uint64_t last_sequence = 0;
  request.keep_edits = [&last_sequence](const std::string&, std::uint64_t last) {
    last_sequence = last;
    return std::unique_ptr<io::Directory>();
  };
  const SplitReport report = SplitLog(*directory, request).value();
  EXPECT_EQ(last_sequence, 4U);
  EXPECT_EQ(report.covered, 2U);
  EXPECT_EQ(report.dropped, 2U);
  EXPECT_EQ(report.regions, 0U);
}

}  // namespace
}  // namespace ratchet::regionserver
