// A claim on the procedure store: the file claim.<epoch>, created exclusively and never removed, S9 (claims are never
// removed).
//
// The owner of epoch e is the creator of claim.e, until claim.e+1 exists. No clock is involved. In a cluster's root
// each claim is made twice: in the root itself, and then in procedures/, where masters before version 0.2 look. So a
// procedures/ that was moved away or replaced hides no claim from an earlier owner.
#pragma once

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "procedure/api/wal_store.h"

namespace ratchet::procedure {

// Claims the epoch after the highest one, durably, before anything older is read, S1 (check after sync). Tries the next
// epoch when another master was faster. The directory is synced, so all names that its listing shows afterwards are
// durable too.
[[nodiscard]] Result<Epoch> ClaimNextEpoch(io::Directory& directory);

// Claims an epoch in a cluster's root: it is above the claims in `root` and in `procedures`. Epochs that were claimed
// in the root only, by masters that ended in between, are filled in below it, because an owner looks only for the next
// one.
[[nodiscard]] Result<Epoch> ClaimNextEpoch(io::Directory& root, io::Directory& procedures);

// S2 (check is positive): OK means that claim.<epoch> existed and claim.<epoch + 1> did not, at some moment during the
// call. Anything else, any error, is kFenced. Thread-safe.
[[nodiscard]] Status CheckEpoch(io::Directory& directory, Epoch epoch);

// Like CheckEpoch, in the root and in the directory that is now named procedures/ (S9': claim in root and store).
[[nodiscard]] Status CheckRootEpoch(io::Directory& root, Epoch epoch);

}  // namespace ratchet::procedure
