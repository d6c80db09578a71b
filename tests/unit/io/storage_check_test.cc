// The check of a storage for a root: the verdict, and trials on doubles that lack one property each.
#include <gtest/gtest.h>

#include "common/base/clock.h"
#include "common/tools/storage_check/trials.h"
#include "tests/support/sim_client.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

StorageFindings Good() {
  StorageFindings findings;
  findings.kind = "ext4";
  findings.trials = {{"exclusive create", true, ""}};
  return findings;
}

TEST(StorageVerdictTest, FollowsFromTheFindings) {
  StorageFindings findings = Good();
  EXPECT_EQ(Judge(findings).ToString(), "fit");
  findings.by_machines = true;
  EXPECT_EQ(Judge(findings).remarks.size(), 1U) << "one mount says little of a storage for several machines";
  findings.names_cached = true;
  EXPECT_EQ(Judge(findings).ToString(), "fit with proof");
  findings.trials.push_back({"fence races", false, "race 3: lost"});
  EXPECT_EQ(Judge(findings).ToString(), "unfit because fence races: race 3: lost");
  findings = Good();
  findings.kind = "nfs";
  findings.refused_kind = true;
  EXPECT_EQ(Judge(findings).fitness, Fitness::kUnfit) << "whatever the trials say";
  findings = Good();
  findings.trials.clear();
  EXPECT_EQ(Judge(findings).fitness, Fitness::kUnfit);
}

struct Mounts {
  Mounts() {
    here = one->OpenOrMake("/root").value();
    there = two->OpenOrMake("/root").value();
  }
  std::string Verdict(int races = 0) {
    TrialOptions options;
    options.rounds = 3;
    options.fence_races = races;
    return Judge(TryStorage(*here, *there, SystemClock(), options)).ToString();
  }
  SimDisk disk;
  std::unique_ptr<SimDisk::Process> one = disk.NewProcess();
  std::unique_ptr<SimDisk::Process> two = disk.NewProcess();
  std::unique_ptr<Directory> here;
  std::unique_ptr<Directory> there;
};

TEST(StorageTrialsTest, AGoodStorageIsFitAndLeftAsItWas) {
  Mounts mounts;
  EXPECT_EQ(mounts.Verdict(/*races=*/3), "fit");
  EXPECT_TRUE(mounts.here->List().value().empty());
  EXPECT_TRUE(TryStorageShortly(*mounts.here, SystemClock()).ok());
  EXPECT_TRUE(mounts.here->List().value().empty());
}

// Operations of this kind through one mount seem to succeed, but the other mount does not see them.
std::string VerdictWithout(SimOp op) {
  Mounts mounts;
  mounts.one->SetHook(
      [op](const SimEvent& event) { return event.op == op ? SimVerdict::Skip() : SimVerdict::Proceed(); });
  return mounts.Verdict();
}

TEST(StorageTrialsTest, WhatIsNotSeenAtOnceIsUnfit) {
  EXPECT_NE(VerdictWithout(SimOp::kRename).find("renamed files are seen at once: before is still seen"),
            std::string::npos)
      << VerdictWithout(SimOp::kRename);
  EXPECT_NE(VerdictWithout(SimOp::kCreate).find("new and removed names are seen at once"), std::string::npos);
  EXPECT_NE(VerdictWithout(SimOp::kAppend).find("synced appends are seen at once"), std::string::npos);
}

TEST(StorageTrialsTest, AStorageWithoutLinksIsUnfit) {
  Mounts mounts;
  mounts.one->SetHook(FailOps(SimOp::kLink, "", Code::kUnsupported));
  EXPECT_NE(mounts.Verdict().find("hard links between directories"), std::string::npos);
}

TEST(StorageTrialsTest, TheShortFormSaysWhyAStorageIsUnfit) {
  Mounts mounts;
  mounts.one->SetHook(
      [](const SimEvent& event) { return event.op == SimOp::kRename ? SimVerdict::Skip() : SimVerdict::Proceed(); });
  const Status shortly = TryStorageShortly(*mounts.here, SystemClock());
  ASSERT_FALSE(shortly.ok());
  EXPECT_EQ(shortly.error().code(), Code::kFailedPrecondition);
}

TEST(StorageTrialsTest, AClientThatGetsNoRoundTripIsUnfit) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  SimClient client(*process);
  const auto directory = client.OpenOrMake("/root").value();
  EXPECT_TRUE(TryStorageShortly(*directory, SystemClock()).ok());
  client.Evict();
  EXPECT_FALSE(TryStorageShortly(*directory, SystemClock()).ok());
}

}  // namespace
}  // namespace ratchet::io
