#include "master/telemetry/heartbeat_intake.h"

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

class HeartbeatIntakeTest : public ::testing::Test {
 protected:
  std::optional<StorageAnswer> Take(const pb::RegionServerReportRequest& report) {
    return HeartbeatIntake({loads_, clocks_, storage_, pasts_, rates_}, time_).Take(server_, report, {});
  }

  const ServerName server_{"h", 1, 1};
  ManualTime time_;
  LoadBook loads_;
  ClockBook clocks_;
  StorageBook storage_;
  PastBook pasts_;
  RegionRates rates_;
};

TEST_F(HeartbeatIntakeTest, ReportWithoutLoadAndStorageStoresOnlyTheProcess) {
  pb::RegionServerReportRequest report;
  report.set_descriptors_used(5);
  report.set_descriptor_limit(100);
  report.add_trouble("look");
  EXPECT_FALSE(Take(report).has_value()) << "a server of an earlier version gets no answer about its storage";
  ASSERT_TRUE(pasts_.Get(server_).has_value());
  EXPECT_EQ(pasts_.Get(server_)->descriptors.used, 5U);
  EXPECT_EQ(pasts_.Get(server_)->troubles, std::vector<std::string>{"look"});
  EXPECT_FALSE(pasts_.Get(server_)->disk_free_bytes.has_value());
  EXPECT_FALSE(loads_.Get(server_).has_value());
  EXPECT_TRUE(clocks_.Problems({server_}, Millis(0)).empty());
}

TEST_F(HeartbeatIntakeTest, LoadFillsTheBooksOfLoadsRatesAndClocks) {
  pb::RegionServerReportRequest report;
  auto& load = *report.mutable_load();
  load.set_number_of_requests(7);
  load.set_report_end_time(static_cast<std::uint64_t>(time_.WallMillis()) + 20'000);
  Take(report);
  Take(report);  // one late heartbeat alone is not a wrong clock
  ASSERT_TRUE(loads_.Get(server_).has_value());
  EXPECT_EQ(loads_.RequestsOf(server_), 7U);
  EXPECT_EQ(clocks_.Problems({server_}, Millis(10'000)).size(), 1U);
}

TEST_F(HeartbeatIntakeTest, HangingStorageIsStoredAndAnswered) {
  pb::RegionServerReportRequest report;
  report.mutable_storage()->set_oldest_unfinished_ms(7'000);
  report.mutable_storage()->set_limit_ms(3'000);
  report.mutable_storage()->set_free_bytes(1);
  const auto answer = Take(report);
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->may_withdraw) << "no other server proves that the storage works";
  EXPECT_EQ(storage_.HangsFor(server_, time_.Now()), Millis(7'000));
  EXPECT_TRUE(pasts_.LowDisk({server_}).has_value());
}

TEST(HeartbeatTest, AgesBeyondADayAreCut) {
  pb::RegionServerReportRequest report;
  report.mutable_storage()->set_oldest_unfinished_ms(UINT64_MAX);
  report.mutable_storage()->set_proof_ms(UINT64_MAX);
  report.mutable_storage()->set_limit_ms(UINT64_MAX);
  const auto storage = StorageReportOf(report);
  ASSERT_TRUE(storage.has_value());
  EXPECT_EQ(storage->oldest_unfinished, Millis(86'400'000));
  EXPECT_EQ(storage->proof, Millis(86'400'000));
  EXPECT_EQ(storage->limit, Millis(86'400'000));
}

TEST(HeartbeatTest, ListWithoutANumberIsCompleteAndNamesItsOwnAheadRegions) {
  pb::RegionServerReportRequest report;
  report.mutable_load()->set_report_end_time(1);
  auto& region = *report.add_online();
  region.set_encoded_name("aaaa");
  region.set_open_number(3);
  region.set_ahead_ms(4);
  report.set_list_base(9);
  const RegionList list = RegionListOf(report);
  EXPECT_EQ(list.number, 0U);
  EXPECT_EQ(list.base, 0U);
  ASSERT_EQ(list.open.size(), 1U);
  const auto reading = ClockReadingOf(report);
  ASSERT_TRUE(reading.has_value());
  ASSERT_EQ(reading->ahead.size(), 1U);
  EXPECT_EQ(reading->ahead[0].ahead_ms, 4U);
  report.set_list_number(1);
  EXPECT_TRUE(ClockReadingOf(report)->ahead.empty()) << "a numbered list has a field of its own for them";
  EXPECT_EQ(RegionListOf(report).base, 9U);
}

}  // namespace
}  // namespace ratchet::master
