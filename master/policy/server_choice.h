// Lists the servers to which regions may move: functions of what Membership and Decommissions show.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/membership.h"

namespace ratchet::master {

// Servers that are online, not draining and not decommissioned, so regions may move to them.
[[nodiscard]] std::vector<ServerName> EligibleServers(const Membership& members, const Decommissions& marks);
// Like EligibleServers; the decommissioned servers if there is no other, because regions must be open somewhere.
[[nodiscard]] std::vector<ServerName> AssignableServers(const Membership& members, const Decommissions& marks);
// Servers for system tables: those of AssignableServers with the newest version, if possible without `avoid`.
[[nodiscard]] std::vector<ServerName> NewestAssignableServers(const Membership& members, const Decommissions& marks,
                                                              const std::vector<ServerName>& avoid);

using ServerNames = std::shared_ptr<const std::vector<ServerName>>;

// AssignableServers, made only when a server or a mark has changed, because each opening of a region needs the list.
// Thread-safe.
class AssignableCache {
 public:
  [[nodiscard]] ServerNames Get(const Membership& members, const Decommissions& marks);

 private:
  using Changes = std::pair<std::uint64_t, std::uint64_t>;
  Mutex mutex_;
  Changes changes_ GUARDED_BY(mutex_);
  ServerNames servers_ GUARDED_BY(mutex_);  // null at first
};

}  // namespace ratchet::master
