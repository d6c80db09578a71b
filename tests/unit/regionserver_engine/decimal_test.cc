// Decimal numbers as in Java's BigDecimal, of any length.
#include "regionserver/filter/decimal.h"

#include <gtest/gtest.h>

namespace ratchet::regionserver::filters {
namespace {

using namespace std::string_literals;

// The form in which HBase stores them.
std::string Stored(std::int32_t scale, const std::string& integer) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<std::uint32_t>(scale) >> shift & 0xffu));
  return bytes + integer;
}

std::string Rounded(std::int32_t scale, const std::string& integer) {
  const auto number = Decimal::Decode(Stored(scale, integer), "Test");
  return number.ok() ? number->Rounded(2).Encode() : number.error().message();
}

Decimal Of(std::int32_t scale, const std::string& integer) { return *Decimal::Decode(Stored(scale, integer), "Test"); }

TEST(DecimalTest, TwosComplementComesBackInItsShortestForm) {
  for (const std::string& integer : {"\0"s, "\x01"s, "\x7f"s, "\0\x80"s, "\xff"s, "\x80"s, "\xff\x7f"s, "\x80\0"s,
                                     "\0\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, std::string(256, '\x7f')}) {
    EXPECT_EQ(Rounded(2, integer), Stored(2, integer)) << integer.size();
    EXPECT_EQ(Decimal(Of(2, integer)).Encode(), Stored(2, integer)) << "a copy";
  }
  EXPECT_EQ(Rounded(2, "\0\0\x05"s), Stored(2, "\x05"));
  EXPECT_EQ(Rounded(2, "\xff\xff\x85"s), Stored(2, "\x85"));
}

TEST(DecimalTest, HalvesGoToTheEvenNeighbour) {
  EXPECT_EQ(Rounded(0, "\x03"), Stored(2, "\x01\x2c"s));   // 3 = 3.00
  EXPECT_EQ(Rounded(-1, "\x01"), Stored(2, "\x03\xe8"s));  // 10
  EXPECT_EQ(Rounded(3, "\x7d"), Stored(2, "\x0c"));        // 0.125 -> 0.12
  EXPECT_EQ(Rounded(3, "\0\x87"s), Stored(2, "\x0e"));     // 0.135 -> 0.14
  EXPECT_EQ(Rounded(3, "\x7e"), Stored(2, "\x0d"));        // 0.126 -> 0.13
  EXPECT_EQ(Rounded(3, "\x83"), Stored(2, "\xf4"));        // -0.125 -> -0.12
  EXPECT_EQ(Rounded(3, "\xff\x79"s), Stored(2, "\xf2"));   // -0.135 -> -0.14
  EXPECT_EQ(Rounded(1000, "\x7f"), Stored(2, "\0"s));      // nearly zero
  EXPECT_EQ(Rounded(1000, "\x80"), Stored(2, "\0"s));
}

TEST(DecimalTest, SumsProductsAndOrder) {
  const Decimal three = Of(0, "\x03");
  const Decimal minus_quarter = Of(2, "\xe7");
  EXPECT_EQ(three.Plus(minus_quarter).Encode(), Stored(2, "\x01\x13"s));                 // 2.75
  EXPECT_EQ(three.Times(minus_quarter).Encode(), Stored(2, "\xb5"));                     // -0.75
  EXPECT_EQ(minus_quarter.Times(minus_quarter).Rounded(2).Encode(), Stored(2, "\x06"));  // 0.0625 -> 0.06
  EXPECT_EQ(Of(2, "\x05").Times(Of(2, "\x0a")).Rounded(2).Encode(), Stored(2, "\0"s));   // 0.005 -> 0.00
  EXPECT_LT(minus_quarter, three);
  EXPECT_FALSE(three < minus_quarter);
  EXPECT_EQ(three.Compare(Of(1, "\x1e")), 0);  // 3.0
  EXPECT_EQ(minus_quarter.Plus(three).Compare(three.Plus(minus_quarter)), 0);
  Decimal sum;
  for (int i = 0; i < 1000; ++i) sum = sum.Plus(Of(0, std::string(256, '\x7f')));
  EXPECT_LT(three, sum);
}

TEST(DecimalTest, WhatIsTooLongIsRefusedByName) {
  EXPECT_FALSE(Decimal::IsNumber("\0\0\0\x02"s));
  EXPECT_TRUE(Decimal::IsNumber("\0\0\0\x02\x01"s));
  EXPECT_NE(Rounded(2, std::string(257, 'x')).find("Test: a value has 261 bytes"), std::string::npos);
  EXPECT_NE(Rounded(1001, "\x01").find("has scale 1001"), std::string::npos);
  EXPECT_NE(Rounded(-1001, "\x01").find("has scale -1001"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::regionserver::filters
