// Decodes the filter of a read from a request with HBase's class names and messages. Pure.
//
// Every part is bounded. A filter above a bound is refused with DoNotRetryIOException, which names the bound.
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
  std::size_t bytes = 4u << 20;  // size of the whole filter in the request
  int depth = 32;                // nesting depth of filters
  std::size_t filters = 4096;
  std::size_t items = 65'536;  // ranges, keys, prefixes, qualifiers and timestamps of all filters together
  std::size_t fuzzy_keys = 1024;
  std::size_t regexes = 64;
};

struct FilterUse {
  bool reversed = false;   // whether the scan is reversed
  std::uint64_t seed = 0;  // seed of RandomRowFilter
};

[[nodiscard]] Result<std::shared_ptr<ReadFilter>> DecodeFilter(const ::hbase::pb::Filter& filter, const FilterUse& use,
                                                               const FilterLimits& limits = {});

}  // namespace ratchet::regionserver
