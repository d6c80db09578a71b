// The cluster's key, <root>/cluster.key, distinguishes the cluster's own processes from their clients, S77 (members
// only).
//
// Written once, by the first master whose root belongs to its place in ZooKeeper, and never changed. Only the user that
// runs the cluster may read it (mode 0600). A process shows it in the header of each connection that it opens. Requests
// that only masters and region servers may send are accepted only from such connections. The key proves only that the
// peer can read the cluster's storage as that user: it keeps out mistakes and clients, not a reader of the root or of
// the network.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

inline constexpr const char* kClusterKeyFile = "cluster.key";

// A new key: 32 hexadecimal digits from the operating system's entropy.
[[nodiscard]] std::string NewClusterKey();

// kNotFound: no master has written it yet. kCorruption: the text is not a key (16 to 256 printable characters on one
// line).
[[nodiscard]] Result<std::string> ReadClusterKey(Directory& root);

// Reads the key; writes `fresh`, durably, when there is none. Several processes may do so at the same time: all return
// the same.
[[nodiscard]] Result<std::string> EnsureClusterKey(Directory& root, const std::string& fresh);

// Create(), with mode 0600 where `directory` is one of the operating system's. (posix_disk.cc)
[[nodiscard]] Result<std::unique_ptr<WritableFile>> CreatePrivate(Directory& directory, const std::string& name);

}  // namespace ratchet::io
