// PeerDirectory: the replication peers, and which live server ships what is left in the logs of which dead one.
//
// Both are system records of the procedure store: durable together with the step that changes them, and known before
// hbase:meta is there. Memory shows what the records say. Region servers get all of it as one list with a number, which
// rises with each change in memory; a later master's list has a higher epoch. So a server that was away, or joins
// later, learns it with its next heartbeat, whatever messages were lost.
//
// Owned by MasterLogic. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/server_name.h"

namespace ratchet::master {

inline constexpr std::string_view kPeerRecordPrefix = "peer/";  // "peer/<id>": a ReplicationPeerDescription
// "replication-queue/<dead server>": a ReplicationQueue
inline constexpr std::string_view kQueueRecordPrefix = "replication-queue/";

class PeerDirectory {
 public:
  using Peer = hbase::pb::ReplicationPeerDescription;
  using Queue = hbase::pb::ReplicationQueue;

  [[nodiscard]] std::optional<Peer> Get(const std::string& id) const;
  [[nodiscard]] std::vector<Peer> List() const;  // by id
  [[nodiscard]] std::size_t size() const;
  // What the record says. One that cannot be read, or none, is no peer.
  void Show(const std::string& id, const std::optional<std::string>& record);

  // Some peer gets what is in the logs.
  [[nodiscard]] bool ShipsAnything() const;

  [[nodiscard]] std::vector<Queue> Queues() const;  // by dead server
  void ShowQueue(const std::string& dead, const std::optional<std::string>& record);

  // For one server. The number is that of the whole.
  [[nodiscard]] hbase::pb::PeerList ListFor(const ServerName& server, Epoch epoch) const;
  [[nodiscard]] std::uint64_t number() const;

  // What a server has told with its last heartbeat.
  void PutProgress(const ServerName& server, std::vector<hbase::pb::ReplicationProgress> progress);
  void ForgetProgress(const ServerName& server);
  [[nodiscard]] std::vector<std::pair<ServerName, hbase::pb::ReplicationProgress>> Progress() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, Peer> peers_ GUARDED_BY(mutex_);
  std::map<std::string, Queue> queues_ GUARDED_BY(mutex_);
  std::map<ServerName, std::vector<hbase::pb::ReplicationProgress>> progress_ GUARDED_BY(mutex_);
  std::uint64_t number_ GUARDED_BY(mutex_) = 1;
};

}  // namespace ratchet::master
