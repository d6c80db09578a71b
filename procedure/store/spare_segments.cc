#include "procedure/store/spare_segments.h"

#include <algorithm>

namespace ratchet::procedure {
namespace {

constexpr std::uint64_t kPiece = 1U << 20;

}  // namespace

Status SpareSegments::Adopt(Epoch epoch) {
  epoch_ = epoch;
  if (options_.count == 0) return Ok();
  RATCHET_ASSIGN(const auto names, directory_.List());
  for (const std::string& name : names) {
    if (const auto id = ParseNumberedName(kSparePrefix, name)) {
      MutexLock lock(mutex_);
      spares_.insert(*id);
    }
  }
  return Ok();
}

Result<std::optional<SpareSegments::Taken>> SpareSegments::Take(SegmentId as) {
  for (;;) {
    SegmentId spare;
    {
      MutexLock lock(mutex_);
      if (spares_.empty()) return std::optional<Taken>();
      spare = *spares_.begin();
      spares_.erase(spares_.begin());
    }
    const Status renamed = directory_.Rename(NumberedName(kSparePrefix, spare), SegmentName(as));
    if (!renamed.ok()) {
      if (renamed.error().code() == Code::kNotFound) continue;  // another process took it first
      return renamed.error();
    }
    RATCHET_ASSIGN(auto reader, directory_.OpenForRead(SegmentName(as)));
    RATCHET_ASSIGN(const std::uint64_t capacity, reader->size());
    RATCHET_ASSIGN(auto file, directory_.OpenForWrite(SegmentName(as)));
    return std::optional<Taken>(Taken{std::move(file), capacity});
  }
}

Result<bool> SpareSegments::Refill(const std::atomic<bool>& stop) {
  if (available() >= options_.count) return false;
  const SegmentId id{epoch_, next_number_++};
  const std::string filling = NumberedName(kFillingPrefix, id);
  const Status filled = Fill(filling, stop);
  if (!filled.ok()) {
    IgnoreResult(directory_.Unlink(filling), "unfinished files of an earlier epoch are removed by the next owner");
    low_on_space_.store(filled.error().code() == Code::kNoSpace, std::memory_order_relaxed);
    return filled.error();
  }
  RATCHET_TRY(directory_.Rename(filling, NumberedName(kSparePrefix, id)));
  low_on_space_.store(false, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  spares_.insert(id);
  return true;
}

Status SpareSegments::Fill(const std::string& name, const std::atomic<bool>& stop) {
  RATCHET_ASSIGN(auto file, directory_.Create(name));
  for (std::uint64_t done = 0; done < options_.bytes;) {
    if (stop.load(std::memory_order_relaxed)) return Error(Code::kAborted, "stopped while filling " + name);
    done = std::min(options_.bytes, done + kPiece);
    RATCHET_TRY(file->ZeroFill(done));
    // Only speed depends on this sync, so a failure does not end the process: the spare is deleted.
    RATCHET_TRY(file->Sync());
  }
  return file->Close();
}

std::size_t SpareSegments::available() const {
  MutexLock lock(mutex_);
  return spares_.size();
}

}  // namespace ratchet::procedure
