// A process with an audit log on a real disk dies by SIGKILL at any moment; its acknowledged changes are in the log.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "common/audit/audit_log.h"
#include "common/audit/verify.h"
#include "common/base/prng.h"
#include "common/model/proto/master.pb.h"

namespace ratchet::audit {
namespace {

namespace fs = std::filesystem;

// In the child: asks for changes without end, and writes the number of each one that was allowed.
[[noreturn]] void AskUntilKilled(const std::string& directory, int first, int acknowledged) {
  auto log = AuditLog::Open(io::PosixDisk(), directory, {16U << 10, 100'000, 64U << 10}, "host", "child");
  if (!log.ok()) ::_exit(1);
  const auto connection = std::make_shared<const rpc::AuditedConnection>();
  rpc::CallContext call;
  call.method = "EnableTable";
  for (int number = first;; ++number) {
    hbase::pb::EnableTableRequest request;
    request.mutable_table_name()->set_namespace_("default");
    request.mutable_table_name()->set_qualifier(std::to_string(number));
    (*log)->Admit(call, connection, request, [number, acknowledged](const Status& status) {
      if (status.ok() && ::write(acknowledged, &number, sizeof number) < 0) ::_exit(2);
    });
  }
}

TEST(AuditKillTest, AcknowledgedChangesSurviveEveryKill) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Prng random(seed);
  const fs::path directory = fs::path(::testing::TempDir()) / ("ratchet_audit_kill_" + std::to_string(::getpid()));
  std::vector<int> allowed;
  for (int round = 0; round < 8; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) AskUntilKilled(directory, round * 1'000'000, ends[1]);
    ::close(ends[1]);
    // The child dies after a random number of answers.
    const std::uint64_t until = allowed.size() + 1 + random.Below(1'000);
    int number = 0;
    while (::read(ends[0], &number, sizeof number) == sizeof number) {
      allowed.push_back(number);
      if (allowed.size() == until) ::kill(child, SIGKILL);
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  }
  // The next start closes what the last kill has left.
  ASSERT_TRUE(AuditLog::Open(io::PosixDisk(), directory, {}, "host", "parent").ok());
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory))
    if (IsAuditFileName(entry.path().filename())) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  Verifier verifier;
  std::string all;
  for (const fs::path& path : paths) {
    EXPECT_EQ(fs::status(path).permissions() & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write);
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    verifier.AddFile(path, text);
    all += text;
  }
  for (const std::string& problem : verifier.report().problems) ADD_FAILURE() << problem;
  EXPECT_GT(paths.size(), 8u);
  std::size_t at = 0;  // answers are in the order of the lines
  for (const int one : allowed) {
    at = all.find("\"target\":\"" + std::to_string(one) + "\"", at);
    ASSERT_NE(at, std::string::npos) << one;
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace ratchet::audit
