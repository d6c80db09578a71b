// Tries out on real files what the rules need of a storage: through two mounts of one directory, or through one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/clock.h"
#include "common/io/disk.h"
#include "common/io/storage_check/verdict.h"

namespace ratchet::io {

struct TrialOptions {
  int rounds = 100;      // of each look that must be answered right at once
  int fence_races = 50;  // writer against fencer
  bool links = true;     // between directories
};

// `first` and `second`: the same directory, an empty one, through two mounts or twice through one. Leaves nothing there
// unless the storage fails. Kind and mounts of the findings are the caller's to fill.
[[nodiscard]] StorageFindings TryStorage(Directory& first, Directory& second, const Clock& clock,
                                         const TrialOptions& options);
// The short form: what one mount shows within a few operations, but no links, which a master probes apart (S44). OK, or
// why it is unfit.
[[nodiscard]] Status TryStorageShortly(Directory& directory, const Clock& clock);

}  // namespace ratchet::io
