// ReplicationSource: ships one server's logs to one peer, in their order and at least once.
//
// A batch is read, filtered and delivered; only then does the position move, so after any failure or death the batch is
// read and delivered again. The size of a batch is bounded, and a source holds one batch. The position is stored in a
// table periodically: it may be behind, but never ahead.
//
// For a serial peer (S113: serial order of openings) it passes the start of an opening only when the stored positions
// show that the previous openings are shipped. When it passes the end of an opening, it stores its position at once.
//
// One thread for each source. Owner: the Replicator. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/replication.pb.h"
#include "regionserver/replication/log_queue.h"
#include "regionserver/replication/outside.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Serial peers (S113: serial order of openings): decides whether a source may pass the start of an opening of a region.
// Pure.
//
// An opening waits until the peer has all entries of earlier openings of the region and its parents. The log records
// where those entries end in which server's logs, and the positions record how far each server's logs are shipped.

// Progress of one server's logs towards one peer.
struct QueueProgress {
  std::optional<LogPosition> kept;  // the peer has everything before it
  bool gone = false;                // the logs no longer exist: no peer needs them
};
[[nodiscard]] bool IsPast(const QueuePoint& point, const QueueProgress& progress);

// Returns the first point of `after` that is not shipped yet; nullopt: the opening may be shipped. `own` is the owner
// of the logs with the opening; earlier points in those logs have been shipped. Errors are those of `look`, and mean:
// not yet.
[[nodiscard]] Result<std::optional<QueuePoint>> FirstNotShipped(
    const std::vector<QueuePoint>& after, const std::string& own,
    const std::function<Result<QueueProgress>(const std::string& server)>& look);

struct SourceOptions {
  std::uint64_t batch_bytes = 4ULL << 20;
  std::size_t batch_cells = 5'000;
  Millis look_every{100};   // pause at the end of the log, for new entries
  Millis retry_least{200};  // pause after a failed delivery; doubles
  Millis retry_most{10'000};
  Millis save_every{1'000};    // how often the position is stored
  Millis again_every{60'000};  // how often to check that the stored position still exists
  // how often positions of servers without logs are removed; by the source of the live logs
  Millis sweep_every{3'600'000};
  Millis wait_every{200};  // pause between checks that an earlier opening is shipped
};

class ReplicationSource {
 public:
  struct Parts {
    std::string peer;    // the peer's id
    std::string own_id;  // id of this cluster
    LogQueue queue;
    // Start position; nullopt: begin at the stored position, for a dead server.
    std::optional<LogPosition> start;
    std::shared_ptr<PeerSink> sink;
    std::shared_ptr<Positions> positions;
    // Called before each delivery; an error prevents it, because another server ships the logs of a fenced one. Empty:
    // always allowed.
    std::function<Status()> may_ship;
    std::function<Result<bool>(const std::string& server)> logs_are_gone;  // empty: logs are never gone
    const Clock* clock = nullptr;                                          // outlives the source
  };
  ReplicationSource(Parts parts, hbase::pb::ReplicationPeerDescription peer, SourceOptions options);
  ~ReplicationSource();
  ReplicationSource(const ReplicationSource&) = delete;
  ReplicationSource& operator=(const ReplicationSource&) = delete;

  // Sets the peer's configuration and whether it is enabled.
  void Update(const hbase::pb::ReplicationPeerDescription& peer);
  // Asks the thread to end; does not wait. `forget`: removes the stored position, because these logs are no longer
  // shipped.
  void RequestStop(bool forget = false);
  [[nodiscard]] bool ended() const { return ended_.load(); }
  // Returns the oldest file that is still needed.
  [[nodiscard]] std::uint64_t needed_from() const { return needed_from_.load(); }
  // Returns true when everything of a dead server is shipped.
  [[nodiscard]] bool finished() const { return finished_.load(); }
  // Another server has claimed the logs; this source no longer ships.
  [[nodiscard]] bool lost() const { return lost_.load(); }
  // True while the source waits for an earlier opening of a region in the logs of another server.
  [[nodiscard]] bool waits() const { return waits_.load(); }
  [[nodiscard]] hbase::pb::ReplicationProgress Progress() const;

 private:
  enum class Round : std::uint8_t { kAgain, kRest, kWait, kTrouble, kEnd };
  void Run();
  bool FindStart();
  Round RunRound();
  Take AddEntry(const LogEntry& entry, const hbase::pb::ReplicationPeer& config, BatchBuilder& batch);
  Take PassMark(const LogEntry& entry, const hbase::pb::ReplicationPeer& config);
  Result<QueueProgress> ProgressOf(const std::string& server);
  Round EndOfQueue();
  Status Deliver(BatchBuilder& batch);
  Status DeliverOne(const Shipment& shipment);
  void Moved(const LogPosition& to, bool shipped);
  void SavePosition(bool now);
  void ForgetGoneServers();
  void Throttle(std::uint64_t bytes, std::int64_t bandwidth);
  void Rest(Millis pause);
  void Note(const Status& status);
  [[nodiscard]] bool stopping() const;

  const Parts parts_;
  const SourceOptions options_;

  // Used by the source's thread only.
  LogPosition position_;
  bool unsaved_ = false;
  bool passed_end_ = false;       // the batch passes the end of an opening
  std::optional<Error> no_look_;  // why the state of an earlier opening is unknown
  TimePoint saved_at_{};
  TimePoint swept_at_;
  Millis retry_;

  mutable Mutex mutex_;
  CondVar changed_;
  hbase::pb::ReplicationPeerDescription peer_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  bool forget_ GUARDED_BY(mutex_) = false;
  std::int64_t oldest_ms_ GUARDED_BY(mutex_) = 0;  // time of the oldest waiting entry; 0: none waits
  std::uint64_t files_ GUARDED_BY(mutex_) = 0;
  std::uint64_t shipped_ GUARDED_BY(mutex_) = 0;
  std::int64_t shipped_ms_ GUARDED_BY(mutex_) = 0;
  std::int64_t shipped_age_ms_ GUARDED_BY(mutex_) = 0;
  std::string error_ GUARDED_BY(mutex_);
  std::string waits_region_ GUARDED_BY(mutex_);  // region whose earlier opening must be shipped first; empty: none
  std::string waits_server_ GUARDED_BY(mutex_);  // the server with that opening in its logs
  std::int64_t waits_ms_ GUARDED_BY(mutex_) = 0;
  std::atomic<bool> waits_{false};
  std::atomic<std::uint64_t> needed_from_{0};
  std::atomic<bool> finished_{false};
  std::atomic<bool> lost_{false};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace ratchet::regionserver
