// What must hold of a cluster that has settled: asked of its masters, its servers and its meta table, from outside.
//
// Blocking; any thread. A finding that is bad at first is looked at again for a few seconds: the views are not of one
// moment.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/base/clock.h"

namespace ratchet::chaos {

// Asks every live server for its open regions and compares with meta and with the master (owners.h). It looks again
// until the three agree or `patience` has passed: the master may move a region by itself (balancer) between two of
// the questions, also in a cluster that has settled.
[[nodiscard]] Finding CheckOneOwner(client::Connection& connection, Millis patience = Millis{10'000});
// CheckRanges: meta_ranges.h.
// No procedure is unfinished or stuck; those that the master still knows ended exactly once.
[[nodiscard]] Finding CheckProcedures(client::Connection& connection);
// No lock is held, no procedure waits for one.
[[nodiscard]] Finding CheckNoLocks(client::Connection& connection);
// No region in transition, no crashed server unhandled, no order waiting or unanswered.
[[nodiscard]] Finding CheckIdle(client::Connection& connection);
// Below <root>/data every table has one directory with exactly its regions, below <root>/wals only live servers have
// one: no orphan files. `root`: the cluster's shared directory, where this process can see it.
[[nodiscard]] Finding CheckFiles(client::Connection& connection, const std::filesystem::path& root);

// All of them; files only where a root is given. Bad ones are repeated until they are good or `patience` has passed.
[[nodiscard]] std::vector<Finding> CheckCluster(client::Connection& connection,
                                                const std::optional<std::filesystem::path>& root,
                                                Millis patience = Millis{10'000});

}  // namespace ratchet::chaos
