// Leases and ids of scanners; the reading of a session is tested with the service.
#include "regionserver/rpc/scanner_table.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/manual_time.h"

namespace ratchet::regionserver {
namespace {

class ScannerTableTest : public testing::Test {
 protected:
  // A session whose end is visible: `alive_` expires with it. The table never looks inside.
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
  ScannerTable table_{time_, time_, 77, {Millis(1000), 3, 2, 1000}};  // three at most
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

// Bounds of connections and users, and the room above them.
class ScannerRoomTest : public testing::Test {
 protected:
  using Kind = ScannerOwner::Kind;
  static std::shared_ptr<ScanSession> Session() {
    auto owner = std::make_shared<int>(0);
    return {owner, reinterpret_cast<ScanSession*>(owner.get())};
  }
  ScannerTableOptions Options() {
    ScannerTableOptions options;
    options.lease = Millis(60'000);
    options.max_open = 100;
    options.max_of_connection = 20;
    options.max_of_user = 45;
    options.refused = [this](const std::string& why) { refusals_.push_back(why); };
    return options;
  }
  // 0: refused.
  std::uint64_t Open(Kind kind, std::uint64_t connection, const std::string& user, std::uint64_t bytes = 100) {
    auto use = table_.Add(Session(), bytes, {kind, connection, user, "peer"});
    return use.ok() ? use->id() : 0;
  }
  // How many one connection opens until it is refused; at most 1000.
  int Fill(Kind kind, std::uint64_t connection, const std::string& user) {
    int opened = 0;
    while (opened < 1000 && Open(kind, connection, user) != 0) ++opened;
    return opened;
  }

  ManualTime time_;
  std::vector<std::string> refusals_;
  ScannerTable table_{time_, time_, 77, Options()};
};

TEST_F(ScannerRoomTest, OneConnectionLeavesRoomForOthers) {
  EXPECT_EQ(Fill(Kind::kUserTable, 1, "a"), 20);
  ASSERT_EQ(refusals_.size(), 1u);
  EXPECT_NE(refusals_[0].find("--max-scanners-per-connection"), std::string::npos) << refusals_[0];
  EXPECT_NE(Open(Kind::kUserTable, 2, "a"), 0u);
  EXPECT_NE(Open(Kind::kSystemTable, 2, "a"), 0u);
}

TEST_F(ScannerRoomTest, WithoutItsBoundOneConnectionTakesAll) {
  const ScopedMutant mutant("scan.one_connection_takes_all");
  for (const char* user : {"a", "b", "c"}) Fill(Kind::kUserTable, 1, user);
  EXPECT_EQ(Open(Kind::kUserTable, 2, "d"), 0u);
}

TEST_F(ScannerRoomTest, OneUserLeavesRoomForOthers) {
  EXPECT_EQ(Fill(Kind::kUserTable, 1, "a") + Fill(Kind::kUserTable, 2, "a") + Fill(Kind::kUserTable, 3, "a"), 45);
  EXPECT_NE(refusals_.back().find("--max-scanners-per-user"), std::string::npos) << refusals_.back();
  EXPECT_NE(Open(Kind::kUserTable, 4, "b"), 0u);
}

TEST_F(ScannerRoomTest, WhereClientsHaveTakenAllSystemTablesAndMembersAreScanned) {
  int opened = 0;
  for (std::uint64_t connection = 1; connection <= 10; ++connection)
    opened += Fill(Kind::kUserTable, connection, std::to_string(connection / 2));
  EXPECT_EQ(opened, 100);
  EXPECT_NE(Open(Kind::kSystemTable, 50, "z"), 0u);
  // Scanners of system tables that no call reads are closed first, those of the connection with the most first.
  for (std::uint64_t connection = 51; connection <= 60; ++connection)
    for (int i = 0; i < 10; ++i) EXPECT_NE(Open(Kind::kSystemTable, connection, std::to_string(connection)), 0u);
  EXPECT_NE(Open(Kind::kSystemTable, 70, "y"), 0u);
  EXPECT_NE(Open(Kind::kMember, 80, "y"), 0u);
  EXPECT_LE(table_.open(), 100u + 2 * 16u);
}

TEST_F(ScannerRoomTest, WithoutRoomForThemSystemTablesAreShutOut) {
  const ScopedMutant mutant("scan.no_room_for_meta");
  for (std::uint64_t connection = 1; connection <= 10; ++connection)
    Fill(Kind::kUserTable, connection, std::to_string(connection / 2));
  EXPECT_EQ(Open(Kind::kSystemTable, 50, "z"), 0u);
  EXPECT_EQ(Open(Kind::kMember, 80, "y"), 0u);
}

TEST_F(ScannerRoomTest, ScannersOfAnEndedConnectionEndSoonAndGiveWayAtOnce) {
  EXPECT_EQ(Fill(Kind::kUserTable, 1, "a"), 20);
  table_.ConnectionEnded(1);
  EXPECT_EQ(table_.open(), 20u);
  for (std::uint64_t connection = 2; connection <= 6; ++connection)
    EXPECT_EQ(Fill(Kind::kUserTable, connection, std::to_string(connection)), 20);
  EXPECT_EQ(table_.open(), 100u);
  table_.ConnectionEnded(2);
  time_.Advance(Millis(4'999));
  EXPECT_EQ(table_.open(), 100u);
  time_.Advance(Millis(2));
  EXPECT_EQ(table_.open(), 80u);
}

TEST_F(ScannerRoomTest, AClientThatConnectsAgainKeepsItsScanner) {
  const std::uint64_t id = Open(Kind::kUserTable, 1, "a");
  table_.ConnectionEnded(1);
  time_.Advance(Millis(3'000));
  EXPECT_TRUE(table_.Find(id, 2).ok());
  time_.Advance(Millis(30'000));
  EXPECT_TRUE(table_.Find(id, 2).ok());
  table_.ConnectionEnded(2);
  time_.Advance(Millis(6'000));
  EXPECT_FALSE(table_.Find(id, 3).ok());
}

TEST_F(ScannerRoomTest, NamesOfOneConnectionTakeHalfAtMost) {
  EXPECT_NE(Open(Kind::kUserTable, 1, "a", 100u << 20), 0u);
  EXPECT_EQ(Open(Kind::kUserTable, 1, "a", 100u << 20), 0u);
  EXPECT_NE(Open(Kind::kUserTable, 2, "a", 100u << 20), 0u);
  EXPECT_EQ(Open(Kind::kUserTable, 3, "a", 100u << 20), 0u);
  EXPECT_NE(Open(Kind::kSystemTable, 3, "a", 100u << 20), 0u);
}

}  // namespace
}  // namespace ratchet::regionserver
