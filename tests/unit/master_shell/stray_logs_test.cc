// S34 (which servers may be dead): logs of servers that were never recorded stay until their server is surely gone, and
// need no crash procedure.
#include "master/storage/stray_logs.h"

#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/storage/posix_cluster_files.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StrayLogsTest : public ::testing::Test {
 protected:
  static constexpr Millis kGrace{60'000};
  const ServerName server_{"h", 16020, 100};

  StrayLogsTest() {
    process_ = disk_.NewProcess("master");
    files_ = PosixClusterFiles::Open(*process_, "/root", [] { return Ok(); }).value();
    Begin(kGrace);
  }
  void Begin(Millis grace) {
    stray_ = std::make_unique<StrayLogs>(StrayLogs::Deps{
        *files_, clock_, Epoch(4), [this] { return ready_; },
        [this](const ServerName& server) {
          if (on_look_) std::exchange(on_look_, nullptr)();
          return known_.contains(server);
        },
        [this]() -> Result<std::vector<ServerName>> { return std::vector<ServerName>(live_.begin(), live_.end()); },
        [this](const ServerName& server, const std::string& /*why*/) { expired_.insert(server); }, grace});
  }
  // Makes the files that a region server makes before it registers.
  void GivenLogs(bool entries) {
    server_process_ = disk_.NewProcess("server");
    auto wals = server_process_->Open("/root/wals").value();
    auto made = io::FencedDirectory::Make(*wals, server_.ToString()).value();
    io::RecordWriter log(made->directory().Create("log.0000000001").value(),
                         {'L', io::LogFileId(server_.ToString() + "/log.0000000001")});
    if (entries) {
      ASSERT_TRUE(log.Add(1, 1, 5, "an entry").ok());
    }
    ASSERT_TRUE(log.Sync().ok());
    ASSERT_TRUE(made->directory().Sync().ok());
  }
  std::vector<ServerName> Look() {
    const auto retired = stray_->RunOnce();
    EXPECT_TRUE(retired.ok()) << retired.error().ToString();
    return retired.ok() ? *retired : std::vector<ServerName>{};
  }
  bool StillAlive() { return process_->Open("/root/wals/" + server_.ToString()).ok(); }
  bool Archived() { return process_->Open("/root/archive/4/wals/" + server_.ToString() + "-splitting").ok(); }

  // A server whose record is lost has entries in its logs.
  std::set<ServerName> LogsWithEntries() {
    GivenLogs(true);
    EXPECT_THAT(Look(), IsEmpty());
    clock_.Advance(kGrace);
    (void)Look();
    return expired_;
  }
  // A server registers while the directories are examined; its grace is over.
  bool RegistersMeanwhile() {
    GivenLogs(false);
    Begin(Millis(0));
    on_look_ = [this] { live_.insert(server_); };
    (void)Look();
    return StillAlive();
  }

  io::SimDisk disk_;
  ManualTime clock_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<io::SimDisk::Process> server_process_;
  std::unique_ptr<PosixClusterFiles> files_;
  std::unique_ptr<StrayLogs> stray_;
  bool ready_ = true;
  std::function<void()> on_look_;
  std::set<ServerName> known_;
  std::set<ServerName> live_;
  std::set<ServerName> expired_;
};

TEST_F(StrayLogsTest, GoToTheArchiveAfterTheGrace) {
  GivenLogs(false);
  EXPECT_THAT(Look(), IsEmpty());
  clock_.Advance(kGrace - Millis(1));
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_TRUE(StillAlive());
  clock_.Advance(Millis(1));
  EXPECT_THAT(Look(), ElementsAre(server_));
  EXPECT_TRUE(Archived());
  EXPECT_FALSE(StillAlive());
  EXPECT_THAT(expired_, IsEmpty());
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(StrayLogsTest, OfTheKnownAndOfTheRegisteredStay) {
  GivenLogs(false);
  live_.insert(server_);
  EXPECT_THAT(Look(), IsEmpty());
  clock_.Advance(kGrace * 2);
  EXPECT_THAT(Look(), IsEmpty());
  live_.clear();
  known_.insert(server_);
  EXPECT_THAT(Look(), IsEmpty());
  known_.clear();  // its crash procedure has ended, and the grace begins again
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_TRUE(StillAlive());
  ready_ = false;
  clock_.Advance(kGrace * 2);
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_TRUE(StillAlive());
}

TEST_F(StrayLogsTest, OneThatRegistersWhileItIsFencedGetsACrashProcedureLikeAnyOther) {
  GivenLogs(false);
  Begin(Millis(0));
  on_look_ = [this] { on_look_ = [this] { known_.insert(server_); }; };  // at the second check: after the fence
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_FALSE(Archived());
  EXPECT_TRUE(process_->Open("/root/wals/" + server_.ToString() + "-splitting").ok());
}

TEST_F(StrayLogsTest, WithEntriesNeedACrashProcedure) { EXPECT_THAT(LogsWithEntries(), ElementsAre(server_)); }
TEST_F(StrayLogsTest, OneThatRegistersMeanwhileIsLeftAlone) { EXPECT_TRUE(RegistersMeanwhile()); }

#if defined(RATCHET_MUTANTS)
TEST_F(StrayLogsTest, TakingLogsWithEntriesAwayIsCaught) {
  const ScopedMutant mutant("files.retire_entries");
  EXPECT_THAT(LogsWithEntries(), IsEmpty());
}
TEST_F(StrayLogsTest, AskingZooKeeperFirstIsCaught) {
  const ScopedMutant mutant("master.zookeeper_first");
  EXPECT_FALSE(RegistersMeanwhile());
}
#endif

}  // namespace
}  // namespace ratchet::master
