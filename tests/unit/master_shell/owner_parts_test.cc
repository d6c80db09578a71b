// The files of a new owner of the root: how often a takeover syncs, and what a power failure at any of its operations
// leaves, S9' (claim in root and store), S114 (no start without the past).
#include "master/process/owner_parts.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/io/cluster_key.h"
#include "common/io/fatal.h"
#include "tests/costs/costs.h"
#include "tests/costs/counting_disk.h"
#include "tests/support/expect_killed.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

using io::SimDisk;
using Loss = SimDisk::Loss;

constexpr Loss kLosses[] = {Loss::kEverything, Loss::kNothing, Loss::kRandom};
constexpr const char* kFolders[] = {"archive", "data", "history", "numbers", "procedures", "quarantine", "wals"};

// A master that is elected, up to its claim.
class Owner {
 public:
  explicit Owner(std::unique_ptr<SimDisk::Process> the_process) : process(std::move(the_process)) {}

  // `threads`: the owner is going to commit.
  Status Lead(bool threads = false) { return Lead(*process, threads); }
  Status Lead(io::Disk& disk, bool threads) {
    RATCHET_TRY(Open(disk, threads));
    RATCHET_ASSIGN(loaded, parts.store->Claim());
    return Ok();
  }
  Status Open(io::Disk& disk, bool threads) {
    RATCHET_ASSIGN(const auto root, disk.OpenOrMake("/root"));
    RATCHET_ASSIGN(const auto keys, io::ReadOrRestoreClusterKeys(*root, {"a-key-for-this-test"}));
    procedure::WalStoreOptions options;
    options.spares = 0;
    options.threads = threads;
    options.owner = "test";
    RATCHET_ASSIGN(parts, MakeOwnerParts(disk, "/root", time, std::move(options), {}));
    return Ok();
  }
  void Commit() {
    procedure::StoreBatch batch;
    batch.upserts.push_back({loaded.max_pid.Next(), 1, "a step"});
    ASSERT_TRUE(parts.store->CommitAndWait(std::move(batch)).ok());
  }

  std::unique_ptr<SimDisk::Process> process;
  ManualTime time;
  OwnerParts parts;
  procedure::LoadedState loaded;
};

class OwnerPartsTest : public ::testing::Test {
 protected:
  OwnerPartsTest() {
    io::SetFatalHandler([](const std::string& /*reason*/) {});  // the simulated process dies, not this one
  }
  ~OwnerPartsTest() override { io::SetFatalHandler({}); }

  // A root whose owner died after a commit.
  static void GivenAnOwnerThatDied(SimDisk& disk) {
    Owner owner(disk.NewProcess());
    ASSERT_TRUE(owner.Lead(/*threads=*/true).ok());
    owner.Commit();
    owner.process->Crash();
  }

  // A master leads after a power failure, and its folders survive the next one. `records`: of the owner before.
  static std::string NextFault(SimDisk& disk, std::size_t records) {
    {
      Owner next(disk.NewProcess());
      if (const Status led = next.Lead(); !led.ok()) return "no start: " + led.error().ToString();
      if (next.loaded.records.size() != records) return fmt::format("{} records", next.loaded.records.size());
    }
    disk.PowerFailure();
    const auto process = disk.NewProcess();
    auto root = process->Open("/root");
    if (!root.ok()) return "the root is lost";
    for (const char* folder : kFolders) {
      const auto there = (*root)->Exists(folder);
      if (!there.ok() || !*there) return fmt::format("{} is lost", folder);
    }
    return io::ReadClusterKeys(**root).ok() ? "" : "the key is lost";
  }

  // A master dies at each operation of its start, and the power fails. `used`: the root had an owner before.
  static std::string DeathFault(bool used) {
    for (const Loss loss : kLosses) {
      for (std::uint64_t number = 1;; ++number) {
        SimDisk disk;
        if (used) GivenAnOwnerThatDied(disk);
        bool led = false;
        {
          Owner victim(disk.NewProcess());
          victim.process->SetHook(io::CrashAtOp(number, number % 2 == 0));
          led = victim.Lead().ok() && !victim.process->crashed();
        }
        disk.PowerFailure(loss, number);
        const std::string fault = NextFault(disk, used ? 1 : 0);
        if (!fault.empty()) return fmt::format("loss {}, died at {}: {}", static_cast<int>(loss), number, fault);
        if (led) break;
      }
    }
    return "";
  }
};

// The root, procedures/ with the claim and again with the segment, numbers/; the segment that was read, the space and
// the seal of the own one, and the first commit.
TEST_F(OwnerPartsTest, ATakeoverSyncsOnlyWhatChanged) {
  SimDisk disk;
  GivenAnOwnerThatDied(disk);
  Owner next(disk.NewProcess());
  costs::SyncCounts syncs;
  costs::CountingDisk counted(*next.process, syncs);
  ASSERT_TRUE(next.Open(counted, /*threads=*/true).ok());
  EXPECT_EQ(syncs.Of("directory") + syncs.Of("other"), 0U) << "before the claim";
  next.loaded = next.parts.store->Claim().value();
  next.Commit();
  next.process->Crash();  // an orderly end syncs too
  costs::ExpectCounts("master.takeover", {{"directory", syncs.Of("directory")}, {"other", syncs.Of("other")}});
}

TEST_F(OwnerPartsTest, ADeathAtAnyOperationOfAFirstStartIsHarmless) { EXPECT_EQ(DeathFault(/*used=*/false), ""); }

TEST_F(OwnerPartsTest, ADeathAtAnyOperationOfATakeoverIsHarmless) { EXPECT_EQ(DeathFault(/*used=*/true), ""); }

TEST_F(OwnerPartsTest, AFirstClaimBeforeDurableNumbersIsNoticed) {
  ExpectKilled(
      "guard.numbers_not_durable", [] { return DeathFault(/*used=*/false); }, "numbers/store.* is missing");
}

// A folder that exists was perhaps made by a master that died before the root was synced.
TEST_F(OwnerPartsTest, FoldersOfAMasterThatDiedBeforeItsClaimBecomeDurable) {
  SimDisk disk;
  GivenAnOwnerThatDied(disk);
  {
    const auto administrator = disk.NewProcess();
    const auto root = administrator->Open("/root").value();
    for (const char* folder : {"archive", "history"}) ASSERT_TRUE(root->RemoveDir(folder).ok());
    ASSERT_TRUE(root->Sync().ok());
  }
  Owner unlucky(disk.NewProcess());
  ASSERT_TRUE(unlucky.Open(*unlucky.process, /*threads=*/false).ok());
  unlucky.process->Crash();
  EXPECT_EQ(NextFault(disk, 1), "");
}

TEST_F(OwnerPartsTest, AClaimWithoutASyncOfTheRootIsNoticed) {
  ExpectKilled(
      "store.no_root_sync",
      [] {
        SimDisk disk;
        return NextFault(disk, 0);
      },
      "is lost");
}

}  // namespace
}  // namespace ratchet::master
