// A master's checks of --root before its election: whether it is usable, and whether it belongs to its place in
// ZooKeeper (S72: root and ZooKeeper node belong together). One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/process/root_directory.h"

namespace ratchet::master {

struct OwnRoot {
  std::unique_ptr<io::Directory> directory;
  RootState state;
};

// Changes nothing, because it is not known yet whether this root belongs to ZooKeeper's place.
[[nodiscard]] Result<OwnRoot> LookAtRoot(const std::string& path);

// Error, with its origin.
struct PlaceFailure {
  Error error;
  bool of_root = false;  // true: the root could not be read or written; false: an error of the place in ZooKeeper
};

// Compares root and place, gives a new root an id and a new place its root's id. Returns nullopt if they belong
// together; then `root.state.cluster_id` is the id of both.
[[nodiscard]] std::optional<PlaceFailure> ClaimPlaceFor(OwnRoot& root, zk::ZkSession& session, const zk::ZkPaths& paths,
                                                        bool adopt_zookeeper);

}  // namespace ratchet::master
