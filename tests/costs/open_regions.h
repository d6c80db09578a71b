// The memory that a region server needs for each open region: regions without data, on the operating system's files,
// opened as a master's orders open them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "common/model/region_info.h"

namespace ratchet::costs {

// The region with this number, of one table.
[[nodiscard]] RegionInfo MeasuredRegion(std::size_t number);

// Opens that many regions below `dir`, which is removed before and after. Returns the bytes of each region, beyond
// those of the server. `heap`: the bytes of the heap that are in use.
[[nodiscard]] std::uint64_t BytesAnOpenRegion(const std::string& dir, std::size_t regions,
                                              const std::function<std::uint64_t()>& heap);

}  // namespace ratchet::costs
