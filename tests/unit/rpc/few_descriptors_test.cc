// Connections when descriptors are few: they are closed before they starve the rest of the process.
#include <sys/resource.h>

#include <fcntl.h>
#include <unistd.h>

#include "common/base/descriptors.h"
#include "common/rpc/methods/client_service.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

class FewDescriptorsTest : public RpcTest {
 protected:
  void SetUp() override {
    RpcTest::SetUp();
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    ExpectAnswer();
  }
  void TearDown() override {
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0);
    RpcTest::TearDown();
  }
  void SetSoftLimit(std::uint64_t soft) {
    rlimit limit = before_;
    limit.rlim_cur = soft;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  // On the original connection.
  void ExpectAnswer() {
    const auto reply = channel()->CallSync(methods::kGet, MakeGet("fine"));
    EXPECT_TRUE(reply.ok()) << reply.error().ToString();
  }
  rlimit before_{};
};

TEST_F(FewDescriptorsTest, ConnectionsAreClosedBeforeTheyTakeTheReserve) {
  SetSoftLimit(400);
  std::vector<RawClient> clients;
  while (clients.size() < 400 && server_->stats().connections_refused == 0) {
    clients.emplace_back(server_->port());
    if (!clients.back().ok()) break;
    // The connection was answered or closed; in both cases the server has handled it.
    const std::uint64_t seen = clients.size();
    ASSERT_TRUE(Eventually([&] {
      const ServerStats stats = server_->stats();
      return stats.connections_accepted + stats.connections_refused > seen;
    }));
  }
  EXPECT_GT(server_->stats().connections_refused, 0U);
  EXPECT_LT(clients.size(), 200U);  // both ends are in this process, and a quarter is reserved
  EXPECT_TRUE(clients.back().WaitClosed());
  std::vector<int> reserve;
  for (int i = 0; i < 80; ++i) reserve.push_back(::open("/", O_PATH | O_CLOEXEC));
  EXPECT_GE(reserve.back(), 0);
  ExpectAnswer();
  for (const int fd : reserve) ::close(fd);
  clients.clear();
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open <= 2; }));
  SetSoftLimit(before_.rlim_cur);
  EXPECT_TRUE(RawClient(server_->port()).ok());
}

// Without any free descriptor a client is closed, too, and does not wait for an answer that never comes.
TEST_F(FewDescriptorsTest, WithoutAnyLeftClientsAreClosedAndTheServerGoesOn) {
  std::vector<RawClient> clients;
  clients.emplace_back(server_->port());  // the spare is reserved with the first socket at the latest
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_accepted >= 2; }));
  SetSoftLimit(300);
  std::vector<int> taken;
  for (int fd = ::open("/", O_PATH | O_CLOEXEC); fd >= 0; fd = ::open("/", O_PATH | O_CLOEXEC)) taken.push_back(fd);
  ::close(taken.back());  // for the client's end
  taken.pop_back();
  clients.emplace_back(server_->port());
  ASSERT_TRUE(clients.back().ok());
  EXPECT_TRUE(clients.back().WaitClosed());
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_refused > 0; }));
  ExpectAnswer();
  for (const int fd : taken) ::close(fd);
}

}  // namespace
}  // namespace ratchet::rpc
