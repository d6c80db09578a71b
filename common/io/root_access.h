// The access that other users of this machine have to the root and to the cluster's key, S160 (the root is its user's).
//
// The root has all rows and the key, so a user who may change it is the cluster, and one who may read it can become a
// member. Directories of other kinds than the operating system's have no modes, and are not judged.
//
// Threads: any. The functions with a Directory use the storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

struct FileMode {
  std::uint32_t mode = 0;
  std::uint32_t owner = 0;
};

struct RootVerdict {
  Status usable = Ok();
  std::string problem;  // empty: none
};

// Judges the mode of the root at `path` for a process of the user `self`.
[[nodiscard]] RootVerdict JudgeRoot(const std::string& path, const FileMode& root, std::uint32_t self);

// At the start: kFailedPrecondition if others than its owner may change the root. A root that others may only read is
// logged, and remains a problem.
[[nodiscard]] Status CheckRootAccess(Directory& root);

// Looks again at the root and at the cluster's key, for RootAccessProblem().
void LookAtRootAccess(Directory& root);

// A sentence for `ratchet status`, as of the last look of this process; empty: no problem.
[[nodiscard]] std::string RootAccessProblem();

// Gives a root that no cluster has used yet mode 0700, if it belongs to this process's user. A failure leaves a problem
// for the next look.
void CloseNewRoot(Directory& root);

// kFailedPrecondition if other users may read the file, or others than its owner may change it.
[[nodiscard]] Status CheckSecretFile(Directory& directory, const std::string& name);

// Mode and owner of an entry, or of the directory itself with the name "."; nullopt for directories without modes.
// (posix_disk.cc)
[[nodiscard]] Result<std::optional<FileMode>> ReadMode(Directory& directory, const std::string& name);

// Changes the mode of the directory itself; no effect on directories without modes. (posix_disk.cc)
[[nodiscard]] Status ChangeMode(Directory& directory, std::uint32_t mode);

}  // namespace ratchet::io
