// A claim on the procedure store: the file claim.<epoch>, created exclusively and never removed (rule S9).
//
// The owner of epoch e is the creator of claim.e, until claim.e+1 exists. No clock is asked.
#pragma once

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"

namespace ratchet::procedure {

// The highest epoch that was claimed; none: Epoch().
[[nodiscard]] Result<Epoch> HighestClaim(io::Directory& directory);

// Claims the epoch after the highest one, durably (S1: before anything older is read). Goes on to the next when
// another master was faster. The directory is synced, so that all names that its listing shows afterwards are durable
// too.
[[nodiscard]] Result<Epoch> ClaimNextEpoch(io::Directory& directory);

// S2: OK means that claim.<epoch> was there and claim.<epoch + 1> was not, at some moment during the call. Anything
// else, any error, is kFenced. Thread-safe.
[[nodiscard]] Status CheckEpoch(io::Directory& directory, Epoch epoch);

}  // namespace ratchet::procedure
