// ratchet-wal: print, verify, repair, on valid stores and on damaged ones.
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "procedure/store/reader.h"
#include "procedure/store/tool/wal_tool.h"
#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure::tool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WalToolTest : public ::testing::Test {
 protected:
  // Three segments; pid 1 is updated in the second one.
  void SetUp() override {
    MakeStore(disk_);
    Use(disk_);
  }
  static void MakeStore(io::SimDisk& disk) {
    StoreProcess master(disk);
    ASSERT_TRUE(master.Claim().ok());
    for (std::uint64_t pid = 1; pid <= 34; ++pid) {
      ASSERT_TRUE(master.CommitNow(procedure::Put(pid, 1, std::string(100, 'x')))->ok());
    }
    ASSERT_TRUE(master.CommitNow(procedure::Put(1, 2, "newer"))->ok());
    ASSERT_TRUE(master.CommitNow(procedure::PutSystem("meta", "rs1"))->ok());
    ASSERT_TRUE(master.CommitNow(Remove(34))->ok());
    master.process->Crash();
  }
  void Use(io::SimDisk& disk) {
    process_ = disk.NewProcess();
    store_ = process_->Open("/procedures").value();
    quarantine_ = process_->OpenOrMake("/quarantine").value();
  }

  int RunPrint(const PrintOptions& options = {}) { return Clear(), Print(*store_, options, out_, err_); }
  int RunVerify(bool json = false) { return Clear(), Verify(*store_, json, out_, err_); }
  int RunRepair(const RepairOptions& options, const std::string& target = "/repaired") {
    Clear();
    if (target == "/procedures") return Repair(*store_, *store_, *quarantine_, options, out_, err_);
    return Repair(*store_, *process_->OpenOrMake(target).value(), *quarantine_, options, out_, err_);
  }
  void Clear() {
    out_.str("");
    err_.str("");
  }
  // Returns the state that a master finds in the repaired store.
  Result<LoadedState> Load(const std::string& path) {
    ManualTime time;
    WalStore store(process_->Open(path).value(), process_->OpenOrMake("/quarantine").value(), time, SmallOptions());
    return store.Claim();
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<io::Directory> store_;
  std::unique_ptr<io::Directory> quarantine_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(WalToolTest, PrintsRecordsByPidAndTime) {
  EXPECT_EQ(RunPrint(), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("== segment.1.3 (open)"));
  EXPECT_THAT(out_.str(), HasSubstr("system put meta (3 bytes)"));
  EXPECT_THAT(out_.str(), HasSubstr("delete pid=34"));
  PrintOptions options;
  options.pid = 1;
  EXPECT_EQ(RunPrint(options), kExitOk);
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_THAT(text, HasSubstr("put pid=1, version=2"));
  options.json = true;
  EXPECT_EQ(RunPrint(options), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr(R"("kind":"put","pid":1,"version":2,"procedure":{"undecoded_bytes":5}})"));
  options.since_ms = 1'800'000'000'000;
  EXPECT_EQ(RunPrint(options), kExitOk);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(WalToolTest, VerifiesASoundStoreAndNamesDamage) {
  EXPECT_EQ(RunVerify(), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("33 live procedures, 1 system records, largest pid 34"));
  EXPECT_THAT(out_.str(), HasSubstr("agrees"));
  EXPECT_THAT(out_.str(), HasSubstr("The store is sound."));
  EXPECT_EQ(RunVerify(true), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr(R"({"verdict":"sound","live_procedures":33)"));
  ASSERT_TRUE(disk_.Overwrite("/procedures/segment.1.2", 300, "damage").ok());
  EXPECT_EQ(RunVerify(), kExitDamage);
  EXPECT_THAT(out_.str(), HasSubstr("DAMAGE: segment.1.2 at offset "));
}

TEST_F(WalToolTest, RepairAsksForDecisionsAndWritesNothingWithoutThem) {
  ASSERT_TRUE(disk_.Overwrite("/procedures/segment.1.2", 300, "damage").ok());
  EXPECT_EQ(RunRepair({}), kExitDamage);
  EXPECT_THAT(err_.str(), HasSubstr("undecided: segment.1.2 at offset "));
  EXPECT_TRUE(process_->Open("/repaired").value()->List().value().empty());
}

TEST_F(WalToolTest, SkipDropsOneFrameCutDropsTheRestOfTheSegmentQuarantineAllOfIt) {
  ASSERT_TRUE(disk_.Overwrite("/procedures/segment.1.2", 300, "damage").ok());
  std::vector<std::size_t> found;
  RepairOptions skip;
  skip.on_damage = OnDamage::kSkip;
  RepairOptions cut;
  cut.on_damage = OnDamage::kCut;
  RepairOptions leave_out;
  leave_out.quarantine = {"segment.1.2"};
  for (const auto& [options, target] :
       {std::pair(skip, "/skip"), std::pair(cut, "/cut"), std::pair(leave_out, "/leave")}) {
    EXPECT_EQ(RunRepair(options, target), kExitOk) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr("kept: a copy of segment.1.2 is /quarantine/segment.1.2"));
    const auto loaded = Load(target);
    ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
    EXPECT_EQ(loaded->epoch, Epoch(3)) << "above the original's and the repair's";
    EXPECT_EQ(loaded->max_pid, ProcId(34));
    EXPECT_EQ(loaded->system_records.at("meta"), "rs1");
    EXPECT_EQ(loaded->records.front().bytes, "newer");
    found.push_back(loaded->records.size());
  }
  EXPECT_EQ(found[0], 32U);
  EXPECT_LT(found[1], found[0]);
  EXPECT_LT(found[2], found[1]);
}

TEST_F(WalToolTest, InPlaceRepairFencesWhoStillRunsAndTheNextMasterStarts) {
  ASSERT_TRUE(disk_.Overwrite("/procedures/segment.1.2", 300, "damage").ok());
  EXPECT_FALSE(Load("/procedures").ok());
  RepairOptions skip;
  skip.on_damage = OnDamage::kSkip;
  EXPECT_EQ(RunRepair(skip, "/procedures"), kExitOk) << err_.str();
  const auto loaded = Load("/procedures");
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->records.size(), 32U);
  EXPECT_EQ(RunVerify(), kExitOk) << out_.str();
}

// The start of the open segment is read twice, to find it and with the rest; its damage is one damage.
TEST_F(WalToolTest, ADamagedStartIsNamedOnce) {
  ASSERT_TRUE(disk_.Overwrite("/procedures/segment.1.3", 60, "damage").ok());
  const auto times = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(RunVerify(), kExitDamage);
  EXPECT_EQ(times(out_.str(), "DAMAGE: segment.1.3 at offset 32"), 1) << out_.str();
  RepairOptions skip;
  skip.on_damage = OnDamage::kSkip;
  EXPECT_EQ(RunRepair(skip), kExitOk) << err_.str();
  EXPECT_EQ(times(out_.str(), "dropped: segment.1.3 at offset 32"), 1) << out_.str();
}

// A repair that dies anywhere leaves either the old store, which can be repaired again, or the repaired one.
TEST_F(WalToolTest, ARepairMayDieAnywhere) {
  RepairOptions skip;
  skip.on_damage = OnDamage::kSkip;
  std::map<io::SimOp, int> died_at;
  std::map<std::string, int> ends;
  for (std::uint64_t at = 1;; ++at) {
    bool complete = false;
    for (const bool after : {false, true}) {
      for (const auto loss :
           {io::SimDisk::Loss::kEverything, io::SimDisk::Loss::kNothing, io::SimDisk::Loss::kRandom}) {
        const std::string where =
            fmt::format("died {} operation {}, loss {}", after ? "after" : "before", at, static_cast<int>(loss));
        io::SimDisk disk;
        MakeStore(disk);
        ASSERT_TRUE(disk.Overwrite("/procedures/segment.1.2", 300, "damage").ok());
        Use(disk);
        io::SimHook crash = io::CrashAtOp(process_->operations() + at, after);
        process_->SetHook([&](const io::SimEvent& event) {
          const io::SimVerdict verdict = crash(event);
          if (verdict.kind != io::SimVerdict::Kind::kProceed) ++died_at[event.op];
          return verdict;
        });
        complete = RunRepair(skip, "/procedures") == kExitOk;
        EXPECT_EQ(complete, !process_->crashed()) << where;
        disk.PowerFailure(loss, at);
        Use(disk);
        auto loaded = Load("/procedures");
        if (!loaded.ok()) {
          ASSERT_FALSE(complete) << where;
          EXPECT_EQ(loaded.error().code(), Code::kCorruption) << where;
          ASSERT_EQ(RunRepair(skip, "/procedures"), kExitOk) << where << ": " << err_.str();
          loaded = Load("/procedures");
        }
        ++ends[complete ? "complete" : err_.str().empty() ? "repaired again" : "repaired all the same"];
        ASSERT_TRUE(loaded.ok()) << where << ": " << loaded.error().ToString();
        EXPECT_EQ(loaded->records.size(), 32U) << where;
        EXPECT_EQ(loaded->max_pid, ProcId(34)) << where;
      }
    }
    if (complete) break;
  }
  for (const io::SimOp op :
       {io::SimOp::kCreate, io::SimOp::kAppend, io::SimOp::kSyncFile, io::SimOp::kRename, io::SimOp::kSyncDirectory}) {
    EXPECT_GE(died_at[op], 6) << io::SimOpName(op) << ": before and after it, with every loss";
  }
  EXPECT_GT(ends["repaired again"], 0);
  EXPECT_GT(ends["repaired all the same"], 0) << "dead behind the rename, which is durable";
}

TEST_F(WalToolTest, RecordsOutOfOrderAreReorderedOnRequest) {
  {
    const ScopedMutant mutant("store.any_version");
    StoreProcess master(disk_);
    ASSERT_TRUE(master.Claim().ok());
    ASSERT_TRUE(master.CommitNow(procedure::Put(2, 3, "third"))->ok());
    ASSERT_TRUE(master.CommitNow(procedure::Put(2, 2, "second"))->ok());
    master.process->Crash();
  }
  EXPECT_FALSE(Load("/procedures").ok());
  EXPECT_EQ(RunRepair({}), kExitDamage);
  EXPECT_THAT(err_.str(), HasSubstr("--reorder"));
  RepairOptions reorder;
  reorder.reorder = true;
  EXPECT_EQ(RunRepair(reorder), kExitOk) << err_.str();
  const auto loaded = Load("/repaired");
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->records[1].bytes, "third");
}

// Bytes that no store writes are not disorder, whatever their text begins with: --reorder uses the kind.
TEST(ReplayKindTest, AVersionThatNoProcedureCanHaveIsNoDisorder) {
  StoreContents contents;
  Replay replay(contents, RecordOrder::kStrict);
  FrameEntry entry;
  entry.kind = EntryKind::kUpsert;
  entry.pid = ProcId(2);
  entry.version = UINT64_MAX;
  Refused why;
  EXPECT_FALSE(replay.Apply(entry, 0, true, &why));
  EXPECT_EQ(why.kind, DamageKind::kBytes);
  entry.version = 5;
  EXPECT_TRUE(replay.Apply(entry, 0, true, &why));
  entry.version = 4;
  EXPECT_FALSE(replay.Apply(entry, 0, true, &why));
  EXPECT_EQ(why.kind, DamageKind::kOrder);
}

TEST_F(WalToolTest, UnreadableDirectoriesAreReported) {
  process_->SetHook(io::FailOps(io::SimOp::kList, "/procedures", Code::kIo));
  EXPECT_EQ(RunVerify(), kExitDisk);
  EXPECT_EQ(RunPrint(), kExitDisk);
  EXPECT_THAT(err_.str(), HasSubstr("ratchet-wal: IO"));
}

TEST(WalToolTimeTest, TimesAreParsedAndShown) {
  EXPECT_EQ(ParseTime("1700000000123").value(), 1'700'000'000'123);
  EXPECT_EQ(ParseTime("2023-11-14T22:13:20").value(), 1'700'000'000'000);
  EXPECT_EQ(ParseTime("2023-11-14").value(), 1'699'920'000'000);
  EXPECT_FALSE(ParseTime("yesterday").ok());
  EXPECT_EQ(FormatTime(1'700'000'000'123), "2023-11-14T22:13:20.123Z");
}

}  // namespace
}  // namespace ratchet::procedure::tool
