// Who reads the page, and what that reader may see.
#include "common/ops/page/page_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "common/audit/audit_log.h"
#include "common/base/mutant.h"
#include "common/base/process_object.h"
#include "common/http/http_server.h"
#include "common/io/disk.h"
#include "tests/support/http_client.h"

namespace ratchet::page {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRootToken = "root-0123456789abcdef0123456789abcdef";
constexpr const char* kRitaToken = "rita-0123456789abcdef0123456789abcdef";
constexpr const char* kRobToken = "rob-0123456789abcdef0123456789abcdef";
constexpr const char* kView = "/api/v1/settings";

class PageGateTest : public ::testing::Test {
 protected:
  PageGateTest() : directory_(fs::path(::testing::TempDir()) / ("ratchet_gate_" + std::to_string(::getpid()))) {
    fs::create_directories(directory_);
  }
  ~PageGateTest() override { fs::remove_all(directory_); }

  void SetMode(rights::Mode mode) {
    auto table = rights::Users::Parse("root", "");
    ASSERT_TRUE(table.ok());
    users_->Set(mode, std::move(*table));
  }
  // rita may read everything; rob may read one table.
  void GiveRights() {
    const std::vector<rights::RightsEntry> entries{
        {"rita", rights::Scope::Global(), rights::Action::kRead},
        {"rob", rights::Scope::Table(TableName("default", "t")), rights::Actions::All()}};
    ASSERT_TRUE(holder_.Take(
        std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<rights::Scope>())));
  }
  void SetLogins() {
    identity::PageLoginOptions options{directory_ / "logins"};
    std::ofstream file(options.file);
    for (const auto& [user, token] :
         {std::pair("root", kRootToken), std::pair("rita", kRitaToken), std::pair("rob", kRobToken)})
      file << *identity::LoginFile::TokenLine(user, token) << "\n";
    file.close();
    ASSERT_EQ(::chmod(options.file.c_str(), 0600), 0);
    auto opened = identity::PageLogins::Open(options, clock_);
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    logins_ = *opened;
  }
  // The status of the refusal; 200: the handler may answer.
  int Ask(const std::string& path, const std::string& token = "", std::map<std::string, std::string> fields = {}) {
    const auto refusal = RefusalOf(path, token, std::move(fields));
    return refusal.has_value() ? refusal->status : 200;
  }
  std::optional<http::HttpResponse> RefusalOf(const std::string& path, const std::string& token,
                                              std::map<std::string, std::string> fields = {}) {
    http::HttpRequest request;
    request.path = path;
    request.fields = std::move(fields);
    if (!token.empty()) request.fields["authorization"] = "Bearer " + token;
    request.peer.address = "10.0.0.7";
    request.peer.encrypted = encrypted_;
    PageGate gate(judge_, logins_);
    return gate.Admit(request);
  }

  const fs::path directory_;
  SystemClock clock_;
  rights::RightsHolder holder_;
  std::shared_ptr<rights::Users> users_ = std::make_shared<rights::Users>();
  rights::Judge judge_{holder_, users_};
  std::shared_ptr<identity::PageLogins> logins_;
  bool encrypted_ = true;
};

TEST_F(PageGateTest, WithoutLoginsAndRightsEveryReaderPasses) {
  for (const char* path : {"/", "/metrics", kView}) EXPECT_EQ(Ask(path), 200) << path;
  SetMode(rights::Mode::kLog);
  EXPECT_EQ(Ask(kView), 200);
}

TEST_F(PageGateTest, WithLoginsEveryReaderNeedsOne) {
  SetLogins();
  for (const char* path : {"/", "/page/main.js", "/metrics", kView}) {
    EXPECT_EQ(Ask(path), 401) << path;
    EXPECT_EQ(Ask(path, "wrong"), 401) << path;
    EXPECT_EQ(Ask(path, kRobToken), 200) << path;
  }
}

TEST_F(PageGateTest, WithEnforcedRightsAReaderNeedsAGlobalRight) {
  SetMode(rights::Mode::kEnforce);
  GiveRights();
  EXPECT_EQ(Ask(kView), 401);
  EXPECT_EQ(Ask(kView, kRootToken), 401) << "there are no logins";
  SetLogins();
  for (const char* path : {"/metrics", kView}) {
    EXPECT_EQ(Ask(path), 401) << path;
    EXPECT_EQ(Ask(path, kRobToken), 403) << path;
    EXPECT_EQ(Ask(path, kRitaToken), 200) << path;
    EXPECT_EQ(Ask(path, kRootToken), 200) << path;
  }
  EXPECT_EQ(Ask("/", kRobToken), 200) << "the files of the page show no cluster";
}

TEST_F(PageGateTest, WithoutAnImageOnlySuperusersPass) {
  SetMode(rights::Mode::kEnforce);
  SetLogins();
  EXPECT_EQ(Ask(kView, kRitaToken), 503);
  EXPECT_EQ(Ask(kView, kRootToken), 200);
}

// A standby has no image, so it cannot know whether the reader has the right.
TEST_F(PageGateTest, WithoutAnImageTheAnswerHasTheReasonOnly) {
  SetMode(rights::Mode::kEnforce);
  SetLogins();
  for (const char* token : {kRitaToken, kRobToken}) {
    for (const char* path : {kView, "/api/v1/", "/api/v1/status", "/api/v1/procedures", "/api/v1/events/stream"}) {
      const auto refusal = RefusalOf(path, token);
      ASSERT_TRUE(refusal.has_value()) << path;
      EXPECT_EQ(refusal->status, 503) << path;
      EXPECT_EQ(*refusal->body,
                "{\"error\":\"NO_RIGHTS_YET\",\"message\":\"this process does not have the rights of users yet; try "
                "again later\"}\n");
      EXPECT_FALSE(refusal->stream) << path;
    }
    const auto metrics = RefusalOf("/metrics", token);
    ASSERT_TRUE(metrics.has_value());
    EXPECT_EQ(metrics->status, 503);
    EXPECT_EQ(*metrics->body, "this process does not have the rights of users yet; try again later\n");
  }
}

TEST_F(PageGateTest, ShowingTheClusterToEveryReaderIsNoticed) {
  const ScopedMutant mutant("page.any_reader");
  SetLogins();
  EXPECT_EQ(Ask(kView), 200);
}

TEST_F(PageGateTest, ALoginInClearIsRefused) {
  SetLogins();
  encrypted_ = false;
  EXPECT_EQ(Ask(kView, kRootToken), 403);
}

TEST_F(PageGateTest, ALoginInClearIsNoticed) {
  const ScopedMutant mutant("page.login_in_clear");
  SetLogins();
  encrypted_ = false;
  EXPECT_EQ(Ask(kView, kRootToken), 200);
}

TEST_F(PageGateTest, RequestsOfOtherSitesAreRefused) {
  const std::map<std::string, std::string> host{{"host", "master-1:16010"}};
  const auto with = [&host](const std::string& name, const std::string& value) {
    auto fields = host;
    fields[name] = value;
    return fields;
  };
  EXPECT_EQ(Ask(kView, "", with("sec-fetch-site", "cross-site")), 403);
  EXPECT_EQ(Ask(kView, "", with("origin", "https://evil.example")), 403);
  EXPECT_EQ(Ask(kView, "", with("origin", "null")), 403);
  EXPECT_EQ(Ask(kView, "", with("origin", "https://master-1:16010")), 200);
  EXPECT_EQ(Ask(kView, "", with("sec-fetch-site", "same-origin")), 200);
  EXPECT_EQ(Ask("/", "", with("sec-fetch-site", "cross-site")), 200) << "a link to the page";
}

// Test 44 of identity: a client that guesses passwords also writes the fields in which proxies name their clients.
TEST_F(PageGateTest, AForwardedAddressChangesNeitherTheLimitNorTheAuditLog) {
  SetLogins();
  const fs::path lines = directory_ / "audit";
  fs::create_directories(lines);
  auto opened = audit::AuditLog::Open(io::PosixDisk(), lines, {64U << 20U, 16, 16'384}, "host", "master");
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  ProcessObject<audit::AuditLog>::Set(*opened);
  http::HttpOptions options;
  options.gate = std::make_shared<PageGate>(judge_, logins_);
  http::HttpServer server(options);
  server.Handle(kView, http::Lane::kFast, [](const auto&) { return http::HttpResponse::Text(200, "settings"); });
  ASSERT_TRUE(server.Start().ok());
  const auto status = [&](const std::string& token, const std::string& from) {
    const http::HttpClient client(server.port());
    client.Send(
        fmt::format("GET {} HTTP/1.1\r\nConnection: close\r\nX-Forwarded-For: {}\r\nX-Real-IP: {}\r\n"
                    "Forwarded: for={}\r\nAuthorization: Bearer {}\r\n\r\n",
                    kView, from, from, from, token));
    return client.Receive().substr(0, 12);
  };
  EXPECT_EQ(status(kRitaToken, "10.9.9.9"), "HTTP/1.1 200");
  for (std::uint32_t i = 0; i < identity::PageLogins::kMostWrong; ++i)
    EXPECT_EQ(status("wrong", fmt::format("10.1.2.{}", i)), "HTTP/1.1 401");
  EXPECT_EQ(status("wrong", "10.1.3.1"), "HTTP/1.1 429");
  server.Stop();
  ProcessObject<audit::AuditLog>::Set(nullptr);
  opened->reset();  // its lines are written
  std::size_t logins = 0;
  for (const auto& file : fs::directory_iterator(lines)) {
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);) {
      EXPECT_THAT(line, Not(HasSubstr("10."))) << line;
      if (line.find(R"("event":"auth")") == std::string::npos) continue;
      ++logins;
      EXPECT_THAT(line, HasSubstr(R"("peer":"127.0.0.1")"));
    }
  }
  EXPECT_EQ(logins, 1 + identity::PageLogins::kMostWrong + 1);
}

TEST_F(PageGateTest, AnswersForOtherSitesAreNoticed) {
  const ScopedMutant mutant("page.any_origin");
  EXPECT_EQ(Ask(kView, "", {{"origin", "https://evil.example"}}), 200);
}

}  // namespace
}  // namespace ratchet::page
