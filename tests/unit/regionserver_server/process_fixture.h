// A real process ratchet-regionserver, a real ZooKeeper and a master that only listens and sends orders, for one
// program's tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "chaos/cluster/zookeeper_process.h"
#include "common/base/small_file.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/methods/client_service.h"
#include "common/zk/zk_session.h"
#include "common/zk/znode_codec.h"
#include "tests/unit/regionserver_server/fake_master.h"

namespace ratchet::regionserver {

inline constexpr Millis kPatience{60'000};
inline constexpr const char* kClusterId = "0e4a9a1e-1111-2222-3333-444455556666";
namespace fs = std::filesystem;

class ProcessTest : public testing::Test {
 public:
  static void SetUpTestSuite() {
    directory_ = fs::path(testing::TempDir()) / ("ratchet_rs_" + std::to_string(::getpid()));
    fs::create_directories(directory_);
    chaos::ZooKeeperSpec spec;
    spec.dir = directory_ / "zookeeper";
    spec.log = directory_ / "zookeeper.log";
    zookeeper_.emplace(*chaos::ZooKeeperProcess::Prepare(spec));
    const Status started = zookeeper_->Start(kPatience);
    ASSERT_TRUE(started.ok()) << started.error().ToString();
  }
  static void TearDownTestSuite() {
    if (zookeeper_.has_value()) IgnoreResult(zookeeper_->Kill9(), "nothing of it is kept");
    zookeeper_.reset();
    fs::remove_all(directory_);
  }

 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = directory_ / name;
    fs::create_directories(root_ / "wals");
    fs::create_directories(root_ / "data" / "default" / "t.7");
    std::ofstream(root_ / "cluster.id") << kClusterId << "\n";
    WriteKey(kFakeMastersKey);
    fs::create_directories(root_ / "procedures");
    for (int epoch = 1; epoch < 100; ++epoch) std::ofstream(root_ / "procedures" / ("claim." + std::to_string(epoch)));
    paths_.parent = "/" + name;
    ClaimPlace();
    port_ = *chaos::PickFreePort();
  }
  void TearDown() override {
    if (process_.pid != 0) IgnoreResult(chaos::Signal(process_, SIGKILL), "it may have ended by itself");
    if (process_.pid != 0) (void)chaos::WaitUntil("end", kPatience, [this] { return !chaos::IsAlive(process_); });
    if (HasFailure()) std::cerr << std::ifstream(root_ / "log").rdbuf();
  }

  // Writes cluster.key as a master does: completed under another name, and closed to other users, S160 (the root is its
  // user's).
  void WriteKey(const std::string& key) const {
    fs::remove(root_ / "draft");
    EXPECT_TRUE(WriteNewSecret(root_ / "draft", key + "\n").ok());
    fs::rename(root_ / "draft", root_ / "cluster.key");
  }
  // Writes the files that the first master of a cluster writes (S72: root and ZooKeeper node belong together).
  void ClaimPlace() {
    auto session = zk::ZkSession::Open({zookeeper_->address(), Millis(6'000)});
    ASSERT_TRUE(session.ok()) << session.error().ToString();
    ASSERT_TRUE((*session)->WaitConnected(kPatience).ok());
    ASSERT_TRUE((*session)->EnsurePath(paths_.parent).ok());
    const std::string id = zk::EncodeClusterIdNode(kClusterId);
    ASSERT_TRUE((*session)->Create(paths_.ClusterId(), id, zk::NodeKind::kPersistent).ok());
    (*session)->Close();
  }

  void Launch(std::vector<std::string> more = {}, chaos::Environment environment = {}) {
    const fs::path program =
        fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "ratchet-regionserver";
    chaos::LaunchSpec spec;
    spec.arguments = {program,
                      "--root",
                      root_,
                      "--zookeeper",
                      zookeeper_->address(),
                      "--zk-parent",
                      paths_.parent,
                      "--host",
                      "127.0.0.1",
                      "--port",
                      std::to_string(port_),
                      "--zk-session-ms",
                      "4000",
                      "--report-interval-ms",
                      "100"};
    spec.arguments.insert(spec.arguments.end(), more.begin(), more.end());
    spec.environment = std::move(environment);
    spec.environment.emplace("RATCHET_START_AGAIN", "false");  // the test inspects its exit codes
    spec.output = root_ / "log";
    auto launched = chaos::Launch(spec);
    ASSERT_TRUE(launched.ok()) << launched.error().ToString();
    process_ = *launched;
  }
  FakeMaster& StartMaster(std::uint64_t epoch = 1, std::string cluster_id = kClusterId) {
    master_ = std::make_unique<FakeMaster>(zookeeper_->address(), paths_, epoch, std::move(cluster_id));
    return *master_;
  }
  int WaitExit() {
    std::optional<int> code;
    const Status ended = chaos::WaitUntil("exit", kPatience, [this, &code] {
      const auto end = chaos::CheckEnded(process_);
      if (end) code = end->code;
      return end.has_value();
    });
    EXPECT_TRUE(ended.ok()) << ended.error().ToString();
    return code.value_or(-1);
  }
  std::string Log() {
    std::ifstream in(root_ / "log");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  static RegionInfo SomeRegion() {
    RegionInfo region;
    region.table = TableName("default", "t");
    region.region_id = 5;
    return region;
  }
  pb::ExecuteProceduresRequest OpenRequest(std::uint64_t pid, std::uint64_t open_number, std::uint32_t attempt = 1) {
    fs::create_directories(root_ / "data" / "default" / "t.7" / SomeRegion().encoded_name());
    pb::ExecuteProceduresRequest request;
    auto& info = *request.add_open_region()->add_open_info();
    ToProto(SomeRegion(), *info.mutable_region());
    info.set_open_proc_id(static_cast<std::int64_t>(pid));
    info.set_open_number(open_number);
    info.set_attempt(attempt);
    info.set_table_dir("default/t.7");
    TableDescriptor table;
    table.name = SomeRegion().table;
    table.families.push_back(DefaultFamily("f"));
    ToProto(table, *info.mutable_schema());
    return request;
  }
  static pb::ExecuteProceduresRequest CloseRequest(std::uint64_t pid) {
    pb::ExecuteProceduresRequest request;
    auto& close = *request.add_close_region();
    SpecifyRegion(SomeRegion(), *close.mutable_region());
    close.set_close_proc_id(static_cast<std::int64_t>(pid));
    close.set_attempt(1);
    return request;
  }
  template <class Request, class Response>
  Result<rpc::Reply<Response>> Client(const ServerName& server, const rpc::Method<Request, Response>& method,
                                      const std::type_identity_t<Request>& request) {
    rpc::CallOptions options;
    options.timeout = Millis(5000);
    return master_->channels().CallSync(method, {server.host, server.port}, request, options);
  }
  Result<rpc::Reply<pb::MutateResponse>> Put(const ServerName& server, const std::string& row,
                                             const std::string& value) {
    pb::MutateRequest request;
    SpecifyRegion(SomeRegion(), *request.mutable_region());
    request.mutable_mutation()->set_row(row);
    request.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
    auto* column = request.mutable_mutation()->add_column_value();
    column->set_family("f");
    column->add_qualifier_value()->set_qualifier("q");
    column->mutable_qualifier_value(0)->set_value(value);
    return Client(server, methods::kMutate, request);
  }
  Result<std::string> Get(const ServerName& server, const std::string& row) {
    pb::GetRequest request;
    SpecifyRegion(SomeRegion(), *request.mutable_region());
    request.mutable_get()->set_row(row);
    RATCHET_ASSIGN(auto reply, Client(server, methods::kGet, request));
    CellBlockReader reader(reply.cells);
    RATCHET_ASSIGN(const auto cells, ReadResult(reply.message.result(), reader));
    return cells.empty() ? std::string() : cells.front().value;
  }
  // Starts the server, and waits until it is registered and has SomeRegion open under pid 10.
  ServerName Serving(chaos::Environment environment = {}, std::vector<std::string> flags = {}) {
    StartMaster();
    Launch(std::move(flags), std::move(environment));
    const auto server = master_->WaitRegistered();
    EXPECT_TRUE(server.has_value());
    if (!server.has_value()) return {};
    EXPECT_TRUE(master_->Execute(*server, OpenRequest(10, 1)).ok());
    const auto opened = master_->WaitTransition();
    EXPECT_TRUE(opened.has_value() && opened->transition_code() == pb::RegionStateTransition::OPENED);
    return *server;
  }

  static inline fs::path directory_;
  static inline std::optional<chaos::ZooKeeperProcess> zookeeper_;
  fs::path root_;
  zk::ZkPaths paths_;
  std::uint16_t port_ = 0;
  chaos::ProcessId process_;
  std::unique_ptr<FakeMaster> master_;
};

}  // namespace ratchet::regionserver
