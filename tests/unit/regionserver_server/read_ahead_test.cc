// Replies of long scans that are read while the client processes the previous ones.
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

bool WaitUntil(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  return condition();
}

class ReadAheadTest : public ServiceFixture {
 protected:
  static constexpr int kRows = 40;
  static constexpr std::uint64_t kReply = 100;  // bytes: a few rows

  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    for (int i = 0; i < kRows; ++i) ASSERT_TRUE(Put(region_, fmt::format("r{:02}", i), "q", "value").ok());
  }
  pb::ScanRequest Request(const std::optional<std::uint64_t>& id) {
    pb::ScanRequest request;
    if (id) {
      request.set_scanner_id(*id);
    } else {
      *request.mutable_region() = Specify(region_);
      request.mutable_scan()->set_max_result_size(kReply);
    }
    request.set_number_of_rows(INT32_MAX);
    request.set_client_handles_partials(true);
    request.set_client_handles_heartbeats(true);
    request.set_track_scan_metrics(true);
    return request;
  }
  // One call; its rows go to `rows_`.
  Result<pb::ScanResponse> Call(const pb::ScanRequest& request, bool cell_blocks = true) {
    auto reply = ServiceFixture::Call(methods::kScan, request, {}, cell_blocks);
    if (!reply.ok()) return reply.error();
    CellBlockReader reader(reply->cells);
    for (const std::uint32_t count : reply->message.cells_per_result()) {
      const auto cells = reader.Take(count);
      EXPECT_TRUE(cells.ok());
      rows_.push_back(cells->front().row);
    }
    for (const auto& result : reply->message.results()) rows_.push_back(result.cell(0).row());
    for (const auto& metric : reply->message.scan_metrics().metrics())
      if (metric.name() == "ROWS_SCANNED") scanned_ += metric.value();
    return reply->message;
  }
  // The opening and this number of calls, after which a reply is read ahead.
  std::uint64_t Begin(int calls = 2) {
    const auto open = Call(Request({}));
    EXPECT_TRUE(open.ok());
    for (int i = 0; i < calls; ++i) EXPECT_TRUE(Call(Request(open->scanner_id())).ok());
    return open->scanner_id();
  }
  // Waits until the reply that is being read is complete.
  bool IsAhead() {
    return WaitUntil([this] { return ahead_->bytes() > 0 && ahead_->bytes() != kReply; });
  }
  int CallToTheEnd(std::uint64_t id) {
    for (int calls = 1;; ++calls) {
      const auto next = Call(Request(id));
      EXPECT_TRUE(next.ok()) << next.error().ToString();
      if (!next.ok() || !next->more_results_in_region()) return calls;
    }
  }
  void ExpectAllRows() {
    ASSERT_EQ(rows_.size(), static_cast<std::size_t>(kRows));
    for (int i = 0; i < kRows; ++i) EXPECT_EQ(rows_[i], fmt::format("r{:02}", i));
  }

  const RegionInfo region_ = TableRegion();
  std::vector<std::string> rows_;
  std::int64_t scanned_ = 0;
};

TEST_F(ReadAheadTest, EveryRowComesOnceInOrderAndNothingIsHeldInTheEnd) {
  const std::uint64_t id = Begin();
  EXPECT_TRUE(IsAhead());
  EXPECT_GT(CallToTheEnd(id), 3);
  ExpectAllRows();
  EXPECT_EQ(scanned_, kRows) << "counted with the reply that has them";
  EXPECT_EQ(ahead_->bytes(), 0U);
}

TEST_F(ReadAheadTest, WhatIsWrittenMeanwhileIsNotShownAndNothingIsLost) {
  const std::uint64_t id = Begin();
  ASSERT_TRUE(IsAhead());
  for (int i = 0; i < kRows; ++i) ASSERT_TRUE(Put(region_, fmt::format("r{:02}a", i), "q", "late").ok());
  CallToTheEnd(id);
  ExpectAllRows();
}

TEST_F(ReadAheadTest, ARegionThatHasGoneMeanwhileIsNotAnsweredFor) {
  const std::uint64_t id = Begin();
  ASSERT_TRUE(IsAhead());
  host_->regions.Find(region_.encoded_name()).value()->Abandon();
  const auto next = Call(Request(id));
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(ahead_->bytes(), 0U);
  EXPECT_EQ(Call(Request(id)).error().remote_class(), rpc::exception::kUnknownScanner);
}

TEST_F(ReadAheadTest, ACallForOtherRepliesIsToldToOpenTheScannerAgain) {
  const std::uint64_t id = Begin();
  ASSERT_TRUE(IsAhead());
  const std::size_t before = rows_.size();
  pb::ScanRequest other = Request(id);
  other.set_number_of_rows(1);
  const auto next = Call(other);
  ASSERT_FALSE(next.ok()) << "the rows that were read ahead are more than it asks for, and cannot be given back";
  EXPECT_EQ(next.error().remote_class(), rpc::exception::kUnknownScanner);
  EXPECT_EQ(rows_.size(), before);
  EXPECT_EQ(ahead_->bytes(), 0U);
  EXPECT_EQ(scanners_->open(), 0U);
}

TEST_F(ReadAheadTest, RepliesThatAreBoundedByRowsAreReadAheadAndServeACallForMore) {
  pb::ScanRequest two = Request({});
  two.set_number_of_rows(2);
  const auto open = Call(two);
  ASSERT_TRUE(open.ok());
  pb::ScanRequest next = Request(open->scanner_id());
  next.set_number_of_rows(2);
  ASSERT_TRUE(Call(next).ok());
  ASSERT_TRUE(IsAhead());
  ASSERT_TRUE(Call(next).ok());
  ASSERT_TRUE(IsAhead());
  ASSERT_TRUE(Call(Request(open->scanner_id())).ok()) << "the two that were read";
  CallToTheEnd(open->scanner_id());
  ExpectAllRows();
}

TEST_F(ReadAheadTest, SendingItForAnyCallIsNoticed) {
  const ScopedMutant mutant("scan.any_ahead");
  const std::uint64_t id = Begin();
  ASSERT_TRUE(IsAhead());
  rows_.clear();
  pb::ScanRequest other = Request(id);
  other.set_number_of_rows(1);
  ASSERT_TRUE(Call(other).ok());
  EXPECT_GT(rows_.size(), 1U) << "more than it asks for";
}

TEST_F(ReadAheadTest, AClosedScannerHoldsNothing) {
  const std::uint64_t id = Begin();
  ASSERT_TRUE(IsAhead());
  pb::ScanRequest close;
  close.set_scanner_id(id);
  close.set_close_scanner(true);
  ASSERT_TRUE(Call(close).ok());
  EXPECT_TRUE(WaitUntil([&] { return ahead_->bytes() == 0; }));
  const std::uint64_t second = Begin();
  ASSERT_TRUE(IsAhead());
  EXPECT_NE(second, id);
  scanners_->CloseAll();
  EXPECT_TRUE(WaitUntil([&] { return ahead_->bytes() == 0; }));
}

TEST_F(ReadAheadTest, ARenewalLeavesWhatIsAhead) {
  const std::uint64_t id = Begin();
  ASSERT_TRUE(IsAhead());
  pb::ScanRequest renew;
  renew.set_scanner_id(id);
  renew.set_renew(true);
  ASSERT_TRUE(Call(renew).ok());
  EXPECT_GT(ahead_->bytes(), 0U);
  CallToTheEnd(id);
  ExpectAllRows();
}

TEST_F(ReadAheadTest, ShortScansAndThoseOfOtherKindsReadNothingAhead) {
  static_cast<void>(Begin(0));
  pb::ScanRequest limited = Request({});
  limited.set_limit_of_rows(30);
  pb::ScanRequest whole = Request({});
  whole.set_client_handles_partials(false);
  for (const pb::ScanRequest& open : {limited, whole}) {
    const auto opened = Call(open);
    ASSERT_TRUE(opened.ok());
    pb::ScanRequest next = open;
    next.clear_region();
    next.clear_scan();
    next.set_scanner_id(opened->scanner_id());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(Call(next).ok());
  }
  const auto plain = Call(Request({}), /*cell_blocks=*/false);
  ASSERT_TRUE(plain.ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Call(Request(plain->scanner_id()), /*cell_blocks=*/false).ok());
  EXPECT_EQ(ahead_->bytes(), 0U) << "what begins to be read is reserved before the reply is sent";
}

TEST_F(ReadAheadTest, WithoutRoomAScanGoesOnWithoutIt) {
  ahead_bytes_ = kReply + kReply / 2;  // one reply
  const std::uint64_t first = Begin();
  ASSERT_TRUE(IsAhead());
  const std::uint64_t held = ahead_->bytes();
  const std::uint64_t second = Begin();
  EXPECT_EQ(ahead_->bytes(), held);
  rows_.clear();
  static_cast<void>(first);
  CallToTheEnd(second);
  ahead_bytes_ = 0;
  rows_.clear();
  const std::uint64_t third = Begin();
  EXPECT_EQ(ahead_->bytes(), held) << "switched off; what is there stays until it is taken";
  CallToTheEnd(third);
  ExpectAllRows();
}

TEST(AheadBudgetTest, ThreadsAndBytesAreBounded) {
  AheadBudget budget(100, 2);
  EXPECT_TRUE(budget.Begin(40));
  EXPECT_TRUE(budget.Begin(40));
  EXPECT_FALSE(budget.Begin(1)) << "two threads read";
  budget.Read(40, 30);
  EXPECT_EQ(budget.bytes(), 70U);
  EXPECT_FALSE(budget.Begin(40));
  EXPECT_TRUE(budget.Begin(30));
  EXPECT_EQ(budget.bytes(), 100U);
  budget.Read(30, 0);
  budget.Read(40, 10);
  budget.Free(40);
  EXPECT_EQ(budget.bytes(), 0U);
}

}  // namespace
}  // namespace ratchet::regionserver
