#include "regionserver/region/lifecycle.h"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_errors.h"
#include "regionserver/store/recovered_edits.h"
#include "regionserver/wal/log_splitter.h"

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

Status Lifecycle::Claim() {
  RATCHET_CHECK(
      opening_.params.log != nullptr && opening_.params.clock != nullptr && opening_.params.directory != nullptr,
      "region {} without its parts", opening_.encoded_name);
  // S54 (no schema, no change): checked before anything is claimed. Every table has a family, so the schema was not
  // read.
  if (opening_.families().empty() && !RATCHET_MUTANT("region.open_without_families"))
    return Error(
        Code::kFailedPrecondition,
        fmt::format(
            "the order to open region {} carries a schema of table {} without column families: the master has not "
            "read the table's descriptor",
            opening_.encoded_name, opening_.params.info.table.ToString()));
  MutexLock file_lock(files_.work);
  return files_.Claim();
}

Result<Lifecycle::TakenOver> Lifecycle::TakeOver() {
  MutexLock file_lock(files_.work);
  TakenOver taken;
  RATCHET_ASSIGN(taken.files, files_.TakeOver(taken.first_record.families));
  return taken;
}

Status Lifecycle::Finish(TakenOver taken, const std::shared_ptr<LogMember>& member) {
  MutexLock file_lock(files_.work);
  const Status opened = FinishIt(std::move(taken), member);
  if (!opened.ok()) RecordEndOfFailed(member, opened.error());
  return opened;
}

Status Lifecycle::FinishIt(TakenOver taken, const std::shared_ptr<LogMember>& member) {
  ManifestEdit first_record = std::move(taken.first_record);
  ReadableFiles files = std::move(taken.files);
  RATCHET_TRY(opening_.params.log->Check());  // an opening by a server that is already fenced must not act
  path_.Load(files_.state());
  data_.Load(std::move(files), files_.state());

  bool uncovered = false;
  RATCHET_ASSIGN(first_record.consumed_edits, ReplayEdits(first_record.families, uncovered));
  RATCHET_TRY(HitFault("region.replayed", opening_.encoded_name));
  data_.time.Start(data_.nonces, opening_.params.settings->nonce_memory);
  RATCHET_ASSIGN(first_record.shipped_until, RecordBegin(member));
  // S25 (recovered edits stay until flushed): replayed edits are in memory, and stay inputs of the next opening until
  // a flush covers them.
  RATCHET_TRY(files_.TakeReplayed(std::move(first_record), uncovered));
  first_sequence_ = path_.FinishLoad();
  RATCHET_TRY(admission_.CheckOwnership());
  RATCHET_TRY(files_.ShowOpened());
  return admission_.BeginServing();
}

Result<std::vector<std::string>> Lifecycle::ReplayEdits(const FamilyIds& dead_families, bool& uncovered) {
  std::vector<std::string> replayed;
  RATCHET_ASSIGN(const std::vector<std::string> names, opening_.params.directory->List());
  for (const std::string& name : names) {
    if (!name.starts_with(kEditsPrefix) || files_.state().consumed_edits.contains(name)) continue;
    RATCHET_TRY(ReplayFile(name, dead_families, uncovered));
    replayed.push_back(name);
  }
  return replayed;
}

// Skips entries that store files already cover (S26: split up to the seal).
Status Lifecycle::ReplayFile(const std::string& name, const FamilyIds& dead_families, bool& any_uncovered) {
  const std::uint64_t flushed = files_.state().flushed_sequence;
  std::uint64_t entries = 0;
  const auto replay = [&](const LogEntry& entry, bool uncovered) {
    path_.PassOver(entry);
    any_uncovered = any_uncovered || uncovered;
    if (entry.sequence <= flushed && !uncovered && !RATCHET_MUTANT("region.no_edit_filter")) return;
    ++entries;
    data_.Replay(entry, dead_families);
  };
  RATCHET_TRY(ReadEdits(*opening_.params.directory, opening_.encoded_name, name, replay));
  RATCHET_LOG(kInfo, "region {}: replayed {} entries of {}", opening_.encoded_name, entries, name);
  return Ok();
}

Status Lifecycle::Close(const std::shared_ptr<LogMember>& member) {
  RATCHET_TRY(admission_.Drain());
  // Held until the state is set, so that no compaction writes to the manifest of a closed region.
  MutexLock file_lock(files_.work);
  const Status finished = FinishClose(member);
  if (finished.ok()) return admission_.EndServing();
  // A failure before the record leaves the region closing (or lost): it serves reads, accepts no writes, and no record
  // declares it closed. A server whose log is fenced ends by itself.
  if (admission_.reads_ended() && finished.error().code() != Code::kFenced)
    admission_.FailAfterClosed(finished.error());
  return finished;
}

Status Lifecycle::FinishClose(const std::shared_ptr<LogMember>& member) {
  RATCHET_TRY(RecordEnd(member));
  RATCHET_TRY(files_.FlushRest());
  RATCHET_TRY(RecordClosed());
  RATCHET_TRY(HitFault("region.before_close_check", opening_.encoded_name));
  return RATCHET_MUTANT("region.close_without_check") ? Ok() : admission_.CheckOwnership();
}

// S35 (proof of a clean close). Reads end before the record is written, because from then on a split or merge may begin
// with the manifest's state.
Status Lifecycle::RecordClosed() {
  RATCHET_TRY(admission_.EndReads());
  ManifestEdit edit;
  edit.closed = true;
  if (end_mark_) edit.shipped_until = {*end_mark_};
  const Status written = RATCHET_MUTANT("region.close_without_record") ? Ok() : files_.Append(edit);
  // When nothing was written, the region may be closed again.
  if (!written.ok() && written.error().code() == Code::kNoSpace) admission_.AllowReadsAgain();
  return written;
}

QueuePoint Lifecycle::EndOfLog() const {
  const auto files = opening_.params.log->Files(0);
  if (files.empty()) return {opening_.params.log_owner, 0, 0};  // the log was stopped and gets no more entries
  return {opening_.params.log_owner, files.back().number, files.back().bytes};
}

// Logs an entry without cells, durable when this returns. It takes a sequence, so that the files of the log are covered
// only with it.
Status Lifecycle::LogOpeningMark(const std::shared_ptr<LogMember>& member, OpeningMark mark) {
  auto entry = std::make_shared<LogEntry>();
  entry->shipped.table = opening_.params.info.table.ToString();
  entry->shipped.families.assign(opening_.shipped_families().begin(), opening_.shipped_families().end());
  entry->shipped.written_ms = opening_.params.clock->WallMillis();
  entry->mark = std::move(mark);
  auto answer = std::make_shared<Answer>();
  std::future<Status> logged = answer->promise.get_future();
  const bool staged =
      path_.Stage(member, entry, [answer = std::move(answer)](const Status& status) { answer->Give(status); });
  const Status written = logged.get();
  if (!staged || !written.ok()) return written;
  data_.PassOver(entry->sequence);
  return Ok();
}

// First the log, then the manifest: once the manifest names this server's log, the log has the mark, and before that no
// write of the region is logged. Until the opening ends cleanly, all of that log may belong to the region.
Result<std::vector<QueuePoint>> Lifecycle::RecordBegin(const std::shared_ptr<LogMember>& member) {
  if (!opening_.records_marks()) return std::vector<QueuePoint>();
  OpeningMark mark{true, {}};
  if (!RATCHET_MUTANT("region.silent_marks")) mark.after = files_.state().shipped_until;
  RATCHET_TRY(LogOpeningMark(member, std::move(mark)));
  return std::vector<QueuePoint>{{opening_.params.log_owner, kEndOfQueue, 0}};
}

// No write is in flight now, so all writes of this opening precede the point. The mark after it makes the sources save
// their positions when they pass it.
Status Lifecycle::RecordEnd(const std::shared_ptr<LogMember>& member) {
  if (!opening_.records_marks() || end_mark_) return Ok();
  QueuePoint end = EndOfLog();
  RATCHET_TRY(LogOpeningMark(member, {false, {}}));
  end_mark_ = std::move(end);
  return Ok();
}

// The opening failed after its record but wrote no data, and its server lives on: the next opening must not wait for
// this server's end. The log needs the end mark as usual, because it makes sources save their positions.
void Lifecycle::RecordEndOfFailed(const std::shared_ptr<LogMember>& member, const Error& error) {
  if (!files_.may_name_log() || error.code() == Code::kFenced) return;
  Status ended = RecordEnd(member);
  if (ended.ok()) {
    ManifestEdit edit;
    if (end_mark_) edit.shipped_until = {*end_mark_};
    ended = files_.Append(edit);
  }
  if (ended.ok()) return;
  if (ended.error().code() == Code::kNoSpace) {  // the server keeps running for its other regions
    RATCHET_LOG(kError,
                "region {}: its opening failed, and there is no space to record its end: serial peers do not get "
                "its later writes until this server ends",
                opening_.encoded_name);
    return;
  }
  RATCHET_LOG(kError, "region {}: its opening failed, and its end cannot be recorded in its manifest: {}",
              opening_.encoded_name, ended.error().ToString());
  if (opening_.params.unsure) opening_.params.unsure(ended.error());
}

}  // namespace ratchet::regionserver
