// The files of the audit log on a disk that fails: what was durable stays, and number and chain continue.
#include "common/audit/audit_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/audit/audit_line.h"
#include "common/audit/verify.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "tests/support/sim_disk.h"

namespace ratchet::audit {
namespace {

using io::SimDisk;
using io::SimEvent;
using io::SimOp;
using io::SimVerdict;

constexpr AuditLimits kSmall{1'500, 3, 16'384};

std::string BodyOf(int number) {
  AuditLine line;
  line.event = "change";
  const std::string target = "t" + std::to_string(number);
  line.target = target;
  return LineBody(line, "h", "p");
}

class AuditFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<AuditFile> Open(AuditLimits limits = kSmall) {
    process_ = disk_.NewProcess();
    if (hook_) process_->SetHook(hook_);
    auto directory = process_->OpenOrMake("/audit");
    if (!directory.ok()) return nullptr;
    auto file = AuditFile::Open(std::move(*directory), limits);
    if (!file.ok()) error_ = file.error().ToString();
    return file.ok() ? std::move(*file) : nullptr;
  }
  // Writes groups of one to three lines. Bodies whose write was acknowledged are in durable_.
  void WriteSome(AuditFile& file, int groups) {
    for (int group = 0; group < groups; ++group) {
      std::vector<std::string> bodies;
      for (int i = 0; i <= group % 3; ++i) bodies.push_back(BodyOf(next_++));
      if (file.Write(bodies).ok()) durable_.insert(durable_.end(), bodies.begin(), bodies.end());
    }
  }
  // The report on all files, whose texts are also in text_.
  VerifyReport Verify() {
    const auto reader = disk_.NewProcess("reader");
    const auto directory = *reader->OpenOrMake("/audit");
    Verifier verifier;
    text_.clear();
    files_ = 0;
    const auto head = directory->ReadAll(kHeadName);
    verifier.BeginsWith(head.ok() ? ReadHead(*head).value_or(0) : 1);
    const auto names = directory->List();
    for (const std::string& name : *names) {
      if (!IsAuditFileName(name)) continue;
      ++files_;
      const std::string text = *directory->ReadAll(name);
      verifier.AddFile(name, text);
      text_ += text;
    }
    return verifier.report();
  }
  // Every acknowledged line is in the files, once; their chain has no gap.
  void ExpectWhole() {
    const VerifyReport report = Verify();
    EXPECT_TRUE(report.problems.empty()) << report.problems.front();
    for (const std::string& body : durable_) {
      const std::size_t at = text_.find(body.substr(1));
      ASSERT_NE(at, std::string::npos) << body;
      EXPECT_EQ(text_.find(body.substr(1), at + 1), std::string::npos) << "twice: " << body;
    }
  }

  SimDisk disk_;
  std::unique_ptr<SimDisk::Process> process_;
  io::SimHook hook_;
  std::vector<std::string> durable_;
  int next_ = 0;
  int files_ = 0;
  std::string text_, error_;
};

TEST_F(AuditFileTest, LinesContinueAcrossStarts) {
  for (int start = 0; start < 3; ++start) {
    const auto file = Open();
    ASSERT_NE(file, nullptr) << error_;
    WriteSome(*file, 2);
    EXPECT_EQ(file->cut_at_start(), 0u);
  }
  ExpectWhole();
  EXPECT_EQ(Verify().lines, 9u);
  EXPECT_EQ(Verify().first, 1u);
}

TEST_F(AuditFileTest, DamageStaysForTheVerification) {
  {
    const auto file = Open();
    ASSERT_NE(file, nullptr) << error_;
    WriteSome(*file, 2);
  }
  ASSERT_TRUE(disk_.Overwrite("/audit/audit.0000000000000001.jsonl", 5, "x").ok());
  const auto file = Open();
  ASSERT_NE(file, nullptr) << error_;
  EXPECT_EQ(file->cut_at_start(), 0u);
  WriteSome(*file, 1);
  const VerifyReport report = Verify();
  ASSERT_FALSE(report.problems.empty());
  EXPECT_NE(report.problems.front().find("line 1"), std::string::npos) << report.problems.front();
  EXPECT_EQ(report.last, 4u);
}

TEST_F(AuditFileTest, RestartsRemoveNothing) {
  for (int start = 0; start < 10; ++start) {
    const auto file = Open();
    ASSERT_NE(file, nullptr) << error_;
    WriteSome(*file, 1);
  }
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(report.first, 1u);
}

TEST_F(AuditFileTest, MissingOldestFilesAreNoticed) {
  const auto file = Open();
  ASSERT_NE(file, nullptr) << error_;
  WriteSome(*file, 60);
  EXPECT_TRUE(Verify().problems.empty()) << "the log has removed files itself";
  EXPECT_GT(Verify().first, 1U);
  const auto directory = *disk_.NewProcess("stranger")->OpenOrMake("/audit");
  auto names = *directory->List();
  std::erase_if(names, [](const std::string& name) { return !IsAuditFileName(name); });
  std::sort(names.begin(), names.end());
  ASSERT_TRUE(directory->Unlink(names.front()).ok());
  const VerifyReport report = Verify();
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems.front().find("are missing"), std::string::npos) << report.problems.front();
}

TEST_F(AuditFileTest, RemovingWithoutTheHeadIsNoticed) {
  const ScopedMutant mutant("audit.remove_without_head");
  const auto file = Open();
  ASSERT_NE(file, nullptr) << error_;
  WriteSome(*file, 60);
  EXPECT_FALSE(Verify().problems.empty());
}

TEST_F(AuditFileTest, AHeadIsOneNumberAndAnEndOfLine) {
  EXPECT_EQ(ReadHead("12\n"), 12U);
  EXPECT_EQ(ReadHead(std::string_view("12\n\0\0", 5)), 12U);
  for (const char* bad : {"", "\n", "12", "0\n", "x\n", "1 \n", "-1\n", "99999999999999999999\n"})
    EXPECT_EQ(ReadHead(bad), std::nullopt) << bad;
}

TEST_F(AuditFileTest, FilesRotateBySizeAndTheOldestGo) {
  const auto file = Open();
  ASSERT_NE(file, nullptr) << error_;
  WriteSome(*file, 60);
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_GE(files_, 3);
  EXPECT_LE(files_, 4) << "together not larger than three whole ones";
  EXPECT_EQ(report.last, 120u);
  EXPECT_GT(report.first, 1u);
  durable_.clear();
  file->Roll();
  WriteSome(*file, 1);
  ExpectWhole();
  EXPECT_EQ(Verify().last, 121u);
}

// The process dies in the middle of an append, at every byte of it.
TEST_F(AuditFileTest, ALineThatIsCutShortIsClosedAtTheNextStart) {
  const std::size_t bytes = WholeLine(1, NoHash(), BodyOf(0)).size() * 3;
  int cut = 0;
  for (std::uint64_t keep = 0; keep < bytes; ++keep) {
    SCOPED_TRACE(keep);
    disk_.PowerFailure(SimDisk::Loss::kNothing);
    disk_.~SimDisk();
    new (&disk_) SimDisk;
    durable_.clear();
    int appends = 0;
    hook_ = [&appends, keep](const SimEvent& event) {
      const bool third = event.op == SimOp::kAppend && ++appends == 3;
      return third ? SimVerdict::Tear(std::min(keep, event.bytes)) : SimVerdict::Proceed();
    };
    auto file = Open({1U << 20, 3, 1'024});
    ASSERT_NE(file, nullptr) << error_;
    WriteSome(*file, 4);
    hook_ = nullptr;
    file = Open({1U << 20, 3, 1'024});
    ASSERT_NE(file, nullptr) << error_;
    cut += file->cut_at_start() > 0 ? 1 : 0;
    WriteSome(*file, 2);
    ExpectWhole();
    if (HasFailure()) return;
  }
  EXPECT_GT(cut, 100);
}

// A power failure after, before and in each operation of the disk, with each kind of loss.
TEST_F(AuditFileTest, APowerFailureAnywhereLosesNothingDurable) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (std::uint64_t at = 1;; ++at) {
    bool reached = false;
    for (const auto loss : {SimDisk::Loss::kEverything, SimDisk::Loss::kRandom, SimDisk::Loss::kNothing}) {
      for (const bool after : {false, true}) {
        SCOPED_TRACE(fmt::format("operation {}, loss {}, after {}", at, static_cast<int>(loss), after));
        disk_.~SimDisk();
        new (&disk_) SimDisk;
        durable_.clear();
        hook_ = [&reached, at, after](const SimEvent& event) {
          if (event.number != at || !Changes(event.op)) return SimVerdict::Proceed();
          reached = true;
          return after ? SimVerdict::CrashAfter() : SimVerdict::CrashBefore();
        };
        if (const auto file = Open(); file != nullptr) WriteSome(*file, 20);
        disk_.PowerFailure(loss, seed + at);
        hook_ = nullptr;
        const auto file = Open();
        ASSERT_NE(file, nullptr) << error_;
        const std::size_t before = durable_.size();
        WriteSome(*file, 2);
        EXPECT_EQ(durable_.size(), before + 3);
        // The oldest files may be gone.
        const VerifyReport report = Verify();
        EXPECT_TRUE(report.problems.empty()) << report.problems.front();
        EXPECT_GE(report.last, durable_.size());
        for (std::size_t i = durable_.size() - std::min<std::size_t>(durable_.size(), 6); i < durable_.size(); ++i)
          EXPECT_NE(text_.find(durable_[i].substr(1)), std::string::npos) << durable_[i];
        if (HasFailure()) return;
      }
    }
    if (!reached) break;
  }
}

TEST_F(AuditFileTest, AcknowledgingBeforeTheSyncIsNoticed) {
  const ScopedMutant mutant("audit.no_sync");
  {
    const auto file = Open();
    ASSERT_NE(file, nullptr);
    WriteSome(*file, 3);
  }
  disk_.PowerFailure();
  EXPECT_EQ(durable_.size(), 6u);
  EXPECT_EQ(Verify().lines, 0u);
}

// An append or sync that fails leaves no line of a refused call behind.
TEST_F(AuditFileTest, AFailedWriteLeavesNoLine) {
  for (const SimOp op : {SimOp::kAppend, SimOp::kSyncFile, SimOp::kCreate, SimOp::kSyncDirectory}) {
    SCOPED_TRACE(io::SimOpName(op));
    disk_.~SimDisk();
    new (&disk_) SimDisk;
    durable_.clear();
    const auto file = Open();
    ASSERT_NE(file, nullptr);
    WriteSome(*file, 2);
    file->Roll();
    process_->SetHook(io::FailOps(op, "audit", Code::kIo));
    EXPECT_FALSE(file->Write({BodyOf(1'000)}).ok());
    EXPECT_FALSE(file->Write({BodyOf(1'000)}).ok());
    process_->SetHook(nullptr);
    WriteSome(*file, 4);
    ExpectWhole();
    EXPECT_EQ(text_.find("\"t1000\""), std::string::npos);
    EXPECT_EQ(Verify().last, durable_.size());
  }
}

TEST_F(AuditFileTest, AFullDiskUsesTheReserveAndRecovers) {
  auto file = Open();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(file->on_reserve());
  WriteSome(*file, 3);
  disk_.SetCapacity(disk_.used_bytes());
  const std::size_t before = durable_.size();
  WriteSome(*file, 3);
  EXPECT_TRUE(file->on_reserve());
  EXPECT_EQ(durable_.size(), before + 6) << "the reserve takes them";
  WriteSome(*file, 200);
  EXPECT_LT(durable_.size(), before + 200);
  EXPECT_FALSE(file->Write({BodyOf(5'000)}).ok());
  EXPECT_TRUE(file->Write({BodyOf(6'000)}, AuditFile::Room::kLastLine).ok());
  durable_.push_back(BodyOf(6'000));
  ExpectWhole();
  // A start on the full disk continues too; its reserve cannot be made.
  file = Open();
  ASSERT_NE(file, nullptr) << error_;
  EXPECT_TRUE(file->on_reserve());
  disk_.SetCapacity(UINT64_MAX);
  file->Refill();
  EXPECT_FALSE(file->on_reserve());
  WriteSome(*file, 3);
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  EXPECT_EQ(text_.find("\"t5000\""), std::string::npos);
}

}  // namespace
}  // namespace ratchet::audit
