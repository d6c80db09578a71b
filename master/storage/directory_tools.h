// Repeatable operations on directories, each durable when it returns, except OpenOrMakeDirectory.
//
// A failed sync ends the process (rule S6: failed sync ends the process): afterwards it is unknown what is durable.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::master {

using DirectoryPtr = std::unique_ptr<io::Directory>;

// Returns true for an entry that is gone or cannot exist (a name that the file system refuses): it needs no move and no
// mark.
[[nodiscard]] inline bool IsNotThere(Code code) { return code == Code::kNotFound || code == Code::kInvalidArgument; }

// Returns true, and logs the name, if `opened` failed because `name` in `parent` is a file among directories.
[[nodiscard]] bool SkipsFile(const Result<DirectoryPtr>& opened, const io::Directory& parent, const std::string& name);

// Syncs; a disk error ends the process (in tests it returns through the fatal handler).
Status SyncOrDie(io::Directory& directory);

// Opens the directory `name` in `parent`, and makes it if it is missing. Its name is durable only after a later sync of
// `parent`.
[[nodiscard]] Result<DirectoryPtr> OpenOrMakeDirectory(io::Directory& parent, const std::string& name);
// Like OpenOrMakeDirectory, but the name is durable, also if another process made it (S3: durable fence mark).
[[nodiscard]] Result<DirectoryPtr> EnsureDirectory(io::Directory& parent, const std::string& name);
// Like EnsureDirectory, for each part of "a/b/c".
[[nodiscard]] Result<DirectoryPtr> EnsurePath(io::Directory& parent, const std::string& path);
// kNotFound: a part is missing.
[[nodiscard]] Result<DirectoryPtr> OpenPath(io::Directory& parent, const std::string& path);

// Lists the names in "a/b/c"; empty if a part is missing or is a file.
[[nodiscard]] Result<std::vector<std::string>> NamesBelow(io::Directory& parent, const std::string& path);

// Moves directory `name` to `target`/`to`, both parents synced, target first: after a crash the directory is at one of
// the two places. If it is gone from `source`: Ok after both syncs (an earlier run moved it). kFailedPrecondition: both
// exist.
Status MoveDirectory(io::Directory& source, const std::string& name, io::Directory& target, const std::string& to);

// Removes `name` recursively. `check` runs before each removal; its error ends the work. Ok if it is already gone.
Status RemoveTree(io::Directory& parent, const std::string& name, const std::function<Status()>& check);

[[nodiscard]] std::vector<std::string> SplitPath(const std::string& path);

}  // namespace ratchet::master
