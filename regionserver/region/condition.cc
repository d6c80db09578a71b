#include "regionserver/region/condition.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "common/model/cell.h"
#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Negative: expected < stored.
Result<int> CompareExpected(const Condition& condition, std::string_view stored) {
  switch (condition.comparator) {
    case ComparatorKind::kNull: return stored.empty() ? 0 : 1;
    case ComparatorKind::kBinary: return Sign(std::string_view(condition.expected).compare(stored));
    case ComparatorKind::kBinaryPrefix:
      return Sign(std::string_view(condition.expected).compare(stored.substr(0, condition.expected.size())));
    case ComparatorKind::kSubstring: return Lower(stored).find(Lower(condition.expected)) != std::string::npos ? 0 : 1;
    case ComparatorKind::kLong: {
      std::int64_t expected = 0;
      std::int64_t number = 0;
      if (!DecodeInt64(condition.expected, expected) || !DecodeInt64(stored, number))
        return DoNotRetry(Code::kInvalidArgument, "a long comparator needs values of 8 bytes");
      return expected < number ? -1 : expected > number ? 1 : 0;
    }
  }
  return DoNotRetry(Code::kUnsupported, "unknown comparator");
}

bool Matches(CompareOp op, int order) {
  switch (op) {
    case CompareOp::kLess: return order < 0;
    case CompareOp::kLessOrEqual: return order <= 0;
    case CompareOp::kEqual: return order == 0;
    case CompareOp::kNotEqual: return order != 0;
    case CompareOp::kGreaterOrEqual: return order >= 0;
    case CompareOp::kGreater: return order > 0;
  }
  return false;
}

}  // namespace

Result<bool> Holds(const Condition& condition, std::optional<std::string_view> stored) {
  const bool expects_nothing = condition.comparator == ComparatorKind::kNull || condition.expected.empty();
  if (expects_nothing) {
    if (!stored) return condition.op != CompareOp::kNotEqual;
    return stored->empty() == (condition.op != CompareOp::kNotEqual);
  }
  if (!stored) return false;
  RATCHET_ASSIGN(const int order, CompareExpected(condition, *stored));
  return Matches(condition.op, order);
}

}  // namespace ratchet::regionserver
