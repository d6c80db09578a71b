// A cluster with TLS, users, rights and audit logs on real processes: what the logs record, and that nothing that the
// cluster shows has a secret. Tests 17, 45 and 50 of identity.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "chaos/cluster/credentials.h"
#include "common/audit/verify.h"
#include "common/base/exit_codes.h"
#include "common/identity/login_file.h"
#include "common/io/cluster_key.h"
#include "common/io/file_descriptor.h"
#include "common/model/proto/connections.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/rpc/handshake.h"
#include "common/rpc/methods/admin_service.h"
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
    EXPECT_EQ(verifier.report().lost, 0U);
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
