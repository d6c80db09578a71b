// What follows from the load of its regions that a server reports.
#pragma once

#include "common/base/clock.h"
#include "common/model/proto/cluster_status.pb.h"
#include "common/model/server_name.h"
#include "master/service/load_book.h"
#include "master/service/master_gate.h"

namespace ratchet::master {

// What regions are asked and how large they are, for the balancer's plans.
void TakeRates(const ActiveParts& parts, const ServerName& server, const hbase::pb::ServerLoad& load, TimePoint now);
// Regions that have grown are split, now and then. `loads` has the server's report.
void SplitWhatHasGrown(const LoadBook& loads, const ActiveParts& parts, const ServerName& server);

}  // namespace ratchet::master
