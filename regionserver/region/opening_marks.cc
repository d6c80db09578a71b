// Records where an opening begins and ends in the logs (S113: serial order of openings): in the log for the sources of
// replication, in the manifest for the region's next opening.
#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_core.h"

namespace ratchet::regionserver {
namespace {

// Set when the log has answered, or when it will not answer.
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
  if (files.empty()) return {params.log_owner, 0, 0};  // the log was stopped and gets no more entries
  return {params.log_owner, files.back().number, files.back().bytes};
}

// Logs an entry without cells, durable when this returns. It takes a sequence, so that the files of the log are covered
// only with it.
Status RegionCore::LogOpeningMark(OpeningMark mark) {
  auto entry = std::make_shared<LogEntry>();
  entry->shipped.table = params.info.table.ToString();
  entry->shipped.families.assign(shipped_families.begin(), shipped_families.end());
  entry->shipped.written_ms = params.clock->WallMillis();
  entry->mark = std::move(mark);
  auto answer = std::make_shared<Answer>();
  std::future<Status> logged = answer->promise.get_future();
  const bool staged = Stage(entry, [answer = std::move(answer)](const Status& status) { answer->Give(status); });
  const Status written = logged.get();
  if (!staged || !written.ok()) return written;
  MutexLock lock(state_mutex_);
  read_point_ = std::max(read_point_, entry->sequence);
  return Ok();
}

// First the log, then the manifest: once the manifest names this server's log, the log has the mark, and before that no
// write of the region is logged. Until the opening ends cleanly, all of that log may belong to the region.
Status RegionCore::RecordBegin() {
  if (!records_marks()) return Ok();
  OpeningMark mark{true, manifest_->state().shipped_until};
  if (RATCHET_MUTANT("region.silent_marks")) mark.after.clear();
  RATCHET_TRY(LogOpeningMark(std::move(mark)));
  begin_mark_ = QueuePoint{params.log_owner, kEndOfQueue, 0};
  return Ok();
}

// No write is in flight now, so all writes of this opening precede the point. The mark after it makes the sources save
// their positions when they pass it.
Status RegionCore::RecordEnd() {
  if (!records_marks() || end_mark_) return Ok();
  const QueuePoint end = EndOfLog();
  RATCHET_TRY(LogOpeningMark({false, {}}));
  end_mark_ = end;
  return Ok();
}

// The opening failed after its record but wrote no data, and its server lives on: the next opening must not wait for
// this server's end. The log needs the end mark as usual, because it makes sources save their positions.
void RegionCore::RecordEndOfFailed(const Error& error) {
  if (!mark_recorded_ || error.code() == Code::kFenced) return;
  Status ended = RecordEnd();
  if (ended.ok()) {
    ManifestEdit edit;
    if (end_mark_) edit.shipped_until = {*end_mark_};
    ended = manifest_->Append(edit);
  }
  if (ended.ok()) return;
  if (ended.error().code() == Code::kNoSpace) {  // the server keeps running for its other regions
    RATCHET_LOG(kError,
                "region {}: its opening failed, and there is no space to record its end: serial peers do not get "
                "its later writes until this server ends",
                encoded_name);
    return;
  }
  RATCHET_LOG(kError, "region {}: its opening failed, and its end cannot be recorded in its manifest: {}", encoded_name,
              ended.error().ToString());
  if (params.unsure) params.unsure(ended.error());
}

}  // namespace ratchet::regionserver
