// Report of a process about its protection, for `ratchet security status` (docs/security.md).
#pragma once

#include <string>
#include <vector>

#include "common/base/config.h"
#include "common/model/proto/security.pb.h"
#include "common/rpc/server.h"

namespace ratchet::page {

// `settings`: those in force. `keys`: those of cluster.key. Pure.
[[nodiscard]] ratchet::pb::ProcessSecurity SecurityFacts(const std::vector<SettingRow>& settings,
                                                         const std::vector<std::string>& keys,
                                                         const rpc::ServerStats& stats, const std::string& version);

}  // namespace ratchet::page
