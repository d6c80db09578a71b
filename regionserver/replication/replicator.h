// Replicator: runs the sources of one region server according to the master's list of peers.
//
// Each peer has a source for the server's own logs. It begins with the current file when the peer becomes known, or
// with the oldest file if the server's first list has the peer. Each dead server whose logs this server has claimed
// (<root>/oldWALs/<server>) has a source, too. Logs are kept as long as a source needs them, also for disabled peers.
// Before the first list arrives all logs are kept, because there may be peers.
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
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/outside.h"
#include "regionserver/replication/source.h"

namespace ratchet::regionserver {

class Replicator {
 public:
  struct Parts {
    std::string own_id;                            // id of this cluster
    LogQueue own;                                  // this server's logs
    std::function<void(std::uint64_t)> keep_from;  // keeps own files with this number and above
    io::Directory* root = nullptr;                 // outlives this
    std::function<std::unique_ptr<PeerSink>(const ClusterKey&)> connect;
    std::shared_ptr<Positions> positions;
    std::function<Status()> may_ship;  // empty: always allowed; see ReplicationSource
    const Clock* clock = nullptr;      // outlives this
    SourceOptions source{};
  };
  // Number of dead servers whose logs are shipped at once; others wait for their turn. A source that waits for an
  // earlier opening in other logs (S113: serial order of openings) is not counted, because those logs may be among the
  // waiting ones. So the number is bounded only by the master's claims for this server.
  static constexpr std::size_t kQueuesAtOnce = 4;

  // Keeps all logs from now on, until a list comes.
  explicit Replicator(Parts parts);
  ~Replicator();
  Replicator(const Replicator&) = delete;
  Replicator& operator=(const Replicator&) = delete;

  // A list that is older than the current one is ignored.
  void Take(const hbase::pb::PeerList& list);
  // A master of an earlier version answers without a list: it has no peers.
  void NoList();
  // Ends the sources that are finished, and begins with the next dead server; file work. Called periodically.
  void Look();
  void Fill(hbase::pb::RegionServerReportRequest& request) const;
  [[nodiscard]] std::vector<hbase::pb::ReplicationProgress> Progress() const;
  // Waits for the sources' ends.
  void Stop();

 private:
  using Key = std::pair<std::string, std::string>;  // peer, server
  void Arrange(bool from_the_oldest) REQUIRES(mutex_);
  // Returns the dead servers for which a source should begin now.
  [[nodiscard]] std::vector<std::string> QueuesToBegin() REQUIRES(mutex_);
  void BeginQueue(const std::string& dead, const LogQueue& queue) REQUIRES(mutex_);
  void Begin(const hbase::pb::ReplicationPeerDescription& peer, const LogQueue& queue, std::optional<LogPosition> start)
      REQUIRES(mutex_);
  void Drop(const std::function<bool(const Key&)>& goes) REQUIRES(mutex_);
  void KeepWhatIsNeeded() REQUIRES(mutex_);
  [[nodiscard]] bool IsFinished(const std::string& dead) const REQUIRES(mutex_);
  [[nodiscard]] bool IsLost(const Key& key) const REQUIRES(mutex_);
  [[nodiscard]] bool OnlyWaits(const std::string& dead) const REQUIRES(mutex_);

  const Parts parts_;
  mutable Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool known_ GUARDED_BY(mutex_) = false;  // the first list has arrived
  hbase::pb::PeerList list_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<PeerSink>> sinks_ GUARDED_BY(mutex_);  // by peer
  std::map<Key, std::unique_ptr<ReplicationSource>> sources_ GUARDED_BY(mutex_);
  std::map<Key, std::pair<std::uint64_t, std::uint64_t>> begun_with_
      // rank of the list that named the claim; same keys as sources_
      GUARDED_BY(mutex_);
  std::map<std::string, std::string> queue_errors_ GUARDED_BY(mutex_);  // dead server -> why its logs cannot be read
  std::vector<std::unique_ptr<ReplicationSource>> ending_ GUARDED_BY(mutex_);
};

// The directories that have a server's logs while they are needed: first <root>/wals/<server>; after the fence
// <root>/wals/<server>-splitting; then, while peers still need them, <root>/oldWALs/<server>. Logs move only in this
// order.

// Below <root>: logs of dead servers that are not shipped yet, in a folder for each server.
inline constexpr const char* kKeptLogsFolder = "oldWALs";
inline constexpr const char* kLogsFolder = "wals";

// Returns true when the logs are in none of these places, so all that peers need is shipped. `server` has written a
// log.
[[nodiscard]] Result<bool> LogsAreGone(io::Directory& root, const std::string& server);

}  // namespace ratchet::regionserver
