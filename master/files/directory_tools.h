// Small steps on directories that may be repeated at any point, each durable when it returns.
//
// A failed sync ends the process (rule S6): afterwards it is unknown what is durable.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::master {

using DirectoryPtr = std::unique_ptr<io::Directory>;

// Syncs; an error of the disk does not return (tests: it does, through the fatal handler).
Status SyncOrDie(io::Directory& directory);

// The directory `name` in `parent`, made when it is missing; its name is durable, whichever process made it (S3).
[[nodiscard]] Result<DirectoryPtr> EnsureDirectory(io::Directory& parent, const std::string& name);
// The same along "a/b/c".
[[nodiscard]] Result<DirectoryPtr> EnsurePath(io::Directory& parent, const std::string& path);
// kNotFound when any part is missing.
[[nodiscard]] Result<DirectoryPtr> OpenPath(io::Directory& parent, const std::string& path);

// Names in "a/b/c"; none when any part is missing or a file.
[[nodiscard]] Result<std::vector<std::string>> NamesBelow(io::Directory& parent, const std::string& path);

// Moves directory `name` to `target`/`to`, both parents synced, target first: after a crash it is at one place or the
// other. Gone from `source`: Ok after both syncs (another run did it before). kFailedPrecondition when both are there.
Status MoveDirectory(io::Directory& source, const std::string& name, io::Directory& target, const std::string& to);

// Removes `name` with all that is in it. `check` runs before each removal; its error ends the work. Gone already: Ok.
Status RemoveTree(io::Directory& parent, const std::string& name, const std::function<Status()>& check);

[[nodiscard]] std::vector<std::string> SplitPath(const std::string& path);

}  // namespace ratchet::master
