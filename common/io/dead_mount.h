// Detects that the mount below this process is permanently gone: its storage client was evicted, or has ended. The
// process cannot restore the mount, so it ends with a specific exit code, and its supervisor mounts again before it
// restarts the process.
#pragma once

#include <string>

namespace ratchet::io {

// Remembers the root. Only on storage whose clients can be evicted (FUSE and CephFS), if the root exists now, or if its
// mount is dead already, as it may be for a process that restarted itself. Once, before threads start.
void WatchMount(const std::string& root);
// Looks at the root: ENOENT, ESHUTDOWN and ENOTCONN mean that the mount is dead. False if no root is watched.
[[nodiscard]] bool MountIsDead();
// The exit code of an end with `code`: exit_code::kMountIsDead if the dead mount is the reason. A requested stop keeps
// its code.
[[nodiscard]] int CodeBesideMount(int code);

}  // namespace ratchet::io
