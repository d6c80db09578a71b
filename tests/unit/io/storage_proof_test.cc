// S101 (cached names need a proof), on a double of a storage whose clients cache names.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/io/fenced_directory.h"
#include "common/io/storage_client.h"
#include "tests/support/sim_client.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

constexpr const char* kProvenServer = "host,16020,1";

struct Host {
  explicit Host(SimDisk& disk) : process(disk.NewProcess()), client(*process) {
    auto opened = client.OpenOrMake("/wals");
    if (opened.ok()) wals = std::move(opened).value();
  }
  std::unique_ptr<SimDisk::Process> process;
  SimClient client;
  std::unique_ptr<Directory> wals;
};

// A server that is cut off from the storage, but not from its clients, is evicted and fenced. Returns true if it still
// considers itself the owner. `after_sync`: in the CHECK that follows a sync.
bool BelievesInItself(bool after_sync) {
  SimDisk disk;
  Host server(disk);
  Host master(disk);
  const auto owner = FencedDirectory::Make(*server.wals, kProvenServer).value();
  EXPECT_TRUE(owner->Check().ok());
  server.client.Evict();
  EXPECT_TRUE(FencedDirectory::Fence(*master.wals, kProvenServer).ok());
  return (after_sync ? owner->CheckAfterSync() : owner->Check()).ok();
}

TEST(StorageProofTest, AServerThatWasEvictedKnowsItAtItsNextCheck) { EXPECT_FALSE(BelievesInItself(false)); }

TEST(StorageProofTest, BelievingTheCacheIsNoticed) {
  const ScopedMutant mutant("storage.no_proof");
  EXPECT_TRUE(BelievesInItself(false)) << "the check above would not notice";
}

TEST(StorageProofTest, WhatFollowsASyncAsksForNoRoundTrip) {
  EXPECT_TRUE(BelievesInItself(true)) << "its sync is the proof, and fails";
  SimDisk disk;
  Host server(disk);
  const auto owner = FencedDirectory::Make(*server.wals, kProvenServer).value();
  const std::uint64_t before = server.client.round_trips();
  EXPECT_TRUE(owner->CheckAfterSync().ok());
  EXPECT_EQ(server.client.round_trips(), before);
  const auto log = owner->directory().Create("log.1").value();
  server.client.Evict();
  EXPECT_FALSE(log->Append("x").ok() && log->Sync().ok());
}

TEST(StorageProofTest, AStorageWithoutSuchCachesIsAskedNothing) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  const auto directory = process->OpenOrMake("/wals").value();
  ASSERT_TRUE(directory->Create("x").ok());
  EXPECT_FALSE(StorageProof(directory->OpenForRead("x").value()).needed());
  Host server(disk);
  EXPECT_TRUE(StorageProof(server.wals->OpenForRead("x").value()).needed());
  StorageProof::SetPolicy(ProofPolicy::kNever);
  EXPECT_FALSE(StorageProof(server.wals->OpenForRead("x").value()).needed());
  StorageProof::SetPolicy(ProofPolicy::kAlways);
  EXPECT_FALSE(StorageProof(directory->OpenForRead("x").value()).needed()) << "there is nothing to ask";
  EXPECT_TRUE(StorageProof(server.wals->OpenForRead("x").value()).needed());
  StorageProof::SetPolicy(ProofPolicy::kDetect);
}

// Lets the round trips of a client pass one by one.
class Gate {
 public:
  explicit Gate(SimClient& client) {
    client.OnRoundTrip([this] { Pass(); });
  }
  void AwaitArrivals(int count) {
    MutexLock lock(mutex_);
    while (arrived_ < count) changed_.Wait(mutex_);
  }
  void Open(int count) {
    MutexLock lock(mutex_);
    open_ += count;
    changed_.NotifyAll();
  }

 private:
  void Pass() {
    MutexLock lock(mutex_);
    const int mine = ++arrived_;
    changed_.NotifyAll();
    while (open_ < mine) changed_.Wait(mutex_);
  }

  Mutex mutex_;
  CondVar changed_;
  int arrived_ GUARDED_BY(mutex_) = 0;
  int open_ GUARDED_BY(mutex_) = 0;
};

struct Held {
  Held() : server(disk) {
    EXPECT_TRUE(server.wals->Create("x").ok());
    proof = std::make_unique<StorageProof>(server.wals->OpenForRead("x").value());
  }
  void AwaitWaiting(std::uint64_t calls) const {
    while (proof->waiting() < calls) std::this_thread::yield();
  }
  SimDisk disk;
  Host server;
  std::unique_ptr<StorageProof> proof;
};

// A first round trip has passed the storage and its answer is on the way. Then the client is evicted, and only then a
// second look requests its proof. Returns true if that look is believed.
bool ALaterLookIsBelieved() {
  Held held;
  Gate gate(held.server.client);
  std::thread first([&] { EXPECT_TRUE(held.proof->AfterLook().ok()); });
  gate.AwaitArrivals(1);
  held.server.client.Evict();
  std::atomic<bool> believed{false};
  std::thread second([&] { believed = held.proof->AfterLook().ok(); });
  held.AwaitWaiting(2);
  gate.Open(2);
  first.join();
  second.join();
  return believed;
}

TEST(StorageProofTest, ARoundTripThatBeganBeforeALookProvesNothingOfIt) { EXPECT_FALSE(ALaterLookIsBelieved()); }

TEST(StorageProofTest, BelievingAnEarlierRoundTripIsNoticed) {
  const ScopedMutant mutant("storage.early_proof");
  EXPECT_TRUE(ALaterLookIsBelieved()) << "the check above would not notice";
}

TEST(StorageProofTest, ThoseThatWaitShareARoundTrip) {
  Held held;
  Gate gate(held.server.client);
  constexpr int kReads = 8;
  std::vector<std::thread> reads;
  reads.emplace_back([&] { EXPECT_TRUE(held.proof->AfterLook().ok()); });
  gate.AwaitArrivals(1);
  for (int i = 1; i < kReads; ++i) reads.emplace_back([&] { EXPECT_TRUE(held.proof->AfterLook().ok()); });
  held.AwaitWaiting(kReads);
  gate.Open(kReads);
  for (std::thread& read : reads) read.join();
  EXPECT_EQ(held.server.client.round_trips(), 2U) << "one was in progress, and all others wait for the next";
}

TEST(StorageClientTest, NotesAreFileNames) {
  const StorageClient client{"rs-1.host_a", 4164};
  EXPECT_EQ(ClientNote("client.", client), "client.4164.rs-1.host_a");
  EXPECT_EQ(client.ToString(), "rs-1.host_a (session 4164)");
  EXPECT_EQ(NotedClients({"ALIVE", "client.", "client.7", "client.7.", "client.x.y", "client.7.-rf", "client.7.a b",
                          "client.0.m", "client.4164.rs-1.host_a", "log.1"},
                         "client."),
            (std::vector<StorageClient>{{"m", 0}, client}));
  EXPECT_FALSE(IsClientName(""));
  EXPECT_FALSE(IsClientName(std::string(101, 'x')));
  EXPECT_EQ(ClientIdAt("/"), 0U) << "no storage with clients";
}

}  // namespace
}  // namespace ratchet::io
