// ratchet-chaos as a process: when it is interrupted, it heals its faults and leaves no processes behind. It notices an
// early finding about a process that lives.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/cluster/child_process.h"
#include "chaos/history/json_lines.h"
#include "common/base/exit_codes.h"
#include "tests/support/expect_killed.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kPatience{180'000};  // sanitizers are slow

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : dir_(std::filesystem::temp_directory_path() / fmt::format("ratchet-driver-{}", getpid())) {
    std::filesystem::create_directories(dir_);
  }
  ~DriverTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }

  void Launch(const std::vector<std::string>& flags, const Environment& environment = {}) {
    const auto bin = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "bin" / "ratchet-chaos";
    LaunchSpec spec;
    spec.arguments = {bin.string(), "--dir", (dir_ / "cluster").string(), "--bundle", (dir_ / "bundle").string()};
    spec.arguments.insert(spec.arguments.end(), flags.begin(), flags.end());
    spec.output = dir_ / "output";
    spec.environment = environment;
    auto launched = chaos::Launch(spec);
    ASSERT_TRUE(launched.ok()) << launched.error().ToString();
    driver_ = *launched;
  }
  [[nodiscard]] std::string Output() const {
    std::ifstream in(dir_ / "output");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] bool Said(const std::string& text) const { return Output().find(text) != std::string::npos; }
  [[nodiscard]] std::optional<int> AwaitEnd() {
    std::optional<Ended> ended;
    const Status waited = WaitUntil("the driver's end", kPatience, [&] {
      ended = CheckEnded(driver_);
      return ended.has_value();
    });
    EXPECT_TRUE(waited.ok()) << Output();
    return ended ? ended->code : std::nullopt;
  }
  // Returns the command lines of processes that use the cluster's directory.
  [[nodiscard]] std::vector<std::string> LeftBehind() const {
    std::vector<std::string> left;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      std::ifstream in(entry.path() / "cmdline");
      std::string line{std::istreambuf_iterator<char>(in), {}};
      std::replace(line.begin(), line.end(), '\0', ' ');
      if (line.find((dir_ / "cluster").string()) != std::string::npos) left.push_back(line);
    }
    return left;
  }

  [[nodiscard]] std::string FalseFindingsAfterResets(const Environment& environment);

  const std::filesystem::path dir_;
  ProcessId driver_;
};

TEST_F(DriverTest, InterruptedWhileAServerIsPausedItHealsAndSaysInconclusive) {
  Launch({"--faults", "pause-server-briefly", "--session-ms", "60000", "--duration", "10min", "--period", "100ms",
          "--workloads", "registers,bank", "--min-traffic", "1", "--servers", "2", "--masters", "1"});
  if (HasFatalFailure()) return;
  // With a session time-out of a minute the pause lasts for 6 to 36 s.
  ASSERT_TRUE(WaitUntil("a fault", kPatience, [&] { return Said("is stopped"); }).ok()) << Output();
  ASSERT_TRUE(Signal(driver_, SIGINT).ok());
  EXPECT_EQ(AwaitEnd(), exit_code::kInconclusive) << Output();
  EXPECT_TRUE(Said("healed")) << Output();
  EXPECT_TRUE(Said("VOID  ended by hand")) << Output();
  EXPECT_TRUE(Said("INCONCLUSIVE")) << Output();
  EXPECT_THAT(LeftBehind(), ::testing::IsEmpty());
}

TEST_F(DriverTest, InterruptedBeforeItHasBegunItLeavesNothing) {
  Launch({"--faults", "kill-server", "--workloads", "registers"});
  if (HasFatalFailure()) return;
  ASSERT_TRUE(WaitUntil("a start", kPatience, [&] { return Said("ratchet-chaos:"); }).ok()) << Output();
  ASSERT_TRUE(Signal(driver_, SIGTERM).ok());
  EXPECT_EQ(AwaitEnd(), exit_code::kInconclusive) << Output();
  EXPECT_THAT(LeftBehind(), ::testing::IsEmpty());
}

// A run that passes also writes its histories, for external checkers.
TEST_F(DriverTest, ItKeepsTheHistoryOfAnyRun) {
  const auto history = dir_ / "history";
  Launch({"--faults", "kill-standby", "--duration", "3s", "--workloads", "registers,bank", "--min-traffic", "1",
          "--history", history.string()});
  if (HasFatalFailure()) return;
  const auto code = AwaitEnd();
  ASSERT_TRUE(code == exit_code::kOk || code == exit_code::kInconclusive) << Output();
  std::ifstream run(history / "run.txt");
  std::string verdict;
  std::getline(run, verdict);
  EXPECT_EQ(verdict, code == exit_code::kOk ? "PASS" : "INCONCLUSIVE");
  const auto operations = ReadHistory(history / "registers" / "registers.jsonl");
  ASSERT_TRUE(operations.ok()) << operations.error().ToString();
  EXPECT_GT(operations->size(), 50U);
  EXPECT_TRUE(std::filesystem::exists(history / "bank" / "bank.txt"));
}

// Ends connections of heartbeats, so that the active master probes processes that live. Returns what the oracle of
// early findings says; an empty string: all is well.
std::string DriverTest::FalseFindingsAfterResets(const Environment& environment) {
  Launch({"--faults", "reset-links", "--duration", "15s", "--period", "500ms", "--workloads", "registers",
          "--min-traffic", "1"},
         environment);
  if (HasFatalFailure()) return "no run";
  EXPECT_TRUE(AwaitEnd().has_value());
  const std::string output = Output();
  if (output.find(" of deaths: none is about a process that lived") != std::string::npos) return "";
  const auto bad = output.find("FAIL  early findings about processes that lived");
  return bad == std::string::npos ? "no judgement: " + output : output.substr(bad);
}

TEST_F(DriverTest, ResetsOfLinksMakeNobodyDead) { EXPECT_EQ(FalseFindingsAfterResets({}), ""); }

#if defined(RATCHET_MUTANTS)
TEST_F(DriverTest, TakingAnAnswerForAnEndIsNoticed) {
  constexpr const char* kMutant = "rpc.an_answer_is_an_end";
  ExpectKilled(
      kMutant,
      [&] {
        return FalseFindingsAfterResets({{"RATCHET_MUTANT", kMutant}});
      },
      "early findings about processes that lived");
}
#endif

}  // namespace
}  // namespace ratchet::chaos
