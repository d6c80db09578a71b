#include "regionserver/replication/source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/thread_name.h"
#include "common/model/replication_peer.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace pb = ::hbase::pb;

ReplicationSource::ReplicationSource(Parts parts, pb::ReplicationPeerDescription peer, SourceOptions options)
    : parts_(std::move(parts)),
      options_(options),
      swept_at_(parts_.clock->Now()),
      retry_(options.retry_least),
      peer_(std::move(peer)) {
  if (parts_.start) {
    position_ = *parts_.start;
    needed_from_ = position_.file;
    unsaved_ = true;  // other sources may wait until it is stored
  }
  thread_ = std::thread([this] { Run(); });
}

ReplicationSource::~ReplicationSource() {
  RequestStop();
  thread_.join();
}

void ReplicationSource::Update(const pb::ReplicationPeerDescription& peer) {
  const MutexLock lock(mutex_);
  peer_ = peer;
  changed_.NotifyAll();
}

void ReplicationSource::RequestStop(bool forget) {
  const MutexLock lock(mutex_);
  forget_ = forget_ || forget;
  stop_ = true;
  changed_.NotifyAll();
}

bool ReplicationSource::stopping() const {
  const MutexLock lock(mutex_);
  return stop_;
}

void ReplicationSource::Rest(Millis pause) {
  const MutexLock lock(mutex_);
  if (!stop_) static_cast<void>(changed_.WaitFor(mutex_, pause));
}

// Logs one line when shipping begins to fail, and one when it works again.
void ReplicationSource::Note(const Status& status) {
  const std::string error = status.ok() ? "" : status.error().ToString();
  const MutexLock lock(mutex_);
  if (error.empty() != error_.empty()) {
    if (error.empty()) {
      RATCHET_LOG(kInfo, "Replication of the logs of {} to peer {} continues", parts_.queue.server, parts_.peer);
    } else {
      RATCHET_LOG(kWarn, "Replication of the logs of {} to peer {} is blocked: {}", parts_.queue.server, parts_.peer,
                  error);
    }
  }
  error_ = error;
}

pb::ReplicationProgress ReplicationSource::Progress() const {
  pb::ReplicationProgress progress;
  progress.set_peer(parts_.peer);
  progress.set_server(parts_.queue.server);
  progress.set_finished(finished());
  const std::int64_t now = parts_.clock->WallMillis();
  const MutexLock lock(mutex_);
  progress.set_lag_ms(oldest_ms_ == 0 ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(now - oldest_ms_, 1)));
  progress.set_logs(files_);
  progress.set_shipped(shipped_);
  if (!error_.empty()) progress.set_error(error_);
  if (!waits_region_.empty()) {
    progress.set_waits_for_region(waits_region_);
    progress.set_waits_for_server(waits_server_);
  }
  if (shipped_ms_ != 0) progress.set_shipped_ms(static_cast<std::uint64_t>(shipped_ms_));
  progress.set_shipped_age_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(shipped_age_ms_, 0)));
  return progress;
}

void ReplicationSource::Run() {
  SetThreadName("repl-source");
  bool begun = parts_.start.has_value();
  while (!stopping()) {
    if (finished_ || lost_) {
      Rest(options_.retry_most);
      continue;
    }
    if (!begun && !(begun = FindStart())) {
      Rest(options_.retry_most / 10);
      continue;
    }
    switch (RunRound()) {
      case Round::kAgain: retry_ = options_.retry_least; break;
      case Round::kRest: Rest(options_.look_every); break;
      case Round::kWait: Rest(options_.wait_every); break;
      case Round::kTrouble:
        Rest(retry_);
        retry_ = std::min(retry_ * 2, options_.retry_most);
        break;
      case Round::kEnd: finished_ = true; break;
    }
  }
  bool forget = false;
  {
    const MutexLock lock(mutex_);
    forget = forget_;
  }
  if (forget && !lost_) {  // a lost source must not remove the claimer's position
    const Status forgotten = parts_.positions->Forget(parts_.peer, parts_.queue.server);
    if (!forgotten.ok()) {
      RATCHET_LOG(kInfo, "The position of the logs of {} for peer {} stays in hbase:replication: {}",
                  parts_.queue.server, parts_.peer, forgotten.error().ToString());
    }
  }
  ended_ = true;
}

// For a dead server: starts at the position of its own source, or of an earlier claimer.
bool ReplicationSource::FindStart() {
  const auto kept = parts_.positions->Claim(parts_.peer, parts_.queue.server);
  if (!kept.ok()) {
    Note(kept.error());
    return false;
  }
  position_ = kept->value_or(LogPosition{});
  needed_from_ = position_.file;
  RATCHET_LOG(kInfo, "Replication of the logs of {} to peer {} begins at {}", parts_.queue.server, parts_.peer,
              ToText(position_));
  return true;
}

Take ReplicationSource::AddEntry(const LogEntry& entry, const pb::ReplicationPeer& config, BatchBuilder& batch) {
  if (entry.mark) return PassMark(entry, config);
  if (config.serial() && !batch.MayFollow(entry)) return Take::kNotYet;
  batch.Add(entry);
  const bool room = batch.bytes() < options_.batch_bytes && batch.cells() < options_.batch_cells;
  return room ? Take::kMore : Take::kLast;
}

Take ReplicationSource::PassMark(const LogEntry& entry, const pb::ReplicationPeer& config) {
  if (!entry.mark->opens) {
    passed_end_ = true;
    return Take::kMore;
  }
  if (!config.serial() || !IsSelected(config, entry.shipped) || RATCHET_MUTANT("replication.any_order"))
    return Take::kMore;
  const auto first = FirstNotShipped(entry.mark->after, parts_.queue.server,
                                     [this](const std::string& server) { return ProgressOf(server); });
  if (first.ok() && !*first) return Take::kMore;
  if (!first.ok()) no_look_ = first.error();
  const MutexLock lock(mutex_);
  waits_region_ = entry.region;
  waits_server_ = first.ok() ? (*first)->server : "";
  waits_ms_ = entry.shipped.written_ms;
  return Take::kNotYet;
}

// Reads the position before it looks for the logs, because the position is stored before the logs are removed.
Result<QueueProgress> ReplicationSource::ProgressOf(const std::string& server) {
  QueueProgress progress;
  RATCHET_ASSIGN(progress.kept, parts_.positions->Read(parts_.peer, server));
  if (parts_.logs_are_gone) {
    RATCHET_ASSIGN(progress.gone, parts_.logs_are_gone(server));
  }
  return progress;
}

// Reports the end only after it is stored, because other sources may wait for it.
ReplicationSource::Round ReplicationSource::EndOfQueue() {
  Moved({kEndOfQueue, 0}, false);
  SavePosition(true);
  return unsaved_ ? Round::kTrouble : Round::kEnd;
}

ReplicationSource::Round ReplicationSource::RunRound() {
  SavePosition(false);
  if (lost_) return Round::kTrouble;
  pb::ReplicationPeerDescription peer;
  {
    const MutexLock lock(mutex_);
    peer = peer_;
  }
  BatchBuilder batch(peer.config(), parts_.own_id);
  passed_end_ = false;
  no_look_.reset();
  {
    const MutexLock lock(mutex_);
    waits_region_.clear();
  }
  const auto read =
      ReadOn(parts_.queue, position_, [&](const LogEntry& entry) { return AddEntry(entry, peer.config(), batch); });
  if (!read.ok()) {
    Note(read.error());
    return Round::kTrouble;
  }
  {
    const MutexLock lock(mutex_);
    files_ = read->files + (batch.empty() ? 0 : 1);
    waits_ = batch.empty() && !waits_region_.empty();
    oldest_ms_ = waits_ ? waits_ms_ : batch.oldest_ms();
  }
  if (batch.empty()) {
    Note(no_look_ ? Status(*no_look_) : Ok());
    Moved(read->next, passed_end_);
    if (passed_end_) SavePosition(true);
    if (waits_) return no_look_ || !IsEnabled(peer.state()) ? Round::kTrouble : Round::kWait;
    if (!read->at_end) return Round::kAgain;
    SavePosition(!parts_.start.has_value());
    if (parts_.start) ForgetGoneServers();
    return parts_.start ? Round::kRest : EndOfQueue();
  }
  if (!IsEnabled(peer.state())) {
    Note(Ok());
    return Round::kTrouble;  // retries after growing pauses, and at once when the peer changes
  }
  const std::uint64_t bytes = batch.bytes();
  if (RATCHET_MUTANT("replication.move_first")) Moved(read->next, true);
  const Status delivered = Deliver(batch);
  Note(delivered);
  if (!delivered.ok()) return Round::kTrouble;
  {
    const MutexLock lock(mutex_);
    shipped_ += batch.cells();
    shipped_ms_ = parts_.clock->WallMillis();
    shipped_age_ms_ = shipped_ms_ - batch.oldest_ms();
    oldest_ms_ = 0;
  }
  Moved(read->next, true);
  if (passed_end_) SavePosition(true);
  Throttle(bytes, peer.config().bandwidth());
  return Round::kAgain;
}

Status ReplicationSource::Deliver(BatchBuilder& batch) {
  RATCHET_TRY(HitFault("replication.before_ship", parts_.peer));
  if (parts_.may_ship) RATCHET_TRY(parts_.may_ship());
  RATCHET_ASSIGN(const std::string peer_id, parts_.sink->ClusterId());
  if (peer_id == parts_.own_id) {
    parts_.sink->Reconnect();  // an open connection keeps its cluster when the address is corrected
    return Error(Code::kFailedPrecondition, "the peer's cluster key leads to this cluster itself: nothing is shipped");
  }
  const std::vector<Shipment> shipments = batch.Take(peer_id);
  if (batch.returned() > 0) {
    RATCHET_LOG(kWarn,
                "{} mutations in the logs of {} have come back to this cluster and are not shipped to peer {} again",
                batch.returned(), parts_.queue.server, parts_.peer);
  }
  for (const Shipment& shipment : shipments) RATCHET_TRY(DeliverOne(shipment));
  return HitFault("replication.after_ship", parts_.peer);
}

Status ReplicationSource::DeliverOne(const Shipment& shipment) {
  const Status shipped = parts_.sink->Ship(shipment);
  if (shipped.ok()) return shipped;
  const bool missing = rpc::IsClass(shipped.error(), rpc::exception::kTableNotFound) ||
                       rpc::IsClass(shipped.error(), rpc::exception::kNoSuchColumnFamily);
  if (!missing) return shipped;
  // Data of tables that this cluster has dropped meanwhile cannot be delivered, and need not be.
  RATCHET_ASSIGN(const bool here, parts_.positions->HasFamilies(shipment));
  if (here) {
    return shipped.error().Annotate(
        fmt::format("table {} of the peer: create it there with the same families", shipment.table.ToString()));
  }
  RATCHET_LOG(kWarn, "{} mutations of table {} are not shipped to peer {}: neither cluster has the table or family",
              shipment.mutations.size(), shipment.table.ToString(), parts_.peer);
  return Ok();
}

void ReplicationSource::Moved(const LogPosition& to, bool shipped) {
  unsaved_ = unsaved_ || shipped || to.file != position_.file;
  position_ = to;
  needed_from_ = to.file;
  SavePosition(false);
}

void ReplicationSource::SavePosition(bool now) {
  // A peer of the same name may have been removed meanwhile, and its row with it; others may wait for that row.
  const auto since = parts_.clock->Now() - saved_at_;
  if (!unsaved_ && since < options_.again_every) return;
  if (!now && since < options_.save_every) return;
  saved_at_ = parts_.clock->Now();
  const Status written = parts_.positions->Write(parts_.peer, parts_.queue.server, position_);
  if (written.ok()) {
    unsaved_ = false;
    return;
  }
  if (written.error().code() == Code::kStale && !RATCHET_MUTANT("replication.ship_on")) {
    // The claimer continues from the stored position. If this source continued, it would ship late and out of order
    // (S113: serial order of openings).
    lost_ = true;
    return Note(written.error());
  }
  RATCHET_LOG(kInfo, "The position of the logs of {} for peer {} is not stored yet: {}", parts_.queue.server,
              parts_.peer, written.error().ToString());
}

// No server claims a dead server with nothing left to ship, so its positions are removed here. A source of a serial
// peer passes marks whose logs are gone, with or without a position (S113).
void ReplicationSource::ForgetGoneServers() {
  if (!parts_.logs_are_gone || parts_.clock->Now() - swept_at_ < options_.sweep_every) return;
  swept_at_ = parts_.clock->Now();
  const auto servers = parts_.positions->Servers(parts_.peer);
  if (!servers.ok()) return;  // the next sweep tries again
  for (const std::string& server : *servers) {
    if (stopping()) return;
    const auto gone = parts_.logs_are_gone(server);
    if (!gone.ok() || !*gone) continue;
    if (parts_.positions->Forget(parts_.peer, server).ok()) {
      RATCHET_LOG(kInfo, "The position for peer {} in the logs of {}, which are gone, is removed", parts_.peer, server);
    }
  }
}

// Limits bytes per second for each server, as HBase does.
void ReplicationSource::Throttle(std::uint64_t bytes, std::int64_t bandwidth) {
  if (bandwidth <= 0) return;
  const auto pause = bytes * 1000 / static_cast<std::uint64_t>(bandwidth);
  Rest(Millis(static_cast<std::int64_t>(std::min<std::uint64_t>(pause, 60'000))));
}

bool IsPast(const QueuePoint& point, const QueueProgress& progress) {
  if (progress.kept && *progress.kept >= LogPosition{point.file, point.offset}) return true;
  return progress.gone;
}

Result<std::optional<QueuePoint>> FirstNotShipped(
    const std::vector<QueuePoint>& after, const std::string& own,
    const std::function<Result<QueueProgress>(const std::string& server)>& look) {
  for (const QueuePoint& point : after) {
    if (point.server == own) continue;
    RATCHET_ASSIGN(const QueueProgress progress, look(point.server));
    if (!IsPast(point, progress)) return std::optional<QueuePoint>(point);
  }
  return std::optional<QueuePoint>();
}

}  // namespace ratchet::regionserver
