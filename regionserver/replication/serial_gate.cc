#include "regionserver/replication/serial_gate.h"

namespace ratchet::regionserver {

bool IsPast(const QueuePoint& point, const QueueProgress& progress) {
  if (progress.kept && *progress.kept >= LogPosition{point.file, point.offset}) return true;
  return progress.gone;
}

Result<std::optional<QueuePoint>> FirstNotShipped(
    const std::vector<QueuePoint>& after, const std::string& own,
    const std::function<Result<QueueProgress>(const std::string& server)>& look) {
  for (const QueuePoint& point : after) {
    if (point.server == own) continue;
    RATCHET_ASSIGN(const QueueProgress progress, look(point.server));
    if (!IsPast(point, progress)) return std::optional<QueuePoint>(point);
  }
  return std::optional<QueuePoint>();
}

}  // namespace ratchet::regionserver
