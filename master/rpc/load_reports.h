// Actions after a server's load report.
#pragma once

#include "common/base/clock.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/server_name.h"
#include "master/rpc/master_gate.h"
#include "master/telemetry/load_book.h"

namespace ratchet::master {

// Stores request rates and sizes of regions, for the balancer's plans.
void RecordRates(const ActiveParts& parts, const ServerName& server, const hbase::pb::ServerLoad& load, TimePoint now);
// Splits regions that have grown, at intervals. `loads` has the server's report.
void SplitWhatHasGrown(const LoadBook& loads, const ActiveParts& parts, const ServerName& server);

}  // namespace ratchet::master
