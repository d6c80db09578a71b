// Stores positions in this cluster's table hbase:replication, which the master creates when there are peers.
//
// Row "<peer>-<server>" (the logs' owner as "host,port,startcode"), column queue:log, value "<file>:<offset>".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/log_queue.h"
#include "regionserver/replication/outside.h"

namespace ratchet::regionserver {

// The value in hbase:replication for one server's logs and one peer: the position, and how often the logs were claimed.
// Pure.
//
// A fenced server that does not know of its fence may write its position late. The claimer then continues from an
// earlier position, and a source that relied on the late one would ship an opening before the entries that the claimer
// ships again (S113: serial order of openings). So a claimer raises the number of claims before it reads the position,
// and writes with a lower number are refused.
struct KeptPosition {
  LogPosition position;
  std::uint64_t claims = 0;  // 0: the server's own source writes the position
  bool operator==(const KeptPosition&) const = default;
};

// "<file>:<offset>", followed by "#<claims>" if the logs were claimed.
[[nodiscard]] std::string ToText(const KeptPosition& kept);
[[nodiscard]] Result<KeptPosition> ParseKeptPosition(std::string_view text);

// Returns the value with which a claimer replaces `kept`: the same position, with one more claim.
[[nodiscard]] KeptPosition Claimed(const std::optional<KeptPosition>& kept);
// Returns the value with which the holder of claim `own` replaces `kept` at `position`; nullopt if that position is
// already stored. kStale: another server ships these logs now.
[[nodiscard]] Result<std::optional<KeptPosition>> MovedTo(const std::optional<KeptPosition>& kept, std::uint64_t own,
                                                          const LogPosition& position);

// Connects to this cluster at the first call.
[[nodiscard]] std::unique_ptr<Positions> MakeClientPositions(ClusterKey own, Millis timeout);

}  // namespace ratchet::regionserver
