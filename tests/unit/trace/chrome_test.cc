#include "common/ops/trace/chrome.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace ratchet::trace {
namespace {

pb::EndedProcedure Member(std::uint64_t pid, std::uint64_t parent, const std::string& type) {
  pb::EndedProcedure ended;
  ended.set_epoch(3);
  ended.set_master("m1,16000,1");
  auto& info = *ended.mutable_procedure();
  info.set_pid(pid);
  if (parent != 0) info.set_parent(parent);
  info.set_type(type);
  info.set_state("SUCCESS");
  info.set_finished(true);
  info.set_text("table=\"t\xff\n, server=rs1,16020,17; x");
  pb::ProcedureField& field = *info.add_field();
  field.set_key("server");
  field.set_value("rs1,16020,17");
  info.set_submitted_wall_ms(1'000 + pid);
  info.set_updated_wall_ms(1'020);
  return ended;
}

void AddStep(pb::EndedProcedure& ended, const std::string& name, std::uint64_t began_ms, std::uint64_t took_us) {
  auto& step = *ended.mutable_procedure()->add_history();
  step.set_step(name);
  step.set_epoch(3);
  step.set_began_wall_ms(began_ms);
  step.set_took_us(took_us);
  step.set_outcome("next");
}

using Events = std::vector<const rapidjson::Value*>;

class ChromeTest : public ::testing::Test {
 protected:
  void Parse(const std::vector<pb::EndedProcedure>& procedures) {
    const std::string text = ToChrome({"cluster-1"}, procedures);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    document_.Parse(text.c_str());
    ASSERT_FALSE(document_.HasParseError()) << text;
  }
  Events Of(const std::string& phase) {
    Events events;
    for (const auto& event : document_["traceEvents"].GetArray()) {
      if (event["ph"].GetString() == phase) events.push_back(&event);
    }
    return events;
  }
  rapidjson::Document document_;
};

// A viewer drops or misplaces slices that overlap in a row without nesting.
TEST_F(ChromeTest, StepsLieWithinTheirProcedureAndDoNotOverlap) {
  auto root = Member(7, 0, "MoveRegion");
  AddStep(root, "CLOSE", 1'008, 1'700);  // in whole ms the next begins before this one ends
  AddStep(root, "OPEN", 1'009, 300);
  AddStep(root, "FINISH", 1'019, 4'000);  // ends after the last recorded time of the procedure
  Parse({root});
  const Events slices = Of("X");
  ASSERT_EQ(slices.size(), 4U);
  const auto begin = [](const rapidjson::Value& event) { return event["ts"].GetUint64(); };
  const auto end = [](const rapidjson::Value& event) { return event["ts"].GetUint64() + event["dur"].GetUint64(); };
  for (std::size_t i = 1; i < slices.size(); ++i) {
    EXPECT_GE(begin(*slices[i]), begin(*slices[0]));
    EXPECT_LE(end(*slices[i]), end(*slices[0]));
    if (i > 1) {
      EXPECT_GE(begin(*slices[i]), end(*slices[i - 1]));
    }
  }
  EXPECT_STREQ((*slices[0])["name"].GetString(), "MoveRegion 7");
  EXPECT_STREQ((*slices[1])["name"].GetString(), "CLOSE");
  EXPECT_STREQ((*slices[1])["args"]["master"].GetString(), "m1,16000,1");
  EXPECT_STREQ((*slices[0])["args"]["server"].GetString(), "rs1,16020,17");
}

TEST_F(ChromeTest, EachProcedureHasARowBehindItsParentAndAnArrowFromIt) {
  Parse({Member(7, 0, "CreateTable"), Member(8, 7, "TransitRegionState"), Member(9, 7, "TransitRegionState"),
         Member(12, 8, "OpenRegion")});
  std::map<int, std::string> names;
  for (const auto* event : Of("M")) {
    if (std::string((*event)["name"].GetString()) == "thread_name")
      names[(*event)["tid"].GetInt()] = (*event)["args"]["name"].GetString();
  }
  EXPECT_EQ(names,
            (std::map<int, std::string>{
                {1, "7 CreateTable"}, {2, "8 TransitRegionState"}, {3, "12 OpenRegion"}, {4, "9 TransitRegionState"}}));
  EXPECT_EQ(Of("s").size(), 3U);
  EXPECT_EQ(Of("f").size(), 3U);
}

// Uses times that the records of a damaged history could have.
TEST_F(ChromeTest, ParentsOfEachOtherAreShownOnce) {
  Parse({Member(7, 8, "A"), Member(8, 7, "B"), Member(9, 100, "C")});
  EXPECT_EQ(Of("X").size(), 3U);
  Parse({});
  EXPECT_EQ(Of("X").size(), 0U);
}

}  // namespace
}  // namespace ratchet::trace
