// Comparators one by one, and filters of hostile clients: refused by name, and bounded.
#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/protobuf_log.h"
#include "regionserver/filter/comparator_kinds.h"
#include "tests/unit/regionserver_engine/filter_requests.h"

namespace ratchet::regionserver {
namespace {

std::string RefusalOf(const pb::Filter& filter) {
  const auto decoded = DecodeFilter(filter, {});
  if (decoded.ok()) return "taken";
  EXPECT_EQ(decoded.error().remote_class(), rpc::exception::kDoNotRetryIo);
  return decoded.error().message();
}

bool Says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  std::fprintf(stderr, "said: %s\n", text.c_str());
  return false;
}

int OrderOf(const pb::Comparator& comparator, std::string_view stored) {
  return filters::DecodeComparator(comparator).value()->Compare(stored).value();
}

pb::Comparator RegexOf(const std::string& pattern, int flags = 32, const std::string& charset = "UTF-8") {
  pb::RegexStringComparator message;
  message.set_pattern(pattern);
  message.set_pattern_flags(flags);
  message.set_charset(charset);
  return NamedComparator("RegexStringComparator", message);
}

pb::Comparator BitOf(pb::BitComparator::BitwiseOp op, const std::string& value) {
  pb::BitComparator message;
  message.mutable_comparable()->set_value(value);
  message.set_bitwise_op(op);
  return NamedComparator("BitComparator", message);
}

// A scale of 4 bytes and an integer.
std::string DecimalBytes(int scale, const std::string& integer) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(scale >> shift));
  return bytes + integer;
}
pb::Comparator DecimalOf(const std::string& bytes) {
  pb::BigDecimalComparator message;
  message.mutable_comparable()->set_value(bytes);
  return NamedComparator("BigDecimalComparator", message);
}

TEST(FilterComparatorTest, RelateAsInHBase) {
  EXPECT_EQ(OrderOf(BinaryOf("b"), "a"), 1);
  EXPECT_EQ(OrderOf(BinaryOf("b"), "\xff"), -1);  // bytes have no sign
  pb::BinaryPrefixComparator prefix;
  prefix.mutable_comparable()->set_value("ab");
  EXPECT_EQ(OrderOf(NamedComparator("BinaryPrefixComparator", prefix), "abc"), 0);
  EXPECT_EQ(OrderOf(NamedComparator("BinaryPrefixComparator", prefix), "a"), 1);
  pb::BinaryComponentComparator component;
  component.set_value("bc");
  component.set_offset(1);
  EXPECT_EQ(OrderOf(NamedComparator("BinaryComponentComparator", component), "abcd"), 0);
  EXPECT_EQ(OrderOf(NamedComparator("BinaryComponentComparator", component), "a"), 1);
  component.set_offset(0xffffffffU);
  EXPECT_EQ(OrderOf(NamedComparator("BinaryComponentComparator", component), "abcd"), 1);
  EXPECT_EQ(OrderOf(BitOf(pb::BitComparator::AND, std::string("\x01\x00", 2)), std::string("\x01\x10", 2)), 0);
  EXPECT_EQ(OrderOf(BitOf(pb::BitComparator::AND, std::string("\x01\x00", 2)), std::string("\x10\x10", 2)), 1);
  EXPECT_EQ(OrderOf(BitOf(pb::BitComparator::OR, std::string(1, '\0')), std::string(1, '\0')), 1);
  EXPECT_EQ(OrderOf(BitOf(pb::BitComparator::XOR, "a"), "a"), 1);
  EXPECT_EQ(OrderOf(BitOf(pb::BitComparator::XOR, "a"), "b"), 0);
  EXPECT_EQ(OrderOf(BitOf(pb::BitComparator::XOR, "a"), "bc"), 1);  // of another length
  EXPECT_EQ(OrderOf(NamedComparator("NullComparator", pb::NullComparator()), ""), 1);
}

TEST(FilterComparatorTest, DecimalsCompareByValue) {
  const std::string two("\x02"), twenty("\x14"), minus_one("\xff"), big("\x01\x00", 2);
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(0, two)), DecimalBytes(1, twenty)), 0);  // 2 and 2.0
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(0, two)), DecimalBytes(0, big)), -1);    // 2 and 256
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(0, minus_one)), DecimalBytes(5, two)), -1);
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(1, minus_one)), DecimalBytes(0, minus_one)), 1);  // -0.1 and -1
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(-1, two)), DecimalBytes(0, twenty)), 0);          // 2e1 and 20
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(7, std::string(1, '\0'))), DecimalBytes(0, std::string(1, '\0'))), 0);
  EXPECT_EQ(OrderOf(DecimalOf(DecimalBytes(0, std::string("\x00\x80", 2))), DecimalBytes(0, "\x80")),
            1);  // 128 and -128
  EXPECT_FALSE(filters::DecodeComparator(DecimalOf("123")).ok());
  EXPECT_FALSE(filters::DecodeComparator(DecimalOf(DecimalBytes(0, std::string(300, '\1')))).ok());
  EXPECT_FALSE(filters::DecodeComparator(DecimalOf(DecimalBytes(2'000'000'000, two))).ok());
}

TEST(FilterComparatorTest, ExpressionsFindAMatchAnywhere) {
  EXPECT_EQ(OrderOf(RegexOf("b+"), "abbc"), 0);
  EXPECT_EQ(OrderOf(RegexOf("^b"), "abbc"), 1);
  EXPECT_EQ(OrderOf(RegexOf("B"), "abc"), 1);
  EXPECT_EQ(OrderOf(RegexOf("B", 32 | 2), "abc"), 0);
  EXPECT_EQ(OrderOf(RegexOf("a.c", 32), "a\nc"), 0);
  EXPECT_EQ(OrderOf(RegexOf("a.c", 0), "a\nc"), 1);
  EXPECT_EQ(OrderOf(RegexOf("^c$", 8), "a\nc"), 0);
  EXPECT_EQ(OrderOf(RegexOf("a.c", 16), "abc"), 1);  // literal
  EXPECT_EQ(OrderOf(RegexOf("a.c", 16), "xa.cx"), 0);
  EXPECT_EQ(OrderOf(RegexOf("^a.c$"), "a\xffz"), 1);
  // The quotas of a user in tables that match NS.*, not those in namespaces.
  const pb::Comparator of_tables = RegexOf("^\\Qs.\\ENS.*(?<!\\Q:\\E)$");
  EXPECT_EQ(OrderOf(of_tables, "s.NS0:t"), 0);
  EXPECT_EQ(OrderOf(of_tables, "s.NS"), 0);
  EXPECT_EQ(OrderOf(of_tables, "s.NS0:"), 1);
  EXPECT_EQ(OrderOf(of_tables, "xs.NS0"), 1);
  EXPECT_EQ(OrderOf(RegexOf("^a.c$"),
                    "a\xff"
                    "c"),
            0);  // each byte that is not UTF-8 is one character
  EXPECT_EQ(OrderOf(RegexOf("^\xc3\xa4$", 32, "ISO-8859-1"), "\xe4"), 0);
  EXPECT_EQ(OrderOf(RegexOf("^\xc3\xa4$"), "\xc3\xa4"), 0);
  const auto refused = [](const pb::Comparator& comparator) {
    const auto made = filters::DecodeComparator(comparator);
    return made.ok() ? std::string("taken") : made.error().message();
  };
  EXPECT_TRUE(Says(refused(RegexOf("(a)\\1")), "RegexStringComparator"));
  EXPECT_TRUE(Says(refused(RegexOf("(?=a)")), "RegexStringComparator"));
  // Patterns with other look-behinds than the one that HBase's clients send.
  for (const char* pattern : {"a(?<!\\Q:\\E)", "a|b(?<!\\Q:\\E)$", "a\\(?<!\\Q:\\E)$", "\\Qa(?<!\\Q:\\E)$", "a(?<!b)$",
                              "a(?<=\\Q:\\E)$", "a(?<!\\Q\\E)$"})
    EXPECT_TRUE(Says(refused(RegexOf(pattern)), "RegexStringComparator")) << pattern;
  EXPECT_TRUE(Says(refused(RegexOf("a", 4)), "COMMENTS"));
  EXPECT_TRUE(Says(refused(RegexOf("a", 32, "UTF-16")), "UTF-16"));
  EXPECT_TRUE(Says(refused(RegexOf(std::string(100'000, 'a'))), "100000 bytes"));
  EXPECT_TRUE(Says(refused(RegexOf("((((a{100}){100}){100}){100})")), "RegexStringComparator"));
}

// A backtracking engine would need 2^60 steps, longer than any client waits. This engine is linear, so the test ends.
TEST(FilterComparatorTest, ExpressionsThatBacktrackElsewhereEnd) {
  EXPECT_EQ(OrderOf(RegexOf("^(a+)+$"), std::string(50'000, 'a') + "b"), 1);
  EXPECT_EQ(OrderOf(RegexOf("^(a|aa)+$"), std::string(50'000, 'a') + "b"), 1);
}

TEST(FilterDecoderTest, UnknownClassesAreRefusedByName) {
  pb::Filter filter;
  filter.set_name("com.example.MyFilter");
  EXPECT_TRUE(Says(RefusalOf(filter), "com.example.MyFilter"));
  filter.set_name("PageFilter");  // not HBase's package
  EXPECT_TRUE(Says(RefusalOf(filter), "PageFilter"));
  filter.set_name("org.apache.hadoop.hbase.filter." + std::string(1'000'000, 'x'));
  EXPECT_LT(RefusalOf(filter).size(), 1000U);
  pb::Comparator comparator;
  comparator.set_name("com.example.MyComparator");
  EXPECT_TRUE(
      Says(RefusalOf(CompareFilterOf<pb::RowFilter>("RowFilter", pb::EQUAL, comparator)), "com.example.MyComparator"));
  filter = PageOf(1);
  filter.set_serialized_filter("\xff");
  EXPECT_TRUE(Says(RefusalOf(filter), "PageFilter cannot be read"));
  pb::RowFilter without;
  without.mutable_compare_filter()->set_compare_op(pb::EQUAL);
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("RowFilter", without)), "needs a comparator"));
}

TEST(FilterDecoderTest, HostileFiltersAreBounded) {
  pb::Filter deep = PageOf(1);
  for (int depth = 1; depth < 32; ++depth) deep = Around<pb::SkipFilter>("SkipFilter", deep);
  EXPECT_EQ(RefusalOf(deep), "taken");
  EXPECT_TRUE(Says(RefusalOf(Around<pb::SkipFilter>("SkipFilter", deep)), "deeper than 32"));
  for (int depth = 0; depth < 10'000; ++depth) deep = Around<pb::WhileMatchFilter>("WhileMatchFilter", deep);
  EXPECT_TRUE(Says(RefusalOf(deep), "WhileMatchFilter: filters within filters, deeper than 32"));

  EXPECT_TRUE(Says(RefusalOf(AnyOf(std::vector<pb::Filter>(5000, PageOf(1)))), "more than 4096 filters"));

  pb::MultiRowRangeFilter ranges;
  for (int i = 0; i < 70'000; ++i) ranges.add_row_range_list();
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("MultiRowRangeFilter", ranges)), "MultiRowRangeFilter: more than 65536"));
  for (int i = 70'000; i < 1'000'000; ++i) ranges.add_row_range_list();
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("MultiRowRangeFilter", ranges)), "more than 100000 messages inside"));
  for (int i = 0; i < 1'000'000; ++i) ranges.mutable_row_range_list(i)->set_start_row("row" + std::to_string(i));
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("MultiRowRangeFilter", ranges)), "MultiRowRangeFilter: "));  // its bytes
  ranges.clear_row_range_list();
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("MultiRowRangeFilter", ranges)), "no ranges"));
  ranges.add_row_range_list()->set_start_row("b");
  ranges.mutable_row_range_list(0)->set_stop_row("a");
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("MultiRowRangeFilter", ranges)), "begins after its end"));

  pb::FuzzyRowFilter fuzzy;
  for (int i = 0; i < 2000; ++i) {
    fuzzy.add_fuzzy_keys_data()->set_first("a");
    fuzzy.mutable_fuzzy_keys_data(i)->set_second(std::string(1, '\0'));
  }
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("FuzzyRowFilter", fuzzy)), "2000 keys"));
  fuzzy.clear_fuzzy_keys_data();
  fuzzy.add_fuzzy_keys_data()->set_first("abc");
  fuzzy.mutable_fuzzy_keys_data(0)->set_second("\1");
  EXPECT_TRUE(Says(RefusalOf(NamedFilter("FuzzyRowFilter", fuzzy)), "a key of 3 bytes with a mask of 1"));

  EXPECT_TRUE(Says(RefusalOf(AnyOf(std::vector<pb::Filter>(
                       65, CompareFilterOf<pb::ValueFilter>("ValueFilter", pb::EQUAL, RegexOf("a"))))),
                   "RegexStringComparator: more than 64"));
  EXPECT_TRUE(Says(RefusalOf(PageOf(-1)), "PageFilter"));
}

// Any bytes become a filter that answers about any cell, or an error with the reason.
TEST(FilterDecoderTest, AnyBytesAreAFilterOrAnError) {
  rpc::QuietProtobuf();
  const std::uint64_t seed = RandomSeed();
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  const std::vector<pb::Filter> seeds = {
      AllOf({PrefixOf("r"), PageOf(3), ValueIs(pb::LESS, "v")}), AnyOf({PrefixOf("r"), PageOf(3)}),
      Around<pb::SkipFilter>("SkipFilter", CompareFilterOf<pb::ValueFilter>("ValueFilter", pb::EQUAL, RegexOf("a+"))),
      NamedFilter("SingleColumnValueFilter", SingleColumnOf("q", pb::EQUAL, "v")),
      CompareFilterOf<pb::RowFilter>("RowFilter", pb::EQUAL, DecimalOf(DecimalBytes(1, "ab")))};
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    pb::Filter filter = seeds[prng.Below(seeds.size())];
    std::string& bytes = *filter.mutable_serialized_filter();
    for (std::uint64_t edits = prng.Below(4); edits > 0 && !bytes.empty(); --edits) {
      const std::size_t at = prng.Below(bytes.size());
      if (prng.Chance(1, 3))
        bytes.erase(at, prng.Below(6));
      else
        bytes[at] = static_cast<char>(prng.Next());
    }
    const auto decoded = DecodeFilter(filter, {prng.Chance(1, 2), 1});
    if (!decoded.ok()) {
      EXPECT_FALSE(decoded.error().message().empty());
      continue;
    }
    ++taken;
    const Cell cell{"row", "f", "q", 5, CellType::kPut, "value"};
    (void)(*decoded)->RowKeyIsOut(cell.row);
    if ((*decoded)->Look(cell).step == filters::Step::kHint) (void)(*decoded)->Hint(cell);
    std::vector<Cell> cells = {(*decoded)->Transform(cell).Copy()};
    (*decoded)->JudgeRow(cells);
    (*decoded)->EndRow();
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace ratchet::regionserver
