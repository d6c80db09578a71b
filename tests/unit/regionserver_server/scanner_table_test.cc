// Leases and ids of scanners; how a session reads is tested with the service.
#include "regionserver/services/scanner_table.h"

#include <gtest/gtest.h>

#include "common/base/manual_time.h"

namespace ratchet::regionserver {
namespace {

class ScannerTableTest : public testing::Test {
 protected:
  // A session whose end can be seen: `alive_` expires with it. The table never looks inside.
  std::shared_ptr<ScanSession> Session() {
    auto owner = std::make_shared<int>(0);
    alive_ = owner;
    return {owner, reinterpret_cast<ScanSession*>(owner.get())};
  }
  std::uint64_t Open() {
    auto use = table_.Add(Session(), 100);
    EXPECT_TRUE(use.ok());
    return use->id();
  }
  Code FindError(std::uint64_t id) {
    auto use = table_.Find(id);
    EXPECT_FALSE(use.ok());
    return use.ok() ? Code::kInternal : use.error().code();
  }

  ManualTime time_;
  ScannerTable table_{time_, time_, 77, {Millis(1000), 3, 2, 1000}};
  std::weak_ptr<int> alive_;
};

TEST_F(ScannerTableTest, WhatOpenScannersHoldIsBounded) {
  auto large = table_.Add(Session(), 900);
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(table_.Add(Session(), 200).error().code(), Code::kResourceExhausted);
  EXPECT_EQ(table_.open(), 1u);
  large->Close();
  EXPECT_EQ(table_.bytes(), 0u);
  ASSERT_TRUE(table_.Add(Session(), 900).ok());
  time_.Advance(Millis(1000));  // its lease
  EXPECT_EQ(table_.bytes(), 0u);
}

TEST_F(ScannerTableTest, IdsCarryTheRunAndNeverRepeat) {
  const auto first = Open();
  const auto second = Open();
  EXPECT_NE(first, second);
  EXPECT_EQ(first >> 32, 77u);
}

TEST_F(ScannerTableTest, LeaseEndsWithoutUse) {
  const auto id = Open();
  time_.Advance(Millis(999));
  EXPECT_FALSE(alive_.expired());
  time_.Advance(Millis(2));
  EXPECT_TRUE(alive_.expired());
  EXPECT_EQ(FindError(id), Code::kNotFound);
  EXPECT_EQ(table_.open(), 0u);
}

TEST_F(ScannerTableTest, EachUseStartsTheLeaseAnew) {
  const auto id = Open();
  for (int i = 0; i < 5; ++i) {
    time_.Advance(Millis(900));
    EXPECT_TRUE(table_.Find(id).ok()) << i;
  }
  time_.Advance(Millis(1001));
  EXPECT_EQ(FindError(id), Code::kNotFound);
}

TEST_F(ScannerTableTest, LeaseDoesNotRunDuringAUse) {
  const auto id = Open();
  {
    auto use = table_.Find(id);
    ASSERT_TRUE(use.ok());
    time_.Advance(Millis(10'000));
    EXPECT_EQ(FindError(id), Code::kFailedPrecondition) << "one call at a time";
  }
  time_.Advance(Millis(900));
  EXPECT_TRUE(table_.Find(id).ok());
}

TEST_F(ScannerTableTest, FinishedIsRememberedClosedIsNot) {
  const auto finished = Open();
  const auto closed = Open();
  table_.Find(finished)->Finish();
  table_.Find(closed)->Close();
  EXPECT_EQ(FindError(finished), Code::kAborted);
  EXPECT_EQ(FindError(closed), Code::kNotFound);
  EXPECT_EQ(table_.open(), 0u);
}

TEST_F(ScannerTableTest, MemoryOfFinishedOnesIsBounded) {
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(Open());
    table_.Find(ids.back())->Finish();
  }
  EXPECT_EQ(FindError(ids[0]), Code::kNotFound);
  EXPECT_EQ(FindError(ids[1]), Code::kAborted);
  EXPECT_EQ(FindError(ids[2]), Code::kAborted);
}

TEST_F(ScannerTableTest, TooManyAreRefused) {
  for (int i = 0; i < 3; ++i) Open();
  auto refused = table_.Add(Session(), 100);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace ratchet::regionserver
