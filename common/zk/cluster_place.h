// A root directory and a place in ZooKeeper (an ensemble and a parent node) belong together (S72): the persistent node
// <parent>/hbaseid carries the id of <root>/cluster.id, in HBase's encoding, so that HBase's clients can read it too.
//
// It is identity, not state: nothing else is ever read from it. A master with the right root and a wrong ZooKeeper
// would find none of the region servers registered there and fence them all; so every process compares before it
// claims, fences or registers anything. Masters write the node (once, for a cluster that has never run, or when told to
// adopt a place), region servers only read it.
//
// The functions that take a session block, and end within its time-out; errors are the session's (zk_session.h), and
// kFailedPrecondition, with both ids, where root and place do not belong together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::zk {

// What <root> says. Read it before the place: a master writes the place before it gives the root a history.
struct RootIdentity {
  std::string cluster_id;  // empty: cluster.id is not written yet
  bool history = false;    // a master has claimed the procedure store (common/io/root_history.h)
};

// What the node says.
struct PlaceIdentity {
  bool there = false;
  std::string cluster_id;  // empty although `there`: the bytes make no sense
  std::int32_t version = 0;
  bool ephemeral = false;  // left by a master that published the id for clients only; it goes with that master
};

// Behind a sync: a member that lags behind would call a place empty that is not.
[[nodiscard]] Result<PlaceIdentity> ReadPlace(ZkSession& session, const ZkPaths& paths);

// Pure: may a process of this root work at this place?
[[nodiscard]] Status ComparePlace(const RootIdentity& root, const PlaceIdentity& place, const std::string& where);

// Pure: the check alone of `--adopt-zookeeper`: `registered` processes of whichever cluster are at the place.
[[nodiscard]] Status MayAdopt(const RootIdentity& root, const PlaceIdentity& place, std::size_t registered,
                              const std::string& where);

// For a master, whose root has an id by now: compares, and writes the node where it is missing and the root has no
// history, or where `adopt` allows to give the place to this root. True when it has adopted the place.
[[nodiscard]] Result<bool> TakePlace(ZkSession& session, const ZkPaths& paths, const RootIdentity& root, bool adopt);

// For a master that has compared before in this very session: writes the node again where another client has removed it
// or written what makes no sense. Where it names another cluster: kFailedPrecondition for a master that is about to
// claim; one that is `active` writes it again, because nothing can have adopted a place where a master is registered.
[[nodiscard]] Status KeepPlace(ZkSession& session, const ZkPaths& paths, const std::string& cluster_id, bool active);

}  // namespace ratchet::zk
