#include "master/rpc/replication_load.h"

#include <algorithm>
#include <string>

namespace ratchet::master {

namespace pb = ::hbase::pb;

namespace {

void FillSource(const std::string& teller, const pb::ReplicationProgress& progress, std::int64_t now_ms,
                pb::ReplicationLoadSource& source) {
  const bool recovered = progress.server() != teller;
  source.set_peerid(progress.peer());
  source.set_queueid(recovered ? progress.peer() + "-" + progress.server() : progress.peer());
  source.set_recovered(recovered);
  // also for a source whose peer does not answer: HBase's shell hides the lag of sources that are not running
  source.set_running(true);
  source.set_sizeoflogqueue(static_cast<std::uint32_t>(std::min<std::uint64_t>(progress.logs(), UINT32_MAX)));
  source.set_replicationlag(progress.lag_ms());
  source.set_ageoflastshippedop(progress.shipped_age_ms());
  source.set_timestampoflastshippedop(progress.shipped_ms());
  source.set_editssincerestart(progress.shipped() != 0 || progress.lag_ms() != 0);
  source.set_opsshipped(progress.shipped());
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(now_ms, 0));
  source.set_timestampofnexttoreplicate(progress.lag_ms() == 0 ? 0 : now - std::min(now, progress.lag_ms()));
}

}  // namespace

void AddReplicationLoad(const ServerName& server, const std::vector<pb::ReplicationProgress>& progress,
                        std::int64_t now_ms, pb::ServerLoad& load) {
  const std::string teller = server.ToString();
  for (const auto& each : progress) {
    if (each.peer().empty()) continue;  // an entry for all logs of a dead server
    FillSource(teller, each, now_ms, *load.add_replloadsource());
  }
  const auto started = static_cast<std::uint64_t>(std::max<std::int64_t>(server.start_code, 0));
  auto& sink = *load.mutable_replloadsink();
  sink.set_ageoflastappliedop(0);
  sink.set_timestampsoflastappliedop(started);
  sink.set_timestampstarted(started);
  sink.set_totalopsprocessed(0);
}

}  // namespace ratchet::master
