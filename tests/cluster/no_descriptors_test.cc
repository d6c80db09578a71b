// Programs that start with few file descriptors: each either serves or ends with a cause and a specific exit code,
// never by abort.
#include <fstream>
#include <iterator>
#include <set>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "chaos/cluster/child_process.h"
#include "common/base/exit_codes.h"
#include "common/io/file_descriptor.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

constexpr int kFewest = 5;  // with fewer a program cannot load its libraries
constexpr int kMost = 200;
constexpr const char* kTriesAgain = "Start: not registered yet: UNAVAILABLE: not connected";
// The server has no descriptor for a connection of the master; `ratchet status` shows this.
constexpr const char* kNotReached = "the master cannot reach this server";

std::string WholeFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class NoDescriptorsTest : public ClusterTest {
 protected:
  void SetUp() override {
    Boot(1, 1);
    SkipVerification();  // servers start and stop here, and no row is written
  }

  // Returns the arguments of the running process, with another port.
  std::vector<std::string> ArgumentsOf(const std::string& name) {
    const ProcessInfo info = cluster().Info(name);
    const std::string all = WholeFile(fmt::format("/proc/{}/cmdline", info.id.pid));
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < all.size();) {
      const auto end = all.find('\0', at);
      arguments.push_back(all.substr(at, end - at));
      at = end + 1;
    }
    const auto port = PickFreePort();
    EXPECT_TRUE(port.ok());
    for (auto& argument : arguments) {
      if (argument == std::to_string(info.port)) argument = std::to_string(*port);
    }
    return arguments;
  }
  std::string ZooKeeper() {
    const std::string all = WholeFile(fmt::format("/proc/{}/environ", cluster().Info("rs-1").id.pid));
    const std::string name = "RATCHET_ZOOKEEPER=";
    const auto at = all.find(name);
    return at == std::string::npos ? "" : std::string(all.c_str() + at + name.size());
  }

  // Starts the program with `limit` descriptors and waits until it has ended or has logged `serves`, a retry, or that
  // the master cannot reach it. In the latter cases ends the program and returns nullopt.
  std::optional<int> RunWith(int limit, std::vector<std::string> arguments, const std::string& serves) {
    LaunchSpec launch;
    launch.arguments = {"prlimit", fmt::format("--nofile={}:{}", limit, limit)};
    launch.arguments.insert(launch.arguments.end(), arguments.begin(), arguments.end());
    launch.environment = {{"RATCHET_ZOOKEEPER", ZooKeeper()}};
    launch.output = cluster().spec().dir / fmt::format("limited-{}.log", ++runs_);
    output_ = launch.output;
    const auto id = Launch(launch);
    EXPECT_TRUE(id.ok()) << id.error().ToString();
    if (!id.ok()) return std::nullopt;
    std::optional<int> code;
    const Status ended = WaitUntil("it ends or serves", kPatience, [&] {
      const auto end = CheckEnded(*id);
      if (end.has_value()) code = end->code;
      return end.has_value() || Says(serves) || Says(kTriesAgain) || Says(kNotReached);
    });
    EXPECT_TRUE(ended.ok()) << "limit " << limit << ": " << WholeFile(output_);
    if (!code.has_value()) {
      IgnoreResult(Signal(*id, SIGKILL), "it may have ended");
      const Status gone = WaitUntil("it is gone", kPatience, [&] { return CheckEnded(*id).has_value(); });
      EXPECT_TRUE(gone.ok());
    }
    return code;
  }
  [[nodiscard]] std::string Said() const { return WholeFile(output_); }
  [[nodiscard]] bool Says(const std::string& text) const {
    return !text.empty() && Said().find(text) != std::string::npos;
  }

  // Adds one descriptor each time, until the server serves.
  void Server(const std::string& like, const std::string& serves) {
    auto arguments = ArgumentsOf(like);
    for (const char* flag : {"--zk-connect-timeout-ms", "1000"}) arguments.emplace_back(flag);
    std::map<int, int> codes;
    for (int limit = kFewest; limit <= kMost && !HasFailure(); ++limit) {
      const auto code = RunWith(limit, arguments, serves);
      if (!code.has_value() && !Says(serves)) continue;  // it keeps retrying
      if (!code.has_value()) {
        std::printf("%s serves with %d descriptors; before, code and times:", like.c_str(), limit);
        for (const auto& [ended_with, times] : codes) std::printf(" %d %d", ended_with, times);
        std::printf("\n");
        EXPECT_GT(codes[exit_code::kNoDescriptors], 0);
        return;
      }
      ++codes[*code];
      const bool loaded = Said().find("error while loading shared libraries") == std::string::npos;
      EXPECT_TRUE(!loaded || *code == exit_code::kNoDescriptors || *code == exit_code::kZooKeeperUnreachable)
          << "limit " << limit << ", code " << *code << ": " << Said();
      if (loaded && *code == exit_code::kNoDescriptors) {
        EXPECT_NE(Said().find("Too many open files"), std::string::npos) << Said();
      }
    }
    EXPECT_FALSE(!HasFailure()) << "it never served";
  }
  std::string Program(const std::string& name) { return (cluster().spec().bin / name).string(); }

 private:
  int runs_ = 0;
  std::filesystem::path output_;
};

TEST_F(NoDescriptorsTest, ARegionServerThatStarts) { Server("rs-1", "Start: serving as"); }

TEST_F(NoDescriptorsTest, AMasterThatStarts) { Server("master-1", "Active master: 127"); }

// S87 (reserved connections for members): idle clients hold every connection that the master accepts; a region server
// registers and serves anyway.
TEST_F(NoDescriptorsTest, AMemberConnectsWhereClientsHoldEveryConnection) {
  const ProcessInfo master = cluster().Info("master-1");
  rlimit before{};
  ASSERT_EQ(::prlimit(master.id.pid, RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit lowered{400, before.rlim_max};
  ASSERT_EQ(::prlimit(master.id.pid, RLIMIT_NOFILE, &lowered, nullptr), 0);
  std::vector<io::FileDescriptor> idle;
  for (int i = 0; i < 400; ++i) {
    io::FileDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_GE(client.get(), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(master.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    idle.push_back(std::move(client));
  }
  const auto closing = cluster().WaitLog("master-1", "connection limit reached, cluster members only", kPatience);
  ASSERT_OK(closing);
  const auto added = cluster().AddServer();
  ASSERT_OK(added);
  const auto serving = cluster().WaitLog(*added, "Start: serving as", Millis(20'000));
  EXPECT_TRUE(serving.ok()) << serving.error().ToString();
  idle.clear();
  ASSERT_EQ(::prlimit(master.id.pid, RLIMIT_NOFILE, &before, nullptr), 0);
}

TEST_F(NoDescriptorsTest, CommandLineTools) {
  for (const std::vector<std::string>& tool :
       {std::vector<std::string>{Program("ratchet"), "--timeout-ms", "1000", "status"},
        std::vector<std::string>{Program("ratchet-wal"), "verify", (cluster().spec().dir / "root").string()}}) {
    std::set<int> codes;
    for (int limit = kFewest; limit <= 40; ++limit) {
      const auto code = RunWith(limit, tool, "");
      ASSERT_TRUE(code.has_value());
      EXPECT_TRUE(*code < 10 || Said().find("error while loading shared libraries") != std::string::npos)
          << tool[0] << ", limit " << limit << ", code " << *code << ": " << Said();
      codes.insert(*code);
    }
    EXPECT_TRUE(codes.contains(0)) << tool[0];
  }
}

}  // namespace
}  // namespace ratchet::chaos
