// A running cluster is protected in eight steps by reloads, and back again, while clients write (docs/security.md,
// "Protect a running cluster"). No operation fails, no acknowledged row is lost, and at the end nothing is in plain
// text.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <sys/stat.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "chaos/demo/checks.h"
#include "common/io/cluster_key.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tls/certificate_authority.h"
#include "common/tls/process_tls.h"
#include "common/tools/cli/security_steps.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Clients with a connection of their own, which write all the time.
struct Load {
  std::unique_ptr<client::Connection> connection;
  std::unique_ptr<Writer> writer;
};

class UpgradeSecurityTest : public ClusterTest {
 protected:
  void SetUp() override {
    files_ = fs::temp_directory_path() / fmt::format("ratchet-upgrade-{:x}", RandomSeed());
    fs::create_directories(files_);
    const auto authority = *tls::CertificateAuthority::Make("test authority", 10);
    Write("ca.pem", authority->CertificatePem());
    Write("member.pem", *authority->Issue({"member", {"127.0.0.1"}}));
    Write("admin.pem", *authority->Issue({"admin", {}}));
    settings_ = {{"member-proof", "accept"}};
    WriteSettings();
  }
  void TearDown() override {
    loads_.clear();
    ClusterTest::TearDown();
    fs::remove_all(files_);
  }
  [[nodiscard]] ClusterSpec Spec() const {
    ClusterSpec spec;
    spec.session_timeout = Millis{10'000};
    spec.master_flags = {"--config", files_ / "master.conf"};
    spec.server_flags = {"--config", files_ / "server.conf"};
    return spec;
  }
  void Write(const std::string& name, const std::string& text) const {
    const fs::path next = files_ / (name + ".next");
    std::ofstream(next, std::ios::binary) << text;
    ASSERT_EQ(::chmod(next.c_str(), 0600), 0);
    fs::rename(next, files_ / name);
  }
  void WriteSettings() const {
    std::string all;
    for (const auto& [name, value] : settings_) all += fmt::format("{} = {}\n", name, value);
    Write("server.conf", all);
    Write("master.conf", all + fmt::format("zk-acl = {}\n", zk_acl_));
  }
  std::vector<std::string> AllProcesses() {
    std::vector<std::string> names = cluster().Names(Role::kMaster);
    for (const std::string& name : cluster().Names(Role::kRegionServer)) names.push_back(name);
    return names;
  }
  void Reload(const std::map<std::string, std::string>& changes) {
    for (const auto& [name, value] : changes) settings_[name] = value;
    WriteSettings();
    for (const std::string& name : AllProcesses()) ASSERT_TRUE(Signal(cluster().Info(name).id, SIGHUP).ok()) << name;
  }

  std::shared_ptr<tls::ProcessTls> ClientTls() const {
    tls::TlsOptions options;
    options.connect = true;
    options.files.certificate = files_ / "admin.pem";
    options.files.trust = files_ / "ca.pem";
    auto opened = tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kClient);
    EXPECT_TRUE(opened.ok());
    return *opened;
  }
  std::unique_ptr<client::Connection> Connect(bool encrypted) {
    if (encrypted) tls::ProcessTls::SetOfProcess(ClientTls());
    client::ConnectionOptions options;
    options.zookeeper = cluster().zookeeper();
    options.operation_timeout = Millis(60'000);
    auto opened = client::Connection::Open(options);
    tls::ProcessTls::SetOfProcess(nullptr);
    EXPECT_TRUE(opened.ok());
    return std::move(*opened);
  }
  // Starts writing by another connection, and ends the earlier load: none of its operations failed.
  void ChangeClients(bool encrypted) {
    Load next;
    next.connection = Connect(encrypted);
    next.writer = std::make_unique<Writer>(*next.connection, TableName("default", "t"), 4, RandomSeed());
    AwaitWrites(*next.writer);
    if (!loads_.empty()) {
      Take(loads_.back());
      loads_.back().connection.reset();
    }
    loads_.push_back(std::move(next));
  }
  void Take(Load& load) {
    load.writer->Stop();
    const Writer::Account account = load.writer->CollectAccount();
    EXPECT_THAT(account.unknown, IsEmpty()) << "operations failed";
    for (const auto& [row, value] : account.acknowledged)
      EXPECT_TRUE(written_.acknowledged.emplace(row, value).second) << "two loads wrote " << row;
    load.writer.reset();
  }
  void AwaitWrites(const Writer& writer) {
    const std::size_t enough = writer.acknowledged() + 50;
    ASSERT_OK(ProcessCluster::WaitUntil("writes", kPatience, [&] { return writer.acknowledged() >= enough; }));
  }

  // The numbers of the steps that are missing, as `ratchet security status` shows them.
  std::vector<std::size_t> Missing() {
    std::vector<pb::ProcessSecurity> reports;
    for (const std::string& name : cluster().Names(Role::kMaster)) {
      const auto status = StatusAt(cluster().Info(name).port);
      if (!status.ok()) return {0};
      reports.insert(reports.end(), status->security().begin(), status->security().end());
    }
    const std::size_t processes = AllProcesses().size();
    const std::vector<std::string> silent(processes - std::min(processes, reports.size()), "a process");
    std::vector<std::size_t> missing;
    const auto steps = cli::SecuritySteps(reports, silent);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!steps[i].missing.empty()) missing.push_back(i + 1);
    }
    return missing;
  }
  Result<pb::GetStatusResponse> StatusAt(std::uint16_t port) {
    rpc::ChannelPoolOptions options;
    options.user = "test";
    if (encrypted_) options.tls = ClientTls();
    rpc::ChannelPool pool(options);
    auto reply = pool.CallSync(methods::kGetStatus, {"127.0.0.1", port}, pb::GetStatusRequest());
    pool.Stop();
    if (!reply.ok()) return reply.error();
    return std::move(reply->message);
  }
  void ExpectMissing(const std::vector<std::size_t>& steps) {
    std::vector<std::size_t> last;
    const Status reached =
        ProcessCluster::WaitUntil("the steps", kPatience, [&] { return (last = Missing()) == steps; });
    ASSERT_TRUE(reached.ok()) << "missing are " << testing::PrintToString(last) << ", not "
                              << testing::PrintToString(steps);
    if (!loads_.empty()) AwaitWrites(*loads_.back().writer);
  }
  void ReplaceKey() {
    const auto old = io::ReadClusterKeys(*io::PosixDisk().Open(cluster().root()).value()).value().front();
    const std::string fresh = io::NewClusterKey();
    for (const std::string& text : {old + "\n" + fresh + "\n", fresh + "\n" + old + "\n", fresh + "\n"}) {
      std::map<std::string, std::uint64_t> from;
      for (const std::string& name : AllProcesses()) from[name] = cluster().LogSize(name);
      const fs::path next = cluster().root() / "cluster.key.next";
      std::ofstream(next) << text;
      ASSERT_EQ(::chmod(next.c_str(), 0600), 0);
      fs::rename(next, cluster().root() / "cluster.key");
      for (const auto& [name, at] : from)
        ASSERT_OK(ProcessCluster::WaitUntil(name + " to read the key", kPatience, [&, at = at, name = name] {
          return !cluster().LogLines(name, "cluster.key has changed", at).empty();
        }));
    }
  }
  void ExpectEachRow() {
    const auto connection = Connect(encrypted_);
    for (const Finding& finding : CheckRows(*connection, TableName("default", "t"), {}, written_))
      EXPECT_TRUE(finding.good) << finding.text;
    EXPECT_GT(written_.acknowledged.size(), 500U);
  }

  fs::path files_;
  std::map<std::string, std::string> settings_;
  std::string zk_acl_ = "open";
  bool encrypted_ = false;  // how this test asks
  std::vector<Load> loads_;
  Writer::Account written_;  // by all loads together
};

TEST_F(UpgradeSecurityTest, TheEightStepsForthAndBackLoseNoOperation) {
  Boot(2, 3, Spec());
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  ChangeClients(/*encrypted=*/false);
  ExpectMissing({2, 3, 4, 5, 6, 7, 8});

  Reload({{"tls", "accept"},
          {"tls-certificate", files_ / "member.pem"},
          {"tls-trust", files_ / "ca.pem"},
          {"tls-client-certificates", "need"}});
  ExpectMissing({3, 4, 5, 6, 7, 8});
  Reload({{"tls-connect", "true"}});
  ExpectMissing({4, 5, 6, 7, 8});
  ReplaceKey();
  Reload({{"member-proof", "required"}});
  ExpectMissing({5, 6, 7, 8});
  ChangeClients(/*encrypted=*/true);
  encrypted_ = true;
  Reload({{"tls-user-from", "cn"}, {"simple-users", "on"}, {"superusers", "admin,test,cluster"}, {"rights", "log"}});
  ExpectMissing({5, 6, 7, 8});  // the harness of this test is a client in plain text
  Reload({{"rights", "enforce"}});
  ExpectMissing({5, 7, 8});
  Reload({{"tls", "require"}, {"simple-users", "off"}});
  ExpectMissing({8});
  const auto plain = Connect(/*encrypted=*/false);
  const auto refused = client::Admin(*plain, Millis(10'000)).ListTables();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().ToString().find("this port speaks TLS only"), std::string::npos);
  zk_acl_ = "set";
  Reload({});
  ExpectMissing({});

  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  AwaitWrites(*loads_.back().writer);
  ASSERT_OK(cluster().Start(*active));
  ExpectMissing({});

  zk_acl_ = "open";
  Reload({});
  ExpectMissing({8});
  Reload({{"tls", "accept"}, {"simple-users", "on"}});
  ExpectMissing({7, 8});
  Reload({{"rights", "off"}});
  ExpectMissing({6, 7, 8});
  Reload({{"tls-user-from", "off"}, {"simple-users", "off"}});
  ChangeClients(/*encrypted=*/false);
  encrypted_ = false;
  ExpectMissing({5, 6, 7, 8});
  Reload({{"member-proof", "accept"}});
  ExpectMissing({4, 5, 6, 7, 8});
  Reload({{"tls-connect", "false"}});
  ExpectMissing({3, 4, 5, 6, 7, 8});
  Reload({{"tls", "off"}});
  ExpectMissing({2, 3, 4, 5, 6, 7, 8});
  Take(loads_.back());
  ExpectEachRow();
}

}  // namespace
}  // namespace ratchet::chaos
