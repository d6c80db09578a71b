// A cluster whose ports require TLS and whose members connect by TLS: it serves, fails over, refuses plain text, and
// its certificates are replaced while clients work.
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>

#include <sys/resource.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "common/base/exit_codes.h"
#include "common/client/wire_requests.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/tls_handshakes.h"
#include "common/tls/certificate_authority.h"
#include "common/tls/process_tls.h"
#include "tests/cluster/cluster_fixture.h"
#include "tests/cluster/half_open.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class TlsClusterTest : public ClusterTest {
 protected:
  void SetUp() override {
    certificates_ = fs::temp_directory_path() / fmt::format("ratchet-tls-{:x}", RandomSeed());
    fs::create_directories(certificates_);
    authority_ = *tls::CertificateAuthority::Make("test authority", 10);
    Write("ca.pem", authority_->CertificatePem());
    Write("member.pem", *authority_->Issue({"member", {"127.0.0.1"}}));
    Write("admin.pem", *authority_->Issue({"admin", {}}));
    UseTls();
  }
  void TearDown() override {
    ClusterTest::TearDown();
    tls::ProcessTls::SetOfProcess(nullptr);
    fs::remove_all(certificates_);
  }
  [[nodiscard]] ClusterSpec Secured() const {
    ClusterSpec spec;
    spec.environment = {{"RATCHET_TLS", "require"},
                        {"RATCHET_TLS_CONNECT", "true"},
                        {"RATCHET_TLS_CERTIFICATE", (certificates_ / "member.pem").string()},
                        {"RATCHET_TLS_TRUST", (certificates_ / "ca.pem").string()}};
    return spec;
  }
  void Write(const std::string& name, const std::string& text) const {
    const fs::path next = certificates_ / (name + ".next");
    std::ofstream(next, std::ios::binary) << text;
    ASSERT_EQ(::chmod(next.c_str(), 0600), 0);
    fs::rename(next, certificates_ / name);
  }
  // Connections that this program opens from now on are encrypted.
  void UseTls() const {
    tls::TlsOptions options;
    options.connect = true;
    options.files.certificate = certificates_ / "admin.pem";
    options.files.trust = certificates_ / "ca.pem";
    auto opened = tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kClient);
    ASSERT_OK(opened);
    tls::ProcessTls::SetOfProcess(*opened);
  }
  // The error of one operation by a client that speaks plain text.
  [[nodiscard]] std::string PlainTextError() const {
    tls::ProcessTls::SetOfProcess(nullptr);
    client::ConnectionOptions options;
    options.zookeeper = zookeeper_;
    options.operation_timeout = Millis(30'000);
    auto plain = client::Connection::Open(options);
    UseTls();
    EXPECT_TRUE(plain.ok());
    const auto listed = client::Admin(**plain).ListTables();
    return listed.ok() ? std::string() : listed.error().ToString();
  }
  void BeforeServers() override { zookeeper_ = cluster().zookeeper(); }
  [[nodiscard]] std::vector<std::string> AllProcesses() {
    std::vector<std::string> names = cluster().Names(Role::kMaster);
    for (const std::string& name : cluster().Names(Role::kRegionServer)) names.push_back(name);
    return names;
  }
  // Every process reads its files again, and logs `text`.
  void ReloadAndAwait(const std::string& text) {
    for (const std::string& name : AllProcesses()) {
      const std::uint64_t from = cluster().LogSize(name);
      ASSERT_TRUE(Signal(cluster().Info(name).id, SIGHUP).ok());
      ASSERT_OK(ProcessCluster::WaitUntil(name + " to log: " + text, kPatience,
                                          [&] { return !cluster().LogLines(name, text, from).empty(); }));
    }
  }

  std::size_t Descriptors(const std::string& process) {
    std::error_code gone;  // a descriptor that is closed meanwhile
    const fs::directory_iterator all(fmt::format("/proc/{}/fd", cluster().Info(process).id.pid), gone);
    return gone ? 0 : static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
  }
  // For the connections of a flood.
  static void RaiseLimitOfDescriptors() {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 16'384);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    ASSERT_GE(limit.rlim_cur, 6'000U) << "the flood needs more descriptors (ulimit -Hn)";
  }

  fs::path certificates_;
  std::unique_ptr<tls::CertificateAuthority> authority_;
  std::string zookeeper_;
};

TEST_F(TlsClusterTest, ServesFailsOverAndRefusesPlainText) {
  Boot(2, 3, Secured());
  if (HasFatalFailure()) return;
  MakeTable("t", 6);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(200);
  const std::string why = PlainTextError();
  EXPECT_NE(why.find("this port speaks TLS only"), std::string::npos) << why;

  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  WaitForWrites(200);
  ASSERT_OK(cluster().WaitServing(kPatience));
  ASSERT_OK(cluster().Start(*active));
  const auto holder = cluster().MetaHolder();
  ASSERT_OK(holder);
  ASSERT_OK(cluster().Kill9(*holder));
  ASSERT_OK(cluster().WaitServing(kPatience));
  WaitForWrites(200);
  ASSERT_OK(cluster().Start(*holder));
  for (const std::string& name : AllProcesses())
    EXPECT_TRUE(cluster().LogLines(name, "is not a member of this cluster").empty()) << name;
}

TEST_F(TlsClusterTest, CertificatesAreReplacedWhileClientsWork) {
  Boot(1, 2, Secured());
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(100);
  Write("member.pem", *authority_->Issue({"second member", {"127.0.0.1"}}));
  ReloadAndAwait("CN=second member");
  // A half-written file changes nothing, and is a problem of the status.
  const std::string whole = *authority_->Issue({"third member", {"127.0.0.1"}});
  Write("member.pem", whole.substr(0, whole.size() / 2));
  ReloadAndAwait("remain in use");
  ASSERT_OK(ProcessCluster::WaitUntil("the problem in the status", kPatience, [&] {
    const auto status = cluster().StatusOf("master-1");
    if (!status.ok()) return false;
    for (const std::string& problem : status->problem())
      if (problem.find("TLS: a reload was refused") != std::string::npos) return true;
    return false;
  }));
  Write("member.pem", whole);
  ReloadAndAwait("CN=third member");
  ASSERT_OK(cluster().Kill9("rs-1"));
  ASSERT_OK(cluster().Start("rs-1"));
  ASSERT_OK(cluster().WaitServing(kPatience));
  WaitForWrites(100);
}

// Tests 20, 31 and 32 of identity.
TEST_F(TlsClusterTest, HalfOpenHandshakesStopNeitherClientsNorMembersNorAFailover) {
  RaiseLimitOfDescriptors();
  Boot(2, 2, Secured());
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  StartWriter("t");
  WaitForWrites(50);
  // A handshake of one byte a second gets no more time than another one.
  constexpr int kMostBytes = 60;
  auto trickle = std::async(std::launch::async, TrickleUntilClosed, cluster().Info("rs-1").port, 1'000, kMostBytes);

  std::vector<std::uint16_t> ports;
  std::map<std::string, std::size_t> before;
  for (const std::string& name : AllProcesses()) {
    ports.push_back(cluster().Info(name).port);
    before[name] = Descriptors(name);
  }
  constexpr std::size_t kForStrangers = rpc::TlsHandshakes::kMost - rpc::TlsHandshakes::kKeptForMembers;
  constexpr int kAddresses = 16;
  constexpr int kEach = 40;
  static_assert(kAddresses * kEach > kForStrangers && kEach < rpc::TlsHandshakes::kMostOfAddress);
  HalfOpenFlood flood(ports, kAddresses, kEach);
  const auto await_flood = [&](std::uint64_t more) {
    const std::uint64_t enough = flood.begun() + more;
    return ProcessCluster::WaitUntil("half-open handshakes", kPatience, [&] { return flood.begun() >= enough; });
  };
  const auto expect_bounded = [&] {
    for (const auto& [name, count] : before) {
      if (!cluster().Running(name)) continue;
      EXPECT_LT(Descriptors(name), count + rpc::TlsHandshakes::kMost + 200) << name;
    }
  };
  ASSERT_OK(await_flood(ports.size() * kAddresses * kEach));
  ASSERT_OK(ProcessCluster::WaitUntil("as many handshakes as are let in", kPatience, [&] {
    return Descriptors("rs-1") > before["rs-1"] + kForStrangers * 3 / 4 && flood.closed() > 500;
  }));
  expect_bounded();
  WaitForWrites(100);
  const auto added = cluster().AddServer();
  ASSERT_OK(added);
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Kill9(*active));
  ASSERT_OK(cluster().WaitServing(kPatience));
  WaitForWrites(100);
  ASSERT_OK(await_flood(500));
  expect_bounded();
  const int bytes = trickle.get();
  EXPECT_GT(bytes, 1) << "closed at once, or not at all";
  flood.Stop();
  ASSERT_OK(cluster().Start(*active));
}

// Scans the region again and again, one row a call, until a call fails.
Error ScanUntilRefused(rpc::ChannelPool& pool, const client::RegionLocation& region, std::atomic<int>& rows) {
  hbase::pb::ScanRequest open;
  SpecifyRegion(region.region, *open.mutable_region());
  client::ToProto(client::Scan(), *open.mutable_scan());
  open.set_number_of_rows(1);
  hbase::pb::ScanRequest request = open;
  while (true) {
    const auto answer = pool.CallSync(methods::kScan, region.endpoint(), request);
    if (!answer.ok()) return answer.error();
    ++rows;
    const hbase::pb::ScanResponse& response = answer->message;
    const bool ends = (response.has_more_results() && !response.more_results()) ||
                      (response.has_more_results_in_region() && !response.more_results_in_region());
    if (!ends) {
      request.Clear();
      request.set_scanner_id(response.scanner_id());
      request.set_number_of_rows(1);
    } else {
      request = open;
    }
  }
}

// Test 30 of identity: the connection of a client that always has a scan in progress ends too, and is the last one.
class ScanEndsTest : public TlsClusterTest {
 protected:
  void ExpectScanEnds(const std::string& certificate, const std::function<void()>& end, const std::string& log_line,
                      const std::string& why_refused) {
    Write("alice.pem", certificate);
    tls::TlsOptions options;
    options.connect = true;
    options.files.certificate = certificates_ / "alice.pem";
    options.files.trust = certificates_ / "ca.pem";
    const auto alice = tls::ProcessTls::Open(options, tls::TlsMaterial::Use::kClient);
    ASSERT_OK(alice);
    rpc::ChannelPoolOptions pool_options;
    pool_options.tls = *alice;
    rpc::ChannelPool pool(pool_options);
    client::RetryLoop loop = connection().NewLoop();
    const auto region = connection().locator().Locate(loop, TableName("default", "t"), "");
    ASSERT_OK(region);
    std::atomic<int> rows{0};
    const std::uint64_t log_from = cluster().LogSize("rs-1");
    auto scan = std::async(std::launch::async, [&] { return ScanUntilRefused(pool, *region, rows); });
    const auto ended = [&] { return scan.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
    ASSERT_OK(ProcessCluster::WaitUntil("some rows", kPatience, [&] { return rows.load() > 20 || ended(); }));
    EXPECT_FALSE(ended()) << "before the end of its certificate";
    end();
    const Status over = ProcessCluster::WaitUntil("the end of the scan", kPatience, ended);
    if (!over.ok()) pool.Stop();  // this ends it too
    ASSERT_OK(over);
    EXPECT_FALSE(cluster().LogLines("rs-1", log_line, log_from).empty()) << scan.get().ToString();
    // A call that finds the connection closed may fail otherwise; the next one connects.
    std::string why;
    EXPECT_TRUE(ProcessCluster::WaitUntil("a refused connection", kPatience,
                                          [&] {
                                            std::atomic<int> more{0};
                                            why = ScanUntilRefused(pool, *region, more).ToString();
                                            EXPECT_EQ(more.load(), 0) << "rows after the end";
                                            return why.find(why_refused) != std::string::npos;
                                          })
                    .ok())
        << why;
    WaitForWrites(20);  // another client
  }
};

TEST_F(ScanEndsTest, WithACertificateThatIsRevokedOrExpires) {
  Write("revoked.pem", *authority_->RevocationList({}, 10));
  ClusterSpec spec = Secured();
  spec.environment["RATCHET_TLS_REVOKED"] = (certificates_ / "revoked.pem").string();
  Boot(1, 1, spec);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  StartWriter("t");
  WaitForWrites(50);
  if (HasFatalFailure()) return;
  const std::string revoked = *authority_->Issue({"alice", {}});
  const auto revoke = [&] {
    Write("revoked.pem", *authority_->RevocationList({revoked}, 10));
    EXPECT_TRUE(Signal(cluster().Info("rs-1").id, SIGHUP).ok());
  };
  ExpectScanEnds(revoked, revoke, "was revoked", "certificate revoked");
  if (HasFailure()) return;
  tls::CertificateRequest request{"alice", {}};
  request.lifetime = std::chrono::seconds(15);
  ExpectScanEnds(
      *authority_->Issue(request), [] {}, "its client's certificate has expired", "certificate expired");
}

TEST_F(TlsClusterTest, AWrongCertificateEndsTheStart) {
  Boot(1, 1, Secured());
  if (HasFatalFailure()) return;
  const std::string trust = (certificates_ / "ca.pem").string();
  for (const auto& [flags, text] :
       {std::pair{std::vector<std::string>{"--tls-certificate", trust}, "cannot read the key"},
        {{"--tls-certificate", "/nowhere.pem"}, "cannot open"},
        {{"--tls-trust", ""}, "no file of trusted authorities"}}) {
    const auto name = cluster().AddServer({}, flags);
    ASSERT_OK(name);
    const auto code = cluster().WaitExit(*name, kPatience);
    ASSERT_OK(code);
    EXPECT_EQ(*code, exit_code::kUsage) << text;
  }
}

}  // namespace
}  // namespace ratchet::chaos
