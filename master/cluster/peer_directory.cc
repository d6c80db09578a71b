#include "master/cluster/peer_directory.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/model/replication_peer.h"

namespace ratchet::master {

std::optional<PeerDirectory::Peer> PeerDirectory::Get(const std::string& id) const {
  const MutexLock lock(mutex_);
  const auto found = peers_.find(id);
  if (found == peers_.end()) return std::nullopt;
  return found->second;
}

std::vector<PeerDirectory::Peer> PeerDirectory::List() const {
  const MutexLock lock(mutex_);
  std::vector<Peer> all;
  for (const auto& [id, peer] : peers_) all.push_back(peer);
  return all;
}

std::size_t PeerDirectory::size() const {
  const MutexLock lock(mutex_);
  return peers_.size();
}

void PeerDirectory::Show(const std::string& id, const std::optional<std::string>& record) {
  std::optional<Peer> peer;
  if (record.has_value()) {
    peer.emplace();
    if (!peer->ParseFromString(*record)) {
      RATCHET_LOG(kError, "ignoring the record of replication peer {}: it cannot be read", id);
      peer.reset();
    }
  }
  const MutexLock lock(mutex_);
  ++number_;
  if (!peer.has_value()) {
    peers_.erase(id);
    return;
  }
  peer->set_id(id);
  peers_[id] = *std::move(peer);
}

bool PeerDirectory::ShipsAnything() const {
  const MutexLock lock(mutex_);
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const auto& each) { return IsShippedHere(each.second.config()); });
}

std::vector<PeerDirectory::Queue> PeerDirectory::Queues() const {
  const MutexLock lock(mutex_);
  std::vector<Queue> all;
  for (const auto& [server, queue] : queues_) all.push_back(queue);
  return all;
}

void PeerDirectory::ShowQueue(const std::string& dead, const std::optional<std::string>& record) {
  Queue queue;
  if (record.has_value() && !queue.ParseFromString(*record)) {
    RATCHET_LOG(kError, "the record of the replication queue of {} cannot be read: its claimer is unknown", dead);
    queue.Clear();
  }
  const MutexLock lock(mutex_);
  ++number_;
  if (!record.has_value()) {
    queues_.erase(dead);
    return;
  }
  queue.set_server(dead);
  queues_[dead] = queue;
}

hbase::pb::PeerList PeerDirectory::ListFor(const ServerName& server, Epoch epoch) const {
  hbase::pb::PeerList list;
  list.set_epoch(epoch.value());
  const std::string name = server.ToString();
  const MutexLock lock(mutex_);
  list.set_number(number_);
  for (const auto& [id, peer] : peers_) *list.add_peer() = peer;
  for (const auto& [dead, queue] : queues_) {
    if (queue.claimer() == name) *list.add_queue() = queue;
  }
  return list;
}

std::uint64_t PeerDirectory::number() const {
  const MutexLock lock(mutex_);
  return number_;
}

void PeerDirectory::PutProgress(const ServerName& server, std::vector<hbase::pb::ReplicationProgress> progress) {
  const MutexLock lock(mutex_);
  progress_[server] = std::move(progress);
}

void PeerDirectory::ForgetProgress(const ServerName& server) {
  const MutexLock lock(mutex_);
  progress_.erase(server);
}

std::vector<std::pair<ServerName, hbase::pb::ReplicationProgress>> PeerDirectory::Progress() const {
  const MutexLock lock(mutex_);
  std::vector<std::pair<ServerName, hbase::pb::ReplicationProgress>> all;
  for (const auto& [server, progress] : progress_) {
    for (const auto& each : progress) all.emplace_back(server, each);
  }
  return all;
}

}  // namespace ratchet::master
