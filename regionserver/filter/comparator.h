// HBase's comparators: relate what a request expects to what is stored. Pure.
//
// Regular expressions are RE2's, which take time linear in the value. They find a match anywhere in the value, as in
// HBase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace hbase::pb {
class Comparator;
}

namespace ratchet::regionserver::filters {

enum class CompareOp : std::uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater, kNever };

// What a stored value could not be read as; the first one counts. Shared by the comparators of one filter.
struct Faults {
  Status status = Ok();
};

class Comparator {
 public:
  virtual ~Comparator() = default;
  // The sign of `expected` against `stored`; those without an order: 0 if it matches, else 1. kInvalidArgument:
  // `stored` is no such value.
  [[nodiscard]] virtual Result<int> Compare(std::string_view stored) const = 0;
  // A condition of it means "absent or empty".
  [[nodiscard]] virtual bool ExpectsNothing() const { return false; }
  // What it keeps besides its bytes in the request.
  [[nodiscard]] virtual std::size_t held_bytes() const { return 0; }
};

// BinaryComparator.
[[nodiscard]] std::unique_ptr<Comparator> MakeBinary(std::string expected);

// DoNotRetryIOException: a class that is not offered, by its name, or one whose content cannot be read.
[[nodiscard]] Result<std::unique_ptr<Comparator>> DecodeComparator(const ::hbase::pb::Comparator& comparator);

// `stored op expected`.
[[nodiscard]] bool Holds(CompareOp op, int expected_against_stored);

}  // namespace ratchet::regionserver::filters
