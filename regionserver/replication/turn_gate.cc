#include "regionserver/replication/turn_gate.h"

namespace ratchet::regionserver {

bool IsPast(const QueuePoint& point, const QueueStanding& standing) {
  if (standing.kept && *standing.kept >= LogPosition{point.file, point.offset}) return true;
  return standing.gone;
}

Result<std::optional<QueuePoint>> FirstNotShipped(
    const std::vector<QueuePoint>& after, const std::string& own,
    const std::function<Result<QueueStanding>(const std::string& server)>& look) {
  for (const QueuePoint& point : after) {
    if (point.server == own) continue;
    RATCHET_ASSIGN(const QueueStanding standing, look(point.server));
    if (!IsPast(point, standing)) return std::optional<QueuePoint>(point);
  }
  return std::optional<QueuePoint>();
}

}  // namespace ratchet::regionserver
