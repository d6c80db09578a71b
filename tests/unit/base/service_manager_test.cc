// The notifications to a service manager.
#include "common/base/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace ratchet {
namespace {

class ServiceManagerTest : public ::testing::Test {
 protected:
  ~ServiceManagerTest() override {
    ::unsetenv("NOTIFY_SOCKET");
    if (socket_ >= 0) ::close(socket_);
  }
  // Listens at an abstract address, as systemd does.
  void Listen(const std::string& name) {
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    ASSERT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0);
    ::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  }
  [[nodiscard]] std::string Received() const {
    std::array<char, 256> buffer{};
    const auto size = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }
  int socket_ = -1;
};

TEST_F(ServiceManagerTest, IsToldWhereItListens) {
  Listen("ratchet-test-" + std::to_string(::getpid()));
  NotifyServiceManager("READY=1\nSTATUS=standby");
  EXPECT_EQ(Received(), "READY=1\nSTATUS=standby");
  EXPECT_EQ(Received(), "nothing");
}

TEST_F(ServiceManagerTest, NothingIsDoneWithoutOneOrWithoutItsSocket) {
  Listen("ratchet-test-" + std::to_string(::getpid()));
  for (const char* path : {"", "relative", "/nonexistent/socket", "@ratchet-test-unused"}) {
    ::setenv("NOTIFY_SOCKET", path, 1);
    NotifyServiceManager("READY=1");
  }
  ::setenv("NOTIFY_SOCKET", ("/" + std::string(300, 'x')).c_str(), 1);
  NotifyServiceManager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  NotifyServiceManager("READY=1");
  EXPECT_EQ(Received(), "nothing");
}

}  // namespace
}  // namespace ratchet
