// What hbase:replication keeps of one server's logs and one peer: the position, and how often the logs were claimed.
// Pure.
//
// A server that is fenced, and does not know it yet, may write its position late. The claimer goes on from an earlier
// one then, and a source that relied on the later one would let an opening go before what the claimer ships again
// (S113). So a claimer raises the number of claims before it reads the position, and the writer of a lower number
// writes nothing any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "regionserver/replication/log_queue.h"

namespace ratchet::regionserver {

struct KeptPosition {
  LogPosition position;
  std::uint64_t claims = 0;  // 0: the server's own source writes
  bool operator==(const KeptPosition&) const = default;
};

// "<file>:<offset>", and "#<claims>" where there were any.
[[nodiscard]] std::string ToText(const KeptPosition& kept);
[[nodiscard]] Result<KeptPosition> ParseKeptPosition(std::string_view text);

// What a claimer writes in the place of `kept`. Its number of claims is the one of this.
[[nodiscard]] KeptPosition Claimed(const std::optional<KeptPosition>& kept);
// What the holder of claim `own` writes in the place of `kept` when it has come to `position`; nothing: it is there
// already. kStale: another server ships these logs now.
[[nodiscard]] Result<std::optional<KeptPosition>> MovedTo(const std::optional<KeptPosition>& kept, std::uint64_t own,
                                                          const LogPosition& position);

}  // namespace ratchet::regionserver
