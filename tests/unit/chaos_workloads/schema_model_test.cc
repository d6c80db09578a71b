#include "chaos/workloads/schema_model.h"

#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using Kind = SchemaStep::Kind;

LoadSchema Of(const std::vector<std::string>& families) {
  LoadSchema schema;
  for (const auto& name : families) schema.families[name] = {{"VERSIONS", "1"}};
  return schema;
}

SchemaStep Add(const std::string& family) { return {Kind::kAddFamily, family, {{"VERSIONS", "1"}}, {}}; }
SchemaStep Drop(const std::string& family) { return {Kind::kDropFamily, family, {}, {}}; }

TEST(SchemaModelTest, ASuccessLeavesWhatTheStepMakes) {
  PossibleSchemas schemas(Of({"f"}));
  EXPECT_TRUE(schemas.Succeeded(Add("g")));
  EXPECT_TRUE(schemas.Has(Of({"f", "g"})));
  EXPECT_FALSE(schemas.Has(Of({"f"})));
  EXPECT_TRUE(schemas.Succeeded({Kind::kSetTable, {}, {}, "7"}));
  EXPECT_EQ(schemas.First().max_file_size, "7");
  EXPECT_TRUE(schemas.Succeeded({Kind::kSetFamily, "g", {{"VERSIONS", "3"}}, {}}));
  EXPECT_EQ(schemas.First().families.at("g").at("VERSIONS"), "3");
  EXPECT_TRUE(schemas.Succeeded(Drop("g")));
  EXPECT_EQ(schemas.First().families.size(), 1U);
}

TEST(SchemaModelTest, WhatCannotBeIsNoticed) {
  PossibleSchemas schemas(Of({"f", "g"}));
  EXPECT_FALSE(schemas.Succeeded(Add("g")));
  EXPECT_FALSE(schemas.Succeeded(Drop("h")));
  EXPECT_FALSE(schemas.Refused(Drop("g")));
  EXPECT_TRUE(schemas.Refused(Add("g")));
  EXPECT_TRUE(schemas.Has(Of({"f", "g"})));
  PossibleSchemas last(Of({"f"}));
  EXPECT_FALSE(last.Succeeded(Drop("f")));
}

TEST(SchemaModelTest, AnUnknownOutcomeLeavesBothUntilAnAnswerTells) {
  PossibleSchemas schemas(Of({"f"}));
  schemas.Unknown(Add("g"));
  EXPECT_EQ(schemas.size(), 2U);
  EXPECT_TRUE(schemas.Has(Of({"f"})));
  EXPECT_TRUE(schemas.Has(Of({"f", "g"})));
  PossibleSchemas told = schemas;
  EXPECT_TRUE(told.Succeeded(Drop("g")));
  EXPECT_TRUE(told.Has(Of({"f"})));
  EXPECT_EQ(told.size(), 1U);
  EXPECT_TRUE(schemas.Refused(Drop("g")));  // so it was never added
  EXPECT_EQ(schemas.size(), 1U);
  EXPECT_TRUE(schemas.Has(Of({"f"})));
}

TEST(SchemaModelTest, ADescriptorSaysWhatTheModelSays) {
  LoadSchema schema = Of({"f", "g"});
  schema.families["g"] = {{"BLOOMFILTER", "NONE"}, {"VERSIONS", "4"}};
  schema.families["f"]["BLOOMFILTER"] = "ROW";
  schema.max_file_size = "12345678901";
  EXPECT_EQ(SchemaOf(DescriptorOf(TableName("default", "t"), schema)), schema);
}

}  // namespace
}  // namespace ratchet::chaos
