// PlaceAccess: keeps strangers from changing the cluster's nodes in ZooKeeper (--zk-acl).
//
// ZooKeeper lists who may be alive and who may lead, and it decides nothing about data. But a program that can write
// there can remove the sessions' nodes, keep masters from being elected and show clients a false address. With `set`
// every node can be read by all clients, and changed only by processes that know the cluster's key. Every process
// presents the key, so that masters can be switched one after the other.
//
// One owner. Not thread-safe: the thread of the start, later the session's thread. Each call blocks until ZooKeeper has
// answered, and returns the session's errors (zk_session.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/zk/node_rights.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

class PlaceAccess {
 public:
  static constexpr Millis kLookAgain{10'000};

  // `session` outlives this object.
  PlaceAccess(ZkSession& session, ZkPaths paths) : session_(session), paths_(std::move(paths)) {}

  // Takes the keys and reads the rights of the parent node; nodes that this session creates get rights of the same
  // kind. kFailedPrecondition, with both rights: they are neither open nor of these keys. A missing parent counts as
  // open.
  [[nodiscard]] Status Begin(const std::vector<std::string>& keys);
  // Presents the keys of cluster.key; empty: no master has written it yet. Call it again when the file changes.
  [[nodiscard]] Status Take(const std::vector<std::string>& keys);
  // Gives the cluster's nodes the rights of the keys, or opens them again: all of them at the first call and after the
  // keys have changed; later, each kLookAgain, those that stay. A new process gives its node the rights of the parent.
  // kFailedPrecondition, with both rights: a node has others, and ZooKeeper does not let this process change them.
  [[nodiscard]] Status KeepSometimes(bool only_members, TimePoint now);

 private:
  [[nodiscard]] Status Keep(bool only_members);
  [[nodiscard]] Status KeepNode(const std::string& path, bool only_members);
  [[nodiscard]] Status KeepChildren(const std::string& folder, bool only_members);
  [[nodiscard]] Error WrongRights(const std::string& path, const NodeRights& found) const;

  ZkSession& session_;
  const ZkPaths paths_;
  std::vector<std::string> keys_;
  std::optional<TimePoint> kept_;
};

}  // namespace ratchet::zk
