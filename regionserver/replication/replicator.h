// Replicator: the sources of one region server, by the master's list of peers.
//
// For each peer that is shipped to from here there is a source of the server's own logs, which begins with the file
// that is written when the peer becomes known, or with the oldest one where the server's first list has the peer; and
// one for each dead server whose logs this one has claimed (<root>/oldWALs/<server>). Logs are kept as long as a source
// needs them, of disabled peers too; and all of them before the first list has come, because there may be peers.
//
// Owner: the process. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/io/disk.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/kept_logs.h"
#include "regionserver/replication/outside.h"
#include "regionserver/replication/source.h"

namespace ratchet::regionserver {

class Replicator {
 public:
  struct Parts {
    std::string own_id;                            // of this cluster
    LogQueue own;                                  // this server's logs
    std::function<void(std::uint64_t)> keep_from;  // own files with this number and above stay
    io::Directory* root = nullptr;                 // outlives this
    std::function<std::unique_ptr<PeerSink>(const ClusterKey&)> connect;
    std::shared_ptr<Positions> positions;
    std::function<Status()> may_ship;  // empty: always; see ReplicationSource
    const Clock* clock = nullptr;      // outlives this
    SourceOptions source{};
  };
  // Of dead servers; others wait for their turn. One that waits for an earlier opening in other logs (S113) does not
  // count: those logs may be among the others. So there are at most as many as the master has claimed for this server.
  static constexpr std::size_t kQueuesAtOnce = 4;

  // Keeps all logs from now on, until a list comes.
  explicit Replicator(Parts parts);
  ~Replicator();
  Replicator(const Replicator&) = delete;
  Replicator& operator=(const Replicator&) = delete;

  // An older list than the one that is there is passed over.
  void Take(const hbase::pb::PeerList& list);
  // A master of an earlier version answers without a list: it has no peers.
  void NoList();
  // Lets go of what is shipped, and begins with the next dead server; file work. Called now and then.
  void Look();
  void Fill(hbase::pb::RegionServerReportRequest& request) const;
  [[nodiscard]] std::vector<hbase::pb::ReplicationProgress> Progress() const;
  // Waits for the sources' ends.
  void Stop();

 private:
  using Key = std::pair<std::string, std::string>;  // peer, server
  void Arrange(bool from_the_oldest) REQUIRES(mutex_);
  // Dead servers whose logs wait for a source here, as many as have their turn.
  [[nodiscard]] std::vector<std::string> QueuesToBegin() REQUIRES(mutex_);
  void BeginQueue(const std::string& dead, const LogQueue& queue) REQUIRES(mutex_);
  void Begin(const hbase::pb::ReplicationPeerDescription& peer, const LogQueue& queue, std::optional<LogPosition> start)
      REQUIRES(mutex_);
  void Drop(const std::function<bool(const Key&)>& goes) REQUIRES(mutex_);
  void KeepWhatIsNeeded() REQUIRES(mutex_);
  [[nodiscard]] bool IsFinished(const std::string& dead) const REQUIRES(mutex_);
  [[nodiscard]] bool OnlyWaits(const std::string& dead) const REQUIRES(mutex_);

  const Parts parts_;
  mutable Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool known_ GUARDED_BY(mutex_) = false;  // the first list has come
  hbase::pb::PeerList list_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<PeerSink>> sinks_ GUARDED_BY(mutex_);  // by peer
  std::map<Key, std::unique_ptr<ReplicationSource>> sources_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> queue_errors_ GUARDED_BY(mutex_);  // dead server -> why its logs cannot be read
  std::vector<std::unique_ptr<ReplicationSource>> ending_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
