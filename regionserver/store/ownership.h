// Determines which opening owns a region: manifests, each opening's mark, and the check of the mark (S21: numbered
// openings; S52: one mark per opening).
//
//   manifest.<n>   created exclusively by opening n. The highest one is never renamed.
//   serving.<n>    the mark of opening n. Only a higher opening renames it, before it reads the region's state.
//   opened.<n>     the manifest of opening n has had a state. One file, which is renamed to a higher n.
//
// An opening creates its manifest, looks for a higher one, creates its mark, looks again, renames each lower mark that
// this listing shows, syncs the directory, and then reads. So if an opening still sees its own mark, no higher
// opening has read the state: one name is enough, however many files there are. The first look-up keeps a late
// duplicate of an order, which may create the manifest of a superseded opening again, from reviving that opening's
// mark. Model: tests/models/opening.pml.
//
// Threads: all functions from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::regionserver {

[[nodiscard]] std::string ManifestName(std::uint64_t open_number);
[[nodiscard]] std::string ServingName(std::uint64_t open_number);
// Number of a "manifest.<n>", "serving.<n>", "opened.<n>", and of a store file "<n>-<k>.sst"; 0 for other names.
[[nodiscard]] std::uint64_t ManifestNumber(std::string_view name);
[[nodiscard]] std::uint64_t ServingNumber(std::string_view name);
[[nodiscard]] std::uint64_t OpenedNumber(std::string_view name);
[[nodiscard]] std::uint64_t OpeningOfStoreFile(std::string_view name);

// After manifest.<open_number> was created exclusively: makes this opening the owner once the directory is synced.
// kFenced: a higher opening exists. Returns the names in the directory without the marks of lower openings. The caller
// must not read the region's state before the directory is synced.
[[nodiscard]] Result<std::vector<std::string>> TakeMarks(io::Directory& directory, std::uint64_t open_number);
// TakeMarks and the sync of the directory.
[[nodiscard]] Result<std::vector<std::string>> ClaimRegion(io::Directory& directory, std::uint64_t open_number);

// The CHECK of opening `open_number`: a look-up of one name, which needs no descriptor. kFenced, and only this, means
// that a higher opening was found. After any other error the owner is unknown, or the mark is gone and no opening has
// taken it.
[[nodiscard]] Status CheckOwner(io::Directory& directory, std::uint64_t open_number);

// The highest n of the names "opened.<n>"; 0 for none.
[[nodiscard]] std::uint64_t HighestOpened(const std::vector<std::string>& names);
// Records that the manifest of this opening has a state (S53: opening starts with full state): every later opening must
// find a state that is at least as new. Called when that state is durable; the mark is durable with the directory's
// next sync. `before` is the highest mark that a listing of the directory has shown. An opening that was superseded
// meanwhile leaves a mark that no opening needs: the state of the higher one is newer.
[[nodiscard]] Status SayOpened(io::Directory& directory, std::uint64_t before, std::uint64_t open_number);

// S53: `newest` is the highest opening whose manifest could be read (0: none), `names` what the claim of opening
// `open_number` has seen. kCorruption when an opening above `newest` is known to have had a state, by its mark
// opened.<n> or by a store file of its own.
[[nodiscard]] Status CheckNothingNewer(const io::Directory& directory, const std::vector<std::string>& names,
                                       std::uint64_t newest, std::uint64_t open_number);

}  // namespace ratchet::regionserver
