// The process ratchet-regionserver against a real ZooKeeper and a master that only listens and sends orders: start,
// orders, reports, and every documented way to end.
#include "tests/unit/regionserver_server/process_fixture.h"

#include <algorithm>

#include "common/base/crc32c.h"
#include "common/base/exit_codes.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "common/rpc/exceptions.h"
#include "common/zk/server_liveness.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {
namespace {

TEST_F(ProcessTest, RegistersOpensServesReportsAndCloses) {
  const ServerName server = Serving();
  EXPECT_EQ(server.port, port_);
  EXPECT_TRUE(fs::exists(root_ / "wals" / server.ToString() / "ALIVE"));
  ASSERT_TRUE(Put(server, "r", "v").ok());
  EXPECT_EQ(*Get(server, "r"), "v");
  ASSERT_TRUE(master_->WaitHeartbeats(2));
  const auto heartbeat = master_->last_heartbeat();
  ASSERT_EQ(heartbeat.online_size(), 1);
  EXPECT_EQ(heartbeat.online(0).encoded_name(), SomeRegion().encoded_name());
  EXPECT_EQ(heartbeat.online(0).open_number(), 1u);
  EXPECT_EQ(heartbeat.load().region_loads_size(), 1);
  ASSERT_TRUE(master_->Execute(server, CloseRequest(11)).ok());
  const auto closed = master_->WaitTransition();
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->transition_code(), pb::RegionStateTransition::CLOSED);
  EXPECT_EQ(FromProto(closed->region_info(0))->encoded_name(), SomeRegion().encoded_name());
  EXPECT_EQ(Get(server, "r").error().remote_class(), rpc::exception::kNotServingRegion);
  ASSERT_TRUE(master_->Execute(server, OpenRequest(12, 2)).ok());
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::OPENED);
  EXPECT_EQ(*Get(server, "r"), "v");
}

TEST_F(ProcessTest, RepeatedAndLateOrders) {
  const ServerName server = Serving();
  ASSERT_TRUE(master_->Execute(server, OpenRequest(10, 1, 2)).ok());
  const auto again = master_->WaitTransition();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->attempt(), 2u) << "answered again, to the newest attempt";
  ASSERT_TRUE(master_->Execute(server, CloseRequest(11)).ok());
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::CLOSED);
  ASSERT_TRUE(master_->Execute(server, OpenRequest(10, 1, 3)).ok());
  ASSERT_TRUE(master_->Execute(server, CloseRequest(13)).ok());
  const auto next = master_->WaitTransition();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->proc_id(0), 13) << "the late open got no answer and was not executed";
  EXPECT_EQ(next->transition_code(), pb::RegionStateTransition::CLOSED) << "a region that is not here: answered so";
}

TEST_F(ProcessTest, DeposedMastersOrdersAreRefused) {
  StartMaster(5);
  Launch();
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  ASSERT_TRUE(master_->WaitHeartbeats(2)) << "it has heard of epoch 5";
  auto old = OpenRequest(10, 1);
  old.set_epoch(4);
  const Status refused = master_->Execute(*server, old);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("deposed"), std::string::npos);
}

TEST_F(ProcessTest, ReportIsSentUntilItIsTaken) {
  StartMaster();
  int refusals = 3;
  master_->AnswerReportsWith([&refusals](const auto&) -> Result<pb::ReportRegionStateTransitionResponse> {
    if (refusals-- > 0) return rpc::RemoteError(rpc::exception::kPleaseHold, "not yet");
    return pb::ReportRegionStateTransitionResponse();
  });
  Launch();
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  ASSERT_TRUE(master_->Execute(*server, OpenRequest(10, 1)).ok());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(master_->WaitTransition().has_value()) << i;
}

TEST_F(ProcessTest, ReportFindsTheNextMaster) {
  StartMaster();
  master_->AnswerReportsWith([](const auto&) -> Result<pb::ReportRegionStateTransitionResponse> {
    return rpc::RemoteError(rpc::exception::kPleaseHold, "never");
  });
  Launch();
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  ASSERT_TRUE(master_->Execute(*server, OpenRequest(10, 1)).ok());
  ASSERT_TRUE(master_->WaitTransition().has_value());
  master_.reset();
  StartMaster(2);
  const auto opened = master_->WaitTransition();
  ASSERT_TRUE(opened.has_value());
  EXPECT_EQ(opened->proc_id(0), 10);
}

TEST_F(ProcessTest, FaultPointsNeedASettingOfTheirOwn) {
  StartMaster();
  Launch({}, {{"RATCHET_FAULTS", "regionserver.before_open=fail"}});
  EXPECT_EQ(WaitExit(), exit_code::kUsage);
  EXPECT_NE(Log().find("--allow-fault-points"), std::string::npos) << Log();
}

TEST_F(ProcessTest, FailedOpenSaysWhy) {
  StartMaster();
  Launch({}, chaos::ArmedWith("regionserver.before_open=fail"));
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  ASSERT_TRUE(master_->WaitHeartbeats(1));
  EXPECT_TRUE(master_->last_heartbeat().fault_points_allowed()) << "for the status";
  EXPECT_GT(master_->last_heartbeat().descriptor_limit(), master_->last_heartbeat().descriptors_used()) << "too";
  ASSERT_TRUE(master_->Execute(*server, OpenRequest(10, 1)).ok());
  const auto failed = master_->WaitTransition();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->transition_code(), pb::RegionStateTransition::FAILED_OPEN);
  EXPECT_NE(failed->error().generic_exception().message().find("regionserver.before_open"), std::string::npos)
      << failed->error().ShortDebugString();
}

TEST_F(ProcessTest, UnknownProcedureIsAnsweredWithAnError) {
  const ServerName server = Serving();
  pb::ExecuteProceduresRequest request;
  request.add_proc()->set_proc_id(77);
  request.mutable_proc(0)->set_proc_class("org.example.Unknown");
  ASSERT_TRUE(master_->Execute(server, request).ok());
  const auto result = master_->WaitProcedure();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->proc_id(), 77u);
  EXPECT_EQ(result->status(), pb::RemoteProcedureResult::ERROR);
}

TEST_F(ProcessTest, SplitsTheLogOfADeadServer) {
  const ServerName dead = Serving();
  ASSERT_TRUE(Put(dead, "r", "kept").ok());
  IgnoreResult(chaos::Signal(process_, SIGKILL), "it is ours");
  WaitExit();
  auto wals = *io::PosixDisk().Open(root_ / "wals");
  auto fenced = *io::FencedDirectory::Fence(*wals, dead.ToString());
  port_ = *chaos::PickFreePort();
  Launch();
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  pb::ExecuteProceduresRequest request;
  request.add_proc()->set_proc_id(20);
  request.mutable_proc(0)->set_proc_class(kSplitLogClass);
  pb::SplitWALParameter parameter;
  const auto names = *fenced->List();
  const auto first =
      std::find_if(names.begin(), names.end(), [](const auto& name) { return name.starts_with("log."); });
  ASSERT_NE(first, names.end());
  // The seal, as the master's fencer makes it: the bytes that read as whole records.
  const std::string content = *fenced->ReadAll(*first);
  io::RecordReader::Options options;
  options.expected = {kServerLogKind, io::LogFileId(dead.ToString() + "/" + *first)};
  io::RecordReader reader(content, options);
  io::Record record;
  while (reader.Next(&record)) parameter.set_sealed_last_sequence(record.sequence);
  ASSERT_GT(reader.tail().offset, 0u);
  parameter.set_sealed_length(reader.tail().offset);
  parameter.set_sealed_crc32c(Crc32c(std::string_view(content).substr(0, reader.tail().offset)));
  parameter.set_wal_path("wals/" + dead.ToString() + "-splitting/" + *first);
  request.mutable_proc(0)->set_proc_data(parameter.SerializeAsString());
  ASSERT_TRUE(master_->Execute(*server, request).ok());
  const auto split = master_->WaitProcedure();
  ASSERT_TRUE(split.has_value());
  ASSERT_EQ(split->status(), pb::RemoteProcedureResult::SUCCESS) << split->ShortDebugString();
  ASSERT_TRUE(master_->Execute(*server, OpenRequest(21, 2)).ok());
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::OPENED);
  EXPECT_EQ(*Get(*server, "r"), "kept");
}

// S24 (visible after sync) and the fence: a paused server that was declared dead acknowledges nothing when it resumes,
// and ends.
TEST_F(ProcessTest, PausedAndFencedServerLeavesByItself) {
  const ServerName server = Serving();
  ASSERT_TRUE(Put(server, "r", "v").ok());
  ASSERT_TRUE(chaos::Signal(process_, SIGSTOP).ok());
  auto wals = *io::PosixDisk().Open(root_ / "wals");
  ASSERT_TRUE(io::FencedDirectory::Fence(*wals, server.ToString()).ok());
  ASSERT_TRUE(chaos::Signal(process_, SIGCONT).ok());
  const auto put = Put(server, "r", "late");
  EXPECT_FALSE(put.ok());
  EXPECT_FALSE(Get(server, "r").ok());
  const int code = WaitExit();
  EXPECT_TRUE(code == exit_code::kFenced || code == exit_code::kSessionExpired) << code;
}

// Rotates the log: moves the file away, and sends SIGHUP.
TEST_F(ProcessTest, AHangupOpensTheLogAgainAndEndsNothing) {
  const fs::path log = root_ / "server.log";
  const ServerName server = Serving({}, {"--log-file", log});
  fs::rename(log, root_ / "server.log.1");
  ASSERT_TRUE(chaos::Signal(process_, SIGHUP).ok());
  EXPECT_TRUE(chaos::WaitUntil("a new log", kPatience, [&] { return fs::exists(log) && fs::file_size(log) > 0; }).ok());
  ASSERT_TRUE(Put(server, "r", "v").ok());
  EXPECT_EQ(*Get(server, "r"), "v");
}

TEST_F(ProcessTest, DeclaredDeadByTheMaster) {
  Serving();
  master_->FailHeartbeats(rpc::RemoteError(rpc::exception::kYouAreDead, "a newer run of you has registered"));
  EXPECT_EQ(WaitExit(), exit_code::kRefusedByMaster);
  EXPECT_NE(Log().find("a newer run of you"), std::string::npos);
}

// S74 (clock skew limit): the server ends with a specific exit code, and not at the first refusal.
TEST_F(ProcessTest, AClockThatIsRefusedEndsTheServer) {
  StartMaster();
  master_->FailHeartbeats(rpc::RemoteError(rpc::exception::kClockOutOfSync, "the clock is an hour ahead"));
  Launch();
  EXPECT_EQ(WaitExit(), exit_code::kClockOff);
  EXPECT_NE(Log().find("the clock is an hour ahead"), std::string::npos);
}

TEST_F(ProcessTest, ARequestThatWasLateIsAskedAgain) {
  StartMaster();
  master_->FailHeartbeats(rpc::RemoteError(rpc::exception::kClockOutOfSync, "the clock is a minute behind"), 2);
  Launch();
  EXPECT_TRUE(master_->WaitRegistered().has_value());
  EXPECT_TRUE(master_->WaitHeartbeats(2));
}

TEST_F(ProcessTest, OrderlyStopFlushesAndTakesItsNodeAway) {
  const ServerName server = Serving();
  ASSERT_TRUE(Put(server, "r", "v").ok());
  ASSERT_TRUE(chaos::Signal(process_, SIGTERM).ok());
  EXPECT_EQ(WaitExit(), exit_code::kOk);
  auto session = *zk::ZkSession::Open({zookeeper_->address(), Millis(4000)});
  ASSERT_TRUE(session->WaitConnected(kPatience).ok());
  EXPECT_TRUE(zk::ReadLiveServers(*session, paths_)->empty());
  bool flushed = false;
  for (const auto& file : fs::directory_iterator(root_ / "data" / "default" / "t.7" / SomeRegion().encoded_name())) {
    flushed = flushed || file.path().extension() == ".sst";
  }
  EXPECT_TRUE(flushed);
}

TEST_F(ProcessTest, NewRunGetsAHigherStartCodeWhateverTheClockSays) {
  fs::create_directories(root_ / "wals" / ("127.0.0.1," + std::to_string(port_) + ",9000000000000-splitting"));
  StartMaster();
  Launch();
  EXPECT_EQ(master_->WaitRegistered()->start_code, 9000000000001u);
}

// A master that takes over between our directory and our node treats us as dead: nothing was served, so we restart.
TEST_F(ProcessTest, RefusedNameRestartsWithAHigherStartCode) {
  StartMaster();
  master_->RefuseStartCodesUpTo(9000000000000);
  Launch();
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  EXPECT_GE(server->start_code, 9000000000001u);
  ASSERT_TRUE(master_->Execute(*server, OpenRequest(10, 1)).ok());
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::OPENED);
}

TEST_F(ProcessTest, OrderForAnotherRunOfThisServer) {
  const ServerName server = Serving();
  auto request = OpenRequest(20, 2);
  request.mutable_open_region(0)->set_serverstartcode(server.start_code - 1);
  const Status refused = master_->Execute(server, request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kStale);
  EXPECT_EQ(refused.error().remote_class(), rpc::exception::kOtherRun);
}

TEST_F(ProcessTest, WaitsForTheFirstMaster) {
  Launch();
  const Status waits =
      chaos::WaitUntil("waiting", kPatience, [this] { return Log().find("not registered yet") != std::string::npos; });
  ASSERT_TRUE(waits.ok());
  StartMaster();
  EXPECT_TRUE(master_->WaitRegistered().has_value());
}

TEST_F(ProcessTest, PortTaken) {
  Serving();
  const auto first = process_;
  Launch();
  EXPECT_EQ(WaitExit(), exit_code::kPortTaken);
  EXPECT_NE(Log().find(std::to_string(port_)), std::string::npos);
  EXPECT_TRUE(chaos::IsAlive(first));
  std::size_t directories = 0;
  for (const auto& entry : fs::directory_iterator(root_ / "wals")) directories += entry.is_directory() ? 1 : 0;
  EXPECT_EQ(directories, 1u) << "the second one leaves nothing behind";
  process_ = first;
}

TEST_F(ProcessTest, RootMissing) {
  const fs::path log = root_ / "log";
  root_ /= "nowhere";
  fs::create_directories(root_.parent_path());
  chaos::LaunchSpec spec;
  spec.arguments = {fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "ratchet-regionserver",
                    "--root",
                    root_,
                    "--zookeeper",
                    zookeeper_->address(),
                    "--port",
                    std::to_string(port_)};
  spec.output = log;
  process_ = *chaos::Launch(spec);
  EXPECT_EQ(WaitExit(), exit_code::kRootUnusable);
  root_ = root_.parent_path();
  EXPECT_NE(Log().find("nowhere"), std::string::npos);
}

TEST_F(ProcessTest, NoClusterIdWithinTheDeadline) {
  fs::remove(root_ / "cluster.id");
  Launch({"--start-timeout-ms", "300"});
  EXPECT_EQ(WaitExit(), exit_code::kRootUnusable);
  EXPECT_NE(Log().find("cluster.id"), std::string::npos);
}

TEST_F(ProcessTest, MasterOfAnotherCluster) {
  StartMaster(1, "another-cluster");
  Launch();
  EXPECT_EQ(WaitExit(), exit_code::kWrongCluster);
  EXPECT_NE(Log().find("another-cluster"), std::string::npos);
}

TEST_F(ProcessTest, ZooKeeperUnreachable) {
  const std::string nobody = "127.0.0.1:" + std::to_string(*chaos::PickFreePort());
  Launch({"--zookeeper", nobody, "--zk-connect-timeout-ms", "500"});
  const int code = WaitExit();
  EXPECT_EQ(code, exit_code::kZooKeeperUnreachable);
  EXPECT_NE(Log().find(nobody), std::string::npos);
}

// Fifty times the bound of all memstores: writers are asked to retry, and flushes make room.
TEST_F(ProcessTest, MemstoresTogetherAreBounded) {
  StartMaster();
  Launch({"--memstore-total-bytes", "65536"});
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  ASSERT_TRUE(master_->Execute(*server, OpenRequest(10, 1)).ok());
  ASSERT_TRUE(master_->WaitTransition().has_value());
  const std::string value(16'384, 'v');
  for (int i = 0; i < 200; ++i) {
    const Status written = chaos::WaitUntil("a put", kPatience, [&] {
      const auto put = Put(*server, "r" + std::to_string(i), value);
      if (!put.ok()) {
        EXPECT_EQ(put.error().remote_class(), rpc::exception::kRegionTooBusy) << put.error().ToString();
      }
      return put.ok() || HasFailure();
    });
    ASSERT_TRUE(written.ok()) << written.error().ToString();
  }
  EXPECT_NE(Log().find("is flushed to free memory"), std::string::npos);
  EXPECT_EQ(*Get(*server, "r0"), value);
  EXPECT_EQ(*Get(*server, "r199"), value);
}

TEST_F(ProcessTest, WrongSettingIsNamed) {
  Launch({"--scanner-lease-ms", "1"});
  EXPECT_EQ(WaitExit(), exit_code::kUsage);
  EXPECT_NE(Log().find("scanner-lease-ms"), std::string::npos);
}

// S59 (epoch proven by a claim): if such an epoch were believed, every later order would be refused.
TEST_F(ProcessTest, OrdersOfAnEpochThatNoMasterHasClaimedAreRefused) {
  const ServerName server = Serving();
  pb::ExecuteProceduresRequest invented = CloseRequest(1u << 30);
  invented.set_epoch(UINT64_MAX);
  invented.set_lowest_live_pid(UINT64_MAX);
  EXPECT_FALSE(master_->Execute(server, invented).ok());
  invented.set_epoch(1);
  invented.mutable_close_region(0)->set_epoch(UINT64_MAX);
  EXPECT_FALSE(master_->Execute(server, invented).ok());
  EXPECT_EQ(master_->transitions_waiting(), 0u);
  ASSERT_TRUE(master_->Execute(server, CloseRequest(11)).ok()) << "the master's orders continue";
  EXPECT_EQ(master_->WaitTransition()->transition_code(), pb::RegionStateTransition::CLOSED);
}

// S58 (server name proven by storage): only one spelling is accepted.
TEST_F(ProcessTest, AHostInCapitalLettersIsTheSameServer) {
  StartMaster();
  Launch({"--host", "LOCALHOST"});
  const auto server = master_->WaitRegistered();
  ASSERT_TRUE(server.has_value());
  EXPECT_EQ(server->host, "localhost");
  EXPECT_TRUE(fs::exists(root_ / "wals" / server->ToString() / "ALIVE"));
}

TEST_F(ProcessTest, AHostThatNoNameCanHoldIsRefusedAtTheStart) {
  Launch({"--host", "a,b"});
  EXPECT_EQ(WaitExit(), exit_code::kUsage);
  EXPECT_NE(Log().find("--host"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(root_ / "wals"));
}

}  // namespace
}  // namespace ratchet::regionserver
