// The fence of a server's directory: S1 (check after sync) to S4 (directory made once), with each sync and each rule
// left out once.
#include <functional>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

constexpr const char* kServer = "host,16020,1";

struct Machine {
  explicit Machine(SimDisk& disk) : process(disk.NewProcess()) {
    auto opened = process->OpenOrMake("/wals");
    if (opened.ok()) wals = std::move(opened).value();
  }
  std::unique_ptr<SimDisk::Process> process;
  std::unique_ptr<Directory> wals;
};

TEST(FencedDirectoryTest, AFencedOwnerKnowsItAndItsLaterFilesAreSeenInTheRenamedDirectory) {
  SimDisk disk;
  Machine server(disk);
  Machine master(disk);
  const auto owner = FencedDirectory::Make(*server.wals, kServer).value();
  EXPECT_TRUE(owner->Check().ok());
  EXPECT_EQ(FencedDirectory::Make(*server.wals, kServer).error().code(), Code::kAlreadyExists);
  const auto fenced = FencedDirectory::Fence(*master.wals, kServer).value();
  EXPECT_EQ(owner->Check().error().code(), Code::kFenced);
  ASSERT_TRUE(owner->directory().Create("log.2").ok());  // the fenced server rolls its log
  EXPECT_TRUE(fenced->Exists("log.2").value());
  EXPECT_FALSE(master.wals->Exists(kServer).value());
  EXPECT_EQ(FencedDirectory::Make(*server.wals, kServer).error().code(), Code::kAlreadyExists)
      << "names do not come back";
}

TEST(FencedDirectoryTest, FencingMayBeRepeatedByAnybody) {
  SimDisk disk;
  Machine master(disk);
  ASSERT_TRUE(FencedDirectory::Make(*master.wals, kServer).ok());
  ASSERT_TRUE(FencedDirectory::Fence(*master.wals, kServer).ok());
  ASSERT_TRUE(FencedDirectory::Fence(*master.wals, kServer).ok());
  EXPECT_EQ(FencedDirectory::Fence(*master.wals, "other").error().code(), Code::kNotFound);
  ASSERT_TRUE(master.wals->MakeDir(kServer).ok());
  EXPECT_EQ(FencedDirectory::Fence(*master.wals, kServer).error().code(), Code::kCorruption)
      << "somebody made it again";
}

TEST(FencedDirectoryTest, AnyErrorOfTheLookCountsAsFenced) {
  SimDisk disk;
  Machine server(disk);
  const auto owner = FencedDirectory::Make(*server.wals, kServer).value();
  server.process->SetHook(FailOps(SimOp::kLookUp, kAliveFile, Code::kIo));
  EXPECT_EQ(owner->Check().error().code(), Code::kFenced);
}

// A cleaner that removes the fenced directory's files must not let the fenced server pass its CHECK again.
bool ZombieComesBackAfterCleaning() {
  SimDisk disk;
  Machine server(disk);
  Machine master(disk);
  const auto owner = FencedDirectory::Make(*server.wals, kServer).value();
  const auto fenced = FencedDirectory::Fence(*master.wals, kServer).value();
  EXPECT_TRUE(fenced->Unlink(kFencedFile).ok());
  EXPECT_TRUE(master.wals->RemoveDir(std::string(kServer) + kSplittingSuffix).ok());
  return owner->Check().ok();
}

TEST(FencedDirectoryTest, TheCheckIsPositive) {
  EXPECT_FALSE(ZombieComesBackAfterCleaning());
  const ScopedMutant mutant("fence.negative_check");
  EXPECT_TRUE(ZombieComesBackAfterCleaning()) << "the check above would not notice";
}

// A fence that returned must hold after a power failure, whatever was lost. Returns the error, or an empty text.
std::string FenceThenPowerFailure(const SimHook& hook) {
  SimDisk disk;
  {
    Machine server(disk);
    if (!FencedDirectory::Make(*server.wals, kServer).ok()) return "";
    Machine master(disk);
    master.process->SetHook(hook);
    if (!FencedDirectory::Fence(*master.wals, kServer).ok()) return "";
  }
  disk.PowerFailure();
  Machine later(disk);
  const auto plain = later.wals->Exists(kServer);
  if (*plain) return "the old name is back";
  auto fenced = later.wals->OpenDir(std::string(kServer) + kSplittingSuffix);
  if (!fenced.ok()) return "the fenced directory is gone";
  if (*(*fenced)->Exists(kAliveFile)) return "ALIVE is back";
  if (!*(*fenced)->Exists(kFencedFile)) return "FENCED is gone";
  return "";
}

TEST(FencedDirectoryTest, EachSyncOfAFenceIsNeeded) {
  EXPECT_EQ(FenceThenPowerFailure({}), "");
  EXPECT_EQ(FenceThenPowerFailure([](const SimEvent& event) {
              return event.op == SimOp::kSyncDirectory && event.path.ends_with(kServer) ? SimVerdict::Skip()
                                                                                        : SimVerdict::Proceed();
            }),
            "ALIVE is back");
  EXPECT_EQ(FenceThenPowerFailure([](const SimEvent& event) {
              return event.op == SimOp::kSyncDirectory && event.path == "/wals" ? SimVerdict::Skip()
                                                                                : SimVerdict::Proceed();
            }),
            "the old name is back");
  const ScopedMutant mutant("fence.no_mark_sync");
  EXPECT_EQ(FenceThenPowerFailure({}), "ALIVE is back");
}

// A fencer dies anywhere, power fails, another one finishes: the result is always the same.
TEST(FencedDirectoryTest, AFencerMayDieAnywhere) {
  for (std::uint64_t dies_at = 1; dies_at < 12; ++dies_at) {
    for (const auto loss : {SimDisk::Loss::kEverything, SimDisk::Loss::kNothing, SimDisk::Loss::kRandom}) {
      SimDisk disk;
      {
        Machine server(disk);
        ASSERT_TRUE(FencedDirectory::Make(*server.wals, kServer).ok());
        Machine first(disk);
        const std::uint64_t base = first.process->operations();
        first.process->SetHook(CrashAtOp(base + dies_at));
        IgnoreResult(FencedDirectory::Fence(*first.wals, kServer), "it may die");
      }
      disk.PowerFailure(loss, dies_at);
      Machine second(disk);
      const auto fenced = FencedDirectory::Fence(*second.wals, kServer);
      ASSERT_TRUE(fenced.ok()) << fenced.error().ToString();
      EXPECT_FALSE((*fenced)->Exists(kAliveFile).value());
      EXPECT_TRUE((*fenced)->Exists(kFencedFile).value());
      EXPECT_FALSE(second.wals->Exists(kServer).value());
    }
  }
}

// A directory that was made exists after a power failure; otherwise a server would have answered from a directory that
// is lost.
std::string MakeThenPowerFailure(const SimHook& hook) {
  SimDisk disk;
  {
    Machine server(disk);
    server.process->SetHook(hook);
    if (!FencedDirectory::Make(*server.wals, kServer).ok()) return "not made";
  }
  disk.PowerFailure();
  Machine later(disk);
  auto directory = later.wals->OpenDir(kServer);
  if (!directory.ok()) return "the directory is gone";
  return *(*directory)->Exists(kAliveFile) ? "" : "ALIVE is gone";
}

TEST(FencedDirectoryTest, EachSyncOfTheMakingIsNeeded) {
  EXPECT_EQ(MakeThenPowerFailure({}), "");
  const auto skip = [](std::string path) {
    return [path](const SimEvent& event) {
      return event.op == SimOp::kSyncDirectory && event.path == path ? SimVerdict::Skip() : SimVerdict::Proceed();
    };
  };
  EXPECT_EQ(MakeThenPowerFailure(skip("/wals")), "the directory is gone");
  EXPECT_EQ(MakeThenPowerFailure(skip(std::string("/wals/") + kServer)), "ALIVE is gone");
}

// A fencer runs completely at each operation of a maker: the maker must fail, or find itself fenced.
TEST(FencedDirectoryTest, AMakerThatIsOvertakenIsFenced) {
  int overtaken = 0;
  for (int at = 1; at < 20; ++at) {
    SimDisk disk;
    Machine server(disk);
    Machine master(disk);
    int operation = 0;
    bool fenced = false;
    server.process->SetHook([&](const SimEvent&) {
      if (++operation == at) fenced = FencedDirectory::Fence(*master.wals, kServer).ok();
      return SimVerdict::Proceed();
    });
    auto made = FencedDirectory::Make(*server.wals, kServer);
    server.process->SetHook({});
    if (!fenced) continue;
    ++overtaken;
    EXPECT_TRUE(!made.ok() || !(*made)->Check().ok()) << "fenced at operation " << at << " and does not know";
  }
  EXPECT_GE(overtaken, 5);
}

}  // namespace
}  // namespace ratchet::io
