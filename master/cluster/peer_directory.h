// PeerDirectory: the replication peers, and the live server that ships the rest of each dead server's logs.
//
// Both are system records of the procedure store: they become durable together with the step that changes them, and are
// known before hbase:meta is loaded. Memory mirrors the records. Region servers get everything as one list with a
// number, which rises with each change in memory; a later master's list has a higher epoch. So a server that missed
// messages or joins later gets the list with its next heartbeat.
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
// "replication-queue/<dead server>": a ReplicationQueue.
inline constexpr std::string_view kQueueRecordPrefix = "replication-queue/";

class PeerDirectory {
 public:
  using Peer = hbase::pb::ReplicationPeerDescription;
  using Queue = hbase::pb::ReplicationQueue;

  [[nodiscard]] std::optional<Peer> Get(const std::string& id) const;
  [[nodiscard]] std::vector<Peer> List() const;  // by id
  [[nodiscard]] std::size_t size() const;
  // Applies the record. An absent or unreadable record means that the peer does not exist.
  void Show(const std::string& id, const std::optional<std::string>& record);

  // Returns true if at least one peer replicates.
  [[nodiscard]] bool ShipsAnything() const;

  [[nodiscard]] std::vector<Queue> Queues() const;  // by dead server
  void ShowQueue(const std::string& dead, const std::optional<std::string>& record);

  // Returns the list for one server, with the number of the whole list.
  [[nodiscard]] hbase::pb::PeerList ListFor(const ServerName& server, Epoch epoch) const;
  [[nodiscard]] std::uint64_t number() const;

  // Stores the progress that a server reported with its last heartbeat.
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
