// The active master dies, is stopped, or is deposed: procedures continue at another master, and the old master changes
// nothing.
#include <csignal>
#include <fstream>
#include <iterator>

#include "chaos/cluster/child_process.h"
#include "common/base/exit_codes.h"
#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

using MasterTest = ClusterTest;

TableDescriptor Descriptor(const std::string& name) {
  TableDescriptor descriptor;
  descriptor.name = TableName("default", name);
  descriptor.families.push_back(DefaultFamily("u"));
  return descriptor;
}

TEST_F(MasterTest, KilledWhileTablesAreMade) {
  Boot();
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  std::vector<std::uint64_t> pids;
  for (int i = 0; i < 5; ++i) {
    auto pid = admin().CreateTable(Descriptor(fmt::format("made-{}", i)), {"4", "8"});
    ASSERT_OK(pid);
    pids.push_back(*pid);
  }
  ASSERT_OK(cluster().Kill9(*active));
  for (const auto pid : pids) EXPECT_TRUE(admin().WaitOk(pid).ok());
  const auto tables = admin().ListTables();
  ASSERT_OK(tables);
  EXPECT_EQ(tables->size(), 6U);
  WaitForWrites(50);
}

// Runs the command line: the event stream continues at the next master, and Ctrl-C ends it.
TEST_F(MasterTest, EventFollowerContinuesWithTheNextMaster) {
  Boot();
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  StartWriter("t");
  const auto output = cluster().root().parent_path() / "followed.txt";
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "ratchet";
  const std::vector<std::string> words = {
      program.string(), "--zookeeper", cluster().zookeeper(), "events", "--follow", "-n", "4096"};
  LaunchSpec spec;
  spec.arguments = words;
  spec.output = output;
  const auto follower = Launch(spec);
  ASSERT_OK(follower);
  const auto followed = [&output](const std::string& what) {
    std::ifstream file(output);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find(what) != std::string::npos;
  };
  ASSERT_OK(WaitUntil("the first events", kPatience, [&] { return followed(" submitted "); }));
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(WaitUntil("the next master", kPatience, [&] { return followed("-- another master: epoch 2"); }));
  const auto pid = admin().CreateTable(Descriptor("followed"), {});
  ASSERT_OK(pid);
  ASSERT_OK(admin().WaitOk(*pid));
  const std::string created = fmt::format("  {} ", *pid);
  EXPECT_TRUE(WaitUntil("the last events", kPatience, [&] { return followed(created); }).ok());
  ASSERT_OK(Signal(*follower, SIGINT));
  ASSERT_OK(WaitUntil("its end", kPatience, [&] { return CheckEnded(*follower).has_value(); }));
}

TEST_F(MasterTest, PausedAndDeposedItChangesNothingAndExits) {
  Boot();
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  const auto sleeper = cluster().ActiveMaster();
  ASSERT_OK(sleeper);
  // The master is stopped with orders in progress, which must have no effect after it was deposed.
  const auto pid = admin().CreateTable(Descriptor("through-a-pause"), {"4", "8"});
  ASSERT_OK(pid);
  ASSERT_OK(cluster().Pause(*sleeper));
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *sleeper));
  EXPECT_TRUE(admin().WaitOk(*pid).ok());
  ASSERT_OK(admin().WaitOk(admin().DisableTable(TableName("default", "through-a-pause"))));
  ASSERT_OK(admin().WaitOk(admin().DeleteTable(TableName("default", "through-a-pause"))));
  ASSERT_OK(cluster().Resume(*sleeper));
  const auto code = cluster().WaitExit(*sleeper, kPatience);
  ASSERT_OK(code);
  EXPECT_TRUE(LearnedThatItWasGivenUp(*code)) << *code;
  const auto tables = admin().ListTables();
  ASSERT_OK(tables);
  EXPECT_EQ(tables->size(), 1U);
  WaitForWrites(50);
}

// The rest of the cluster may work long before a step with a long backoff retries.
TEST_F(MasterTest, NoStepPausesForLongerThanItIsAllowed) {
  ClusterSpec spec;
  spec.master_flags = {"--retry-max-ms", "300"};
  Boot(1, 1, spec);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Kill9("rs-1"));
  pb::ProcedureInfo stuck;
  const auto created = admin().CreateTable(Descriptor("late"), {});
  ASSERT_OK(created);
  ASSERT_OK(ProcessCluster::WaitUntil("a step that has failed eight times", kPatience, [&] {
    pb::GetProcedureRequest request;
    request.set_pid(*created);
    const auto answer = admin().Call(methods::kGetProcedure, request);
    if (answer.ok()) stuck = answer->procedure();
    return stuck.attempt() > 8 && stuck.has_next_try_ms();
  }));
  EXPECT_LE(stuck.next_try_ms(), 300U);
  ASSERT_OK(cluster().Start("rs-1"));
  EXPECT_TRUE(admin().WaitOk(created).ok());
}

// The answer to the client's first request may be lost with the connection. Repeated with the same nonce at the next
// master, the request is still one procedure.
TEST_F(MasterTest, TheSameNonceGetsTheSamePidFromTheNextMaster) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  hbase::pb::CreateTableRequest create;
  ToProto(Descriptor("once"), *create.mutable_table_schema());
  create.set_nonce_group(77);
  create.set_nonce(1);
  auto regions = admin().Regions(TableName("default", "t"));
  ASSERT_OK(regions);
  pb::TransitRegionRequest move;
  move.set_verb(pb::TransitRegionRequest::MOVE);
  move.set_encoded_name(regions->front().region.encoded_name());
  move.set_nonce_group(77);
  move.set_nonce(2);
  const auto ask = [&]() -> Result<std::pair<std::uint64_t, std::uint64_t>> {
    RATCHET_ASSIGN(const auto created, (admin().Call(methods::kCreateTable, create)));
    RATCHET_ASSIGN(const auto moved, (admin().Call(methods::kTransitRegion, move)));
    return std::pair(created.proc_id(), moved.pid());
  };
  const auto first = ask();
  ASSERT_OK(first);
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  const auto while_it_runs = ask();
  ASSERT_OK(while_it_runs);
  EXPECT_EQ(*while_it_runs, *first);
  EXPECT_TRUE(admin().WaitOk(first->first).ok());
  EXPECT_TRUE(admin().WaitOk(first->second).ok());
  ASSERT_OK(cluster().Start(*active));
  const auto second = cluster().WaitActiveMaster(kPatience, *active);
  ASSERT_OK(second);
  ASSERT_OK(cluster().Kill9(*second));
  const auto when_it_has_ended = ask();
  ASSERT_OK(when_it_has_ended);
  EXPECT_EQ(*when_it_has_ended, *first);
}

TEST_F(MasterTest, StoppedInOrderTheStandbyTakesOverAtOnce) {
  Boot();
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Stop(*active, kPatience));
  EXPECT_EQ(cluster().Info(*active).exit_code.value_or(-1), exit_code::kOk);
  ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
  MakeTable("t", 3);
}

}  // namespace
}  // namespace ratchet::chaos
