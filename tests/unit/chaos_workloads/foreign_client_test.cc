// Clients of a load in a child process: a script that behaves well, and scripts that do not.
#include "chaos/workloads/foreign_client.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/client/connection.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Millis kPatience{60'000};

// Reads through the child itself, and at the end in the file that it has left.
class ChildReader final : public RegisterReader {
 public:
  ChildReader(ForeignClient& client, std::filesystem::path file) : client_(client), file_(std::move(file)) {}
  [[nodiscard]] Status MakeTable() override { return Ok(); }
  void Read(const RegisterName& name, Operation& operation) override {
    const std::uint32_t reader = std::exchange(operation.client, kReader);
    EXPECT_TRUE(client_.Execute(name, operation).empty());
    operation.client = reader;
  }
  [[nodiscard]] Result<std::map<RegisterName, Value>> ReadAll() override {
    std::map<RegisterName, Value> values;
    std::ifstream in(file_);
    for (std::string row, qualifier, value; in >> row >> qualifier >> value;) values[{row, qualifier == "n"}] = value;
    return values;
  }

 private:
  static constexpr std::uint32_t kReader = 99;
  ForeignClient& client_;
  const std::filesystem::path file_;
};

class ForeignClientTest : public ::testing::Test {
 protected:
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  ForeignProgram Script(const std::string& behaviour) {
    ForeignProgram program;
    program.name = "script";
    program.arguments = {"python3", "tests/unit/chaos_workloads/foreign_child.py", behaviour, file_.string()};
    return program;
  }
  // Runs the load until it has this number of answers, or an operation that was not answered.
  std::vector<Finding> RunLoad(ForeignProgram program, std::uint64_t answers) {
    client::ConnectionOptions options;
    options.masters = {"127.0.0.1:1"};  // never called
    auto connection = client::Connection::Open(options);
    EXPECT_TRUE(connection.ok());
    auto clients = std::make_unique<ForeignClient>(std::move(program));
    ForeignClient& client = *clients;
    const std::uint64_t seed = RandomSeed();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    auto load = MakeRegisterLoad("script", {**connection, seed, 4, 1, "t"}, std::move(clients),
                                 std::make_unique<ChildReader>(client, file_));
    const Status prepared = load->Prepare();
    process_ = client.process();
    if (!prepared.ok()) return {{false, prepared.error().message()}};
    load->Start();
    EXPECT_TRUE(WaitUntil("answers", kPatience, [&] {
                  const auto counters = load->counters();
                  return counters.ok >= answers || counters.failed + counters.unknown > 0;
                }).ok());
    load->Stop();
    auto findings = load->Check();
    for (const auto& finding : findings) std::printf("  %s\n", finding.text.c_str());
    return findings;
  }
  static std::string Wrong(const std::vector<Finding>& findings) {
    std::string text;
    for (const auto& finding : findings) {
      if (!finding.good) text += finding.text + "\n";
    }
    return text;
  }
  [[nodiscard]] bool ChildIsGone() const { return CheckEnded(process_).has_value(); }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / fmt::format("foreign-{}-{:x}.txt", getpid(), RandomSeed());
  ProcessId process_;
};

TEST_F(ForeignClientTest, AnHonestClientPassesAllChecks) {
  const auto findings = RunLoad(Script("honest"), 1'500);
  EXPECT_EQ(Wrong(findings), "");
  EXPECT_TRUE(ChildIsGone());
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings.back().text, HasSubstr("answered by a script"));
}

// The planted wrong history: the check can fail.
TEST_F(ForeignClientTest, PutsThatAreAcknowledgedAndNotExecutedAreFound) {
  const std::string wrong = Wrong(RunLoad(Script("loses-puts"), 1'500));
  EXPECT_THAT(wrong, HasSubstr("not linearizable"));
  EXPECT_THAT(wrong, HasSubstr("client "));  // the window that has no order
}

TEST_F(ForeignClientTest, ALineThatIsNoAnswerIsNamed) {
  const std::string wrong = Wrong(RunLoad(Script("garbage"), 1'500));
  EXPECT_THAT(wrong, HasSubstr("line 42: the line is not a JSON object: not an answer"));
  EXPECT_THAT(wrong, HasSubstr("a line of its log"));
}

TEST_F(ForeignClientTest, ALineWithoutAnEndIsNotKept) {
  EXPECT_THAT(Wrong(RunLoad(Script("long-line"), 1'500)), HasSubstr("line 42 is longer than"));
}

TEST_F(ForeignClientTest, AnAnswerToAnotherOperationIsNamed) {
  EXPECT_THAT(Wrong(RunLoad(Script("another-key"), 1'500)), HasSubstr("it answers another operation"));
}

TEST_F(ForeignClientTest, AClientWithItsOwnClockIsRefused) {
  EXPECT_THAT(Wrong(RunLoad(Script("own-clock"), 1'500)), HasSubstr("monotonic clock"));
}

TEST_F(ForeignClientTest, AClientThatEndsIsAFindingWithItsExitCode) {
  EXPECT_THAT(Wrong(RunLoad(Script("ends"), 1'500)), HasSubstr("ended by itself with exit code 9"));
  EXPECT_TRUE(ChildIsGone());
}

TEST_F(ForeignClientTest, AClientThatDoesNotStartIsAnErrorWithItsLog) {
  const std::string wrong = Wrong(RunLoad(Script("no-greeting"), 1));
  EXPECT_THAT(wrong, HasSubstr("ended by itself with exit code 7"));
  EXPECT_THAT(wrong, HasSubstr("a line of its log"));
  EXPECT_THAT(Wrong(RunLoad(Script("wrong-greeting"), 1)), HasSubstr("line 1: the first line must be"));
  ForeignProgram missing = Script("honest");
  missing.arguments.front() = "no-such-program";
  EXPECT_THAT(Wrong(RunLoad(std::move(missing), 1)), HasSubstr("program 'no-such-program' not found"));
}

TEST_F(ForeignClientTest, AnOperationWithoutAnAnswerIsUnknownAndEnds) {
  ForeignProgram program = Script("silent");
  program.answer = Millis(200);
  const auto findings = RunLoad(std::move(program), 1'500);
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings.back().text, Not(HasSubstr(" 0 without an answer")));
}

TEST_F(ForeignClientTest, AClientThatStaysIsKilled) {
  ForeignProgram program = Script("stays");
  program.goodbye = Millis(300);
  EXPECT_THAT(Wrong(RunLoad(std::move(program), 100)), HasSubstr("did not end within 300 ms"));
  EXPECT_TRUE(ChildIsGone());
}

}  // namespace
}  // namespace ratchet::chaos
