#include "master/policy/server_choice.h"

#include "master/cluster/server_version.h"

namespace ratchet::master {

std::vector<ServerName> EligibleServers(const Membership& members, const Decommissions& marks) {
  std::vector<ServerName> found = members.NotDraining();
  std::erase_if(found, [&marks](const ServerName& server) { return marks.Has(server); });
  return found;
}

std::vector<ServerName> AssignableServers(const Membership& members, const Decommissions& marks) {
  std::vector<ServerName> found = EligibleServers(members, marks);
  return found.empty() ? members.NotDraining() : found;
}

std::vector<ServerName> NewestAssignableServers(const Membership& members, const Decommissions& marks,
                                                const std::vector<ServerName>& avoid) {
  return NewestOf(members.WithVersions(AssignableServers(members, marks)), avoid);
}

ServerNames AssignableCache::Get(const Membership& members, const Decommissions& marks) {
  const Changes now{members.changes(), marks.changes()};  // read first: a change after this makes a new list
  {
    const MutexLock lock(mutex_);
    if (servers_ != nullptr && changes_ == now) return servers_;
  }
  auto servers = std::make_shared<const std::vector<ServerName>>(AssignableServers(members, marks));
  const MutexLock lock(mutex_);
  changes_ = now;
  servers_ = servers;
  return servers;
}

}  // namespace ratchet::master
