// The cluster's key, <root>/cluster.key, distinguishes the cluster's own processes from their clients, S77 (members
// only).
//
// The first master whose root belongs to its place in ZooKeeper writes it; afterwards only an operator replaces it
// (docs/security.md). Only the user that runs the cluster may read it (mode 0600). A process proves to each process
// that it connects to that it has the key, and the key itself is not sent (common/rpc/member_proof.h). Requests that
// only masters and region servers may send are accepted only on such connections. The proof shows only that the peer
// can read the cluster's storage as that user: it keeps out mistakes and clients, not a reader of the root.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

inline constexpr const char* kClusterKeyFile = "cluster.key";
// Keys of version 0.3 and later begin so; a process that proves its key by itself never sends such a key in clear.
inline constexpr std::string_view kProofKeyPrefix = "proof-";

// The keys of the file, one or two: the first one makes proofs, and proofs by each of them are accepted.
using ClusterKeys = std::vector<std::string>;

// A new key: kProofKeyPrefix and 64 hexadecimal digits from the operating system's entropy.
[[nodiscard]] std::string NewClusterKey();

// kNotFound: no master has written it yet. kCorruption: the text is not one or two keys (16 to 256 printable characters
// each, one on a line). kFailedPrecondition: other users may read the file, or others than its owner may change it,
// S160 (the root is its user's).
[[nodiscard]] Result<ClusterKeys> ReadClusterKeys(Directory& root);

// Reads the keys; writes `fresh`, durably, when there are none. Several processes may do so at the same time: all
// return the same. `fresh`: one or two keys.
[[nodiscard]] Result<ClusterKeys> EnsureClusterKeys(Directory& root, const ClusterKeys& fresh);
// Like EnsureClusterKeys, but a name that exists is durable only after the caller's next sync of the root. Does not
// wait for the disk while the file exists.
[[nodiscard]] Result<ClusterKeys> ReadOrRestoreClusterKeys(Directory& root, const ClusterKeys& lost);

// Create(), with mode 0600 where `directory` is one of the operating system's. (posix_disk.cc)
[[nodiscard]] Result<std::unique_ptr<WritableFile>> CreatePrivate(Directory& directory, const std::string& name);

}  // namespace ratchet::io
