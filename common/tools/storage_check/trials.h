// Tests on real files whether a storage does what the rules need: through two mounts of one directory, or through one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/io/disk.h"
#include "common/tools/storage_check/verdict.h"

namespace ratchet::io {

struct TrialOptions {
  int rounds = 100;      // of each check whose result must be correct at once
  int fence_races = 50;  // writer against fencer
  bool links = true;     // between directories
};

// `first` and `second`: the same directory, an empty one, through two mounts or twice through one. Leaves nothing
// behind unless the storage fails. The caller fills in kind and mounts of the findings.
[[nodiscard]] StorageFindings TryStorage(Directory& first, Directory& second, const Clock& clock,
                                         const TrialOptions& options);
// The short form: the checks that need one mount and a few operations, without links, which a master probes separately,
// S44 (own name for each file). OK, or the reason why it is unfit.
[[nodiscard]] Status TryStorageShortly(Directory& directory, const Clock& clock);

}  // namespace ratchet::io
