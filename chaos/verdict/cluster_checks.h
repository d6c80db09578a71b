// Checks of a cluster that has settled, through its masters, its servers and its meta table.
//
// Blocking; any thread. A bad finding is checked again for a few seconds, because the views may show different moments.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "chaos/workloads/workload.h"
#include "common/base/clock.h"

namespace ratchet::chaos {

// Asks every live server for its open regions, and compares them with meta and with the master (owners.h). It repeats
// until the three agree or `patience` has passed, because the balancer may move a region between two of the calls, even
// in a settled cluster.
[[nodiscard]] Finding CheckOneOwner(client::Connection& connection, Millis patience = Millis{10'000});
// CheckRanges is in meta_ranges.h. CheckProcedures: no procedure is unfinished or stuck, and those that the master
// still knows ended exactly once.
[[nodiscard]] Finding CheckProcedures(client::Connection& connection);
// Checks that no lock is held and no procedure waits for one.
[[nodiscard]] Finding CheckNoLocks(client::Connection& connection);
// Checks that no region is in transition, every crash was handled, and no order waits for its execution or answer.
[[nodiscard]] Finding CheckIdle(client::Connection& connection);
// Checks for orphan files: below <root>/data every table has one directory with exactly its regions, below <root>/wals
// only live servers have one. `root` is the path of the cluster's shared directory for this process.
[[nodiscard]] Finding CheckFiles(client::Connection& connection, const std::filesystem::path& root);

// Makes all checks; files are checked only with a root. Bad ones are repeated until they are good or `patience` has
// passed.
[[nodiscard]] std::vector<Finding> CheckCluster(client::Connection& connection,
                                                const std::optional<std::filesystem::path>& root,
                                                Millis patience = Millis{10'000});

}  // namespace ratchet::chaos
