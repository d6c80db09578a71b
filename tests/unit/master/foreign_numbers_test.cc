// S114 (no start without the past) while a master runs: epochs and pids of live servers and of hbase:meta that this
// master's store does not know.
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "master/procedures/core/master_env.h"
#include "master/requests/foreign_numbers.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

constexpr std::uint64_t kBeyond = 1'000'000'000'000;  // above every pid of a test

class ForeignNumbersTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(2);
    GivenTable("t", 1);
  }
  // A report of an order of `epoch`: what ends the master, and the code that the server gets.
  void Report(std::uint64_t epoch) {
    master().logic().env.went_back = [this](const Error& error) { went_back_ = error; };
    RegionReport report;
    report.server = cluster_.Alive().front()->name();
    report.pid = ProcId(kBeyond);
    report.epoch = Epoch(epoch);
    master().logic().reports.OnRegionReport(report, [this](const Result<ReportAnswer>& answer) {
      refused_ = answer.ok() ? std::optional<Code>() : answer.error().code();
    });
  }
  void ExpectTheEndForALaterEpoch() {
    const std::uint64_t mine = master().executor().epoch().value();
    Report(mine);
    EXPECT_FALSE(went_back_.has_value()) << "a report of this epoch";
    Report(mine + 1);
    EXPECT_EQ(refused_, Code::kFenced) << "the server keeps the report";
    ASSERT_TRUE(went_back_.has_value()) << "the master leads on";
    EXPECT_TRUE(IsWentBack(*went_back_));
    EXPECT_NE(went_back_->message().find(cluster_.Alive().front()->name().ToString()), std::string::npos)
        << went_back_->message();
  }

  std::optional<Error> went_back_;
  std::optional<Code> refused_;
};

TEST_F(ForeignNumbersTest, AReportOfALaterEpochEndsTheMaster) { ExpectTheEndForALaterEpoch(); }

TEST_F(ForeignNumbersTest, AnHbaseMetaWithLargerNumbersIsNotLoaded) {
  cluster_.meta().mutable_regions().at(Encoded("t")).issued = kBeyond;
  cluster_.KillMaster();
  cluster_.StartMaster();
  (void)cluster_.RunFor(Millis(5'000));
  EXPECT_FALSE(master().ready());
  EXPECT_FALSE(master().logic().ready()) << "requests are admitted";
}

TEST_F(ForeignNumbersTest, EachNumberOfARowIsCompared) {
  const auto verdict = [this](const MetaContents& contents) {
    const Status checked = CheckNumbersOf(master().executor(), contents);
    return checked.ok() ? std::string() : checked.error().message();
  };
  const std::uint64_t largest = master().executor().LargestPid().value();
  MetaContents contents;
  contents.regions.resize(1);
  contents.tables.resize(1);
  contents.tables[0].directory = "default/t." + std::to_string(largest);
  contents.regions[0].issued = contents.regions[0].served = contents.regions[0].build_number = largest;
  EXPECT_EQ(verdict(contents), "");
  for (auto member : {&RegionRow::issued, &RegionRow::served, &RegionRow::build_number}) {
    MetaContents above = contents;
    above.regions[0].*member = largest + 1;
    EXPECT_NE(verdict(above).find("largest pid"), std::string::npos);
  }
  contents.tables[0].directory = "default/t." + std::to_string(largest + 1);
  EXPECT_NE(verdict(contents).find("table"), std::string::npos);
}

#if defined(RATCHET_MUTANTS)
TEST_F(ForeignNumbersTest, ContinuingAsMasterIsNoticed) {
  ExpectKilled(
      "guard.any_reported_number", [this] { ExpectTheEndForALaterEpoch(); }, "the master leads on");
}
#endif

}  // namespace
}  // namespace ratchet::master
