#include "common/tools/cli/filter_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/proto/filter.pb.h"

namespace ratchet::cli {
namespace {

namespace hpb = ::hbase::pb;
using ::testing::HasSubstr;

// The filter's class, without its package, and its message.
template <class Message>
Message Read(const hpb::Filter& filter, const std::string& name) {
  EXPECT_EQ(filter.name(), "org.apache.hadoop.hbase.filter." + name);
  Message message;
  EXPECT_TRUE(message.ParseFromString(filter.serialized_filter()));
  return message;
}

hpb::Filter Parsed(const std::string& text) {
  const auto bytes = ParseFilter(text);
  EXPECT_TRUE(bytes.ok()) << text << ": " << (bytes.ok() ? "" : bytes.error().message());
  hpb::Filter filter;
  EXPECT_TRUE(filter.ParseFromString(bytes.ok() ? *bytes : ""));
  return filter;
}

std::string Refused(const std::string& text) {
  const auto bytes = ParseFilter(text);
  EXPECT_FALSE(bytes.ok()) << text;
  return bytes.ok() ? "" : bytes.error().message();
}

TEST(FilterTextTest, ArgumentsBecomeFields) {
  EXPECT_EQ(Read<hpb::PrefixFilter>(Parsed("PrefixFilter('a\\x00''b')"), "PrefixFilter").prefix(),
            std::string("a\0'b", 4));
  const auto value = Read<hpb::ValueFilter>(Parsed(" ValueFilter ( >= , 'binaryprefix:x:y' ) "), "ValueFilter");
  EXPECT_EQ(value.compare_filter().compare_op(), hpb::GREATER_OR_EQUAL);
  EXPECT_THAT(value.compare_filter().comparator().name(), HasSubstr("BinaryPrefixComparator"));
  hpb::BinaryPrefixComparator comparator;
  ASSERT_TRUE(comparator.ParseFromString(value.compare_filter().comparator().serialized_comparator()));
  EXPECT_EQ(comparator.comparable().value(), "x:y");
  const auto column = Read<hpb::SingleColumnValueFilter>(
      Parsed("SingleColumnValueFilter('f', 'q', !=, 'regexstring:^a', true, false)"), "SingleColumnValueFilter");
  EXPECT_EQ(column.column_qualifier(), "q");
  EXPECT_EQ(column.compare_op(), hpb::NOT_EQUAL);
  EXPECT_TRUE(column.filter_if_missing());
  EXPECT_FALSE(column.latest_version_only());
  EXPECT_EQ(Read<hpb::TimestampsFilter>(Parsed("TimestampsFilter(5, -1)"), "TimestampsFilter").timestamps_size(), 2);
  EXPECT_EQ(
      Read<hpb::MultipleColumnPrefixFilter>(Parsed("MultipleColumnPrefixFilter('b','a')"), "MultipleColumnPrefixFilter")
          .sorted_prefixes(0),
      "a");
  EXPECT_EQ(
      Read<hpb::ColumnPaginationFilter>(Parsed("ColumnPaginationFilter(3, 1)"), "ColumnPaginationFilter").offset(), 1);
}

TEST(FilterTextTest, AndBindsMoreThanOr) {
  const auto either =
      Read<hpb::FilterList>(Parsed("KeyOnlyFilter() AND FirstKeyOnlyFilter() OR PageFilter(2)"), "FilterList");
  EXPECT_EQ(either.operator_(), hpb::FilterList::MUST_PASS_ONE);
  ASSERT_EQ(either.filters_size(), 2);
  EXPECT_EQ(Read<hpb::FilterList>(either.filters(0), "FilterList").operator_(), hpb::FilterList::MUST_PASS_ALL);
  EXPECT_EQ(Read<hpb::PageFilter>(either.filters(1), "PageFilter").page_size(), 2);
  const auto both =
      Read<hpb::FilterList>(Parsed("KeyOnlyFilter() AND (FirstKeyOnlyFilter() OR PageFilter(2))"), "FilterList");
  EXPECT_EQ(both.operator_(), hpb::FilterList::MUST_PASS_ALL);
  const auto skip = Read<hpb::SkipFilter>(Parsed("SKIP WHILE ValueFilter(=, 'binary:x')"), "SkipFilter");
  EXPECT_THAT(skip.filter().name(), HasSubstr("WhileMatchFilter"));
}

TEST(FilterTextTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(Refused("NoFilter()"), HasSubstr("'NoFilter' is not a filter; known filters: ColumnCountGetFilter, "));
  EXPECT_THAT(Refused("PrefixFilter('a'"), HasSubstr("a ')' is missing"));
  EXPECT_THAT(Refused("PrefixFilter('a"), HasSubstr("a quote is not closed"));
  EXPECT_THAT(Refused("PrefixFilter(1)"), HasSubstr("argument 1 must be a text in quotes"));
  EXPECT_THAT(Refused("PageFilter(1, 2)"), HasSubstr("too many arguments"));
  EXPECT_THAT(Refused("PrefixFilter('a', 'b')"), HasSubstr("too many arguments"));
  EXPECT_THAT(Refused("PageFilter(-1)"), HasSubstr("negative"));
  EXPECT_THAT(Refused("ValueFilter(=, 'x')"), HasSubstr("must begin with binary:"));
  EXPECT_THAT(Refused("KeyOnlyFilter() PageFilter(1)"), HasSubstr("after the filter"));
  EXPECT_THAT(Refused(""), HasSubstr("is not a filter"));
  EXPECT_THAT(Refused(std::string(1000, '(')), HasSubstr("nested brackets"));
}

}  // namespace
}  // namespace ratchet::cli
