// Kinds of file systems, as far as it matters to a cluster's root.
#pragma once

#include <string>

#include "common/io/storage_check/verdict.h"

namespace ratchet::io {

// Fills in kind, refused_kind, names_cached and by_machines of what lies at `path`.
void FillKind(const std::string& path, StorageFindings& findings);

}  // namespace ratchet::io
