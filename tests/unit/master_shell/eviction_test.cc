// S102 (evict before fencing): the storage evicts a dead process's client before its successor marks or claims
// anything.
#include <string>
#include <vector>

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
struct Claims {
  Claims() { root = process->OpenOrMake("/root").value(); }
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
  Claims claims;
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

TEST(FenceCommandTest, ConfirmsOnlyByEndingWithZero) {
  const SystemClock clock;
  const auto run = [&](const std::string& command, Millis limit = Millis(60'000)) {
    return RunFenceCommand(clock, command, kClient, limit);
  };
  EXPECT_TRUE(run("true").ok());
  const Status failed = run("ls /nothing/here");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::kTimeout);
  EXPECT_NE(failed.error().message().find("rs-1"), std::string::npos) << failed.error().message();
  EXPECT_NE(failed.error().message().find("/nothing/here"), std::string::npos) << "the reason is shown";
  EXPECT_FALSE(run("/no/such/program").ok());
  EXPECT_FALSE(run(" ").ok());
}

TEST(FenceCommandTest, OneThatHangsIsEnded) {
  const SystemClock clock;
  // `tail -f` of a missing file, with the client's name as one more missing file.
  const Status late = RunFenceCommand(clock, "tail -F /dev/null", kClient, Millis(100));
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message().find("took longer than 100 ms"), std::string::npos) << late.error().message();
}

}  // namespace
}  // namespace ratchet::master
