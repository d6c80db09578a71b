#include "regionserver/wal/log_file_maker.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/thread_name.h"
#include "common/io/fatal.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"

namespace ratchet::regionserver {

LogFileMaker::LogFileMaker(io::FencedDirectory& directory, std::string prefix, std::uint64_t bytes, bool prepare_next)
    : directory_(directory), prefix_(std::move(prefix)), bytes_(bytes), prepare_next_(prepare_next) {
  if (prepare_next_) thread_ = std::thread([this] { Prepare(); });
}

LogFileMaker::~LogFileMaker() { Stop(); }

void LogFileMaker::Stop() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    wanted_or_ready_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  MutexLock lock(mutex_);
  if (ready_) IgnoreResult(ready_->file->Trim(), "what it would free is freed by the master's cleaner at the latest");
  ready_.reset();
}

Result<LogFileMaker::File> LogFileMaker::Make(std::uint64_t number, bool fill) {
  File made;
  made.number = number;
  made.name = io::ToString(io::LogFileName{prefix_, number});
  made.file_id = io::LogFileId(fmt::format("{}/{}", directory_.name(), made.name));
  auto created = directory_.directory().Create(made.name);
  if (!created.ok()) {
    // Reuse the number, so that the numbers of the files have no gap (S119: made logs are required).
    MutexLock lock(mutex_);
    if (created.error().code() != Code::kAlreadyExists && next_number_ == number + 1) next_number_ = number;
    return std::move(created).error();
  }
  made.file = std::move(created).value();
  if (fill) RATCHET_TRY(Fill(made));
  if (!RATCHET_MUTANT("log.no_roll_dir_sync")) {
    const Status synced = directory_.directory().Sync();
    if (!io::DieOnFailedSync(synced, "directory of the server log")) return synced.error();
    RATCHET_TRY(MarkMade(number));
  }
  return made;
}

// S119: called after the file's name is durable and before the file is written to.
Status LogFileMaker::MarkMade(std::uint64_t number) {
  const std::string mark = io::MadeMark({prefix_, number});
  if (marked_made_ == 0) {
    const auto created = directory_.directory().Create(mark);
    if (!created.ok()) return created.error();
  } else {
    RATCHET_TRY(directory_.directory().Rename(io::MadeMark({prefix_, marked_made_}), mark));
  }
  marked_made_ = number;
  const Status synced = directory_.directory().Sync();
  if (!io::DieOnFailedSync(synced, "directory of the server log")) return synced.error();
  return Ok();
}

// On a full disk the file stays empty: it is still the next log, and holds no space that others could use. After any
// other error the space is freed too, and the file stays as a legal empty log.
Status LogFileMaker::Fill(File& made) const {
  const Status filled = made.file->ZeroFill(bytes_);
  const Status synced = filled.ok() ? made.file->Sync() : filled;
  if (synced.ok()) {
    made.reserved = bytes_;
    return Ok();
  }
  RATCHET_TRY(made.file->Trim());
  // A file whose sync failed is never written to again (S6: failed sync ends the process).
  if (filled.ok() || filled.error().code() != Code::kNoSpace) return synced;
  RATCHET_LOG(kWarn, "log file {} is not preallocated: {}", made.name, filled.error().ToString());
  return Ok();
}

Result<LogFileMaker::File> LogFileMaker::Take() {
  std::uint64_t number = 0;
  {
    MutexLock lock(mutex_);
    while (want_ && !ready_) wanted_or_ready_.Wait(mutex_);
    if (ready_) {
      File file = std::move(*ready_);
      ready_.reset();
      want_ = prepare_next_;
      wanted_or_ready_.NotifyAll();
      return file;
    }
    number = next_number_++;
  }
  // The first file, and any file whose preparation failed, is made now and is not pre-filled.
  RATCHET_ASSIGN(File file, Make(number, false));
  MutexLock lock(mutex_);
  want_ = prepare_next_;
  wanted_or_ready_.NotifyAll();
  return file;
}

void LogFileMaker::Prepare() {
  SetThreadName("log-prepare");
  for (;;) {
    std::uint64_t number = 0;
    {
      MutexLock lock(mutex_);
      while (!stop_ && (!want_ || ready_)) wanted_or_ready_.Wait(mutex_);
      if (stop_) return;
      number = next_number_++;
    }
    Result<File> made = Make(number, true);
    if (!made.ok()) RATCHET_LOG(kWarn, "cannot prepare the next log file: {}", made.error().ToString());
    MutexLock lock(mutex_);
    if (made.ok())
      ready_ = std::move(made).value();
    else
      want_ = false;
    wanted_or_ready_.NotifyAll();
  }
}

}  // namespace ratchet::regionserver
