// Serial peers (S113): whether a source may go past the place where an opening of a region begins. Pure.
//
// An opening waits until what earlier openings of the region, or of those that it was made of, have written is with the
// peer. Where that ends in which server's logs the log itself says, and how far each server's logs are shipped the
// positions say.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "regionserver/log/log_entry.h"
#include "regionserver/replication/log_queue.h"

namespace ratchet::regionserver {

// How far a server's logs are shipped to one peer.
struct QueueStanding {
  std::optional<LogPosition> kept;  // everything before it has been answered for
  bool gone = false;                // no such logs are kept any more: nothing of them is owed to any peer
};
[[nodiscard]] bool IsPast(const QueuePoint& point, const QueueStanding& standing);

// The first of `after` that is not shipped yet; nothing: the opening's entries may go. `own`: whose logs the opening is
// in; what is earlier in them has gone before. Errors are those of `look`, and mean: not yet.
[[nodiscard]] Result<std::optional<QueuePoint>> FirstNotShipped(
    const std::vector<QueuePoint>& after, const std::string& own,
    const std::function<Result<QueueStanding>(const std::string& server)>& look);

}  // namespace ratchet::regionserver
