// ReplicationSource: ships one server's logs to one peer, in their order and at least once.
//
// A batch is read, filtered and delivered; only then does the position move, so that after any failure or death the
// batch is read and delivered again. What is being tried is held in memory by nothing else, and a batch is bounded. The
// position is kept in a table now and then: it may be behind, never ahead.
//
// Of a serial peer (S113) it goes past the place where an opening of a region begins only when the positions say that
// the openings before it are shipped. It keeps its own position at once when it has passed the end of an opening.
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

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/replication.pb.h"
#include "regionserver/replication/outside.h"
#include "regionserver/replication/turn_gate.h"

namespace ratchet::regionserver {

struct SourceOptions {
  std::uint64_t batch_bytes = 4ULL << 20;
  std::size_t batch_cells = 5'000;
  Millis look_every{100};   // for new entries, at the end of the log
  Millis retry_least{200};  // after a failed delivery; doubles
  Millis retry_most{10'000};
  Millis save_every{1'000};    // the position
  Millis again_every{60'000};  // it is looked at whether the position that was kept is there still
  Millis wait_every{200};      // between looks whether an earlier opening is shipped
};

class ReplicationSource {
 public:
  struct Parts {
    std::string peer;    // id
    std::string own_id;  // of this cluster
    LogQueue queue;
    // Where to begin; nothing: at the kept position, of a dead server.
    std::optional<LogPosition> start;
    std::shared_ptr<PeerSink> sink;
    std::shared_ptr<Positions> positions;
    // Asked before each delivery: not by a server that is fenced, whose logs another one ships. Empty: always.
    std::function<Status()> may_ship;
    std::function<Result<bool>(const std::string& server)> logs_are_gone;  // empty: none are
    const Clock* clock = nullptr;                                          // outlives the source
  };
  ReplicationSource(Parts parts, hbase::pb::ReplicationPeerDescription peer, SourceOptions options);
  ~ReplicationSource();
  ReplicationSource(const ReplicationSource&) = delete;
  ReplicationSource& operator=(const ReplicationSource&) = delete;

  // The peer's configuration and whether it is enabled, from now on.
  void Update(const hbase::pb::ReplicationPeerDescription& peer);
  // Asks the thread to end; does not wait. `forget`: the kept position goes, nothing is shipped from here any more.
  void RequestStop(bool forget = false);
  [[nodiscard]] bool ended() const { return ended_.load(); }
  // The oldest file that is needed yet.
  [[nodiscard]] std::uint64_t needed_from() const { return needed_from_.load(); }
  // Of a dead server: everything is shipped.
  [[nodiscard]] bool finished() const { return finished_.load(); }
  // For an earlier opening of a region, in the logs of another server.
  [[nodiscard]] bool waits() const { return waits_.load(); }
  [[nodiscard]] hbase::pb::ReplicationProgress Progress() const;

 private:
  enum class Turn : std::uint8_t { kAgain, kRest, kWait, kTrouble, kEnd };
  void Run();
  bool FindStart();
  Turn TakeTurn();
  Take TakeEntry(const LogEntry& entry, const hbase::pb::ReplicationPeer& config, BatchBuilder& batch);
  Take PassTurn(const LogEntry& entry, const hbase::pb::ReplicationPeer& config);
  Result<QueueStanding> StandingOf(const std::string& server);
  Turn EndOfQueue();
  Status Deliver(BatchBuilder& batch);
  Status DeliverOne(const Shipment& shipment);
  void Moved(const LogPosition& to, bool shipped);
  void SavePosition(bool now);
  void Throttle(std::uint64_t bytes, std::int64_t bandwidth);
  void Rest(Millis pause);
  void Note(const Status& status);
  [[nodiscard]] bool stopping() const;

  const Parts parts_;
  const SourceOptions options_;

  // The thread's own.
  LogPosition position_;
  bool unsaved_ = false;
  bool passed_end_ = false;       // of an opening, in this batch
  std::optional<Error> no_look_;  // why it cannot be told whether an earlier opening is shipped
  TimePoint saved_at_{};
  Millis retry_;

  mutable Mutex mutex_;
  CondVar changed_;
  hbase::pb::ReplicationPeerDescription peer_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  bool forget_ GUARDED_BY(mutex_) = false;
  std::int64_t oldest_ms_ GUARDED_BY(mutex_) = 0;  // of what waits; 0: nothing
  std::uint64_t files_ GUARDED_BY(mutex_) = 0;
  std::uint64_t shipped_ GUARDED_BY(mutex_) = 0;
  std::int64_t shipped_ms_ GUARDED_BY(mutex_) = 0;
  std::int64_t shipped_age_ms_ GUARDED_BY(mutex_) = 0;
  std::string error_ GUARDED_BY(mutex_);
  std::string waits_region_ GUARDED_BY(mutex_);  // whose earlier opening is waited for; empty: none
  std::string waits_server_ GUARDED_BY(mutex_);  // in whose logs it is
  std::int64_t waits_ms_ GUARDED_BY(mutex_) = 0;
  std::atomic<bool> waits_{false};
  std::atomic<std::uint64_t> needed_from_{0};
  std::atomic<bool> finished_{false};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace ratchet::regionserver
