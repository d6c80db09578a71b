// Kinds of file systems, with the properties that matter for a cluster's root.
#pragma once

#include <string>

#include "common/tools/storage_check/verdict.h"

namespace ratchet::io {

// Fills in kind, refused_kind, names_cached and by_machines for the file system at `path`.
void FillKind(const std::string& path, StorageFindings& findings);

}  // namespace ratchet::io
