// A commit on its way through the queue to the writer.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/result.h"
#include "procedure/api/store.h"

namespace ratchet::procedure {

struct PendingCommit {
  StoreBatch batch;
  CommitDone done;
  std::uint64_t sequence = 0;
  std::optional<Error> refused;  // set by the writer: nothing of the batch was written
};

}  // namespace ratchet::procedure
