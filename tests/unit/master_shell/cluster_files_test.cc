#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/startup/name_proof.h"
#include "master/storage/directory_tools.h"
#include "tests/unit/master_shell/files_fixture.h"

namespace ratchet::master {
namespace {

const ServerName kServer{"h", 16020, 100};
constexpr const char* kTable = "default/t.7";

TableDescriptor Descriptor() {
  TableDescriptor table;
  table.name = TableName("default", "t");
  table.families = {DefaultFamily("f")};
  return table;
}

class ClusterFilesTest : public FilesTest {
 protected:
  // A server's life: one log with two synced records and, if wanted, bytes that were never synced.
  void WriteLogs(bool unsynced_tail = false) {
    server_process_ = disk_.NewProcess("server");
    auto wals = server_process_->Open("/root/wals");
    ASSERT_TRUE(wals.ok());
    auto mine = io::FencedDirectory::Make(**wals, kServer.ToString());
    ASSERT_TRUE(mine.ok()) << mine.error().ToString();
    for (const std::string name : {"log.0000000001", "meta.0000000001"}) {
      auto file = (*mine)->directory().Create(name);
      ASSERT_TRUE(file.ok());
      io::RecordWriter log(std::move(*file), {'L', io::LogFileId(kServer.ToString() + "/" + name)});
      ASSERT_TRUE(log.Add(1, 1, 1, "first").ok());
      ASSERT_TRUE(log.Add(1, 1, 2, "second").ok());
      ASSERT_TRUE(log.Sync().ok());
      synced_length_ = log.durable_offset();
      if (unsynced_tail) {
        ASSERT_TRUE(log.Add(1, 1, 3, "third").ok());
        ASSERT_TRUE(log.Flush().ok());
      }
    }
    ASSERT_TRUE((*mine)->directory().Sync().ok());
    fenced_ = std::move(*mine);
  }

  std::unique_ptr<io::SimDisk::Process> server_process_;
  std::unique_ptr<io::FencedDirectory> fenced_;
  std::uint64_t synced_length_ = 0;
};

TEST_F(ClusterFilesTest, ATableLayoutIsThereAfterAPowerFailure) {
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa", "bbb"}).ok());
  PowerFailure();
  const auto found = files_->ReadDescriptor(kTable);
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ(found->descriptor, Descriptor());
  EXPECT_EQ(found->number, 7U);
  auto table = process_->Open("/root/data/default/t.7");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ((*table)->List().value(), (std::vector<std::string>{"aaa", "bbb", "desc.7", "dropped.7"}));
}

TEST_F(ClusterFilesTest, EveryPartOfATableLayoutMayBeThereAlready) {
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa"}).ok());
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa", "bbb"}).ok());
  TableDescriptor other = Descriptor();
  other.families.push_back(DefaultFamily("g"));
  const Status refused = files_->CreateTableLayout(kTable, ProcId(7), other, {"aaa"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kFailedPrecondition);
  // A later descriptor exists next to it and counts.
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(9), other, {}).ok());
  EXPECT_EQ(files_->ReadDescriptor(kTable).value().descriptor, other);
}

TEST_F(ClusterFilesTest, ACrashAtAnyPointOfCreatingALayoutIsRepairedByDoingItAgain) {
  process_->Trace(true);
  const std::uint64_t before = process_->operations();
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa", "bbb"}).ok());
  const std::uint64_t operations = process_->operations() - before;
  ASSERT_GT(operations, 5u);
  for (std::uint64_t at = 1; at <= operations; ++at) {
    const std::string table = "default/x." + std::to_string(100 + at);
    process_->SetHook(io::CrashAtOp(process_->operations() + at));
    IgnoreResult(files_->CreateTableLayout(table, ProcId(7), Descriptor(), {"aaa", "bbb"}), "it dies on the way");
    PowerFailure();
    ASSERT_TRUE(files_->CreateTableLayout(table, ProcId(7), Descriptor(), {"aaa", "bbb"}).ok()) << "crash at " << at;
    PowerFailure();
    ASSERT_TRUE(files_->ReadDescriptor(table).ok()) << "crash at " << at;
  }
}

TEST_F(ClusterFilesTest, ATableFollowsItsRegionsToTheArchive) {
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa", "bbb"}).ok());
  for (int time = 0; time < 2; ++time) ASSERT_TRUE(files_->ArchiveRegion(kTable, "bbb", Epoch(3)).ok());
  PowerFailure();
  ASSERT_TRUE(files_->MarkKept(kTable, ProcId(7)).ok());
  EXPECT_EQ(files_->ArchiveTableLayout(kTable, Epoch(3)).error().code(), Code::kFailedPrecondition) << "S115";
  for (int time = 0; time < 2; ++time) ASSERT_TRUE(files_->MarkDropped(kTable, ProcId(9)).ok());
  PowerFailure();
  for (int time = 0; time < 2; ++time) ASSERT_TRUE(files_->ArchiveTableLayout(kTable, Epoch(3)).ok());
  PowerFailure();
  EXPECT_EQ(files_->ReadDescriptor(kTable).error().code(), Code::kNotFound);
  EXPECT_TRUE(process_->Open("/root/archive/3/data/default/t.7/aaa").ok());
  EXPECT_TRUE(process_->Open("/root/archive/3/regions/default/t.7/bbb").ok());
}

// S115 (missing row is not evidence): before its first row a new directory may be removed, after it only by a later
// procedure's decision.
TEST_F(ClusterFilesTest, AMarkDecidesWhetherADirectoryMayGo) {
  EXPECT_EQ(files_->MayGo(kTable).error().code(), Code::kNotFound);
  EXPECT_TRUE(files_->MarkDropped(kTable, ProcId(9)).ok());
  EXPECT_TRUE(files_->MarkKept(kTable, ProcId(9)).ok());
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa"}).ok());
  PowerFailure();
  EXPECT_TRUE(files_->MayGo(kTable).value());
  ASSERT_TRUE(files_->MarkKept(kTable, ProcId(7)).ok());
  PowerFailure();
  EXPECT_FALSE(files_->MayGo(kTable).value());
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa"}).ok());  // a late repetition
  EXPECT_FALSE(files_->MayGo(kTable).value());
  ASSERT_TRUE(files_->MarkDropped(kTable, ProcId(5)).ok());
  PowerFailure();
  EXPECT_TRUE(files_->MayGo(kTable).value());
}

TEST_F(ClusterFilesTest, ARegionGoesToQuarantineOnceAndMayBeRepeated) {
  const std::string given_up(32, 'a');
  const std::string made(32, 'b');
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {given_up}).ok());
  const std::string place = std::string("quarantine/data/default/t.7/") + given_up + ".9";
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(files_->QuarantineRegion(kTable, given_up, "9").value(), place);
    EXPECT_TRUE(files_->MakeRegionDirectories(kTable, {made}).ok());
    PowerFailure();
    EXPECT_EQ(files_->ListRegionDirectories(kTable).value(), std::vector<std::string>{made});  // without the descriptor
    EXPECT_TRUE(process_->Open("/root/" + place).ok());
  }
  EXPECT_EQ(files_->QuarantineRegion(kTable, given_up, "10").value(), "") << "it is at neither place";
  EXPECT_EQ(files_->ListRegionDirectories("default/u.8").error().code(), Code::kNotFound);
}

TEST_F(ClusterFilesTest, NothingIsTouchedByAMasterThatWasDeposed) {
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa"}).ok());
  WriteLogs();
  owner_ = Error(Code::kFenced, "deposed");
  process_->Trace(true);
  EXPECT_EQ(files_->CreateTableLayout("default/u.8", ProcId(8), Descriptor(), {"a"}).error().code(), Code::kFenced);
  EXPECT_EQ(files_->ArchiveTableLayout(kTable, Epoch(1)).error().code(), Code::kFenced);
  EXPECT_EQ(files_->MarkKept(kTable, ProcId(7)).error().code(), Code::kFenced);
  EXPECT_EQ(files_->QuarantineRegion(kTable, "aaa", "9").error().code(), Code::kFenced);
  EXPECT_EQ(files_->MakeRegionDirectories(kTable, {"bbb"}).error().code(), Code::kFenced);
  EXPECT_EQ(files_->FenceLogsNow(kServer).error().code(), Code::kFenced);
  EXPECT_EQ(files_->RetireLogs(kServer, {}, Epoch(1)).error().code(), Code::kFenced);
  for (const io::SimEvent& event : process_->trace()) EXPECT_FALSE(io::Changes(event.op)) << event.ToString();
}

TEST_F(ClusterFilesTest, WithoutTheCheckADeposedMasterTouchesWhatIsInUse) {
  ASSERT_TRUE(files_->CreateTableLayout(kTable, ProcId(7), Descriptor(), {"aaa"}).ok());
  WriteLogs();
  owner_ = Error(Code::kFenced, "deposed");
  const ScopedMutant mutant("files.no_check");
  EXPECT_TRUE(files_->ArchiveTableLayout(kTable, Epoch(1)).ok());  // the mutant that the test above would notice
  EXPECT_FALSE(files_->ReadDescriptor(kTable).ok());
  EXPECT_TRUE(files_->FenceLogsNow(kServer).ok());
  EXPECT_FALSE(fenced_->Check().ok());
}

TEST_F(ClusterFilesTest, AFencedServerFindsOutAndItsLogsAreSealedAtWhatIsInThem) {
  WriteLogs();
  ASSERT_TRUE(fenced_->Check().ok());
  EXPECT_FALSE(files_->ListLogDirectories().value().at(0).fenced);
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  EXPECT_FALSE(fenced_->Check().ok());
  EXPECT_TRUE(files_->ListLogDirectories().value().at(0).fenced);
  const auto logs = files_->SealLogsNow(kServer);
  ASSERT_TRUE(logs.ok()) << logs.error().ToString();
  ASSERT_EQ(logs->size(), 2u);
  EXPECT_EQ(logs->at(0).name, "log.0000000001");
  EXPECT_FALSE(logs->at(0).meta);
  EXPECT_TRUE(logs->at(1).meta);
  EXPECT_EQ(logs->at(0).length, synced_length_);
  EXPECT_EQ(logs->at(0).last_sequence, 2u);
  // A repetition, and a repetition after a power failure, have the same result.
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  PowerFailure();
  const auto again = files_->SealLogsNow(kServer);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->at(0).crc32c, logs->at(0).crc32c);
}

// Uses a real file system, because the limits are those of the file system. An undo must not wait without end for a
// directory that never existed.
TEST(ClusterFilesLimitsTest, WhatCannotExistNeedsNoArchiving) {
  char path[] = "/tmp/ratchet-cluster-files-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  {
    auto files = PosixClusterFiles::Open(io::PosixDisk(), path, [] { return Ok(); });
    ASSERT_TRUE(files.ok()) << files.error().ToString();
    const std::string endless = "default/" + std::string(300, 't') + ".7";
    const Status made = (*files)->CreateTableLayout(endless, ProcId(7), Descriptor(), {"aaa"});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code(), Code::kInvalidArgument) << "lasting: " << made.error().ToString();
    EXPECT_TRUE((*files)->ArchiveTableLayout(endless, Epoch(1)).ok());
    EXPECT_TRUE((*files)->ArchiveTableLayout(std::string(300, 'n') + "/t.7", Epoch(1)).ok());
  }
  std::filesystem::remove_all(path);
}

// S58 (server name proven by storage). Names for which no server of this cluster has made a directory; each once ended
// a master, barred an address, or could not be fenced.
TEST_F(ClusterFilesTest, OnlyALiveDirectoryOfExactlyThisNameProvesAServer) {
  WriteLogs();
  EXPECT_TRUE(ProveServerName(*files_, kServer).ok());
  ServerName younger = kServer;
  younger.start_code += 1;
  ServerName capital = kServer;
  capital.host.front() = static_cast<char>(capital.host.front() - 'a' + 'A');
  const auto refused_as = [this](const ServerName& name) {
    const Status refused = ProveServerName(*files_, name);
    return refused.ok() ? "" : refused.error().remote_class();
  };
  // A valid name that is not of a live server. If the server is alive, it registers again with another start code.
  for (const ServerName& name : {younger, capital, ServerName{"unheard-of", 1, 1}}) {
    EXPECT_EQ(refused_as(name), "org.apache.hadoop.hbase.YouAreDeadException") << name.ToString();
  }
  for (const ServerName& name :
       {ServerName{"a,b", 1, 1}, ServerName{"", 1, 1}, ServerName{"h\n", 1, 1}, ServerName{std::string(300, 'h'), 1, 1},
        ServerName{"h", 0, 1}, ServerName{"h", 1, 0}, ServerName{kServer.host, kServer.port, UINT64_MAX}}) {
    EXPECT_EQ(refused_as(name), "org.apache.hadoop.hbase.DoNotRetryIOException") << name.ToString();
  }
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  EXPECT_EQ(refused_as(kServer), "org.apache.hadoop.hbase.YouAreDeadException");
  ASSERT_TRUE(files_->RetireLogs(kServer, {}, Epoch(1)).ok());
  EXPECT_EQ(refused_as(kServer), "org.apache.hadoop.hbase.YouAreDeadException") << "its crash procedure was faster";
}

TEST_F(ClusterFilesTest, TakingAnyServerNameIsCaught) {
  const ScopedMutant mutant("master.any_server_name");
  EXPECT_TRUE(ProveServerName(*files_, ServerName{"a,b", 1, 1}).ok()) << "what the test above would notice";
}

TEST_F(ClusterFilesTest, WhatIsSealedIsDurableEvenIfItsWriterNeverSyncedIt) {
  WriteLogs(/*unsynced_tail=*/true);
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  const auto logs = files_->SealLogsNow(kServer);
  ASSERT_TRUE(logs.ok());
  EXPECT_EQ(logs->at(0).last_sequence, 3u);
  EXPECT_GT(logs->at(0).length, synced_length_);
  PowerFailure();
  const auto again = files_->SealLogsNow(kServer);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->at(0).length, logs->at(0).length) << "the seal covered bytes that a power failure took";
  EXPECT_EQ(again->at(0).crc32c, logs->at(0).crc32c);
}

TEST_F(ClusterFilesTest, TheFenceIsDurableBeforeAnybodyReliesOnIt) {
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  PowerFailure();
  EXPECT_TRUE(files_->ListLogDirectories().value().at(0).fenced);
}

TEST_F(ClusterFilesTest, AnUnfencedServerIsNotSealed) {
  WriteLogs();
  EXPECT_EQ(files_->SealLogsNow(kServer).error().code(), Code::kFailedPrecondition);
}

TEST_F(ClusterFilesTest, AMissingDirectoryIsNotFencedUnlessItWasRetired) {  // S119 (made logs are required)
  const ServerName stranger{"h", 1, 1};
  EXPECT_EQ(files_->FenceLogsNow(stranger).error().code(), Code::kNotFound);
  EXPECT_EQ(files_->SealLogsNow(stranger).error().code(), Code::kNotFound);
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  ASSERT_TRUE(files_->RetireLogs(kServer, files_->SealLogsNow(kServer).value(), Epoch(1)).ok());
  EXPECT_TRUE(files_->FenceLogsNow(kServer).ok());
  EXPECT_TRUE(files_->SealLogsNow(kServer).value().empty());
}

// A damaged log is sealed as it is: its split will fail with an error, and the other logs, meta's among them, do not
// wait for it.
class DamagedLogTest : public ClusterFilesTest, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(DamagedLogTest, IsSealedAsItIsAndStopsNoOther) {  // S57 (damaged log is split as far as readable)
  const std::string folder = "/root/wals/" + kServer.ToString() + io::kSplittingSuffix;
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  {
    auto directory = process_->Open(folder);
    auto file = (*directory)->Create("log.0000000002");
    io::RecordWriter log(std::move(*file), {'L', io::LogFileId(kServer.ToString() + "/log.0000000002")});
    for (std::uint64_t sequence = 3; sequence <= 5;
         ++sequence) {  // each one synced: the third proves that the first was
      ASSERT_TRUE(log.Add(1, 1, sequence, "payload").ok());
      ASSERT_TRUE(log.Sync().ok());
    }
  }
  ASSERT_TRUE(disk_.Overwrite(folder + "/log.0000000002", GetParam(), "P").ok());
  const auto logs = files_->SealLogsNow(kServer);
  ASSERT_TRUE(logs.ok()) << logs.error().ToString();
  ASSERT_EQ(logs->size(), 3U);
  EXPECT_EQ(logs->at(1).name, "log.0000000002");
  EXPECT_EQ(logs->at(1).length, disk_.Content(folder + "/log.0000000002").value().size());
  EXPECT_EQ(logs->at(1).last_sequence, 5U);
  EXPECT_EQ(logs->at(2).length, synced_length_);
}

// Damages the payload of the first record, and the header of the file. The records prove that there was a header.
INSTANTIATE_TEST_SUITE_P(Places, DamagedLogTest, testing::Values(io::kLogHeaderSize + io::kRecordHeaderSize, 9));

// A split that an operator has bypassed: the log is archived with the others, except the copy in quarantine.
std::size_t UnsplitLogsInQuarantine(PosixClusterFiles& files, io::Directory& logs, io::SimDisk& disk) {
  EXPECT_TRUE(logs.Create("split.meta.0000000001").ok());
  const auto sealed = files.SealLogsNow(kServer).value();
  EXPECT_TRUE(files.RetireLogs(kServer, sealed, Epoch(4)).ok());
  EXPECT_TRUE(files.RetireLogs(kServer, sealed, Epoch(4)).ok());
  EXPECT_TRUE(disk.Content("/root/archive/4/wals/h,16020,100-splitting/meta.0000000001").ok());
  return disk.Content("/root/quarantine/wals/h,16020,100/log.0000000001").ok() ? 1 : 0;
}

TEST_F(ClusterFilesTest, ALogWhoseSplitWasBypassedGoesToTheQuarantine) {  // S57
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  EXPECT_EQ(UnsplitLogsInQuarantine(*files_, fenced_->directory(), disk_), 1U);
}

TEST_F(ClusterFilesTest, RetiringAnUnsplitLogIsNoticed) {
  const ScopedMutant mutant("files.retire_unsplit");
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  EXPECT_EQ(UnsplitLogsInQuarantine(*files_, fenced_->directory(), disk_), 0U);
}

TEST_F(ClusterFilesTest, SealingRunsInTheBackgroundAndStopDropsWhatWaits) {
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  Mutex mutex;
  CondVar done;
  std::optional<std::size_t> sealed;
  files_->SealLogs(kServer, {}, [&](Result<std::vector<SealedLog>> logs) {
    MutexLock lock(mutex);
    sealed = logs.ok() ? logs->size() : 0;
    done.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!sealed.has_value()) done.Wait(mutex);
  }
  EXPECT_EQ(sealed, 2u);
  files_->Stop();
  Code code = Code::kInternal;
  files_->SealLogs(kServer, {}, [&](Result<std::vector<SealedLog>> logs) { code = logs.error().code(); });
  EXPECT_EQ(code, Code::kAborted);
}

TEST_F(ClusterFilesTest, LogsThatManifestsCoverAreNotSealed) {  // S32 (two-stage cleaner)
  WriteLogs();
  ASSERT_TRUE(fenced_->directory().Create("covered.log.0000000001").ok());
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  const auto logs = files_->SealLogsNow(kServer);
  ASSERT_EQ(logs.value().size(), 1U);
  EXPECT_EQ(logs.value()[0].name, "meta.0000000001");
}

TEST_F(ClusterFilesTest, RetiredLogsKeepWhatWasSealedAndNoMore) {
  WriteLogs();
  for (const char* name : {"log.0000000001", "meta.0000000001"}) {
    auto file = fenced_->directory().OpenForWrite(name).value();
    ASSERT_TRUE(file->ZeroFill(1 << 16).ok());
  }
  auto spare = fenced_->directory().Create("log.0000000002").value();
  ASSERT_TRUE(spare->ZeroFill(1 << 16).ok());
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  auto sealed = files_->SealLogsNow(kServer).value();
  ASSERT_EQ(sealed.size(), 2U);
  ASSERT_TRUE(fenced_->directory().Create("split.log.0000000001").ok());
  sealed.pop_back();  // a log that is not sealed, but has data, is not touched
  ASSERT_TRUE(files_->RetireLogs(kServer, sealed, Epoch(4)).ok());
  const std::string archived = "/root/archive/4/wals/h,16020,100-splitting/";
  EXPECT_EQ(disk_.Content(archived + "log.0000000001").value().size(), synced_length_);
  EXPECT_EQ(disk_.Content(archived + "log.0000000002").value().size(), 0U);
  EXPECT_EQ(disk_.Content(archived + "meta.0000000001").value().size(), 1U << 16);
}

TEST_F(ClusterFilesTest, RetiredLogsLeaveTheListAndStayInTheArchive) {
  WriteLogs();
  ASSERT_TRUE(files_->FenceLogsNow(kServer).ok());
  ASSERT_TRUE(files_->RetireLogs(kServer, {}, Epoch(4)).ok());
  ASSERT_TRUE(files_->RetireLogs(kServer, {}, Epoch(4)).ok());
  PowerFailure();
  EXPECT_TRUE(files_->ListLogDirectories().value().empty());
  EXPECT_TRUE(process_->Open("/root/archive/4/wals/h,16020,100-splitting").ok());
}

}  // namespace
}  // namespace ratchet::master
