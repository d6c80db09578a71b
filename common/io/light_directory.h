// Directories and files that hold no descriptor while they are idle, for objects that a server has in very large
// numbers: regions.
//
// A light directory is addressed by its path below a directory that stays open. So it does not follow a renaming, as
// other handles do: a process that must continue to write into a renamed directory (a server into its logs, S4
// (directory made once)) cannot use one. A region's directory is renamed only when its table was dropped, and its name
// is never reused (S31: names are never reused): then every operation fails with kNotFound.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

// `path`: "a/b/c" below `base`, none of them a link. The handle of `base` stays open as long as the light one lives.
// kNotFound when it does not exist. On a disk that is not the operating system's: an ordinary handle.
[[nodiscard]] Result<std::unique_ptr<Directory>> OpenLightDirectory(Directory& base, const std::string& path);

// A file that a light directory has created is closed after each Sync, when all of it is written, and opened again when
// it is needed. OpenAgain opens it now: if no descriptor is free it fails before anything is written. For other files:
// OK.
[[nodiscard]] Status OpenAgain(WritableFile& file);
// The file was renamed in its directory.
void FollowName(WritableFile& file, const std::string& name);

}  // namespace ratchet::io
