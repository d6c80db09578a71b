// Allowed places of snapshot exports and imports, and the layout of an export.
//
// An export is a directory outside of the cluster: "source" (names the snapshot), one directory per region with the
// region's files and a list of them with lengths and checksums, "parts", and "complete", which is written last. Files
// never change, so a repeated export continues an unfinished one.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::master {

inline constexpr const char* kExportSource = "source";
inline constexpr std::size_t kMostExportsAtOnce = 4;  // unfinished exports and imports

// Ok: `place` is an absolute path without "." and ".." below `allowed`, the setting --snapshot-export-dir; if that is
// empty, no place is allowed. Otherwise an IllegalArgument that names the setting.
[[nodiscard]] Status CheckExportPlace(std::string_view allowed, std::string_view place);

}  // namespace ratchet::master
