#include "regionserver/filter/comparator.h"

namespace ratchet::regionserver::filters {

bool Holds(CompareOp op, int expected_against_stored) {
  switch (op) {
    case CompareOp::kLess: return expected_against_stored > 0;
    case CompareOp::kLessOrEqual: return expected_against_stored >= 0;
    case CompareOp::kEqual: return expected_against_stored == 0;
    case CompareOp::kNotEqual: return expected_against_stored != 0;
    case CompareOp::kGreaterOrEqual: return expected_against_stored <= 0;
    case CompareOp::kGreater: return expected_against_stored < 0;
    case CompareOp::kNever: return false;
  }
  return false;
}

}  // namespace ratchet::regionserver::filters
