#include "chaos/cluster/child_process.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

constexpr Millis kPatience{60'000};

class ChildProcessTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(output_); }

  Result<ProcessId> Shell(const std::string& command, const Environment& environment = {}) {
    LaunchSpec spec;
    spec.arguments = {"sh", "-c", command};
    spec.environment = environment;
    spec.output = output_;
    return Launch(spec);
  }
  std::string Output() const {
    std::ostringstream text;
    text << std::ifstream(output_).rdbuf();
    return text.str();
  }
  static std::optional<int> ExitCode(const ProcessId& id) {
    std::optional<Ended> ended;
    const auto done = WaitUntil("the end", kPatience, [&] { return (ended = CheckEnded(id)).has_value(); });
    return done.ok() ? ended->code : std::nullopt;
  }

  const std::filesystem::path output_ = testing::TempDir() + "ratchet_child_" + std::to_string(getpid());
};

TEST_F(ChildProcessTest, RunsWithItsEnvironmentAndItsOutput) {
  const auto id = Shell("echo to stdout; echo \"$GREETING\" >&2; exit 7", {{"GREETING", "to stderr"}});
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(ExitCode(*id), 7);
  EXPECT_EQ(Output(), "to stdout\nto stderr\n");
  EXPECT_FALSE(IsAlive(*id));
}

TEST_F(ChildProcessTest, AKilledOneSaysBySignal) {
  const auto id = Shell("exec sleep 100");
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(IsAlive(*id));
  EXPECT_FALSE(CheckEnded(*id));
  ASSERT_TRUE(Signal(*id, SIGKILL).ok());
  EXPECT_EQ(ExitCode(*id), 128 + SIGKILL);
}

TEST_F(ChildProcessTest, PausesAndResumes) {
  const auto id = Shell("exec sleep 100");
  ASSERT_TRUE(id.ok());
  ASSERT_TRUE(Signal(*id, SIGSTOP).ok());
  EXPECT_TRUE(WaitUntil("stopped", kPatience, [&] { return KernelState(*id) == 'T'; }).ok());
  ASSERT_TRUE(Signal(*id, SIGCONT).ok());
  EXPECT_TRUE(WaitUntil("going on", kPatience, [&] { return KernelState(*id) == 'S'; }).ok());
  ASSERT_TRUE(Signal(*id, SIGKILL).ok());
  EXPECT_EQ(ExitCode(*id), 128 + SIGKILL);
}

TEST_F(ChildProcessTest, AnotherProcessOfTheSameNumberIsNeverTouched) {
  const auto id = Shell("exec sleep 100");
  ASSERT_TRUE(id.ok());
  ProcessId reused = *id;
  ++reused.kernel_start;  // the form of a record of an earlier process with this pid
  EXPECT_FALSE(IsAlive(reused));
  EXPECT_EQ(Signal(reused, SIGKILL).error().code(), Code::kNotFound);
  EXPECT_TRUE(IsAlive(*id));
  ASSERT_TRUE(Signal(*id, SIGKILL).ok());
  EXPECT_EQ(ExitCode(*id), 128 + SIGKILL);
  EXPECT_EQ(Signal(*id, SIGKILL).error().code(), Code::kNotFound);
}

TEST_F(ChildProcessTest, AMissingProgramIsNamed) {
  LaunchSpec spec;
  spec.arguments = {"no-such-program-anywhere"};
  const auto id = Launch(spec);
  ASSERT_FALSE(id.ok());
  EXPECT_EQ(id.error().code(), Code::kNotFound);
  EXPECT_NE(id.error().message().find("no-such-program-anywhere"), std::string::npos);
}

TEST_F(ChildProcessTest, PortsAreFreeAndDifferent) {
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 50; ++i) {
    const auto port = PickFreePort();
    ASSERT_TRUE(port.ok());
    EXPECT_TRUE(ports.insert(*port).second);
    EXPECT_LT(*port, 32'768);  // the kernel takes outgoing ports from there on
  }
}

// Found by two clusters that were started on one machine at the same time: both chose one port.
TEST_F(ChildProcessTest, AChosenPortIsReservedForOtherProcesses) {
  const auto port = PickFreePort();
  ASSERT_TRUE(port.ok());
  LaunchSpec spec;  // another process
  spec.arguments = {"python3", "-c",
                    "import socket,sys\n"
                    "try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind('\\0ratchet-port-' + sys.argv[1])\n"
                    "except OSError: sys.exit(7)",
                    std::to_string(*port)};
  const auto other = Launch(spec);
  ASSERT_TRUE(other.ok());
  std::optional<Ended> ended;
  ASSERT_TRUE(
      WaitUntil("the other process ends", kPatience, [&] { return (ended = CheckEnded(*other)).has_value(); }).ok());
  EXPECT_EQ(ended->code, 7);
  EXPECT_FALSE(ReservePort(*port));
}

TEST_F(ChildProcessTest, AWaitNamesWhatDidNotHappen) {
  int asked = 0;
  EXPECT_TRUE(WaitUntil("three", kPatience, [&] { return ++asked == 3; }).ok());
  const auto never = WaitUntil("pigs fly", Millis(10), [] { return false; });
  ASSERT_FALSE(never.ok());
  EXPECT_EQ(never.error().code(), Code::kTimeout);
  EXPECT_NE(never.error().message().find("pigs fly"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::chaos
