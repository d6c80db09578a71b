// Keeps a store file readable whose name is about to go.
#pragma once

#include "common/base/result.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

// Opens the file of `reader` and keeps it open until the reader has gone: before the file gets its owner's mark and the
// cleaner may take it. Costs a descriptor until then; not needed when no scan reads it any more. Thread-safe.
[[nodiscard]] Status HoldOpen(const StoreFiles::Reader& reader);

}  // namespace ratchet::regionserver
