// Where an opening begins and ends in the logs (S113): in the log for the sources of replication, in the manifest for
// the region's next opening.
#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_core.h"

namespace ratchet::regionserver {
namespace {

// Given when the log has answered, or will answer no more.
struct Answer {
  Answer() = default;
  ~Answer() {
    if (!given) Give(Error(Code::kAborted, "the server's log has ended"));
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  void Give(const Status& status) {
    given = true;
    promise.set_value(status);
  }
  std::promise<Status> promise;
  bool given = false;
};

}  // namespace

QueuePoint RegionCore::EndOfLog() const {
  const auto files = params.log->Files(0);
  if (files.empty()) return {params.log_owner, 0, 0};  // the log was stopped: nothing is written to it any more
  return {params.log_owner, files.back().number, files.back().bytes};
}

// An entry without cells, durable when this returns. It takes a sequence, so that what covers the log's files covers
// it, too.
Status RegionCore::LogTurn(RegionTurn turn) {
  auto entry = std::make_shared<LogEntry>();
  entry->shipped.table = params.info.table.ToString();
  entry->shipped.families.assign(shipped_families.begin(), shipped_families.end());
  entry->shipped.written_ms = params.clock->WallMillis();
  entry->turn = std::move(turn);
  auto answer = std::make_shared<Answer>();
  std::future<Status> logged = answer->promise.get_future();
  const bool staged = Stage(entry, [answer = std::move(answer)](const Status& status) { answer->Give(status); });
  const Status written = logged.get();
  if (!staged || !written.ok()) return written;
  MutexLock lock(state_mutex_);
  read_point_ = std::max(read_point_, entry->sequence);
  return Ok();
}

// First the log, then the manifest: once the manifest names this server's log, the mark is in it, and before it does
// nothing is written to the region. Until the opening ends cleanly, all of that log may be the region's.
Status RegionCore::BeginTurn() {
  if (!records_turns()) return Ok();
  RegionTurn turn{true, manifest_->state().shipped_until};
  if (RATCHET_MUTANT("region.silent_turns")) turn.after.clear();
  RATCHET_TRY(LogTurn(std::move(turn)));
  begun_turn_ = QueuePoint{params.log_owner, kEndOfQueue, 0};
  return Ok();
}

// Nothing is in flight any more, so all of this opening is in front of the place. The mark behind it makes the sources
// keep their positions when they pass it.
Status RegionCore::EndTurn() {
  if (!records_turns() || ended_turn_) return Ok();
  const QueuePoint end = EndOfLog();
  RATCHET_TRY(LogTurn({false, {}}));
  ended_turn_ = end;
  return Ok();
}

// An opening that failed behind its record has written nothing to the region, and its server lives on: the next opening
// must not wait for this server's end. The mark in the log is needed as of any other end: it makes positions be kept.
void RegionCore::EndTurnOfFailed(const Error& error) {
  if (!turn_recorded_ || error.code() == Code::kFenced) return;
  Status ended = EndTurn();
  if (ended.ok()) {
    ManifestEdit edit;
    if (ended_turn_) edit.shipped_until = {*ended_turn_};
    ended = manifest_->Append(edit);
  }
  if (ended.ok()) return;
  if (ended.error().code() == Code::kNoSpace) {  // no reason to end a server that has other regions
    RATCHET_LOG(kError,
                "region {}: its opening failed, and there is no space to say that it has ended: serial peers wait with "
                "its later writes until this server ends",
                encoded_name);
    return;
  }
  RATCHET_LOG(kError, "region {}: its opening failed, and its manifest cannot say that it has ended: {}", encoded_name,
              ended.error().ToString());
  if (params.unsure) params.unsure(ended.error());
}

}  // namespace ratchet::regionserver
