// Directories and files that hold no descriptor while nothing is done with them, for what a server has very many of:
// regions.
//
// A light directory goes by its path below a directory that stays open. So it does not follow a renaming, as other
// handles do: a process that must go on writing into a renamed directory (a server into its logs, S4) cannot use one. A
// region's directory is renamed only when its table was dropped, and its name never comes back (S31): then everything
// fails with kNotFound.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

// `path`: "a/b/c" below `base`, none of them a link. The handle of `base` stays open as long as the light one lives.
// kNotFound when it is not there. On a disk of another kind than the system's: an ordinary handle.
[[nodiscard]] Result<std::unique_ptr<Directory>> OpenLightDirectory(Directory& base, const std::string& path);

// A file that a light directory has created is closed after each Sync, when nothing of it is unwritten, and opened
// again when it is needed. OpenAgain does so now: where no descriptor is left it fails before anything is written. Of
// other files: OK.
[[nodiscard]] Status OpenAgain(WritableFile& file);
// The file has got another name in its directory.
void FollowName(WritableFile& file, const std::string& name);

}  // namespace ratchet::io
