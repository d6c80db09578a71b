// Serial peers (S113: serial order of openings): decides whether a source may pass the start of an opening of a region.
// Pure.
//
// An opening waits until the peer has all entries of earlier openings of the region and its parents. The log records
// where those entries end in which server's logs, and the positions record how far each server's logs are shipped.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "regionserver/replication/log_queue.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Progress of one server's logs towards one peer.
struct QueueProgress {
  std::optional<LogPosition> kept;  // the peer has everything before it
  bool gone = false;                // the logs no longer exist: no peer needs them
};
[[nodiscard]] bool IsPast(const QueuePoint& point, const QueueProgress& progress);

// Returns the first point of `after` that is not shipped yet; nullopt: the opening may be shipped. `own` is the owner
// of the logs with the opening; earlier points in those logs have been shipped. Errors are those of `look`, and mean:
// not yet.
[[nodiscard]] Result<std::optional<QueuePoint>> FirstNotShipped(
    const std::vector<QueuePoint>& after, const std::string& own,
    const std::function<Result<QueueProgress>(const std::string& server)>& look);

}  // namespace ratchet::regionserver
