// Checks that a root directory and a place in ZooKeeper (an ensemble and a parent node) match, S72 (root and ZooKeeper
// node belong together). The persistent node <parent>/hbaseid carries the id of <root>/cluster.id, in HBase's encoding,
// so that HBase's clients can read it too.
//
// The node is identity, not state: no other information is ever read from it. A master with the right root and a wrong
// ZooKeeper would find none of the region servers registered there and fence them all. So every process compares before
// it claims, fences or registers anything. Masters write the node (once, for a cluster that has never run, or when
// ordered to adopt a place); region servers only read it.
//
// The functions that take a session block, and end within its time-out. Errors are the session's (zk_session.h), and
// kFailedPrecondition, with both ids, if root and place do not belong together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

// The identity in <root>. Read it before the place: a master writes the place before it gives the root a history.
struct RootIdentity {
  std::string cluster_id;  // empty: cluster.id is not written yet
  bool history = false;    // a master has claimed the procedure store (common/io/root_history.h)
};

// The identity in the node.
struct PlaceIdentity {
  bool there = false;
  std::string cluster_id;  // empty although `there`: the bytes are invalid
  std::int32_t version = 0;
  bool ephemeral = false;  // left by a master that published the id for clients only; it disappears with that master
};

// Reads after a sync: a member that lags behind could report a place as empty that is not.
[[nodiscard]] Result<PlaceIdentity> ReadPlace(ZkSession& session, const ZkPaths& paths);

// Pure: Ok if a process of this root may work at this place.
[[nodiscard]] Status ComparePlace(const RootIdentity& root, const PlaceIdentity& place, const std::string& where);

// The exit code of a process that cannot work at this place.
[[nodiscard]] int ExitCodeWithoutPlace(const Error& error);

// Pure: the check of `--adopt-zookeeper` only: `registered` processes of any cluster are at the place.
[[nodiscard]] Status MayAdopt(const RootIdentity& root, const PlaceIdentity& place, std::size_t registered,
                              const std::string& where);

// For a master, whose root has an id by now: compares, and writes the node if it is missing and the root has no
// history, or if `adopt` allows to give the place to this root. True when it has adopted the place.
[[nodiscard]] Result<bool> ClaimPlace(ZkSession& session, const ZkPaths& paths, const RootIdentity& root, bool adopt);

// True when the place has no id but has registered processes: one of these processes may write the id within seconds.
[[nodiscard]] Result<bool> IdMayReturn(ZkSession& session, const ZkPaths& paths);
inline constexpr Millis kIdReturnsWithin{5'000};

// Returns true if <root>/wals has a directory of this name.
using HasLogDirectory = std::function<Result<bool>(const std::string& server)>;
// Returns true if the place has no readable id, but a region server is registered there, by a live session, and its log
// directory is below this root. A server's name is given to one process, once, and the process makes that directory
// before it registers: so the place belongs to this root.
[[nodiscard]] Result<bool> IsKnownPlace(ZkSession& session, const ZkPaths& paths, const HasLogDirectory& has);

// For a master that has compared before in this session: writes the node again if another client has removed it or
// written invalid bytes. If the node names another cluster, a master that is about to claim gets kFailedPrecondition. A
// master that is `active` writes the node again, because no cluster can have adopted a place where a master is
// registered.
[[nodiscard]] Status KeepPlace(ZkSession& session, const ZkPaths& paths, const std::string& cluster_id, bool active);

}  // namespace ratchet::zk
