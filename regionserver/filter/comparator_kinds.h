// Makes each of HBase's comparators by its name. Pure.
//
// Regular expressions are RE2's, which take time linear in the value. They find a match anywhere in the value, as in
// HBase.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "regionserver/filter/comparator.h"

namespace hbase::pb {
class Comparator;
}

namespace ratchet::regionserver::filters {

// BinaryComparator.
[[nodiscard]] std::unique_ptr<Comparator> MakeBinary(std::string expected);

// Errors are DoNotRetryIOException: the class is not supported (the message names it), or its content cannot be parsed.
[[nodiscard]] Result<std::unique_ptr<Comparator>> DecodeComparator(const ::hbase::pb::Comparator& comparator);

}  // namespace ratchet::regionserver::filters
