// S102 (evict before fencing): the storage evicts a dead process's client before its successor marks or claims
// anything.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/clock.h"
#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "master/process/owner_note.h"
#include "master/storage/fence_command.h"
#include "master/storage/posix_cluster_files.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

const ServerName kEvicted{"h", 16020, 100};
const io::StorageClient kClient{"rs-1", 4164};

struct Cluster {
  Cluster() {
    files = PosixClusterFiles::Open(*process, "/root", [] { return Ok(); }).value();
    directory = io::FencedDirectory::Make(files->wals(), kEvicted.ToString()).value();
    EXPECT_TRUE(io::NoteClient(directory->directory(), io::kClientNotePrefix, kClient).ok());
  }
  io::SimDisk disk;
  std::unique_ptr<io::SimDisk::Process> process = disk.NewProcess("master");
  std::unique_ptr<PosixClusterFiles> files;
  std::unique_ptr<io::FencedDirectory> directory;
};

// Returns true if the server is fenced although the storage does not confirm the eviction of its client.
bool FencesWithoutEviction() {
  Cluster cluster;
  cluster.files->SetEviction([](const io::StorageClient&) { return Error(Code::kTimeout, "not yet"); });
  const Status fenced = cluster.files->FenceLogsNow(kEvicted);
  EXPECT_EQ(fenced.ok(), !cluster.directory->Check().ok());
  return fenced.ok();
}

TEST(EvictionTest, AServerIsFencedOnlyOnceItsClientIsGivenUp) {
  EXPECT_FALSE(FencesWithoutEviction());
  Cluster cluster;
  std::vector<io::StorageClient> evicted;
  cluster.files->SetEviction([&](const io::StorageClient& client) {
    EXPECT_EQ(cluster.directory->Check().ok(), evicted.empty()) << "the mark comes after it";
    evicted.push_back(client);
    return Ok();
  });
  EXPECT_TRUE(cluster.files->FenceLogsNow(kEvicted).ok());
  EXPECT_EQ(evicted, std::vector<io::StorageClient>{kClient});
  EXPECT_FALSE(cluster.directory->Check().ok());
  // A fence that is repeated, perhaps by another master, finds the note in the renamed directory.
  EXPECT_TRUE(cluster.files->FenceLogsNow(kEvicted).ok());
  EXPECT_EQ(evicted.size(), 2U);
}

TEST(EvictionTest, FencingBeforeTheEvictionIsNoticed) {
  const ScopedMutant mutant("storage.fence_before_eviction");
  EXPECT_TRUE(FencesWithoutEviction()) << "the check above would not notice";
}

TEST(EvictionTest, AServerWithoutANoteIsFencedAtOnce) {
  Cluster cluster;
  const ServerName other{"h", 16020, 101};
  ASSERT_TRUE(io::FencedDirectory::Make(cluster.files->wals(), other.ToString()).ok());
  cluster.files->SetEviction([](const io::StorageClient&) { return Error(Code::kTimeout, "not yet"); });
  EXPECT_TRUE(cluster.files->FenceLogsNow(other).ok());
}

// The claims of one store after another, each by a master with its own storage client.
struct EpochClaims {
  EpochClaims() { root = process->OpenOrMake("/root").value(); }
  Status Prepare(Epoch highest, const std::string& name, Status answer = Ok()) {
    evicted.clear();
    const io::StorageClient own{name, 1};
    RATCHET_ASSIGN(const auto names, EvictEarlierOwners(*root, own, [&](const io::StorageClient& client) {
                     evicted.push_back(client.name);
                     return answer;
                   }));
    return PrepareClaim(*root, names, highest, own);
  }
  io::SimDisk disk;
  std::unique_ptr<io::SimDisk::Process> process = disk.NewProcess("master");
  std::unique_ptr<io::Directory> root;
  std::vector<std::string> evicted;
};

TEST(EvictionTest, AClaimEvictsTheOwnerBeforeIt) {
  using Names = std::vector<std::string>;
  EpochClaims claims;
  EXPECT_TRUE(claims.Prepare(Epoch(), "m1").ok());
  EXPECT_EQ(claims.evicted, Names{});
  EXPECT_TRUE(claims.Prepare(Epoch(1), "m2").ok());
  EXPECT_EQ(claims.evicted, Names{"m1"});
  EXPECT_FALSE(claims.Prepare(Epoch(2), "m3", Error(Code::kTimeout, "not yet")).ok()) << "then nothing is claimed";
  EXPECT_EQ(claims.evicted, Names{"m2"});
  // Another master was faster, and must not evict its own earlier incarnation on the same mount.
  EXPECT_TRUE(NoteClaim(*claims.root, Epoch(3), {"m2", 1}).ok());
  EXPECT_TRUE(claims.Prepare(Epoch(3), "m2").ok());
  EXPECT_EQ(claims.evicted, Names{"m1"}) << "still noted, because the earlier claim failed";
  // Only the note of the last claim and of the next one are kept.
  EXPECT_EQ(claims.root->List().value(), (Names{"client.master.3.1.m2", "client.master.4.1.m2"}));
}

// One run, and what was recorded of it.
struct FenceRun {
  explicit FenceRun(const std::string& text, const std::string& variables = "", Millis limit = Millis(60'000),
                    const io::StorageClient& client = kClient) {
    const auto command = ParseFenceCommand(text, variables);
    EXPECT_TRUE(command.ok()) << text;
    if (!command.ok()) return;
    status = RunFenceCommand(SystemClock(), *command, client, limit,
                             [this](std::string_view outcome, const std::string& told) {
                               lines.push_back(fmt::format("{}: {}", outcome, told));
                             });
  }
  Status status = Ok();
  std::vector<std::string> lines;
};

std::string WhyRefused(const std::string& command, const std::string& variables = "") {
  const auto parsed = ParseFenceCommand(command, variables);
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().code(), Code::kInvalidArgument);
  return parsed.error().message();
}

TEST(FenceCommandTest, ConfirmsOnlyByEndingWithZero) {
  const FenceRun good("/bin/echo done");
  EXPECT_TRUE(good.status.ok());
  ASSERT_EQ(good.lines.size(), 1U);
  EXPECT_THAT(good.lines[0], ::testing::MatchesRegex("confirmed: /bin/echo ended with code 0 after [0-9]+ ms: "
                                                     "done rs-1 4164 "));
  const FenceRun failed("/bin/ls /nothing/here");
  ASSERT_FALSE(failed.status.ok());
  EXPECT_EQ(failed.status.error().code(), Code::kTimeout);
  EXPECT_NE(failed.status.error().message().find("rs-1"), std::string::npos) << failed.status.error().message();
  EXPECT_NE(failed.status.error().message().find("/nothing/here"), std::string::npos) << "the reason is shown";
  ASSERT_EQ(failed.lines.size(), 1U);
  EXPECT_EQ(failed.lines[0].find("not confirmed: /bin/ls ended with code 2"), 0U) << failed.lines[0];
  const FenceRun absent("/no/such/program");
  EXPECT_FALSE(absent.status.ok());
  EXPECT_EQ(absent.lines.size(), 1U) << "a program that does not start is recorded, too";
}

TEST(FenceCommandTest, OneThatHangsIsEnded) {
  // `tail -f` of a missing file, with the client's name as one more missing file.
  const FenceRun late("/usr/bin/tail -F /dev/null", "", Millis(100));
  ASSERT_FALSE(late.status.ok());
  EXPECT_NE(late.status.error().message().find("took longer than 100 ms"), std::string::npos)
      << late.status.error().message();
  ASSERT_EQ(late.lines.size(), 1U);
  EXPECT_EQ(late.lines[0].find("not confirmed: /usr/bin/tail took longer than 100 ms"), 0U) << late.lines[0];
}

bool TakesARelativePath() { return WhyRefused("evict --conf /etc/ceph.conf").empty(); }

// S164 (fence commands start clean)
TEST(FenceCommandTest, WrongCommandsAreRefusedWithTheRemedy) {
  EXPECT_FALSE(TakesARelativePath());
  EXPECT_NE(WhyRefused("bin/evict").find("give the whole path"), std::string::npos);
  EXPECT_NE(WhyRefused("./evict").find("give the whole path"), std::string::npos);
  for (const char* none : {"", " ", "   "})
    EXPECT_NE(WhyRefused(none).find("give its absolute path"), std::string::npos) << "'" << none << "'";
  for (const char* shell : {"/bin/evict; rm -rf /x", "/bin/evict `id`", "/bin/evict $(id)", "/bin/evict \"a b\"",
                            "/bin/evict 'a b'", "/bin/evict | tee /x", "/bin/evict > /x", "/bin/evict *"}) {
    EXPECT_NE(WhyRefused(shell).find("no shell reads it"), std::string::npos) << shell;
  }
  EXPECT_NE(WhyRefused("/bin/evict", "A B").find("'A B' cannot be the name of a variable"), std::string::npos);
  EXPECT_NE(WhyRefused("/bin/evict", "A=1").find("cannot be the name of a variable"), std::string::npos);
  for (const char* code : {"PATH", "LD_PRELOAD", "BASH_ENV", "IFS", "PYTHONPATH"})
    EXPECT_NE(WhyRefused("/bin/evict", code).find("could make the command run other code"), std::string::npos) << code;
  EXPECT_EQ(WhyRefused("/bin/evict  --conf  /etc/ceph.conf ", "CEPH_EVICT_AS,KRB5CCNAME,"), "");
}

TEST(FenceCommandTest, ARelativePathIsNoticed) {
  const ScopedMutant mutant("storage.fence_by_any_path");
  EXPECT_TRUE(TakesARelativePath()) << "the check above would not notice";
}

// The environment of a fence command whose master has a hostile one.
std::string EnvironmentOfCommand() {
  ::setenv("LD_PRELOAD_OF_TEST", "/tmp/hostile.so", 1);
  ::setenv("FENCE_TEST_KEY", "client.fencer", 1);
  const FenceRun run("/usr/bin/env -u", "FENCE_TEST_KEY,FENCE_TEST_ABSENT", Millis(60'000), {"none", 0});
  ::unsetenv("LD_PRELOAD_OF_TEST");
  ::unsetenv("FENCE_TEST_KEY");
  EXPECT_TRUE(run.status.ok());
  if (run.lines.size() != 1) return "";
  const std::size_t at = run.lines[0].find(" ms: ");
  return at == std::string::npos ? "" : run.lines[0].substr(at + 5);
}

TEST(FenceCommandTest, GetsNothingFromTheEnvironmentButWhatIsNamed) {
  EXPECT_EQ(EnvironmentOfCommand(), "PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 FENCE_TEST_KEY=client.fencer ");
}

TEST(FenceCommandTest, AForeignEnvironmentIsNoticed) {
  const ScopedMutant mutant("storage.fence_with_any_environment");
  EXPECT_NE(EnvironmentOfCommand(), "PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 FENCE_TEST_KEY=client.fencer ");
}

// Signals that the master blocks or ignores would keep a time limit inside the command from its effect.
TEST(FenceCommandTest, GetsNoBlockedSignals) {
  sigset_t all, before;
  ::sigfillset(&all);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &all, &before), 0);
  const FenceRun run("/bin/grep -h ^SigBlk /proc/self/status", "", Millis(60'000));
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  ASSERT_EQ(run.lines.size(), 1U);
  EXPECT_NE(run.lines[0].find("0000000000000000"), std::string::npos) << run.lines[0];
}

// A name that would be an option or more words never reaches the command.
TEST(FenceCommandTest, HostileNamesOfClientsDoNotRun) {
  for (const char* name : {"", "--conf", "a b", "a;b", "a\nb", "../x", "$(id)", "a/b"}) {
    const FenceRun run("/bin/echo", "", Millis(60'000), {name, 1});
    EXPECT_FALSE(run.status.ok()) << name;
    EXPECT_TRUE(run.lines.empty()) << name;
  }
}

}  // namespace
}  // namespace ratchet::master
