#include "chaos/cluster/zookeeper_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fstream>

namespace ratchet::chaos {
namespace {

// Both come with Debian's libzookeeper-java and libslf4j-java; the manifest of the first one has the rest of its class
// path.
constexpr const char* kClassPath = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar";

bool WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return !file.fail();
}

}  // namespace

std::string AskZooKeeper(std::uint16_t port, const std::string& word, Millis timeout) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "";
  const timeval limit{timeout.count() / 1000, static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      send(fd, word.data(), word.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(word.size())) {
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  return answer;
}

Result<ZooKeeperProcess> ZooKeeperProcess::Prepare(ZooKeeperSpec spec) {
  if (access("/usr/share/java/zookeeper.jar", R_OK) != 0) {
    return Error(Code::kNotFound, "ZooKeeper's jar is not installed; scripts/install-deps installs it");
  }
  if (spec.port == 0) {
    RATCHET_ASSIGN(spec.port, PickFreePort());
  }
  std::error_code failed;
  std::filesystem::create_directories(spec.dir / "data", failed);
  const bool written = !failed && WriteText(spec.dir / "zoo.cfg", ZooKeeperConfiguration(spec)) &&
                       (spec.number == 0 || WriteText(spec.dir / "data" / "myid", std::to_string(spec.number) + "\n"));
  if (!written) return Error(Code::kIo, fmt::format("cannot write into {}", spec.dir.string()));
  return ZooKeeperProcess(std::move(spec));
}

Status ZooKeeperProcess::Start(Millis timeout) {
  RATCHET_TRY(Launch());
  return AwaitAnswer(timeout);
}

Status ZooKeeperProcess::Launch() {
  if (IsAlive(id_)) return Error(Code::kFailedPrecondition, "ZooKeeper runs already");
  LaunchSpec launch;
  launch.arguments = {"java",
                      "-Xmx64m",
                      "-Xms16m",
                      "-XX:+UseSerialGC",
                      "-XX:TieredStopAtLevel=1",
                      "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
                      "-cp",
                      kClassPath,
                      spec_.number == 0 ? "org.apache.zookeeper.server.ZooKeeperServerMain"
                                        : "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                      (spec_.dir / "zoo.cfg").string()};
  launch.output = spec_.log;
  launch.dies_with_us = spec_.dies_with_us;
  RATCHET_ASSIGN(id_, chaos::Launch(launch));
  return Ok();
}

Status ZooKeeperProcess::AwaitAnswer(Millis timeout) {
  bool died = false;
  RATCHET_TRY(WaitUntil("ZooKeeper answers at " + address(), timeout, [&] {
    if (CheckEnded(id_)) died = true;
    return died || AskZooKeeper(spec_.port, "ruok", Millis(200)) == "imok";
  }));
  if (died) return Error(Code::kUnavailable, fmt::format("ZooKeeper ended at once; see {}", spec_.log.string()));
  return Ok();
}

Status ZooKeeperProcess::Kill9() {
  RATCHET_TRY(Signal(id_, SIGKILL));
  return WaitUntil("ZooKeeper is gone", Millis(10'000), [&] { return CheckEnded(id_).has_value(); });
}

Status ZooKeeperProcess::Stop(Millis timeout) {
  RATCHET_TRY(Signal(id_, SIGTERM));
  const auto gone = WaitUntil("ZooKeeper has stopped", timeout, [&] { return CheckEnded(id_).has_value(); });
  if (!gone.ok()) RATCHET_TRY(Kill9());
  return gone;
}

}  // namespace ratchet::chaos
