// A cluster with TLS, users, rights and audit logs on real processes: what the logs record, and that nothing that the
// cluster shows has a secret. Tests 17, 45, 46, 47 and 50 of identity.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "chaos/cluster/credentials.h"
#include "chaos/disk/loop_disk.h"
#include "common/audit/verify.h"
#include "common/base/exit_codes.h"
#include "common/base/printable.h"
#include "common/identity/login_file.h"
#include "common/io/cluster_key.h"
#include "common/io/file_descriptor.h"
#include "common/model/codec.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/connections.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/rpc/handshake.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tls/tls_session.h"
#include "tests/cluster/page_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// HTTP's Basic, of a user and a password.
std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? kDigits[group >> (18U - 6U * i) & 63U] : '=';
  }
  return text;
}

class AuditTest : public PageTest {
 protected:
  void TearDown() override {
    PageTest::TearDown();
    tls::ProcessTls::SetOfProcess(nullptr);
    disk_.reset();
    fs::remove_all(files_);
  }
  // Everything is on. The pages are in plain text, so that the test reads them without TLS, and ask for a login.
  void BootSecured(int masters, int servers) {
    fs::create_directories(files_);
    Write("master.conf", "archive-ttl-ms = 600000\n");
    Write("server.conf", "log-level = info\n");
    const auto login = identity::LoginFile::PasswordLine("admin", kPassword);
    ASSERT_OK(login);
    Write("logins", *login + "\n" + *identity::LoginFile::TokenLine("admin", kPageToken) + "\n");
    ClusterSpec spec;
    spec.dir = files_ / "cluster";
    spec.masters = masters;
    spec.servers = servers;
    ASSERT_OK(Secure(spec));
    credentials_ = CredentialsDir(spec);
    audit_ = AuditDir(spec);
    for (auto* const flags : {&spec.master_flags, &spec.server_flags}) {
      for (std::string& flag : *flags)
        if (flag == "--info-tls=require") flag = "--info-tls=off";
      flags->push_back(fmt::format("--info-logins={}", (files_ / "logins").string()));
      flags->push_back(fmt::format("--storage-client={}", kOwnName));
    }
    spec.master_flags.push_back(fmt::format("--config={}", (files_ / "master.conf").string()));
    spec.master_flags.emplace_back("--fence-command=/bin/echo evicted");
    spec.server_flags.push_back(fmt::format("--config={}", (files_ / "server.conf").string()));
    const auto admin = ClientTls(credentials_, {"admin.pem"});
    ASSERT_OK(admin);
    tls::ProcessTls::SetOfProcess(*admin);
    Boot(masters, servers, spec);
  }
  void Write(const std::string& name, const std::string& text) const { ASSERT_OK(ReplaceFile(files_ / name, text)); }
  // The audit log of one process, whose chain must be whole; without lines that the process is writing.
  [[nodiscard]] std::vector<std::string> AuditLines(const std::string& process) const {
    std::map<fs::path, std::string> files;
    for (const auto& file : fs::directory_iterator(audit_ / process)) {
      if (file.path().extension() == ".jsonl") files[file.path()] = TextOf(file.path());
    }
    std::vector<std::string> lines;
    audit::Verifier verifier;
    for (auto& [path, text] : files) {
      text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
      verifier.AddFile(path.filename(), text);
      std::istringstream stream(text);
      for (std::string line; std::getline(stream, line);) lines.push_back(line);
    }
    EXPECT_TRUE(verifier.report().problems.empty()) << process << ": " << verifier.report().problems.front();
    EXPECT_TRUE(may_lose_lines_ || verifier.report().lost == 0U) << verifier.report().lost;
    return lines;
  }
  // Waits for a line with all of these parts.
  std::string AwaitLine(const std::string& process, const std::vector<std::string>& parts) {
    std::string found;
    const Status status = ProcessCluster::WaitUntil(
        fmt::format("a line with {} in the audit log of {}", parts.front(), process), kPatience, [&] {
          for (const std::string& line : AuditLines(process)) {
            bool all = true;
            for (const std::string& part : parts) all = all && line.find(part) != std::string::npos;
            if (all) found = line;
          }
          return !found.empty();
        });
    EXPECT_TRUE(status.ok()) << status.error().ToString() << "\n" << fmt::format("{}", fmt::join(parts, ", "));
    return found;
  }
  [[nodiscard]] HttpAnswer GetAs(const std::string& process, const std::string& path, const std::string& login) {
    const http::HttpClient client(PagePort(process));
    client.Send(fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: {}\r\n\r\n",
                            path, login));
    const std::string text = client.Receive();
    HttpAnswer answer;
    if (text.size() > 12) answer.status = std::atoi(text.c_str() + 9);
    answer.body = text;
    return answer;
  }

  static constexpr const char* kPassword = "planted-password-55b1c0ffee";
  static constexpr const char* kPageToken = "plantedPageToken0123456789abcdefghijklmnopq";
  const fs::path files_ = fs::temp_directory_path() / fmt::format("ratchet-audit-{:x}", RandomSeed());
  fs::path credentials_;
  fs::path audit_;
  std::unique_ptr<LoopDisk> disk_;  // with the audit log of the master
  bool may_lose_lines_ = false;     // then a line `lost` counts them
};

// A client with the certificate of the stranger that wants to act for a superuser. Returns what the server answers.
std::string AnswerToProxy(const tls::TlsContext& context, std::uint16_t port, const std::string& effective,
                          const std::string& real) {
  const io::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return "cannot connect";
  const timeval patience{60, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto session = context.Connect("127.0.0.1");
  if (!session->Begin().ok()) return "cannot begin";
  hbase::pb::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user(effective);
  header.mutable_user_info()->set_real_user(real);
  header.set_service_name("ClientService");
  const std::string body = header.SerializeAsString();
  std::string hello = std::string("HBas") + '\0' + rpc::kAuthSimple;
  for (int shift = 24; shift >= 0; shift -= 8) hello += static_cast<char>(body.size() >> static_cast<unsigned>(shift));
  hello += body;
  std::string answer;
  bool told = false;
  while (true) {
    std::string out;
    const std::vector<std::string_view> parts =
        session->established() && !told ? std::vector<std::string_view>{hello} : std::vector<std::string_view>{};
    told = told || session->established();
    if (!session->Seal(parts, out).ok()) return "cannot seal";
    if (!out.empty() && ::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL) < 0) return answer;
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return answer;
    if (!session->Feed({bytes.data(), static_cast<std::size_t>(got)}, answer).ok()) return answer;
  }
}

TEST_F(AuditTest, RecordsProceduresFencesSettingsAndRefusals) {
  BootSecured(1, 2);
  if (HasFatalFailure()) return;
  // The line of a change has its procedure.
  TableDescriptor descriptor;
  descriptor.name = TableName("default", "t");
  descriptor.families.push_back(DefaultFamily("u"));
  const auto pid = admin().CreateTable(descriptor, {});
  ASSERT_OK(admin().WaitOk(pid));
  AwaitLine("master-1", {R"("event":"change","user":"admin")", R"("method":"CreateTable")", R"("outcome":"asked"})"});
  AwaitLine("master-1", {R"("event":"change","user":"admin")", R"("by":"certificate")", R"("method":"CreateTable")",
                         fmt::format(R"("outcome":"accepted","pid":{}}})", *pid)});
  // The procedure has who asked for it, from where, and how.
  pb::GetProcedureRequest asked;
  asked.set_pid(*pid);
  const auto shown = admin().Call(methods::kGetProcedure, asked);
  ASSERT_OK(shown);
  EXPECT_EQ(shown->procedure().owner(), "admin");
  EXPECT_EQ(shown->procedure().peer().substr(0, 10), "127.0.0.1:");
  EXPECT_EQ(shown->procedure().method(), "MasterService.CreateTable");
  // A reload names what has changed, and who asked for it.
  Write("master.conf", "archive-ttl-ms = 600001\n");
  ASSERT_TRUE(Signal(cluster().Info("master-1").id, SIGHUP).ok());
  AwaitLine("master-1", {R"("event":"settings","target":"archive-ttl-ms","outcome":"changed","why":"SIGHUP"})"});
  Write("master.conf", "archive-ttl-ms = wrong\n");
  ASSERT_TRUE(Signal(cluster().Info("master-1").id, SIGHUP).ok());
  AwaitLine("master-1", {R"("event":"settings","outcome":"refused","why":"SIGHUP"})"});
  for (const std::string& line : AuditLines("master-1")) EXPECT_EQ(line.find("600001"), std::string::npos) << line;
  // A user without a rule acts for no other one, and both names are known afterwards.
  const auto stranger = ClientTls(credentials_, {"stranger.pem"});
  ASSERT_OK(stranger);
  for (const auto& [effective, real] :
       std::map<std::string, std::string>{{"admin", "stranger"}, {"superuser", "admin"}}) {
    const std::string answer = AnswerToProxy(*(*stranger)->context(), cluster().Info("rs-1").port, effective, real);
    EXPECT_NE(answer.find("AccessDeniedException"), std::string::npos) << answer;
    AwaitLine("rs-1",
              {R"("event":"auth","real_user":"stranger")", fmt::format(R"("claimed":"{}")", effective),
               R"("by":"certificate")", R"("outcome":"denied")",
               real == "admin" ? "certificate is that of stranger" : "user stranger may not act for user admin"});
  }
  // A fence has a line for each run of the command.
  ASSERT_OK(cluster().Kill9("rs-2"));
  const std::string fence = AwaitLine("master-1", {R"("event":"fence")", R"("target":"rs-2")"});
  EXPECT_TRUE(std::regex_search(
      fence, std::regex(R"x("outcome":"confirmed","why":"/bin/echo ended with code 0 after \d+ ms: evicted rs-2 ?")x")))
      << fence;
  ASSERT_OK(cluster().Start("rs-2"));
}

TEST_F(AuditTest, RecordsTokensAndClosedConnections) {
  BootSecured(1, 1);
  if (HasFatalFailure()) return;
  // Who is connected, and how; a close has a line.
  pb::ListConnectionsRequest who;
  who.set_user_name("admin");
  const rpc::Endpoint server{"127.0.0.1", cluster().Info("rs-1").port};
  const auto connected = connection().pool().CallSync(methods::kListConnections, server, who);
  ASSERT_OK(connected);
  ASSERT_GT(connected->message.connection_size(), 0);
  const auto& own = connected->message.connection(0);
  EXPECT_EQ(own.by(), "certificate");
  EXPECT_EQ(own.tls().substr(0, 5), "TLSv1");
  EXPECT_FALSE(own.serial().empty());
  pb::CloseConnectionsRequest close;
  close.set_user_name("stranger");
  ASSERT_OK(connection().pool().CallSync(methods::kCloseConnections, server, close));
  AwaitLine("rs-1", {R"("event":"change","user":"admin")", R"("method":"CloseConnections")",
                     R"("target":"user_name=stranger")", R"("outcome":"asked")"});
  // A token is listed until it is revoked, and each step has its procedure.
  const auto issued = admin().Call(methods::kIssueToken, pb::IssueTokenRequest());
  ASSERT_OK(issued);
  AwaitLine("master-1", {R"("event":"token","user":"admin")", R"("method":"IssueToken")",
                         fmt::format(R"("outcome":"accepted","pid":{}}})", issued->pid())});
  const auto tokens = [&] {
    const auto listed = admin().Call(methods::kListTokens, pb::ListTokensRequest());
    EXPECT_TRUE(listed.ok()) << listed.error().ToString();
    std::string text;
    for (const auto& token : listed->token())
      text += fmt::format("{} {} {};", token.sequence(), token.user(), token.asked_by());
    return text;
  };
  EXPECT_EQ(tokens(), fmt::format("{} admin admin;", issued->pid()));
  pb::RevokeTokensRequest revoke;
  revoke.set_sequence(static_cast<std::int64_t>(issued->pid()));
  const auto revoked = admin().Call(methods::kRevokeTokens, revoke);
  ASSERT_OK(revoked);
  EXPECT_EQ(revoked->revoked(), 1U);
  EXPECT_EQ(tokens(), "");
  AwaitLine("master-1", {R"("event":"token","user":"admin")", R"("method":"RevokeTokens")",
                         fmt::format(R"("target":"sequence={}")", issued->pid()), R"("outcome":"asked")"});
}

TEST_F(AuditTest, WrongFenceCommandsAndCapturesAreRefusedAtTheStart) {
  BootSecured(2, 1);
  if (HasFatalFailure()) return;
  const std::string standby = Active() == "master-1" ? "master-2" : "master-1";
  const auto refused = [&](const std::string& name, const Environment& environment,
                           const std::vector<std::string>& flags, const std::string& text) {
    ASSERT_OK(cluster().Stop(name, kPatience));
    ASSERT_OK(cluster().Start(name, environment, flags));
    const auto code = cluster().WaitExit(name, kPatience);
    ASSERT_OK(code);
    EXPECT_EQ(*code, exit_code::kUsage);
    EXPECT_FALSE(cluster().LogLines(name, text).empty()) << "its log does not say: " << text;
    ASSERT_OK(cluster().Start(name));
  };
  refused(standby, {}, {"--fence-command=evict --conf /etc/ceph.conf"}, "'evict' is not an absolute path");
  refused(standby, {}, {"--fence-environment=LD_PRELOAD"}, "LD_PRELOAD could make the command run other code");
  const fs::path captures = files_ / "captures";
  fs::create_directories(captures);
  const Environment capture{{"RATCHET_DUMP_FRAMES", captures.string()}};
  refused(standby, capture, {}, "unset RATCHET_DUMP_FRAMES");
  refused("rs-1", capture, {}, "unset RATCHET_DUMP_FRAMES");
  EXPECT_TRUE(fs::is_empty(captures));
}

// The audit log of the master is on a disk of its own. Test 46 of identity; tests/unit/audit/audit_disk_test.cc has
// more kills.
class AuditDiskTest : public AuditTest {
 protected:
  void BeforeServers() override {
    auto disk = LoopDisk::Create(files_ / "audit.image", 32U << 20, audit_ / "master-1");
    if (!disk.ok()) GTEST_SKIP() << disk.error().ToString();
    disk_ = std::move(*disk);
  }
  // Empty: granted.
  [[nodiscard]] std::string Grant(const std::string& user) {
    hbase::pb::GrantRequest request;
    auto& permission = *request.mutable_user_permission();
    permission.set_user(user);
    permission.mutable_permission()->set_type(hbase::pb::Permission::Global);
    permission.mutable_permission()->mutable_global_permission()->add_action(hbase::pb::Permission::READ);
    const auto answer = admin().Call(methods::kGrant, request);
    return answer.ok() ? std::string() : answer.error().ToString();
  }
  // Asks the master for changes that have long lines and begin no procedure, until the log has no room for one.
  void UseUpTheReserve() {
    constexpr int kThreads = 8;
    constexpr int kMostOfThread = 10'000;
    std::atomic<bool> full{false};
    std::vector<std::thread> threads;
    pb::CloseConnectionsRequest change;
    change.set_address(std::string(400, 'x'));
    const rpc::Endpoint master{"127.0.0.1", cluster().Info("master-1").port};
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < kMostOfThread && !full; ++i) {
          const auto answer = connection().pool().CallSync(methods::kCloseConnections, master, change);
          if (answer.ok()) continue;
          EXPECT_NE(answer.error().message().find(kNoRoom), std::string::npos) << answer.error().ToString();
          full = true;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(full) << "the log has taken " << kThreads * kMostOfThread << " lines on a full disk";
    // One short line may have room where a group of lines had none.
    for (int i = 0; i < kThreads * 10 && Grant("filler").empty(); ++i) continue;
  }
  void Drop(const std::string& name) {
    const TableName table("default", name);
    const auto disabled = admin().DisableTable(table);
    ASSERT_OK(disabled);
    ASSERT_OK(admin().WaitOk(*disabled));
    const auto deleted = admin().DeleteTable(table);
    ASSERT_OK(deleted);
    ASSERT_OK(admin().WaitOk(*deleted));
  }
  void AwaitProblem(const std::string& text) {
    ASSERT_OK(ProcessCluster::WaitUntil("the problem in the status: " + text, kPatience, [&] {
      const auto status = cluster().StatusOf("master-1");
      if (!status.ok()) return false;
      return std::any_of(status->problem().begin(), status->problem().end(),
                         [&](const std::string& problem) { return problem.find(text) != std::string::npos; });
    }));
  }
  void AwaitGrant(const std::string& user) {
    ASSERT_OK(ProcessCluster::WaitUntil("a grant to " + user, kPatience, [&] { return Grant(user).empty(); }));
  }

  static constexpr const char* kNoRoom = "the audit log has no room";
};

TEST_F(AuditDiskTest, AFullDiskRefusesRightsOnlyAndAKillLeavesNoGap) {
  BootSecured(1, 1);
  if (HasFatalFailure() || IsSkipped()) return;
  MakeTable("t", 1);
  MakeTable("unneeded", 1);
  MakeTable("needless", 1);
  StartWriter("t");
  WaitForWrites(20);
  EXPECT_EQ(Grant("before"), "");
  if (HasFailure()) return;
  ASSERT_OK(disk_->Fill());
  UseUpTheReserve();
  if (HasFailure()) return;
  EXPECT_NE(Grant("refused-1").find(kNoRoom), std::string::npos);
  AwaitProblem("operators' changes are refused");
  // Data continues, and changes that free space.
  WaitForWrites(20);
  Drop("unneeded");
  if (HasFailure()) return;
  // A master that starts on the full disk refuses too; it has no reserve, and the few bytes that the end of a file
  // frees.
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Start("master-1"));
  ASSERT_OK(cluster().WaitServing(kPatience));
  UseUpTheReserve();
  EXPECT_NE(Grant("refused-2").find(kNoRoom), std::string::npos);
  Drop("needless");
  WaitForWrites(20);
  if (HasFailure()) return;
  ASSERT_OK(disk_->Free());
  AwaitGrant("after");
  may_lose_lines_ = true;
  AwaitLine("master-1", {R"("event":"lost")", R"("why":"no line can be written from here to the next line 'lost'")"});
  AwaitLine("master-1", {R"("event":"lost")", R"("why":"lines that could not be written","count":)"});
  AwaitLine("master-1", {R"("event":"rights","user":"admin")", R"("method":"Grant")", "after"});
  for (const std::string& line : AuditLines("master-1")) EXPECT_EQ(line.find("refused-"), std::string::npos) << line;
}

TEST_F(AuditDiskTest, AReadOnlyDiskRefusesRightsAndAStart) {
  BootSecured(1, 1);
  if (HasFatalFailure() || IsSkipped()) return;
  MakeTable("t", 1);
  StartWriter("t");
  WaitForWrites(20);
  EXPECT_EQ(Grant("before"), "");
  if (HasFailure()) return;
  ASSERT_OK(disk_->TurnReadOnly());
  EXPECT_NE(Grant("refused-1").find(kNoRoom), std::string::npos);
  AwaitProblem("cannot be written");
  EXPECT_NE(Grant("refused-2").find(kNoRoom), std::string::npos);
  WaitForWrites(20);
  ASSERT_OK(cluster().Kill9("master-1"));
  // A start would have no log.
  ASSERT_OK(cluster().Start("master-1"));
  const auto code = cluster().WaitExit("master-1", kPatience);
  ASSERT_OK(code);
  EXPECT_EQ(*code, exit_code::kUsage);
  EXPECT_FALSE(cluster().LogLines("master-1", "Read-only file system").empty());
  ASSERT_OK(disk_->MountAgain());
  ASSERT_OK(cluster().Start("master-1"));
  ASSERT_OK(cluster().WaitServing(kPatience));
  EXPECT_EQ(Grant("after"), "");
  AwaitLine("master-1", {R"("method":"Grant")", "before"});
  AwaitLine("master-1", {R"("method":"Grant")", "after"});
  for (const std::string& line : AuditLines("master-1")) EXPECT_EQ(line.find("refused-2"), std::string::npos) << line;
}

// Names that imitate lines and change terminals, and names of 1 MiB. Test 47 of identity.
class HostileNamesTest : public AuditTest {
 protected:
  template <class Method, class Request>
  void Ask(const Method& method, const std::string& process, const Request& request) {
    static_cast<void>(connection().pool().CallSync(method, {"127.0.0.1", cluster().Info(process).port}, request));
  }
  void UseAsUser(const std::string& name) {
    hbase::pb::GrantRequest grant;
    grant.mutable_user_permission()->set_user(name);
    grant.mutable_user_permission()->mutable_permission()->set_type(hbase::pb::Permission::Global);
    Ask(methods::kGrant, "master-1", grant);
    pb::CloseConnectionsRequest close;
    close.set_user_name(name.substr(0, 200));
    close.set_address(name);
    for (const char* process : {"master-1", "rs-1"}) Ask(methods::kCloseConnections, process, close);
    const auto tls = ClientTls(credentials_, {"stranger.pem"});
    ASSERT_OK(tls);
    constexpr std::size_t kMostInHeader = 30'000;
    for (const char* process : {"master-1", "rs-1"})
      static_cast<void>(AnswerToProxy(*(*tls)->context(), cluster().Info(process).port, name.substr(0, kMostInHeader),
                                      name.substr(0, kMostInHeader)));
  }
  void UseAsTable(const std::string& name) {
    const auto use = [&](auto request, const auto& method) {
      request.mutable_table_name()->set_namespace_("default");
      request.mutable_table_name()->set_qualifier(name);
      Ask(method, "master-1", request);
    };
    use(hbase::pb::DisableTableRequest(), methods::kDisableTable);
    use(hbase::pb::DeleteTableRequest(), methods::kDeleteTable);
    hbase::pb::CreateTableRequest create;
    create.mutable_table_schema()->mutable_table_name()->set_namespace_("default");
    create.mutable_table_schema()->mutable_table_name()->set_qualifier(name);
    Ask(methods::kCreateTable, "master-1", create);
  }
  void UseAsRow(const std::string& name) {
    client::RetryLoop loop = connection().NewLoop();
    const auto region = connection().locator().Locate(loop, TableName("default", "t"), "");
    ASSERT_OK(region);
    hbase::pb::GetRequest get;
    SpecifyRegion(region->region, *get.mutable_region());
    get.mutable_get()->set_row(name);
    Ask(methods::kGet, "rs-1", get);
    get.mutable_region()->set_type(hbase::pb::RegionSpecifier::REGION_NAME);
    get.mutable_region()->set_value("t," + name + ",1.0123456789abcdef0123456789abcdef.");
    Ask(methods::kGet, "rs-1", get);
  }
  // Regions whose names have the row are opened, listed and logged.
  void UseAsSplitKey(const std::string& row) {
    TableDescriptor descriptor;
    descriptor.name = TableName("default", "split");
    descriptor.families.push_back(DefaultFamily("u"));
    const auto pid = admin().CreateTable(descriptor, {row});
    ASSERT_OK(pid);
    ASSERT_OK(admin().WaitOk(*pid));
  }
  static void ExpectPrintable(const std::string& where, const std::string& text, std::size_t most_line) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), most_line) << where;
      const auto bad = std::find_if(line.begin(), line.end(), [](char c) { return c < 0x20 || c == 0x7f; });
      EXPECT_EQ(bad, line.end()) << where << ": " << PrintableText(line.substr(0, 500));
    }
  }
};

TEST_F(HostileNamesTest, AreEscapedAndCutInEachLogAndView) {
  constexpr std::size_t kMostLogLine = 70 << 10;  // of which each byte may be written as four
  BootSecured(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  const std::string evil = "evil\n{\"n\":9}\r\x1b[31m\x9b" + std::string(1, '\0');
  const std::string large = evil + std::string(1 << 20, 'z');
  for (const std::string& name : {evil, large}) {
    UseAsUser(name);
    UseAsTable(name);
    UseAsRow(name);
  }
  UseAsSplitKey(evil + std::string(3'000, 'z'));
  if (HasFatalFailure()) return;
  for (const char* process : {"master-1", "rs-1"}) {
    SCOPED_TRACE(process);
    const std::string log = TextOf(cluster().Info(process).log);
    ExpectPrintable("the log", log, kMostLogLine);
    EXPECT_NE(log.find("evil\\x0A"), std::string::npos);
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(std::regex_search(line.substr(0, 40), std::regex("^20\\d\\d-"))) << line.substr(0, 200);
    const std::string audit = fmt::format("{}", fmt::join(AuditLines(process), "\n"));
    ExpectPrintable("the audit log", audit, 8 << 10);
    EXPECT_NE(audit.find("evil\\\\x0A"), std::string::npos);
    EXPECT_NE(audit.find("zzz... ("), std::string::npos) << "cut";
    for (const char* path : {"status", "servers", "regions", "procedures", "events", "connections"}) {
      const HttpAnswer answer =
          GetAs(process, std::string("/api/v1/") + path, "Basic " + Base64(std::string("admin:") + kPassword));
      ExpectPrintable(path, answer.body.substr(std::min(answer.body.find("\r\n\r\n") + 4, answer.body.size())),
                      512 << 10);
    }
  }
  const auto status = cluster().StatusOf("master-1");
  ASSERT_OK(status);
  for (const std::string& problem : status->problem()) ExpectPrintable("a problem", problem, kMostLogLine);
}

// The secrets of a cluster, by their kind.
class SecretsTest : public AuditTest {
 protected:
  // A shorter text could be anywhere by chance.
  void Plant(const std::string& what, const std::string& secret) {
    ASSERT_GE(secret.size(), 16U) << what;
    secrets_[what] = secret;
  }
  void PlantKeys() {
    std::istringstream keys(TextOf(cluster().root() / io::kClusterKeyFile));
    std::string key;
    for (int i = 1; std::getline(keys, key); ++i) {
      Plant(fmt::format("cluster key {}", i), key);
      Plant(fmt::format("digits of cluster key {}", i), key.substr(key.size() - 32));
    }
    for (const auto& file : fs::directory_iterator(credentials_)) {
      std::istringstream lines(TextOf(file.path()));
      bool secret = false;
      int count = 0;
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("-----")) {
          secret = line.find("BEGIN") != std::string::npos && line.find("PRIVATE KEY") != std::string::npos;
          count += secret ? 1 : 0;
        } else if (secret && line.size() >= 40) {
          Plant(fmt::format("{}, key line {}", file.path().filename().string(), count++), line);
        }
      }
    }
  }
  void PlantToken() {
    const auto issued = admin().Call(methods::kIssueToken, pb::IssueTokenRequest());
    ASSERT_OK(issued);
    std::string hex;
    for (const char byte : issued->password()) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    Plant("token password", issued->password());
    Plant("token password in hex", hex);
    Plant("token password in base64", Base64(issued->password()).substr(0, 24));
  }
  void PlantLogins() {
    Plant("password of the page", kPassword);
    Plant("token of the page", kPageToken);
    Plant("login of the page", Base64(std::string("admin:") + kPassword).substr(0, 32));
    std::istringstream lines(TextOf(files_ / "logins"));
    for (std::string line; std::getline(lines, line) && line.size() > 32;)
      Plant("hash of " + line.substr(0, 20), line.substr(line.size() - 32));
  }
  void ExpectNone(const std::string& where, const std::string& text) {
    ++places_;
    for (const auto& [what, secret] : secrets_)
      EXPECT_EQ(text.find(secret), std::string::npos) << where << " has the secret: " << what;
  }
  void CheckPages(const std::string& process) {
    for (const std::string& login : {"Basic " + Base64(std::string("admin:") + kPassword),
                                     std::string("Bearer ") + kPageToken, std::string("Bearer planted-wrong-token")}) {
      for (const char* path : {"/", "/metrics", "/api/v1/", "/api/v1/settings", "/api/v1/procedures", "/api/v1/events",
                               "/api/v1/status", "/api/v1/servers"}) {
        const HttpAnswer answer = GetAs(process, path, login);
        EXPECT_NE(answer.status, 0) << path;
        ExpectNone(fmt::format("{} of {}", path, process), answer.body);
      }
    }
    const HttpAnswer settings = GetAs(process, "/api/v1/settings", std::string("Bearer ") + kPageToken);
    EXPECT_EQ(settings.status, 200);
    EXPECT_NE(settings.body.find("tls-certificate"), std::string::npos) << "the view has the settings";
  }
  void CheckProcess(const ProcessInfo& process) {
    const fs::path proc = fmt::format("/proc/{}", process.id.pid);
    const std::string command = TextOf(proc / "cmdline");
    EXPECT_NE(command.find("--tls-certificate="), std::string::npos);
    ExpectNone("the command line of " + process.name, command);
    ExpectNone("the environment of " + process.name, TextOf(proc / "environ"));
    ExpectNone("the log of " + process.name, TextOf(process.log));
    const std::vector<std::string> lines = AuditLines(process.name);
    EXPECT_FALSE(lines.empty());
    ExpectNone("the audit log of " + process.name, fmt::format("{}", fmt::join(lines, "\n")));
    CheckPages(process.name);
    LaunchSpec launch;
    std::istringstream words(command);
    for (std::string word; std::getline(words, word, '\0');) launch.arguments.push_back(word);
    launch.arguments.emplace_back("--print-config");
    launch.output = files_ / (process.name + ".print-config");
    const auto printed = Launch(launch);
    ASSERT_OK(printed);
    std::optional<Ended> ended;
    ASSERT_OK(
        ProcessCluster::WaitUntil("its end", kPatience, [&] { return (ended = CheckEnded(*printed)).has_value(); }));
    const std::string config = TextOf(launch.output);
    EXPECT_NE(config.find("tls-certificate = "), std::string::npos) << config;
    ExpectNone("--print-config of " + process.name, config);
  }

  std::map<std::string, std::string> secrets_;
  int places_ = 0;
};

TEST_F(SecretsTest, NothingThatTheClusterShowsHasOne) {
  BootSecured(2, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  PlantKeys();
  PlantToken();
  PlantLogins();
  if (HasFatalFailure()) return;
  EXPECT_GT(secrets_.size(), 30U);
  // The search finds what is there.
  EXPECT_NE(TextOf(credentials_ / "admin.pem").find(secrets_["admin.pem, key line 1"]), std::string::npos);
  // A reload reads the files again, and logs its result.
  for (const auto& process : cluster().Processes()) {
    if (process.role == Role::kZooKeeper) continue;
    ASSERT_TRUE(Signal(process.id, SIGHUP).ok());
  }
  for (const auto& process : cluster().Processes()) {
    if (process.role == Role::kZooKeeper) continue;
    ASSERT_OK(cluster().WaitLog(process.name, "SIGHUP: ", kPatience));
    CheckProcess(process);
    if (HasFatalFailure()) return;
  }
  const auto status = cluster().StatusOf(Active());
  ASSERT_OK(status);
  ExpectNone("the status", status->DebugString());
  const auto settings = admin().Call(methods::kListServers, pb::ListServersRequest());
  ASSERT_OK(settings);
  ExpectNone("the list of servers", settings->DebugString());
  EXPECT_GT(places_, 3 * 28);
}

}  // namespace
}  // namespace ratchet::chaos
