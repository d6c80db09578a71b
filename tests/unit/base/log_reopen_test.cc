// A rotation of logs: the file is moved away, SIGHUP opens a new one of its name and ends nothing.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/stop_signals.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

std::string ReadLogFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LogReopenTest : public testing::Test {
 protected:
  LogReopenTest() : dir_(fs::path(testing::TempDir()) / ("ratchet_log_reopen_" + std::to_string(::getpid()))) {
    fs::create_directories(dir_);
  }
  ~LogReopenTest() override {
    ConfigureLog({});
    fs::remove_all(dir_);
  }
  const fs::path dir_;
};

TEST_F(LogReopenTest, LinesGoToANewFileOfTheSameName) {
  const fs::path log = dir_ / "log";
  ASSERT_TRUE(OpenLog({LogLevel::kInfo, log}).ok());
  RATCHET_LOG(kInfo, "first");
  fs::rename(log, dir_ / "log.1");
  RATCHET_LOG(kInfo, "second");
  ASSERT_TRUE(ReopenLog().ok());
  RATCHET_LOG(kInfo, "third");
  FlushLog();
  EXPECT_NE(ReadLogFile(dir_ / "log.1").find("second"), std::string::npos);
  EXPECT_EQ(ReadLogFile(log).find("second"), std::string::npos);
  EXPECT_NE(ReadLogFile(log).find("third"), std::string::npos);
}

TEST_F(LogReopenTest, AFileThatCannotBeOpenedChangesNothing) {
  const fs::path log = dir_ / "log";
  ASSERT_TRUE(OpenLog({LogLevel::kInfo, log}).ok());
  fs::rename(log, dir_ / "log.1");
  fs::create_directory(log);
  EXPECT_FALSE(ReopenLog().ok());
  RATCHET_LOG(kInfo, "still here");
  FlushLog();
  EXPECT_NE(ReadLogFile(dir_ / "log.1").find("still here"), std::string::npos);
}

// In a process of its own, whose other threads exist already or come later: none of them may end it.
TEST_F(LogReopenTest, HangupsEndNothingAndTerminationStillDoes) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> hangups{0};
    std::atomic<bool> stop{false};
    const StopSignals signals([&](const char*) { stop = true; }, [&] { ++hangups; });
    for (int i = 1; i <= 3; ++i) {
      ::kill(::getpid(), SIGHUP);
      for (int waited = 0; hangups < i && waited < 20'000; ++waited) ::usleep(1'000);
    }
    ::kill(::getpid(), SIGTERM);
    for (int waited = 0; !stop && waited < 20'000; ++waited) ::usleep(1'000);
    ::_exit(hangups == 3 && stop ? 42 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace ratchet
