#include "tests/cluster/cluster_fixture.h"

#include <set>

#include "chaos/demo/checks.h"
#include "chaos/verdict/cluster_checks.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::chaos {

void ClusterTest::Prepare(ClusterSpec spec) {
  ConfigureLog({LogLevel::kError, ""});
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  dir_ = std::filesystem::temp_directory_path() /
         fmt::format("ratchet-{}.{}-{:x}", test->test_suite_name(), test->name(), RandomSeed() & 0xffffffU);
  spec.dir = dir_;
  // Processes do not restart themselves, because most tests wait for an exit; tests of restarts override this.
  spec.environment.emplace("RATCHET_START_AGAIN", "false");
  // The balancer is off, so that regions stay in place; tests of the balancer override this.
  spec.environment.emplace("RATCHET_BALANCER_PERIOD_MS", "0");
  if (spec.bin.empty()) spec.bin = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "bin";
  auto created = ProcessCluster::Create(spec);
  ASSERT_OK(created);
  cluster_ = std::move(*created);
}

void ClusterTest::Boot(int masters, int servers, ClusterSpec spec) {
  spec.masters = masters;
  spec.servers = servers;
  Prepare(std::move(spec));
  if (HasFatalFailure()) return;
  BeforeServers();
  if (HasFatalFailure() || IsSkipped()) return;
  ASSERT_OK(cluster_->StartAll(kPatience));
  Connect();
}

void ClusterTest::BootInterrupted(const std::string& fault) {
  if (cluster_ != nullptr) cluster_->KillAll();
  ClusterSpec spec;
  spec.servers = 2;
  Prepare(std::move(spec));
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster_->Start("master-1", ArmedWith(fault)));
  for (const auto& name : cluster_->Names(Role::kRegionServer)) ASSERT_OK(cluster_->Start(name));
  const auto code = cluster_->WaitExit("master-1", kPatience);
  ASSERT_TRUE(code.ok()) << "the start did not reach the step";
  ASSERT_EQ(*code, kFaultExitCode);
  ASSERT_OK(cluster_->Start("master-2"));
  ASSERT_OK(cluster_->WaitServing(kPatience));
  Connect();
}

void ClusterTest::Connect() {
  client::ConnectionOptions options;
  options.zookeeper = cluster_->zookeeper();
  options.user = "test";
  options.operation_timeout = kPatience;
  options.rpc_timeout = Millis{5'000};
  auto opened = client::Connection::Open(options);
  ASSERT_OK(opened);
  connection_ = std::move(*opened);
}

void ClusterTest::MakeTable(const std::string& name, int regions) {
  TableDescriptor descriptor;
  descriptor.name = TableName("default", name);
  descriptor.families.push_back(DefaultFamily("u"));
  std::vector<std::string> keys;
  for (int i = 1; i < regions; ++i) keys.push_back(fmt::format("{:06X}", 0x20000 * i / regions));
  ASSERT_OK(admin().WaitOk(admin().CreateTable(descriptor, keys)));
}

void ClusterTest::StartWriter(const std::string& table) {
  const std::uint64_t seed = RandomSeed();
  RecordProperty("writer_seed", std::to_string(seed));
  writer_table_ = table;
  writer_ = std::make_unique<Writer>(*connection_, TableName("default", table), 2, seed);
}

void ClusterTest::WaitForWrites(std::size_t more) {
  const std::size_t target = writer_->acknowledged() + more;
  ASSERT_OK(ProcessCluster::WaitUntil("the writer's acknowledgements", kPatience,
                                      [&] { return writer_->acknowledged() >= target; }));
}

ServerName ClusterTest::ServerNameOf(const std::string& process) {
  const std::uint16_t port = cluster_->Info(process).port;
  auto status = admin().Call(methods::kListServers, pb::ListServersRequest());
  ServerName newest;
  if (!status.ok()) return newest;
  for (const auto& row : status->server()) {
    if (row.server().port() != port || row.server().start_code() < newest.start_code) continue;
    newest = {row.server().host_name(), port, row.server().start_code()};
  }
  return newest;
}

void ClusterTest::Verify() {
  ASSERT_OK(cluster_->WaitServing(kPatience));
  if (writer_ != nullptr) {
    writer_->Stop();
    const auto account = writer_->CollectAccount();
    EXPECT_FALSE(account.acknowledged.empty());
    for (const auto& finding : CheckRows(*connection_, TableName("default", writer_table_), {}, account)) {
      EXPECT_TRUE(finding.good) << finding.text;
    }
  }
  const Finding owners = CheckOneOwner(*connection_);
  EXPECT_TRUE(owners.good) << owners.text;
  CheckZooKeeperTree();
}

void ClusterTest::CheckZooKeeperTree() {
  auto session = zk::ZkSession::Open({cluster_->zookeeper(), Millis{5'000}});
  ASSERT_OK(session);
  ASSERT_OK((*session)->WaitConnected(kPatience));
  const zk::ZkPaths paths;
  auto top = (*session)->Children(paths.parent);
  ASSERT_OK(top);
  const std::set<std::string> names(top->begin(), top->end());
  EXPECT_EQ(names, (std::set<std::string>{"backup-masters", "elections", "hbaseid", "master", "rs"}));
  std::vector<std::string> leaves{paths.Master()};
  for (const auto& folder : {paths.BackupMasters(), paths.RegionServers()}) {
    auto children = (*session)->Children(folder);
    ASSERT_OK(children);
    for (const auto& child : *children) leaves.push_back(folder + "/" + child);
  }
  for (const auto& leaf : leaves) {
    auto node = (*session)->Get(leaf);
    // A server that was killed keeps its node until its session ends, which may be between the list and this read.
    if (!node.ok() && node.error().code() == Code::kNotFound) continue;
    ASSERT_OK(node);
    EXPECT_NE(node->owner_session, 0) << leaf << " is not ephemeral";
  }
}

void ClusterTest::TearDown() {
  if (cluster_ != nullptr && verify_ && !HasFatalFailure() && !IsSkipped()) Verify();
  if (writer_ != nullptr) writer_->Stop();
  if (connection_ != nullptr) connection_->Close();
  if (cluster_ != nullptr) {
    if (HasFailure()) std::fprintf(stderr, "the cluster's directory is kept: %s\n", dir_.c_str());
    cluster_->KillAll();
    cluster_.reset();
  }
  if (!HasFailure() && !dir_.empty()) std::filesystem::remove_all(dir_);
}

}  // namespace ratchet::chaos
