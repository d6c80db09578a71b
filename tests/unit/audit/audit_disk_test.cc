// A process with an audit log on a real disk of its own, which becomes full, read-only, or is gone while the process
// dies by SIGKILL at any moment: test 46 of identity. Slow disks: audit_log_test.cc.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/disk/loop_disk.h"
#include "common/audit/audit_log.h"
#include "common/audit/verify.h"
#include "common/base/prng.h"
#include "common/model/proto/master.pb.h"

namespace ratchet::audit {
namespace {

namespace fs = std::filesystem;

constexpr AuditLimits kLimits{16U << 10, 10'000, 64U << 10};
constexpr const char* kNoRoomText = "the audit log has no room";

// One answer of the child: a change's number, and its outcome.
struct Answer {
  enum class Outcome : std::int32_t { kAllowed, kNoRoom, kOther };
  std::int32_t number = 0;
  Outcome outcome = Outcome::kOther;
};

// In the child: asks for one change after the other, and writes each answer. Each change is a grant, which is refused
// without room. A refused call follows each of them.
[[noreturn]] void AnswerUntilKilled(const std::string& directory, int first, int answers) {
  auto log = AuditLog::Open(io::PosixDisk(), directory, kLimits, "host", "child");
  if (!log.ok()) ::_exit(1);
  rpc::AuditedConnection who;
  who.user = "child";
  const auto connection = std::make_shared<const rpc::AuditedConnection>(who);
  rpc::CallContext call;
  call.method = "Grant";
  for (int number = first;; ++number) {
    hbase::pb::EnableTableRequest request;
    request.mutable_table_name()->set_namespace_("default");
    request.mutable_table_name()->set_qualifier(std::to_string(number));
    std::promise<Answer::Outcome> known;
    (*log)->Admit(call, connection, request, [&known](const Status& status) {
      const bool full = !status.ok() && status.error().message().find(kNoRoomText) != std::string::npos;
      known.set_value(status.ok() ? Answer::Outcome::kAllowed
                                  : (full ? Answer::Outcome::kNoRoom : Answer::Outcome::kOther));
    });
    const Answer answer{number, known.get_future().get()};
    if (::write(answers, &answer, sizeof answer) < 0) ::_exit(2);
    (*log)->Denied(call, connection, "no right A");
  }
}

class AuditDiskTest : public ::testing::Test {
 protected:
  static constexpr int kNumbersOfLife = 1'000'000;

  void SetUp() override {
    fs::create_directories(base_);
    auto disk = chaos::LoopDisk::Create(base_ / "image", 16U << 20, base_ / "disk");
    if (!disk.ok()) GTEST_SKIP() << disk.error().ToString();
    disk_ = std::move(*disk);
  }
  void TearDown() override {
    Kill();
    disk_.reset();
    fs::remove_all(base_);
  }
  void Start() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) AnswerUntilKilled(Directory(), lives_ * kNumbersOfLife, ends[1]);
    ++lives_;
    refusals_ = 0;
    ::close(ends[1]);
    answers_ = ends[0];
  }
  bool Read() {
    if (::read(answers_, &last_, sizeof last_) != sizeof last_) return false;
    if (last_.outcome == Answer::Outcome::kAllowed) allowed_.push_back(last_.number);
    if (last_.outcome != Answer::Outcome::kAllowed && (++refusals_ > 1 || !fails_in_syncs_))
      refused_.insert(last_.number);
    return true;
  }
  // Reads `count` answers; false: the child has ended.
  bool Read(std::uint64_t count) {
    while (count > 0 && Read()) --count;
    return count == 0;
  }
  // Reads answers until one has the outcome; false: none of the next ones has it.
  bool Await(Answer::Outcome outcome) {
    constexpr int kMost = 20'000;
    for (int i = 0; i < kMost && Read(); ++i)
      if (last_.outcome == outcome) return true;
    return false;
  }
  // Breaks the disk between two of the child's syncs: ext4 reports success for some syncs that its shutdown overtakes.
  void WhileStopped(const std::function<Status()>& break_disk) const {
    int status = 0;
    ASSERT_EQ(::kill(child_, SIGSTOP), 0);
    ASSERT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    ASSERT_TRUE(WIFSTOPPED(status));
    const Status broken = break_disk();
    ASSERT_TRUE(broken.ok()) << broken.error().ToString();
    ASSERT_EQ(::kill(child_, SIGCONT), 0);
  }
  // Answers that the child has written before its end count too.
  void Kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    while (Read()) continue;
    ::close(answers_);
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child has ended by itself: " << WEXITSTATUS(status);
    child_ = 0;
  }
  [[nodiscard]] std::string Directory() const { return base_ / "disk" / "audit"; }
  // The chain has no gap; each allowed change has its line, in order, and no refused one has any.
  VerifyReport ExpectWhole() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(Directory()))
      if (IsAuditFileName(entry.path().filename())) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    Verifier verifier;
    verifier.BeginsWith(1);
    text_.clear();
    for (const fs::path& path : paths) {
      std::ifstream file(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      verifier.AddFile(path, text);
      text_ += text;
    }
    for (const std::string& problem : verifier.report().problems) ADD_FAILURE() << problem;
    ExpectLines();
    return verifier.report();
  }

  const fs::path base_ = fs::path(::testing::TempDir()) / ("ratchet_audit_disk_" + std::to_string(::getpid()));
  std::unique_ptr<chaos::LoopDisk> disk_;
  pid_t child_ = 0;
  int answers_ = -1;
  int lives_ = 0;
  Answer last_;
  std::vector<int> allowed_;
  std::set<int> refused_;
  int refusals_ = 0;  // in this life
  // The disk may keep the line of the first change that is refused: its sync failed, and nothing can remove it.
  bool fails_in_syncs_ = false;
  std::string text_;

 private:
  void ExpectLines() {
    constexpr std::string_view kTarget = R"("target":")";
    std::vector<int> lines;
    for (std::size_t at = 0; (at = text_.find(kTarget, at)) != std::string::npos; ++at) {
      const char* const digits = text_.c_str() + at + kTarget.size();
      if (*digits >= '0' && *digits <= '9') lines.push_back(std::atoi(digits));
    }
    EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
    std::vector<int> missing;
    std::set_difference(allowed_.begin(), allowed_.end(), lines.begin(), lines.end(), std::back_inserter(missing));
    EXPECT_THAT(missing, testing::IsEmpty());
    for (const int line : lines) EXPECT_EQ(refused_.count(line), 0U) << line;
    EXPECT_EQ(std::adjacent_find(lines.begin(), lines.end()), lines.end()) << "a line is there twice";
  }
};

TEST_F(AuditDiskTest, AFullDiskAndKillsLeaveNoGap) {
  using Outcome = Answer::Outcome;
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng random(seed);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    Start();
    ASSERT_TRUE(Read(1 + random.Below(100)));
    ASSERT_TRUE(disk_->Fill().ok());
    if (round % 2 == 0) {
      ASSERT_TRUE(Await(Outcome::kNoRoom)) << "the reserve has an end";
      ASSERT_TRUE(Read(random.Below(50)));
    } else {
      ASSERT_TRUE(Read(random.Below(300)));
    }
    Kill();
    ExpectWhole();
    // The next process begins on the full disk, and may die there.
    Start();
    ASSERT_TRUE(Await(Outcome::kNoRoom));
    if (random.Below(2) == 0) {
      Kill();
      ExpectWhole();
      Start();
      ASSERT_TRUE(Await(Outcome::kNoRoom));
    }
    ASSERT_TRUE(Read(5)) << "refused calls are lost meanwhile";
    ASSERT_TRUE(disk_->Free().ok());
    ASSERT_TRUE(Await(Outcome::kAllowed)) << "changes are possible again without a start";
    Kill();
    const VerifyReport report = ExpectWhole();
    EXPECT_GT(report.lost, static_cast<std::uint64_t>(round));
    if (HasFailure()) return;
  }
}

// The disk is gone: each access fails, and what was not synced is lost.
TEST_F(AuditDiskTest, ADiskThatIsGoneAndKillsLeaveNoGap) {
  fails_in_syncs_ = true;
  using Outcome = Answer::Outcome;
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng random(seed);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    Start();
    ASSERT_TRUE(Read(1 + random.Below(200)));
    WhileStopped([this] { return disk_->FailPower(); });
    if (HasFatalFailure()) return;
    ASSERT_TRUE(Await(Outcome::kNoRoom));
    ASSERT_TRUE(Read(10));
    EXPECT_EQ(last_.outcome, Outcome::kNoRoom);
    Kill();
    EXPECT_FALSE(AuditLog::Open(io::PosixDisk(), Directory(), kLimits, "host", "parent").ok());
    ASSERT_TRUE(disk_->MountAgain().ok());
    Start();
    ASSERT_TRUE(Await(Outcome::kAllowed));
    Kill();
    ExpectWhole();
    if (HasFailure()) return;
  }
}

TEST_F(AuditDiskTest, AReadOnlyDiskRefusesChangesUntilItIsWritable) {
  fails_in_syncs_ = true;
  using Outcome = Answer::Outcome;
  Start();
  ASSERT_TRUE(Await(Outcome::kAllowed));
  WhileStopped([this] { return disk_->TurnReadOnly(); });
  if (HasFatalFailure()) return;
  ASSERT_TRUE(Await(Outcome::kNoRoom));
  ASSERT_TRUE(Read(10));
  EXPECT_EQ(last_.outcome, Outcome::kNoRoom);
  Kill();
  const auto refused = AuditLog::Open(io::PosixDisk(), Directory(), kLimits, "host", "parent");
  ASSERT_FALSE(refused.ok()) << "a start would have no log";
  EXPECT_NE(refused.error().message().find("Read-only file system"), std::string::npos) << refused.error().ToString();
  ASSERT_TRUE(disk_->MountAgain().ok());
  Start();
  ASSERT_TRUE(Await(Outcome::kAllowed));
  Kill();
  ExpectWhole();
}

}  // namespace
}  // namespace ratchet::audit
