// Makes the filter of a read from a request: HBase's class names and messages. Pure.
//
// Every part is bounded, and what is beyond a bound is refused by name, as DoNotRetryIOException.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/base/result.h"
#include "regionserver/filter/read_filter.h"

namespace hbase::pb {
class Filter;
}

namespace ratchet::regionserver {

struct FilterLimits {
  std::size_t bytes = 4u << 20;  // of the whole, as it travels
  int depth = 32;                // filters within filters
  std::size_t filters = 4096;
  std::size_t items = 65'536;  // ranges, keys, prefixes, qualifiers and timestamps of all of them
  std::size_t fuzzy_keys = 1024;
  std::size_t regexes = 64;
};

struct FilterUse {
  bool reversed = false;   // of a reversed scan
  std::uint64_t seed = 0;  // of RandomRowFilter
};

[[nodiscard]] Result<std::shared_ptr<ReadFilter>> DecodeFilter(const ::hbase::pb::Filter& filter, const FilterUse& use,
                                                               const FilterLimits& limits = {});

}  // namespace ratchet::regionserver
