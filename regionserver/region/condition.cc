#include "regionserver/region/condition.h"

namespace ratchet::regionserver {
namespace {

// `order` is that of the expected against the stored value.
bool Matches(CompareOp op, int order) {
  switch (op) {
    case CompareOp::kLess: return order < 0;
    case CompareOp::kLessOrEqual: return order <= 0;
    case CompareOp::kEqual: return order == 0;
    case CompareOp::kNotEqual: return order != 0;
    case CompareOp::kGreaterOrEqual: return order >= 0;
    case CompareOp::kGreater: return order > 0;
    case CompareOp::kNever: return false;
  }
  return false;
}

}  // namespace

Result<bool> Holds(const Condition& condition, std::optional<std::string_view> stored) {
  if (condition.comparator->ExpectsNothing()) {
    if (!stored) return condition.op != CompareOp::kNotEqual;
    return stored->empty() == (condition.op != CompareOp::kNotEqual);
  }
  if (!stored) return false;
  RATCHET_ASSIGN(const int order, condition.comparator->Compare(*stored));
  return Matches(condition.op, order);
}

}  // namespace ratchet::regionserver
