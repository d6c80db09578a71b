// Plans splits and merges that make a table's regions about equally large: HBase's simple region normalizer. Pure.
//
// A region larger than twice the target size is split; adjacent regions whose total is at most the target size are
// merged. The target size is the table's NORMALIZER_TARGET_REGION_SIZE_MB; else its bytes divided by its
// NORMALIZER_TARGET_REGION_COUNT; else the average of its regions. A table of fewer than three regions is not merged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/table_descriptor.h"

namespace ratchet::master {

struct NormalizedRegion {
  std::string encoded;
  std::uint64_t bytes = 0;
};

struct NormalizerStep {
  std::vector<std::string> regions;  // one region to split, or adjacent regions to merge
  [[nodiscard]] bool splits() const { return regions.size() == 1; }
  [[nodiscard]] bool operator==(const NormalizerStep&) const = default;
};

// Returns true if the table's NORMALIZATION_ENABLED is true.
[[nodiscard]] bool WantsNormalization(const TableDescriptor& table);

// `regions`: all regions of the table, by start key. No region is part of two steps. Splits come first.
[[nodiscard]] std::vector<NormalizerStep> PlanNormalization(const TableDescriptor& table,
                                                            const std::vector<NormalizedRegion>& regions);

inline constexpr std::size_t kFewestToMerge = 3;
inline constexpr std::size_t kMostMergedAtOnce = 16;

}  // namespace ratchet::master
