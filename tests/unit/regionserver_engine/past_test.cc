// S118 (older copy stays closed): an opening compares its order with the region's directory. A number that the order
// does not know was assigned by a master whose store has gone back. If the directory lacks what the order knows of, it
// is an older copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/ownership.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRegion = "abc";

class PastTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    Given(7, 40);
  }
  void TearDown() override { ConfigureLog({}); }
  // Opening `number` has served, and flushed up to `flushed`.
  void Given(std::uint64_t number, std::uint64_t flushed) {
    auto manifest = Manifest::Create(*directory_, kRegion, number).value();
    ManifestEdit edit;
    edit.flushed_sequence = flushed;
    manifest->Append(edit).value();
  }
  // Returns the class of the refusal, or "opened".
  std::string Open(std::uint64_t number, std::uint64_t issued, std::uint64_t served, std::uint64_t flushed) {
    RegionPast past;
    past.issued = issued;
    past.served = served;
    past.flushed = flushed;
    const auto opened = Manifest::Create(*directory_, kRegion, number, past);
    if (opened.ok()) return "opened";
    why_ = opened.error().message();
    return opened.error().remote_class().empty() ? std::string(CodeName(opened.error().code()))
                                                 : opened.error().remote_class();
  }
  bool Has(const std::string& name) { return directory_->Exists(name).value(); }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess("a");
  std::unique_ptr<io::Directory> directory_ = process_->OpenOrMake("/data/abc").value();
  std::string why_;
};

TEST_F(PastTest, ANumberThatTheMasterDoesNotKnowOfStopsTheOpeningBeforeItClaims) {
  EXPECT_EQ(Open(9, 6, 0, 0), rpc::exception::kStoreWentBack);
  EXPECT_THAT(why_, HasSubstr("the newest number on its record is 6"));
  EXPECT_FALSE(Has("manifest.9"));
  EXPECT_FALSE(Has("serving.9"));
  EXPECT_TRUE(Has("serving.7")) << "the opening that the master does not know of continues";
}

TEST_F(PastTest, EachKindOfNameCounts) {
  for (const char* name : {"manifest.8", "serving.8", "opened.8"}) {
    ASSERT_TRUE(directory_->Create(name).ok());
    EXPECT_EQ(Open(9, 7, 0, 0), rpc::exception::kStoreWentBack) << name;
    ASSERT_TRUE(directory_->Unlink(name).ok());
  }
  EXPECT_EQ(Open(9, 7, 7, 40), "opened");
}

TEST_F(PastTest, WhatTheMasterDoesNotKnowItDoesNotSay) { EXPECT_EQ(Open(9, 0, 0, 0), "opened"); }

// A late order of a master that was replaced: its number is lower, so the order is refused as superseded (S21: numbered
// openings).
TEST_F(PastTest, ALateOrderIsSuperseded) { EXPECT_EQ(Open(6, 5, 0, 0), "FENCED"); }

TEST_F(PastTest, AnOlderCopyDoesNotOpen) {
  EXPECT_EQ(Open(9, 8, 8, 40), rpc::exception::kOlderCopy);
  EXPECT_THAT(why_, HasSubstr("opening 8 has served"));
  EXPECT_EQ(Open(10, 9, 7, 41), rpc::exception::kOlderCopy) << "the same opening, before its last flush";
  EXPECT_EQ(Open(11, 10, 7, 40), "opened");
}

TEST_F(PastTest, AnOperatorMayGoOnWithAnOlderCopy) {
  EXPECT_EQ(Open(9, 8, 8, 41), rpc::exception::kOlderCopy);
  EXPECT_THAT(why_, HasSubstr("accepted.7"));
  ASSERT_TRUE(directory_->Create("accepted.6").ok());
  EXPECT_EQ(Open(10, 9, 8, 41), rpc::exception::kOlderCopy) << "that name accepts another copy";
  ASSERT_TRUE(directory_->Create("accepted.7").ok());
  EXPECT_EQ(Open(11, 10, 8, 41), "opened");
}

TEST_F(PastTest, OpeningOverUnknownNumbersIsNoticed) {
  const ScopedMutant mutant("region.no_issued");
  EXPECT_EQ(Open(9, 6, 0, 0), "opened");
}

TEST_F(PastTest, OpeningAnOlderCopyIsNoticed) {
  const ScopedMutant mutant("region.no_served");
  EXPECT_EQ(Open(9, 8, 8, 41), "opened");
}

}  // namespace
}  // namespace ratchet::regionserver
