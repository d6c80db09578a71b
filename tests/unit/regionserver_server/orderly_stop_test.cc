// S73 (orderly stop): a requested stop of the real process, under a master that only listens.
#include "tests/unit/regionserver_server/process_fixture.h"

#include "common/base/exit_codes.h"
#include "common/io/fenced_directory.h"
#include "common/io/unneeded_files.h"
#include "common/rpc/exceptions.h"
#include "common/zk/server_liveness.h"

namespace ratchet::regionserver {
namespace {

class OrderlyStopTest : public ProcessTest {
 protected:
  // Starts a server with a row in its memory store, under a master that permits no end, and requests its stop.
  ServerName Stopping(const std::vector<std::string>& flags = {}) {
    const ServerName server = Serving({}, flags);
    EXPECT_TRUE(Put(server, "r", "v").ok());
    master_->LetServersLeave(false);
    EXPECT_TRUE(chaos::Signal(process_, SIGTERM).ok());
    return server;
  }
  void AwaitQuestion() {
    ASSERT_TRUE(
        chaos::WaitUntil("it asks to leave", kPatience, [&] { return master_->last_heartbeat().leaving(); }).ok());
  }
};

// It serves until the master has opened its regions elsewhere, and leaves no log to split.
TEST_F(OrderlyStopTest, WaitsUntilItsRegionsAreElsewhere) {
  const ServerName server = Stopping();
  AwaitQuestion();
  EXPECT_TRUE(Put(server, "r", "while it is leaving").ok());
  ASSERT_TRUE(master_->Execute(server, CloseRequest(11)).ok());
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::CLOSED);
  ASSERT_TRUE(master_->WaitHeartbeats(5));
  EXPECT_TRUE(chaos::IsAlive(process_)) << "closed here, but not open elsewhere yet";
  master_->LetServersLeave(true);
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  auto wals = *io::PosixDisk().Open(root_ / "wals");
  const auto names = *(*wals->OpenDir(server.ToString()))->List();
  const std::uint64_t covered = io::CoveredUpTo(names, io::kRegionLogPrefix);
  for (const std::string& name : names) {
    const auto log = io::ParseLogFileName(name);
    if (!log.has_value() || log->number <= covered) continue;
    EXPECT_EQ(fs::file_size(root_ / "wals" / server.ToString() / name), 0U) << name << " would have to be split";
  }
}

TEST_F(OrderlyStopTest, IsBoundedAndThenFlushes) {
  Stopping({"--drain-timeout-ms", "300"});
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  EXPECT_NE(Log().find("1 regions are left to a crash procedure: out of time"), std::string::npos);
  bool flushed = false;
  for (const auto& file : fs::directory_iterator(root_ / "data" / "default" / "t.7" / SomeRegion().encoded_name())) {
    flushed = flushed || file.path().extension() == ".sst";
  }
  EXPECT_TRUE(flushed);
}

TEST_F(OrderlyStopTest, WithoutAMasterWaitsForNothing) {
  const ServerName server = Serving({}, {"--drain-timeout-ms", "600000"});
  ASSERT_TRUE(Put(server, "r", "v").ok());
  master_.reset();
  ASSERT_TRUE(chaos::WaitUntil("no master", kPatience, [&] {
                return Log().find("Active master: none") != std::string::npos;
              }).ok());
  ASSERT_TRUE(chaos::Signal(process_, SIGTERM).ok());
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  EXPECT_NE(Log().find("no master is active"), std::string::npos);
}

TEST_F(OrderlyStopTest, NewMasterContinuesTheStop) {
  const ServerName server = Stopping({"--drain-timeout-ms", "600000"});
  AwaitQuestion();
  master_.reset();
  StartMaster(2);
  master_->LetServersLeave(false);
  AwaitQuestion();
  master_->LetServersLeave(true);
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  EXPECT_NE(Log().find("the master allows the end"), std::string::npos);
}

TEST_F(OrderlyStopTest, EndsAtOnceWhenItIsFencedMeanwhile) {
  const ServerName server = Stopping({"--drain-timeout-ms", "600000"});
  AwaitQuestion();
  auto wals = *io::PosixDisk().Open(root_ / "wals");
  ASSERT_TRUE(io::FencedDirectory::Fence(*wals, server.ToString()).ok());
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  EXPECT_EQ(Log().find("out of time"), std::string::npos);
}

TEST_F(OrderlyStopTest, EndsAtOnceWhenItIsDeclaredDeadMeanwhile) {
  Stopping({"--drain-timeout-ms", "600000"});
  AwaitQuestion();
  master_->FailHeartbeats(rpc::RemoteError(rpc::exception::kYouAreDead, "was declared dead"));
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  EXPECT_NE(Log().find("left to a crash procedure: "), std::string::npos);
}

TEST_F(OrderlyStopTest, EndsAtOnceWhenItIsAskedAgain) {
  Stopping({"--drain-timeout-ms", "600000"});
  AwaitQuestion();
  ASSERT_TRUE(chaos::Signal(process_, SIGTERM).ok());
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  auto session = *zk::ZkSession::Open({zookeeper_->address(), Millis(4000)});
  ASSERT_TRUE(session->WaitConnected(kPatience).ok());
  EXPECT_TRUE(zk::ReadLiveServers(*session, paths_)->empty()) << "nothing waits for the end of its session";
}

}  // namespace
}  // namespace ratchet::regionserver
