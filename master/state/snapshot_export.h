// Where snapshots may be exported to and imported from, and what an export consists of.
//
// An export is a directory outside of the cluster: "source" (which snapshot it is of), one directory per region with
// the region's files and a list of them with lengths and checksums, "parts", and "complete", which is written last.
// Files never change, so an export that was cut short goes on where it was.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::master {

inline constexpr const char* kExportSource = "source";
inline constexpr std::size_t kMostExportsAtOnce = 4;  // exports and imports that have not ended

// Ok: `place` is an absolute path without "." and ".." below `allowed`, the setting --snapshot-export-dir; empty: none
// is. An IllegalArgument that names the setting otherwise.
[[nodiscard]] Status CheckExportPlace(std::string_view allowed, std::string_view place);

}  // namespace ratchet::master
