#include "tests/unit/zk/zk_fixture.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace ratchet::zk {
namespace {

struct Shared {
  std::filesystem::path dir;
  std::optional<chaos::ZooKeeperProcess> server;
};

Shared& TheServer() {
  static Shared shared;
  return shared;
}

}  // namespace

void ZkFixture::SetUpTestSuite() {
  Shared& shared = TheServer();
  shared.dir = std::filesystem::path(testing::TempDir()) / ("ratchet_zk_" + std::to_string(getpid()));
  std::filesystem::create_directories(shared.dir);
  chaos::ZooKeeperSpec spec;
  spec.dir = shared.dir / "zookeeper";
  spec.log = shared.dir / "zookeeper.log";
  auto server = chaos::ZooKeeperProcess::Prepare(spec);
  ASSERT_TRUE(server.ok()) << server.error().ToString();
  shared.server.emplace(std::move(server).value());
  const auto started = shared.server->Start(kPatience);
  ASSERT_TRUE(started.ok()) << started.error().ToString();
}

void ZkFixture::TearDownTestSuite() {
  Shared& shared = TheServer();
  if (shared.server) IgnoreResult(shared.server->Kill9(), "nothing of it is kept");
  shared.server.reset();
  std::filesystem::remove_all(shared.dir);
}

std::string ZkFixture::ServerLog() {
  std::ifstream file(TheServer().dir / "zookeeper.log");
  return {std::istreambuf_iterator<char>(file), {}};
}

chaos::ZooKeeperProcess& ZkFixture::Server() { return *TheServer().server; }

std::unique_ptr<ZkSession> ZkFixture::Connect(Millis session_timeout) {
  auto session = ZkSession::Open({Server().address(), session_timeout});
  EXPECT_TRUE(session.ok());
  const auto connected = (*session)->WaitConnected(kPatience);
  EXPECT_TRUE(connected.ok()) << connected.error().ToString();
  return std::move(session).value();
}

void ZkFixture::Expire(const ZkSession& session) {
  // A second connection takes the session over and closes it. The owner may take it back in between: try again.
  const auto expired = chaos::WaitUntil("the session is expired", kPatience, [&] {
    auto thief = ZkSession::Open({Server().address(), Millis(2000), session.ticket()});
    if (thief.ok() && (*thief)->WaitConnected(Millis(2000)).ok()) (*thief)->Close();
    return chaos::WaitUntil("", Millis(1000), [&] { return session.state() == SessionState::kExpired; }).ok();
  });
  ASSERT_TRUE(expired.ok()) << expired.error().ToString();
}

ZkPaths ZkFixture::Paths() const {
  return ZkPaths{std::string("/test-") + testing::UnitTest::GetInstance()->current_test_info()->name()};
}

}  // namespace ratchet::zk
