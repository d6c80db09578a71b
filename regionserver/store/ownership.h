// Which opening of a region counts: manifests, each opening's mark, and the look for it (S21, S52).
//
//   manifest.<n>   created exclusively by opening n. The highest one keeps its name for ever.
//   serving.<n>    the mark of opening n. Only a higher opening takes it away, before it reads what the region is.
//   opened.<n>     the manifest of opening n has had a state. One file, which moves up by renaming.
//
// An opening creates its manifest, looks for a higher one, creates its mark, looks again, renames each lower mark that
// this listing shows, syncs the directory, and then reads. So an opening that still sees its own mark has not been
// overtaken by one that has read anything: one name is enough, however many files there are. The first look keeps a
// late duplicate of an order, which may create the manifest of a superseded opening again, from reviving that opening's
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

[[nodiscard]] std::string ManifestName(std::uint64_t open_seq);
[[nodiscard]] std::string ServingName(std::uint64_t open_seq);
// Number of a "manifest.<n>", "serving.<n>", "opened.<n>", and of a store file "<n>-<k>.sst"; 0 for other names.
[[nodiscard]] std::uint64_t ManifestNumber(std::string_view name);
[[nodiscard]] std::uint64_t ServingNumber(std::string_view name);
[[nodiscard]] std::uint64_t OpenedNumber(std::string_view name);
[[nodiscard]] std::uint64_t OpeningOfStoreFile(std::string_view name);

// After manifest.<open_seq> was created exclusively: makes this opening the one that counts; durable when it returns.
// kFenced: a higher opening exists. Returns the names that it has seen, those of lower marks left out.
[[nodiscard]] Result<std::vector<std::string>> ClaimRegion(io::Directory& directory, std::uint64_t open_seq);

// The CHECK of opening `open_seq`: a look for one name, which needs no descriptor. kFenced, and only this: a higher
// opening exists, found as such. Any other error: it cannot be told, or the mark is gone and no opening has taken it.
[[nodiscard]] Status CheckOwner(io::Directory& directory, std::uint64_t open_seq);

// Says that the manifest of this opening has a state (S53): every later opening must find one that is at least as new.
// Follows a CHECK; durable with the directory's next sync. `names`: the directory as it was listed.
[[nodiscard]] Status SayOpened(io::Directory& directory, const std::vector<std::string>& names, std::uint64_t open_seq);

// S53: `newest` is the highest opening whose manifest could be read (0: none), `names` what the claim of opening
// `open_seq` has seen. kCorruption when an opening above it is known to have had a state: by what it said, or by a
// store file of its own.
[[nodiscard]] Status CheckNothingNewer(const io::Directory& directory, const std::vector<std::string>& names,
                                       std::uint64_t newest, std::uint64_t open_seq);

}  // namespace ratchet::regionserver
