// A rotation of logs: the file is moved away; SIGHUP opens a new one of its name and does not end the process.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/stop_signals.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

std::string ReadLogFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Records the calls on the signals' thread.
class HeardSignals {
 public:
  void HangUp() {
    MutexLock lock(mutex_);
    ++hangups_;
    changed_.NotifyAll();
  }
  void Stop() {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  bool Wait(int hangups, bool stopped) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mutex_);
    while (hangups_ < hangups || (stopped && !stopped_)) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= until) return false;
      changed_.WaitFor(mutex_, until - now);
    }
    return true;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int hangups_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

class LogReopenTest : public ::testing::Test {
 protected:
  LogReopenTest() : dir_(fs::path(::testing::TempDir()) / ("ratchet_log_reopen_" + std::to_string(::getpid()))) {
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

// A region's name has arbitrary bytes; such a byte made grep treat the log as a binary file.
TEST_F(LogReopenTest, EveryByteIsPrintableAndALineIsALine) {
  const fs::path log = dir_ / "log";
  ASSERT_TRUE(OpenLog({LogLevel::kInfo, log}).ok());
  RATCHET_LOG(kInfo, "region t,{},1 of {}", std::string("a\0b\n\x1b[31m", 8), "\xC3\xA4");
  FlushLog();
  const std::string text = ReadLogFile(log);
  EXPECT_NE(text.find("region t,a\\x00b\\x0A\\x1B[31,1 of \\xC3\\xA4\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }))
      << text;
}

TEST_F(LogReopenTest, AHugeMessageIsCut) {
  const fs::path log = dir_ / "log";
  ASSERT_TRUE(OpenLog({LogLevel::kInfo, log}).ok());
  constexpr std::size_t kMost = 16U << 10;
  RATCHET_LOG(kInfo, "{}", std::string(kMost, 'w'));
  RATCHET_LOG(kInfo, "user {} is unknown", std::string(1U << 20, '\n'));
  FlushLog();
  const std::string text = ReadLogFile(log);
  EXPECT_NE(text.find(std::string(kMost, 'w') + "\n"), std::string::npos) << "a message that is whole";
  EXPECT_LT(text.size(), 6 * kMost);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find("user \\x0A\\x0A"), std::string::npos);
  EXPECT_TRUE(std::regex_search(text.substr(text.size() - 100), std::regex(R"( \(103\d{4} bytes more\)\n$)")));
}

// With the offset from UTC, lines of hosts in several zones can be put in order.
TEST_F(LogReopenTest, TimesCarryTheirZone) {
  const fs::path log = dir_ / "log";
  ASSERT_TRUE(OpenLog({LogLevel::kInfo, log}).ok());
  RATCHET_LOG(kInfo, "x");
  FlushLog();
  const std::string text = ReadLogFile(log);
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d I )"))) << text;
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

// Runs in a separate process, whose other threads exist already or start later. The signal must end no thread.
TEST_F(LogReopenTest, HangupsEndNothingAndTerminationStillDoes) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    HeardSignals heard;
    const StopSignals signals([&](const char*) { heard.Stop(); }, [&] { heard.HangUp(); });
    bool all = true;
    for (int i = 1; i <= 3; ++i) {
      ::kill(::getpid(), SIGHUP);
      all = heard.Wait(i, false) && all;
    }
    ::kill(::getpid(), SIGTERM);
    all = heard.Wait(3, true) && all;
    ::_exit(all ? 42 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace ratchet
