// When conditions on one column hold.
#include <gtest/gtest.h>

#include "regionserver/filter/comparator_kinds.h"
#include "regionserver/region/mutation_planner.h"
#include "tests/unit/regionserver_engine/filter_requests.h"

namespace ratchet::regionserver {
namespace {

TEST(ConditionTest, ComparesTheExpectedValueWithTheStoredOne) {
  Condition condition;
  condition.comparator = filters::MakeBinary("m");
  const auto holds = [&](CompareOp op, std::optional<std::string_view> stored) {
    condition.op = op;
    return Holds(condition, stored).value();
  };
  EXPECT_TRUE(holds(CompareOp::kLess, "z"));  // "m" < "z"
  EXPECT_FALSE(holds(CompareOp::kLess, "a"));
  EXPECT_TRUE(holds(CompareOp::kGreater, "a"));
  EXPECT_TRUE(holds(CompareOp::kGreaterOrEqual, "m"));
  EXPECT_TRUE(holds(CompareOp::kLessOrEqual, "m"));
  EXPECT_TRUE(holds(CompareOp::kNotEqual, "x"));
  EXPECT_FALSE(holds(CompareOp::kNotEqual, std::nullopt));  // a missing cell satisfies nothing
  condition.comparator = filters::MakeBinary("");           // "absent or empty"
  EXPECT_TRUE(holds(CompareOp::kEqual, std::nullopt));
  EXPECT_TRUE(holds(CompareOp::kEqual, ""));
  EXPECT_FALSE(holds(CompareOp::kEqual, "x"));
  EXPECT_FALSE(holds(CompareOp::kNotEqual, std::nullopt));
  EXPECT_TRUE(holds(CompareOp::kNotEqual, "x"));
  pb::LongComparator of_long;
  of_long.mutable_comparable()->set_value(EncodeInt64(-1));
  condition.comparator = filters::DecodeComparator(NamedComparator("LongComparator", of_long)).value();
  const std::string one = EncodeInt64(1);
  EXPECT_TRUE(holds(CompareOp::kLess, one));  // as numbers, not as bytes
  pb::SubstringComparator of_text;
  of_text.set_substr("LoW");
  condition.comparator = filters::DecodeComparator(NamedComparator("SubstringComparator", of_text)).value();
  EXPECT_TRUE(holds(CompareOp::kEqual, "yellow"));
}

}  // namespace
}  // namespace ratchet::regionserver
