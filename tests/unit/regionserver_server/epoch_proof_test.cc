// S59 (epoch proven by a claim): an epoch without a claim file is not valid.
#include "regionserver/process/root_files.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "procedure/store/claim.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {
namespace {

class EpochProofTest : public testing::Test {
 protected:
  void Claim() {
    auto store = process_->OpenOrMake("/root/procedures");
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(procedure::ClaimNextEpoch(**store).ok());
  }
  bool Proven(std::uint64_t epoch) { return ProveEpoch(*root_, Epoch(epoch)).ok(); }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess();
  std::unique_ptr<io::Directory> root_ = process_->OpenOrMake("/root").value();
};

TEST_F(EpochProofTest, OnlyWhatAMasterHasClaimedIsBelieved) {
  EXPECT_FALSE(Proven(1)) << "nothing is there that could prove it";
  Claim();
  Claim();
  EXPECT_TRUE(Proven(1)) << "claims are never removed";
  EXPECT_TRUE(Proven(2));
  EXPECT_FALSE(Proven(3));
  EXPECT_EQ(ProveEpoch(*root_, Epoch(std::uint64_t{1} << 62)).error().code(), Code::kStale);
  Claim();
  EXPECT_TRUE(Proven(3)) << "looked for again each time";
}

#if defined(RATCHET_MUTANTS)
TEST_F(EpochProofTest, BelievingUnprovenOnesIsCaught) {
  const ScopedMutant mutant("regionserver.unproven_epoch");
  Claim();
  EXPECT_TRUE(Proven(std::uint64_t{1} << 62)) << "what the test above would notice";
}
#endif

}  // namespace
}  // namespace ratchet::regionserver
