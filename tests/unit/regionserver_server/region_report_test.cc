#include "regionserver/host/region_report.h"

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/rpc/methods/client_service.h"
#include "tests/support/manual_time.h"
#include "tests/support/meta_put.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

class RegionReportTest : public ServiceFixture {
 protected:
  static constexpr int kRegions = 20;
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    ServiceFixture::SetUp();
    for (int i = 0; i < kRegions; ++i) {
      regions_.push_back(TableRegion(fmt::format("{:03}", i), fmt::format("{:03}x", i)));
      ASSERT_EQ(OpenRegion(regions_.back(), 5).outcome, OrderOutcome::kOpened);
    }
  }
  void TearDown() override {
    ServiceFixture::TearDown();
    ConfigureLog({});
  }
  pb::RegionServerReportRequest Next(RegionReport& report) {
    pb::RegionServerReportRequest request;
    report.Fill(request);
    return request;
  }
  void Taken(RegionReport& report, std::uint64_t number) {
    pb::RegionServerReportResponse answer;
    answer.set_list_taken(number);
    report.Answered(&answer);
  }
  std::vector<RegionInfo> regions_;
};

TEST_F(RegionReportTest, CostsWhatHasChangedAndSomeLoadsInTurn) {
  RegionReport report([this] { return host_->regions.DrainChanges(); }, clock_, /*looks_a_report=*/4);
  auto request = Next(report);
  EXPECT_EQ(request.online_size(), kRegions);
  EXPECT_FALSE(request.has_list_base());
  Taken(report, request.list_number());
  std::set<std::string> loads;
  for (int i = 0; i < kRegions / 4; ++i) {
    request = Next(report);
    EXPECT_EQ(request.online_size() + request.closed_size(), 0);
    EXPECT_EQ(request.list_base(), request.list_number() - 1);
    EXPECT_EQ(request.list_size(), static_cast<std::uint64_t>(kRegions));
    EXPECT_EQ(request.load().region_loads_size(), 4);
    for (const auto& load : request.load().region_loads()) loads.insert(load.region_specifier().value());
    Taken(report, request.list_number());
  }
  EXPECT_EQ(loads.size(), static_cast<std::size_t>(kRegions));
  CloseOrder order;
  order.pid = ProcId(1000);
  order.encoded_name = regions_[3].encoded_name();
  ASSERT_TRUE(host_->orders.Close(order).has_value());
  request = Next(report);
  EXPECT_EQ(request.online_size(), 0);
  ASSERT_EQ(request.closed_size(), 1);
  EXPECT_EQ(request.closed(0), regions_[3].encoded_name());
  ASSERT_EQ(OpenRegion(regions_[3], 9).outcome, OrderOutcome::kOpened);
  request = Next(report);  // no answer shows that the previous one was accepted
  ASSERT_EQ(request.online_size(), 1);
  EXPECT_EQ(request.online(0).open_number(), 9U);
}

// The next test has a master of version 0.2, whose answers have no share.
TEST_F(RegionReportTest, UnchangedLoadsAreSentOnceToAMasterThatCountsThem) {
  ManualTime time;
  RegionReport report([this] { return host_->regions.DrainChanges(); }, time);
  auto request = Next(report);
  EXPECT_EQ(request.load().region_loads_size(), kRegions);
  EXPECT_EQ(request.loads_held(), static_cast<std::uint64_t>(kRegions));
  EXPECT_TRUE(request.loads_complete());
  pb::RegionServerReportResponse answer;
  const auto answered = [&](bool all) {
    answer.set_list_taken(request.list_number());
    answer.set_loads_a_second(20'000);
    answer.set_all_loads(all);
    report.Answered(&answer);
    time.Advance(Millis(1'000));
  };
  answered(/*all=*/false);
  EXPECT_EQ(Next(report).load().region_loads_size(), 0);
  ASSERT_TRUE(Put(regions_[5], regions_[5].start_key, "q", "v").ok());
  request = Next(report);
  EXPECT_EQ(request.load().region_loads_size(), 1);
  EXPECT_EQ(request.load().total_number_of_requests(), 1U);
  answered(/*all=*/true);
  EXPECT_EQ(Next(report).load().region_loads_size(), kRegions) << "the master lacks some";
}

TEST_F(RegionReportTest, LoadsThatDoNotChangeAreLeftOutAndRepeatedAfterAWhile) {
  ManualTime time;
  RegionReport report([this] { return host_->regions.DrainChanges(); }, time);
  const auto loads = [&](bool answered = true) {
    const auto request = Next(report);
    if (answered) Taken(report, request.list_number());
    return request.load().region_loads_size();
  };
  for (int i = 0; i < LoadTurns::kRepeatsOfQuiet; ++i) EXPECT_EQ(loads(), kRegions);
  EXPECT_EQ(loads(), 0);
  ASSERT_TRUE(Put(regions_[5], regions_[5].start_key, "q", "v").ok());
  EXPECT_EQ(loads(/*answered=*/false), 1);
  for (int i = 0; i < LoadTurns::kRepeatsOfQuiet; ++i) EXPECT_EQ(loads(), 1) << "the master may not have got it";
  EXPECT_EQ(loads(), 0);
  time.Advance(LoadTurns::kRepeatLoad);
  EXPECT_EQ(loads(), kRegions);
  EXPECT_EQ(loads(), 0);
  report.StartAnew();
  EXPECT_EQ(loads(), kRegions) << "another master knows none";
}

TEST_F(RegionReportTest, AnotherMasterAndAnAnswerWithoutANumberGetAFullList) {
  RegionReport report([this] { return host_->regions.DrainChanges(); }, clock_);
  Taken(report, Next(report).list_number());
  EXPECT_EQ(Next(report).online_size(), 0);
  const pb::RegionServerReportResponse unaware;
  report.Answered(&unaware);
  auto request = Next(report);
  EXPECT_EQ(request.online_size(), kRegions);
  Taken(report, request.list_number());
  report.StartAnew();
  EXPECT_EQ(Next(report).online_size(), kRegions);
}

// HBase's fields, as its tools read them.
TEST_F(RegionReportTest, LoadsHaveTheFullNamesAndTheCountsOfRequests) {
  RegionReport report([this] { return host_->regions.DrainChanges(); }, clock_);
  Taken(report, Next(report).list_number());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Put(regions_[5], regions_[5].start_key, "q", "v").ok());
  const auto request = Next(report);
  ASSERT_EQ(request.load().region_loads_size(), kRegions);
  EXPECT_EQ(request.load().total_number_of_requests(), 3U);
  for (const auto& load : request.load().region_loads()) {
    EXPECT_EQ(load.region_specifier().type(), pb::RegionSpecifier::REGION_NAME);
    const bool written = load.region_specifier().value() == regions_[5].name();
    EXPECT_EQ(load.write_requests_count(), written ? 3U : 0U);
  }
}

// A server whose clock was ten minutes ahead has written to the region. The server that reports has the right time
// (S74: clock skew limit).
TEST_F(RegionReportTest, TimestampsAheadAreNamedUntilTheClockHasComeAfterThem) {
  ManualTime right(clock_.WallMillis() - 600'000);
  RegionReport report([this] { return host_->regions.DrainChanges(); }, right);
  for (int i = 0; i < kRegions; ++i) ASSERT_TRUE(Put(regions_[i], regions_[i].start_key, "q", "v").ok());
  auto request = Next(report);
  EXPECT_EQ(request.ahead_count(), static_cast<std::uint64_t>(kRegions));
  ASSERT_EQ(request.ahead_size(), 10);
  EXPECT_GE(request.ahead(0).ahead_ms(), request.ahead(9).ahead_ms());
  EXPECT_GE(request.ahead(9).ahead_ms(), 600'000U);
  CloseOrder order;
  order.pid = ProcId(1000);
  order.encoded_name = regions_[3].encoded_name();
  ASSERT_TRUE(host_->orders.Close(order).has_value());
  EXPECT_EQ(Next(report).ahead_count(), static_cast<std::uint64_t>(kRegions - 1));
  right.Advance(Millis(660'000));
  request = Next(report);
  EXPECT_EQ(request.ahead_count(), 0U);
  EXPECT_EQ(request.ahead_size(), 0);
}

// Each change of hbase:meta has its own timestamp, so frequent changes move the timestamps ahead of every clock: not an
// error.
TEST_F(RegionReportTest, TimestampsOfMetaAreNoClocks) {
  ASSERT_EQ(OpenRegion(MetaRegionInfo()).outcome, OrderOutcome::kOpened);
  ASSERT_TRUE(Call(methods::kMutate, PutIntoMeta()).ok());
  ManualTime behind(clock_.WallMillis() - 600'000);  // as if there had been 600,000 more changes than ms
  const auto meta = host_->regions.Find(MetaRegionInfo().encoded_name());
  ASSERT_TRUE(meta.ok());
  ASSERT_GT((*meta)->GetStatus().greatest_timestamp - behind.WallMillis(), 590'000);
  EXPECT_EQ(AheadOfClock(**meta, behind), 0);
  RegionReport report([this] { return host_->regions.DrainChanges(); }, behind);
  EXPECT_EQ(Next(report).ahead_count(), 0U);
}

}  // namespace
}  // namespace ratchet::regionserver
