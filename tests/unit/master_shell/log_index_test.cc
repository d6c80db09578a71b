// S171 (seal makes an index): which regions the sealed logs of a dead server name.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "common/model/log_entry_key.h"
#include "master/storage/log_seal.h"
#include "regionserver/wal/log_entry.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

constexpr const char* kDead = "h,16020,100";

std::string EntryOf(const std::string& region) {
  regionserver::LogEntry entry;
  entry.region = region;
  entry.sequence = 7;
  std::string bytes;
  regionserver::EncodeLogEntry(entry, bytes);
  return bytes;
}

class LogIndexTest : public ::testing::Test {
 protected:
  struct Record {
    std::string payload;
    std::uint8_t type = kEntryRecordType;
    std::uint8_t version = kEntryVersion;
  };
  // Returns the writer; its records are durable.
  std::unique_ptr<io::RecordWriter> Write(const std::string& log, const std::vector<Record>& records) {
    auto file = server_directory_->Create(log).value();
    auto writer = std::make_unique<io::RecordWriter>(
        std::move(file), io::LogIdentity{kServerLogKind, io::LogFileId(fmt::format("{}/{}", kDead, log))});
    for (const Record& record : records) {
      EXPECT_TRUE(writer->Add(record.type, record.version, ++sequence_, record.payload).ok());
      EXPECT_TRUE(writer->Sync().ok());
    }
    return writer;
  }
  std::unique_ptr<io::RecordWriter> WriteEntries(std::uint64_t number, const std::vector<std::string>& regions) {
    std::vector<Record> records;
    for (const std::string& region : regions) records.push_back({EntryOf(region)});
    return Write(io::ToString({"log", number}), records);
  }
  // "1: a b; 2: unknown; " for the logs 1 and 2.
  std::string Index() {
    const auto logs = SealDirectory(*directory_, kDead);
    if (!logs.ok()) return logs.error().ToString();
    std::string text;
    for (const SealedLog& log : *logs) {
      text += fmt::format("{}{}:", log.meta ? "meta " : "", log.name.back());
      if (!log.regions) text += " unknown";
      for (const std::string& region : log.regions.value_or(RegionNames())) text += " " + region;
      text += "; ";
    }
    return text;
  }
  // The last append of a zombie, which was in progress when its log was fenced: the sync of the log waits for it.
  std::string IndexWithALateAppend() {
    const auto log = WriteEntries(1, {"a"});
    bool appended = false;
    process_->SetHook([&](const io::SimEvent& event) {
      if (event.op == io::SimOp::kSyncFile && !appended) {
        appended = true;
        EXPECT_TRUE(log->Add(kEntryRecordType, kEntryVersion, ++sequence_, EntryOf("late")).ok());
        EXPECT_TRUE(log->Flush().ok());
      }
      return io::SimVerdict::Proceed();
    });
    return Index();
  }
  std::string IndexOfADamagedLog() {
    WriteEntries(1, {"a", "lost", "b"});
    std::string bytes = disk_.Content("/wals/log.0000000001").value();
    const std::size_t at = bytes.find("lost");
    EXPECT_TRUE(disk_.Overwrite("/wals/log.0000000001", at, "####").ok());
    return Index();
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess("master");
  std::unique_ptr<io::SimDisk::Process> server_ = disk_.NewProcess("server");
  std::unique_ptr<io::Directory> server_directory_ = server_->OpenOrMake("/wals").value();
  std::unique_ptr<io::Directory> directory_ = process_->OpenOrMake("/wals").value();
  std::uint64_t sequence_ = 0;
};

TEST_F(LogIndexTest, HasTheRegionsOfAllEntries) {
  WriteEntries(1, {"b", "a", "b"});
  WriteEntries(2, {"a", "c"});
  WriteEntries(3, {"a"});
  EXPECT_EQ(Index(), "1: a b; 2: c; 3:; ") << "each name at the first log that has it";
}

TEST_F(LogIndexTest, MarksOfOpeningsNameTheirRegion) {
  regionserver::LogEntry mark;
  mark.region = "shipped";
  mark.sequence = 1;
  mark.shipped.table = "ns:t";
  mark.mark.emplace().opens = true;
  std::string bytes;
  regionserver::EncodeLogEntry(mark, bytes);
  Write("log.0000000001", {{bytes, kEntryRecordType, regionserver::VersionOf(mark)}});
  EXPECT_EQ(Index(), "1: shipped; ");
}

TEST_F(LogIndexTest, OfMetasLogThereIsNone) {
  WriteEntries(1, {"a"});
  sequence_ = 0;
  Write("meta.0000000001", {{EntryOf("1588230740")}});
  EXPECT_EQ(Index(), "1: a; meta 1: unknown; ");
}

TEST_F(LogIndexTest, AnEntryThatCannotBeReadMakesItUnknown) {
  WriteEntries(1, {"a"});
  const auto with = [this](const Record& record) {
    Write("log.0000000002", {{EntryOf("b")}, record});
    const std::string index = Index();
    sequence_ -= 2;
    EXPECT_TRUE(server_directory_->Unlink("log.0000000002").ok());
    return index;
  };
  EXPECT_EQ(with({EntryOf("c")}), "1: a; 2: b c; ");
  EXPECT_EQ(with({"\xff"}), "1: unknown; 2: unknown; ");
  EXPECT_EQ(with({EntryOf("c"), 7}), "1: unknown; 2: unknown; ") << "another type";
  EXPECT_EQ(with({EntryOf("c"), kEntryRecordType, 9}), "1: unknown; 2: unknown; ") << "a later version";
  EXPECT_EQ(with({EntryOf("..")}), "1: unknown; 2: unknown; ") << "the split would report it";
  EXPECT_EQ(with({EntryOf("")}), "1: unknown; 2: unknown; ");
}

TEST_F(LogIndexTest, ALogThatIsNotWholeMakesItUnknown) {
  WriteEntries(1, {"a", "a"});
  WriteEntries(2, {"b", "b"});
  const std::string whole = disk_.Content("/wals/log.0000000002").value();
  WriteEntries(3, {"c"});
  EXPECT_EQ(Index(), "1: a; 2: b; 3: c; ");
  ASSERT_TRUE(directory_->Cut("log.0000000002", whole.size() / 2).ok());
  EXPECT_EQ(Index(), "1: unknown; 2: unknown; 3: unknown; ") << "the next log shows that records are missing";
  ASSERT_TRUE(directory_->Unlink("log.0000000002").ok());
  EXPECT_EQ(Index(), "1: unknown; 2: unknown; 3: unknown; ") << "missing";
}

TEST_F(LogIndexTest, ALogThatAnOperatorHasAcceptedAsLostMakesItUnknown) {
  sequence_ = 3;
  WriteEntries(2, {"b"});
  ASSERT_TRUE((*directory_->Create(io::MadeMark({"log", 3})))->Sync().ok());
  ASSERT_TRUE((*directory_->Create("accepted.log.0000000003"))->Sync().ok());
  ASSERT_TRUE((*directory_->Create(io::CoveredMark({"log", 1})))->Sync().ok());
  EXPECT_EQ(Index(), "2: unknown; ");
  ASSERT_TRUE(directory_->Unlink(io::MadeMark({"log", 3})).ok());
  EXPECT_EQ(Index(), "2: b; ") << "a log that manifests cover needs no split";
}

TEST_F(LogIndexTest, IsBounded) {
  const std::size_t names = kMostIndexedBytes / 200 + 1;
  std::vector<std::string> regions;
  for (std::size_t i = 0; i < names; ++i) regions.push_back(fmt::format("{:0200}", i));
  WriteEntries(1, {regions.begin(), regions.begin() + static_cast<std::ptrdiff_t>(names / 2)});
  WriteEntries(2, {"a"});
  EXPECT_EQ(Index().find("unknown"), std::string::npos);
  WriteEntries(3, {regions.begin() + static_cast<std::ptrdiff_t>(names / 2), regions.end()});
  EXPECT_EQ(Index(), "1: unknown; 2: unknown; 3: unknown; ");
}

TEST_F(LogIndexTest, HasTheLastAppendOfAZombie) { EXPECT_EQ(IndexWithALateAppend(), "1: a late; "); }
TEST_F(LogIndexTest, OfADamagedLogThereIsNone) { EXPECT_EQ(IndexOfADamagedLog(), "1: unknown; "); }

#if defined(RATCHET_MUTANTS)
TEST_F(LogIndexTest, MakingItBeforeTheSyncIsNoticed) {
  const ScopedMutant mutant("seal.index_before_sync");
  EXPECT_EQ(IndexWithALateAppend(), "1: a; ") << "the split publishes an entry of a region that is open elsewhere";
}
TEST_F(LogIndexTest, TrustingADamagedLogIsNoticed) {
  const ScopedMutant mutant("seal.index_of_damaged");
  EXPECT_EQ(IndexOfADamagedLog(), "1: a b; ") << "the lost entry was of another region";
}
#endif

}  // namespace
}  // namespace ratchet::master
