// Whether the mount below this process is gone for good: its storage client was evicted, or has ended. Nothing that the
// process does can bring it back, so it ends with a code of its own, and what starts it again mounts anew first.
#pragma once

#include <string>

namespace ratchet::io {

// Remembers the root. Only on storage with clients that can be given up (FUSE and CephFS), where it is there now, or
// where its mount is dead already: a process that comes again by itself may begin so. Once, before threads start.
void WatchMount(const std::string& root);
// Looks at the root: ENOENT, ESHUTDOWN and ENOTCONN say that the mount is dead. False where nothing is watched.
[[nodiscard]] bool MountIsDead();
// The exit code of an end with `code`: exit_code::kMountIsDead when that is why; a requested stop stays one.
[[nodiscard]] int CodeBesideMount(int code);

}  // namespace ratchet::io
