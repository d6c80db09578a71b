// The part of ServerDirectory that lists the servers to which regions may move.

#include "master/cluster/server_directory.h"

#include <algorithm>

#include "master/cluster/server_version.h"

namespace ratchet::master {

std::vector<ServerName> ServerDirectory::EligibleServers() const {
  const MutexLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline && !node.draining && !decommissions_.Has(name)) found.push_back(name);
  }
  return found;
}

// Regions must be open somewhere: decommissioned servers are used if there is no other server.
std::vector<ServerName> ServerDirectory::Assignable() const {
  std::vector<ServerName> found = EligibleServers();
  if (!found.empty()) return found;
  const MutexLock lock(mutex_);
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline && !node.draining) found.push_back(name);
  }
  return found;
}

std::vector<ServerName> ServerDirectory::NewestAssignable(const std::vector<ServerName>& avoid) const {
  std::vector<VersionedServer> servers;
  const std::vector<ServerName> assignable = Assignable();
  {
    const MutexLock lock(mutex_);
    for (const ServerName& server : assignable) {
      const auto node = nodes_.find(server);
      if (node != nodes_.end()) servers.push_back({server, node->second.version});
    }
  }
  return NewestOf(servers, avoid);
}

void ServerDirectory::SetFoundNoneOnline(Millis wait) {
  const TimePoint until = clock_.Now() + wait;
  const MutexLock lock(mutex_);
  back_until_ = until;
}

bool ServerDirectory::FoundNoneOnline() const {
  const MutexLock lock(mutex_);
  return back_until_.has_value();
}

bool ServerDirectory::MayComeBack(const ServerName& server) const {
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  if (!back_until_ || now >= *back_until_) return false;
  return std::none_of(nodes_.begin(), nodes_.end(), [&server](const auto& each) {
    return each.second.phase == ServerPhase::kOnline && each.first.SameAddress(server);
  });
}

void ServerDirectory::ShowDecommission(const ServerName& server, const std::string& record) {
  decommissions_.Set(server, record);
  if (record.empty()) Wake(ServerAddedEvent());
}

}  // namespace ratchet::master
