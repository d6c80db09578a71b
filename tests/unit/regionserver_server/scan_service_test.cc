// The scanner protocol through the wire (docs/wire-compatibility.md).
#include "tests/unit/regionserver_server/service_fixture.h"

#include <set>

#include "common/base/fault_point.h"
#include "common/model/proto/filter.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::regionserver {
namespace {

class ScanServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(Put(region_, "r" + std::to_string(i), "q", std::to_string(i)).ok());
  }
  pb::ScanRequest OpenRequest(std::uint32_t rows) {
    pb::ScanRequest request;
    *request.mutable_region() = Specify(region_);
    request.mutable_scan()->set_max_versions(1);
    request.set_number_of_rows(rows);
    request.set_client_handles_partials(true);
    request.set_client_handles_heartbeats(true);
    return request;
  }
  pb::ScanRequest NextRequest(std::uint64_t id, std::uint32_t rows) {
    pb::ScanRequest request;
    request.set_scanner_id(id);
    request.set_number_of_rows(rows);
    request.set_client_handles_partials(true);
    request.set_client_handles_heartbeats(true);
    return request;
  }
  pb::ScanResponse Scan(const pb::ScanRequest& request, bool cell_blocks = true) {
    auto reply = Call(methods::kScan, request, {}, cell_blocks);
    EXPECT_TRUE(reply.ok()) << reply.error().ToString();
    if (!reply.ok()) return {};
    cells_ = reply->cells;
    return reply->message;
  }
  Error ScanError(const pb::ScanRequest& request) {
    auto reply = Call(methods::kScan, request);
    EXPECT_FALSE(reply.ok());
    return reply.ok() ? Error(Code::kInternal, "no error") : reply.error();
  }
  // "r0 r1 ..." from the last reply.
  std::string Rows(const pb::ScanResponse& response) {
    std::string rows;
    CellBlockReader reader(cells_);
    EXPECT_EQ(response.cells_per_result_size(), response.partial_flag_per_result_size());
    for (const std::uint32_t count : response.cells_per_result()) {
      const auto cells = *reader.Take(count);
      if (!rows.empty()) rows += ' ';
      rows += cells.front().row;
    }
    for (const auto& result : response.results()) {
      if (!rows.empty()) rows += ' ';
      rows += result.cell(0).row();
    }
    EXPECT_TRUE(reader.AtEnd());
    return rows;
  }

  const RegionInfo region_ = TableRegion();
  std::string cells_;
};

TEST_F(ScanServiceTest, OpenReturnsRowsAndEverythingAClientWants) {
  const auto open = Scan(OpenRequest(2));
  EXPECT_EQ(Rows(open), "r0 r1");
  EXPECT_TRUE(open.has_scanner_id());
  EXPECT_EQ(open.ttl(), 60'000u);
  EXPECT_TRUE(open.has_mvcc_read_point());
  EXPECT_TRUE(open.more_results());
  EXPECT_TRUE(open.more_results_in_region());
  EXPECT_EQ(open.results_size(), 0) << "cells in the block only";
}

TEST_F(ScanServiceTest, NextEchoesIdAndTtlUntilTheRegionEnds) {
  const auto open = Scan(OpenRequest(4));
  const auto next = Scan(NextRequest(open.scanner_id(), 4));
  EXPECT_EQ(Rows(next), "r4 r5");
  EXPECT_EQ(next.scanner_id(), open.scanner_id());
  EXPECT_EQ(next.ttl(), 60'000u);
  EXPECT_FALSE(next.more_results_in_region());
  EXPECT_TRUE(next.more_results()) << "only the region has ended";
}

TEST_F(ScanServiceTest, AFilterThatIsDoneEndsTheRegionAndWithoutRowsTheScan) {
  auto request = OpenRequest(100);
  pb::PageFilter page;
  page.set_page_size(2);
  request.mutable_scan()->mutable_filter()->set_name("org.apache.hadoop.hbase.filter.PageFilter");
  request.mutable_scan()->mutable_filter()->set_serialized_filter(page.SerializeAsString());
  request.set_track_scan_metrics(true);
  const auto open = Scan(request);
  EXPECT_EQ(Rows(open), "r0 r1");
  EXPECT_FALSE(open.more_results_in_region());
  EXPECT_TRUE(open.more_results()) << "the next region has its own page";
  page.set_page_size(0);
  request.mutable_scan()->mutable_filter()->set_serialized_filter(page.SerializeAsString());
  EXPECT_FALSE(Scan(request).more_results());
  pb::PrefixFilter prefix;
  prefix.set_prefix("r3");
  request.mutable_scan()->mutable_filter()->set_name("org.apache.hadoop.hbase.filter.PrefixFilter");
  request.mutable_scan()->mutable_filter()->set_serialized_filter(prefix.SerializeAsString());
  const auto one = Scan(request);
  EXPECT_EQ(Rows(one), "r3");
  std::string metrics;
  for (const auto& metric : one.scan_metrics().metrics())
    metrics += metric.name() + "=" + std::to_string(metric.value()) + " ";
  EXPECT_EQ(metrics, "ROWS_SCANNED=4 ROWS_FILTERED=4 FS_READ_TIME=0 ");
  request.mutable_scan()->mutable_filter()->set_name("com.example.Mine");
  EXPECT_NE(ScanError(request).message().find("com.example.Mine"), std::string::npos);
  pb::RandomRowFilter whole_rows;
  whole_rows.set_chance(1);
  request.mutable_scan()->mutable_filter()->set_name("org.apache.hadoop.hbase.filter.RandomRowFilter");
  request.mutable_scan()->mutable_filter()->set_serialized_filter(whole_rows.SerializeAsString());
  request.mutable_scan()->set_batch_size(1);
  EXPECT_NE(ScanError(request).message().find("Cannot set batch"), std::string::npos);
}

TEST_F(ScanServiceTest, LateNextAndCloseAfterTheServerClosedIt) {
  const auto open = Scan(OpenRequest(100));
  EXPECT_FALSE(open.more_results_in_region());
  EXPECT_EQ(scanners_->open(), 0u);
  const auto late = Scan(NextRequest(open.scanner_id(), 10));
  EXPECT_FALSE(late.more_results_in_region());
  EXPECT_EQ(Rows(late), "");
  auto close = NextRequest(open.scanner_id(), 0);
  close.set_close_scanner(true);
  EXPECT_FALSE(Scan(close).more_results_in_region());
}

TEST_F(ScanServiceTest, UnknownScanner) {
  EXPECT_EQ(ScanError(NextRequest(12345, 1)).remote_class(), rpc::exception::kUnknownScanner);
}

TEST_F(ScanServiceTest, CloseForgetsTheScanner) {
  const auto open = Scan(OpenRequest(1));
  pb::ScanRequest close;
  close.set_scanner_id(open.scanner_id());
  close.set_close_scanner(true);
  Scan(close);
  EXPECT_EQ(scanners_->open(), 0u);
  EXPECT_EQ(ScanError(NextRequest(open.scanner_id(), 1)).remote_class(), rpc::exception::kUnknownScanner);
}

TEST_F(ScanServiceTest, OpenFetchAndCloseInOneCall) {
  auto request = OpenRequest(1);
  request.mutable_scan()->set_reversed(true);
  request.set_close_scanner(true);
  EXPECT_EQ(Rows(Scan(request)), "r5");
  EXPECT_EQ(scanners_->open(), 0u);
}

TEST_F(ScanServiceTest, ReversedFromARowToARow) {
  auto request = OpenRequest(100);
  request.mutable_scan()->set_reversed(true);
  request.mutable_scan()->set_start_row("r4");
  request.mutable_scan()->set_stop_row("r1");
  EXPECT_EQ(Rows(Scan(request)), "r4 r3 r2");
  request.mutable_scan()->set_include_start_row(false);
  request.mutable_scan()->set_include_stop_row(true);
  EXPECT_EQ(Rows(Scan(request)), "r3 r2 r1");
}

// Clients before 1.4 do not send whether the stop row is included.
TEST_F(ScanServiceTest, StartIsStopWithoutAFlagIsThatRow) {
  for (const bool reversed : {false, true}) {
    auto request = OpenRequest(100);
    request.mutable_scan()->set_reversed(reversed);
    request.mutable_scan()->set_start_row("r4");
    request.mutable_scan()->set_stop_row("r4");
    EXPECT_EQ(Rows(Scan(request)), "r4");
    request.mutable_scan()->set_include_stop_row(false);
    EXPECT_EQ(Rows(Scan(request)), "");
  }
}

TEST_F(ScanServiceTest, NoRowsWantedOnlyOpens) {
  const auto open = Scan(OpenRequest(0));
  EXPECT_EQ(Rows(open), "");
  EXPECT_TRUE(open.more_results_in_region());
  EXPECT_EQ(Rows(Scan(NextRequest(open.scanner_id(), 1))), "r0");
}

TEST_F(ScanServiceTest, RenewOnOpenAndLater) {
  auto request = OpenRequest(10);
  request.set_renew(true);
  const auto open = Scan(request);
  EXPECT_EQ(Rows(open), "");
  auto renew = NextRequest(open.scanner_id(), 10);
  renew.set_renew(true);
  renew.set_next_call_seq(0);
  EXPECT_EQ(Rows(Scan(renew)), "");
  auto next = NextRequest(open.scanner_id(), 1);
  next.set_next_call_seq(1);
  EXPECT_EQ(Rows(Scan(next)), "r0");
}

TEST_F(ScanServiceTest, ARawScanShowsDeleteMarkersAndTakesNoColumns) {
  pb::MutateRequest erase;
  *erase.mutable_region() = Specify(region_);
  erase.mutable_mutation()->set_row("r0");
  erase.mutable_mutation()->set_mutate_type(pb::MutationProto::DELETE);
  ASSERT_TRUE(Call(methods::kMutate, erase).ok());
  auto request = OpenRequest(1);
  EXPECT_EQ(Rows(Scan(request)), "r1");
  auto* raw = request.mutable_scan()->add_attribute();
  raw->set_name("_raw_");
  raw->set_value(std::string(1, '\xff'));
  for (const bool cell_blocks : {true, false}) {
    const auto reply = Scan(request, cell_blocks);
    EXPECT_EQ(Rows(reply), "r0");
    if (cell_blocks) {
      CellBlockReader reader(cells_);
      const auto cells = *reader.Take(2);
      EXPECT_EQ(cells[0].type, CellType::kDeleteFamily);
      EXPECT_EQ(cells[1].value, "0");
    } else {
      ASSERT_EQ(reply.results(0).cell_size(), 2);
      EXPECT_EQ(reply.results(0).cell(0).cell_type(), pb::DELETE_FAMILY);
    }
  }
  auto* column = request.mutable_scan()->add_column();
  column->set_family("f");
  EXPECT_EQ(Rows(Scan(request)), "r0") << "a whole family";
  column->add_qualifier("q");
  EXPECT_EQ(ScanError(request).remote_class(), rpc::exception::kDoNotRetryIo);
  raw->set_value(std::string(1, '\0'));
  EXPECT_EQ(Rows(Scan(request)), "r1") << "not raw";
}

TEST_F(ScanServiceTest, CallsOutOfOrderAreRefused) {
  auto request = OpenRequest(1);
  request.set_next_call_seq(0);
  const auto open = Scan(request);
  auto wrong = NextRequest(open.scanner_id(), 1);
  wrong.set_next_call_seq(0);
  EXPECT_EQ(ScanError(wrong).remote_class(), rpc::exception::kOutOfOrderScannerNext);
  wrong.set_next_call_seq(1);
  EXPECT_EQ(Rows(Scan(wrong)), "r1");
}

TEST_F(ScanServiceTest, LimitOfRowsEndsTheWholeScan) {
  auto request = OpenRequest(100);
  request.set_limit_of_rows(3);
  const auto open = Scan(request);
  EXPECT_EQ(Rows(open), "r0 r1 r2");
  EXPECT_FALSE(open.more_results());
  EXPECT_EQ(scanners_->open(), 0u);
}

// With a batch a row is several results; the limit counts rows.
TEST_F(ScanServiceTest, LimitOfRowsCountsRowsNotTheirBatches) {
  for (const char* row : {"a1", "a2", "a3"}) {
    for (const char* qualifier : {"1", "2", "3", "4", "5"}) ASSERT_TRUE(Put(region_, row, qualifier, "v").ok());
  }
  const auto batches = [this](std::uint32_t limit, std::uint32_t results_a_call) {
    auto request = OpenRequest(results_a_call);
    request.mutable_scan()->set_batch_size(2);
    request.mutable_scan()->set_stop_row("b");
    request.set_limit_of_rows(limit);
    auto response = Scan(request);
    std::string rows = Rows(response);
    while (response.more_results() && response.more_results_in_region()) {
      auto next = NextRequest(response.scanner_id(), results_a_call);
      std::set<std::string> begun;  // a client has finished all rows but the last one
      for (std::size_t at = 0; at + 2 <= rows.size(); at += 3) begun.insert(rows.substr(at, 2));
      next.set_limit_of_rows(limit - static_cast<std::uint32_t>(begun.size()) + 1);
      response = Scan(next);
      rows += " " + Rows(response);
    }
    return rows;
  };
  for (const std::uint32_t results : {1U, 2U, 4U, 100U}) {
    SCOPED_TRACE(results);
    EXPECT_EQ(batches(1, results), "a1 a1 a1");
    EXPECT_EQ(batches(2, results), "a1 a1 a1 a2 a2 a2");
    EXPECT_EQ(batches(3, results), "a1 a1 a1 a2 a2 a2 a3 a3 a3");
  }
}

TEST_F(ScanServiceTest, StopRowEndsTheRegionOnly) {
  auto request = OpenRequest(100);
  request.mutable_scan()->set_stop_row("r2");
  const auto open = Scan(request);
  EXPECT_EQ(Rows(open), "r0 r1");
  EXPECT_FALSE(open.more_results_in_region());
  EXPECT_TRUE(open.more_results());
}

TEST_F(ScanServiceTest, BytesBoundTheReply) {
  auto request = OpenRequest(100);
  request.mutable_scan()->set_max_result_size(1);
  EXPECT_EQ(Rows(Scan(request)), "r0") << "one cell always fits";
}

TEST_F(ScanServiceTest, ProtobufCellsWithoutCodec) {
  const auto open = Scan(OpenRequest(2), false);
  EXPECT_EQ(open.cells_per_result_size(), 0);
  EXPECT_EQ(open.results_size(), 2);
  EXPECT_EQ(Rows(open), "r0 r1");
}

TEST_F(ScanServiceTest, MetricsOnRequest) {
  auto request = OpenRequest(3);
  request.set_track_scan_metrics(true);
  const auto open = Scan(request);
  ASSERT_EQ(open.scan_metrics().metrics_size(), 3);
  EXPECT_EQ(open.scan_metrics().metrics(0).name(), "ROWS_SCANNED");
  EXPECT_EQ(open.scan_metrics().metrics(2).name(), "FS_READ_TIME");
  EXPECT_EQ(open.scan_metrics().metrics(2).value(), 0) << "from memory";
  ASSERT_TRUE(host_->regions.Find(region_.encoded_name()).value()->Flush().ok());
  EXPECT_GT(Scan(request).scan_metrics().metrics(2).value(), 0) << "from a file";
}

TEST_F(ScanServiceTest, ScanDoesNotSeeLaterWrites) {
  const auto open = Scan(OpenRequest(1));
  ASSERT_TRUE(Put(region_, "r3", "q", "later").ok());
  const auto next = Scan(NextRequest(open.scanner_id(), 100));
  EXPECT_EQ(cells_.find("later"), std::string::npos);
  EXPECT_EQ(Rows(next), "r1 r2 r3 r4 r5");
}

TEST_F(ScanServiceTest, FencedChunkIsNotSentAndTheScannerIsGone) {
  const auto open = Scan(OpenRequest(1));
  FaultSpec fence;
  fence.action = FaultAction::kCall;
  fence.call = [this](std::string_view) {
    auto wals = *root_->OpenDir("wals");
    EXPECT_TRUE(io::FencedDirectory::Fence(*wals, "host,1,100").ok());
  };
  FaultPoints::Instance().Arm("regionserver.before_read_reply", fence);
  (void)ScanError(NextRequest(open.scanner_id(), 1));
  FaultPoints::Instance().DisarmAll();
  EXPECT_EQ(scanners_->open(), 0u);
}

TEST_F(ScanServiceTest, ClosedRegionEndsItsScans) {
  const auto open = Scan(OpenRequest(1));
  CloseOrder close;
  close.pid = ProcId(99);
  close.encoded_name = region_.encoded_name();
  ASSERT_EQ(host_->orders.Close(close)->outcome, OrderOutcome::kClosed);
  EXPECT_EQ(ScanError(NextRequest(open.scanner_id(), 1)).remote_class(), rpc::exception::kNotServingRegion);
}

}  // namespace
}  // namespace ratchet::regionserver
