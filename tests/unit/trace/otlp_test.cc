#include "common/ops/trace/otlp.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace ratchet::trace {
namespace {

constexpr const char* kCluster = "8c4ae2a1-6b9f-4a57-8c8f-5a3e0c1f6f0e";

pb::EndedProcedure Ended(std::uint64_t pid, std::uint64_t parent, const std::string& type, const std::string& state) {
  pb::EndedProcedure ended;
  ended.set_root(parent == 0 ? pid : parent);
  ended.set_epoch(3);
  ended.set_master("m1,16000,1");
  auto& info = *ended.mutable_procedure();
  info.set_pid(pid);
  if (parent != 0) info.set_parent(parent);
  info.set_type(type);
  info.set_state(state);
  info.set_finished(true);
  info.set_text("table=\"t\n, server=rs1,16020,17; x");
  pb::ProcedureField& field = *info.add_field();
  field.set_key("server");
  field.set_value("rs1,16020,17");
  info.set_submitted_wall_ms(1'000);
  info.set_updated_wall_ms(2'500);
  auto& step = *info.add_history();
  step.set_step("OPEN");
  step.set_epoch(2);
  step.set_worker(4);
  step.set_began_wall_ms(1'100);
  step.set_at_wall_ms(1'101);
  step.set_took_us(1'250);
  step.set_outcome("next");
  return ended;
}

rapidjson::Document Parsed(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  EXPECT_FALSE(document.HasParseError()) << text;
  return document;
}

const rapidjson::Value& SpansOf(const rapidjson::Document& document) {
  return document["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

std::string AttributeOf(const rapidjson::Value& span, const std::string& key) {
  for (const auto& attribute : span["attributes"].GetArray()) {
    if (attribute["key"].GetString() != key) continue;
    const auto value = attribute["value"].MemberBegin();
    return value->value.IsBool() ? (value->value.GetBool() ? "true" : "false") : value->value.GetString();
  }
  return "(none)";
}

TEST(OtlpTest, IdsFollowFromClusterPidAndStep) {
  EXPECT_EQ(TraceId(kCluster, 7).size(), 32U);
  EXPECT_EQ(SpanId(kCluster, 7, 0).size(), 16U);
  EXPECT_EQ(TraceId(kCluster, 7), TraceId(kCluster, 7));
  EXPECT_NE(TraceId(kCluster, 7), TraceId(kCluster, 8));
  EXPECT_NE(TraceId(kCluster, 7), TraceId("other", 7));
  EXPECT_NE(SpanId(kCluster, 7, 0), SpanId(kCluster, 7, 1));
  EXPECT_NE(SpanId(kCluster, 71, 1), SpanId(kCluster, 7, 11));
  EXPECT_THAT(TraceId(kCluster, 7), ::testing::MatchesRegex("[0-9a-f]+"));
}

// The names and the kinds of the values are those of the JSON mapping: 64-bit numbers are strings.
TEST(OtlpTest, AStepIsASpanBelowItsProcedureAndAChildBelowItsParent) {
  const Source source{kCluster, {{2, "m0,16000,1"}}};
  const auto document = Parsed(ToOtlp(source, {Ended(7, 0, "Move", "SUCCESS"), Ended(9, 7, "OpenRegion", "SUCCESS")}));
  const auto& spans = SpansOf(document);
  ASSERT_EQ(spans.Size(), 4U);
  for (const auto& span : spans.GetArray()) {
    EXPECT_EQ(span["traceId"].GetString(), TraceId(kCluster, 7));
    EXPECT_TRUE(span["startTimeUnixNano"].IsString());
    EXPECT_EQ(span["kind"].GetInt(), 1);
  }
  EXPECT_FALSE(spans[0].HasMember("parentSpanId"));
  EXPECT_STREQ(spans[0]["name"].GetString(), "Move");
  EXPECT_STREQ(spans[0]["startTimeUnixNano"].GetString(), "1000000000");
  EXPECT_STREQ(spans[0]["endTimeUnixNano"].GetString(), "2500000000");
  EXPECT_STREQ(spans[1]["parentSpanId"].GetString(), spans[0]["spanId"].GetString());
  EXPECT_STREQ(spans[1]["endTimeUnixNano"].GetString(), "1101250000");
  EXPECT_STREQ(spans[2]["parentSpanId"].GetString(), spans[0]["spanId"].GetString());
  EXPECT_STREQ(spans[3]["parentSpanId"].GetString(), spans[2]["spanId"].GetString());
  EXPECT_EQ(AttributeOf(spans[1], "ratchet.pid"), "7");
  EXPECT_EQ(AttributeOf(spans[1], "ratchet.epoch"), "2");
  EXPECT_EQ(AttributeOf(spans[1], "ratchet.master"), "m0,16000,1");
  EXPECT_EQ(AttributeOf(spans[1], "ratchet.server"), "rs1,16020,17");
  EXPECT_EQ(AttributeOf(spans[0], "ratchet.text"), "table=\"t\n, server=rs1,16020,17; x");
}

TEST(OtlpTest, AFailureHasTheStatusErrorAndAnUnfinishedOneNone) {
  auto failed = Ended(7, 0, "CreateTable", "ROLLEDBACK");
  failed.mutable_procedure()->set_error("TableExistsException: t");
  auto running = Ended(8, 0, "CreateTable", "RUNNABLE");
  running.mutable_procedure()->set_finished(false);
  const auto document = Parsed(ToOtlp({kCluster}, {failed, running}));
  const auto& spans = SpansOf(document);
  EXPECT_EQ(spans[0]["status"]["code"].GetInt(), 2);
  EXPECT_STREQ(spans[0]["status"]["message"].GetString(), "TableExistsException: t");
  EXPECT_EQ(spans[2]["status"].MemberCount(), 0U);
  EXPECT_EQ(AttributeOf(spans[2], "ratchet.finished"), "false");
}

TEST(OtlpTest, TextStaysUtf8) {
  auto ended = Ended(7, 0, "Move", "SUCCESS");
  ended.mutable_procedure()->set_text(
      "gr\xC3\xB6\xC3\x9F"
      "er, cut\xC3");
  ended.mutable_procedure()->mutable_history(0)->set_detail("\xE2\x82\xAC");
  const auto document = Parsed(ToOtlp({kCluster}, {ended}));
  const auto& spans = SpansOf(document);
  EXPECT_EQ(AttributeOf(spans[0], "ratchet.text"),
            "gr\xC3\xB6\xC3\x9F"
            "er, cut\xEF\xBF\xBD");
  EXPECT_EQ(AttributeOf(spans[1], "ratchet.detail"), "\xE2\x82\xAC");
}

}  // namespace
}  // namespace ratchet::trace
