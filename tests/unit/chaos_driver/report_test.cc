#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "chaos/report/merged_log.h"
#include "chaos/report/render.h"
#include "chaos/report/summary.h"

namespace ratchet::chaos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

FaultLine Fault(std::string kind, std::int64_t at, std::int64_t gap) {
  FaultLine fault;
  fault.kind = std::move(kind);
  fault.victims = {"rs-1"};
  fault.evidence = "pid 12 is gone <really>";
  fault.injected_ms = at;
  fault.healed_ms = at + 500;
  fault.settled_ms = at + 3000;
  fault.gap_ms = gap;
  fault.phases.detect = 2000;
  return fault;
}

RunRecord SomeRun() {
  RunRecord run;
  run.scenario = "serverKilling";
  run.target = "local";
  run.seed = 5;
  run.command = "scripts/chaos --seed 5";
  run.started_ms = 1'000'000;
  run.ended_ms = 1'060'000;
  run.faults = {Fault("kill-server", 1'010'000, 2400), Fault("kill-server", 1'030'000, 2600)};
  run.faults.push_back(Fault("pause-server", 1'040'000, 0));
  run.faults.back().error = "no";
  run.events = {{1'010'000, "kill-server", "rs-1 \"quoted\""}};
  run.traffic = {{1'000'000, 0, 0}, {1'001'000, 500, 0}, {1'002'000, 700, 1}};
  run.workloads = {{"registers", {}}};
  run.findings = {{true, "all rows there"}};
  run.guards = {{false, "no kill of a master"}};
  run.skipped = {{"fill-disk", "needs root"}};
  run.deaths = DeathFigures{{{"connection refused", 3}, {"session ended", 2}}, 4, 1, 0, 1, 2};
  return run;
}

TEST(PercentilesTest, NearestRank) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 200; i >= 1; --i) values.push_back(i);
  const Percentiles many = PercentilesOf(values);
  EXPECT_EQ(many.p50, 100);
  EXPECT_EQ(many.p99, 198);
  EXPECT_EQ(many.max, 200);
  const Percentiles one = PercentilesOf({7});
  EXPECT_EQ(one.p50, 7);
  EXPECT_EQ(one.p99, 7);
  EXPECT_EQ(PercentilesOf({}).count, 0U);
}

TEST(SummaryTest, KindsAreKeptApartAndFailuresCounted) {
  const auto rows = Summarize(SomeRun().faults);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, "kill-server");
  EXPECT_EQ(rows[0].injected, 2U);
  EXPECT_EQ(rows[0].gap.p50, 2400);
  EXPECT_EQ(rows[0].gap.max, 2600);
  EXPECT_EQ(rows[0].settled.max, 3000);
  EXPECT_EQ(rows[0].fence.count, 0U);
  EXPECT_EQ(rows[1].injected, 0U);
  EXPECT_EQ(rows[1].failed, 1U);
}

TEST(RenderTest, TextNamesVerdictSeedAndHowToRepeat) {
  RunRecord run = SomeRun();
  const std::string text = RenderText(run);
  EXPECT_THAT(text, HasSubstr("INCONCLUSIVE"));
  EXPECT_THAT(text, HasSubstr("VOID  no kill of a master"));
  EXPECT_THAT(text, HasSubstr("skip  fill-disk: needs root"));
  EXPECT_THAT(text, HasSubstr("2400/2600/2600"));
  EXPECT_THAT(text, HasSubstr("region servers expired: connection refused 3, session ended 2; active masters replaced "
                              "early: 1; early findings: 4, of which false 1, excused by a fault 0, not judged 2"));
  EXPECT_THAT(text, HasSubstr("again: scripts/chaos --seed 5"));
  run.verdict = Verdict::kPass;
  EXPECT_THAT(RenderText(run), Not(HasSubstr("again:")));
}

TEST(RenderTest, JsonIsWellFormedAndComplete) {
  rapidjson::Document json;
  ASSERT_FALSE(json.Parse(RenderJson(SomeRun()).c_str()).HasParseError());
  EXPECT_STREQ(json["verdict"].GetString(), "INCONCLUSIVE");
  EXPECT_EQ(json["seed"].GetUint64(), 5U);
  ASSERT_EQ(json["faults"].Size(), 3U);
  EXPECT_EQ(json["faults"][0]["detect"].GetInt64(), 2000);
  EXPECT_FALSE(json["faults"][0].HasMember("fence"));
  EXPECT_EQ(json["summary"][0]["client_gap"]["max"].GetInt64(), 2600);
  EXPECT_STREQ(json["deaths"]["servers_expired"][1]["reason"].GetString(), "session ended");
  EXPECT_EQ(json["deaths"]["servers_expired"][1]["count"].GetUint64(), 2U);
  EXPECT_EQ(json["deaths"]["early"].GetUint64(), 4U);
  EXPECT_EQ(json["deaths"]["false"].GetUint64(), 1U);
  EXPECT_STREQ(json["events"][0]["detail"].GetString(), "rs-1 \"quoted\"");
}

TEST(RenderTest, HtmlNeedsNothingFromElsewhereAndEscapes) {
  const std::string html = RenderHtml(SomeRun());
  for (const char* reference : {"http://", "https://", "<script", "<link", "src=", "url(", "@import"}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("active masters replaced early: 1"));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("&lt;really&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("<really>")));
}

TEST(MergedLogTest, SortedByTimeWithContinuationsBehindTheirLine) {
  const std::vector<NamedLog> logs = {
      {"master-1", {"2026-01-31T12:00:00.100 I [main] one", "  a stack", "2026-01-31T12:00:00.300 I [main] three"}},
      {"rs-1", {"2026-01-31T12:00:00.200 I [main] two"}}};
  EXPECT_THAT(MergeLogs(logs), ElementsAre("2026-01-31T12:00:00.100 master-1    I [main] one",
                                           "                        master-1      a stack",
                                           "2026-01-31T12:00:00.200 rs-1        I [main] two",
                                           "2026-01-31T12:00:00.300 master-1    I [main] three"));
}

}  // namespace
}  // namespace ratchet::chaos
