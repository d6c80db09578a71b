#include "regionserver/wal/edits_file.h"

#include <utility>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kGathered = 1U << 20;  // bytes buffered in memory before a write

}  // namespace

EditsFile::EditsFile(std::unique_ptr<io::Directory> directory, Name name, std::unique_ptr<io::WritableFile> file)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      writer_(std::move(file), {kRecoveredEditsKind, io::LogFileId(name_.region + "/" + name_.final_name)}) {}

Result<std::unique_ptr<EditsFile>> EditsFile::Create(std::unique_ptr<io::Directory> directory, Name name) {
  RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory->Create(name.temporary));
  std::unique_ptr<EditsFile> edits(new EditsFile(std::move(directory), std::move(name), std::move(file)));
  RATCHET_TRY(edits->Add(kEditsBeginRecordType, {}));
  return edits;
}

EditsFile::~EditsFile() {
  if (published_ || RATCHET_MUTANT("split.keep_temporary")) return;
  const Status removed = directory_->Unlink(name_.temporary);
  if (removed.ok() || removed.error().code() == Code::kNotFound) return;
  RATCHET_LOG(kWarn, "cannot remove {}/{}, the cleaner will: {}", directory_->path(), name_.temporary,
              removed.error().ToString());
}

Status EditsFile::Add(std::uint8_t type, std::string_view payload) {
  constexpr std::uint64_t kOverhead = 64;  // more than a record's header and padding
  const std::uint64_t unsynced = writer_.end_offset() - writer_.durable_offset();
  if (unsynced + payload.size() + kOverhead > io::kMaxUnsyncedBytes) {
    RATCHET_TRY(writer_.Sync());
    written_ = writer_.end_offset();
  }
  RATCHET_TRY(writer_.Add(type, kEntryVersion, next_record_++, payload));
  if (writer_.end_offset() - written_ < kGathered) return Ok();
  RATCHET_TRY(writer_.Flush());
  written_ = writer_.end_offset();
  return Ok();
}

Status EditsFile::Finish() {
  RATCHET_TRY(Add(kEditsEndRecordType, {}));
  RATCHET_TRY(writer_.Flush());
  return writer_.file().Close();
}

Status EditsFile::Show(bool keep_what_is_there) {
  RATCHET_TRY(HitFault("split.before_publish", name_.region));
  if (keep_what_is_there) {
    RATCHET_ASSIGN(const bool there, directory_->Exists(name_.final_name));
    if (there) return Ok();
  }
  RATCHET_TRY(directory_->Rename(name_.temporary, name_.final_name));
  published_ = true;
  return Ok();
}

Status EditsFile::Publish(bool keep_what_is_there) {
  RATCHET_TRY(Add(kEditsEndRecordType, {}));
  RATCHET_TRY(RATCHET_MUTANT("split.no_publish_sync") ? writer_.Flush() : writer_.Sync());
  RATCHET_TRY(writer_.file().Close());
  RATCHET_TRY(Show(keep_what_is_there));
  return directory_->Sync();
}

}  // namespace ratchet::regionserver
