// What a master does with --root before it is elected: looks at it, and finds out whether it belongs to its place in
// ZooKeeper (S72). One thread.
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

// Changes nothing: whether this root belongs to ZooKeeper's place shows later.
[[nodiscard]] Result<OwnRoot> LookAtRoot(const std::string& path);

// Where, not what, went wrong.
struct PlaceFailure {
  Error error;
  bool of_root = false;  // the root could not be read or written; else it is about the place in ZooKeeper
};

// Compares root and place, gives a new root its id and a new place its root's. Empty: they belong together, and
// `root.state.cluster_id` is the id of both.
[[nodiscard]] std::optional<PlaceFailure> TakePlaceFor(OwnRoot& root, zk::ZkSession& session, const zk::ZkPaths& paths,
                                                       bool adopt_zookeeper);

}  // namespace ratchet::master
