#include "regionserver/region/region_data.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "regionserver/region/region_errors.h"

namespace ratchet::regionserver {

void ScanRegistry::Enter(FlushListener& scan, const std::function<void()>& enter) {
  MutexLock lock(mutex_);
  enter();
  scans_.insert(&scan);
}

void ScanRegistry::Leave(FlushListener& scan) {
  MutexLock lock(mutex_);
  scans_.erase(&scan);
}

std::uint64_t ScanRegistry::SmallestReadPoint(std::uint64_t newest) const {
  MutexLock lock(mutex_);
  for (const FlushListener* scan : scans_) newest = std::min(newest, scan->read_point());
  return newest;
}

void ScanRegistry::Flushed(const std::shared_ptr<Memstore>& memstore, const ReadableFiles& files) {
  std::vector<std::shared_ptr<const void>> garbage;  // destroyed after the lock is released
  MutexLock lock(mutex_);
  for (FlushListener* scan : scans_) scan->Flushed(memstore, files, &garbage);
}

std::shared_ptr<Memstore> RegionData::NewMemstore() const {
  return std::make_shared<Memstore>(opening_.order, opening_.params.settings->budget);
}

ReadPoint RegionData::Acquire() const {
  MutexLock lock(mutex_);
  return {view_, read_point_};
}

ReadableFiles RegionData::Files() const {
  MutexLock lock(mutex_);
  return view_ ? view_->files : ReadableFiles();
}

std::uint64_t RegionData::MemstoreBytes() const {
  return view_->active->bytes() + (view_->flushing ? view_->flushing->bytes() : 0);
}

Status RegionData::CheckRoom() const {
  const RegionSettings& settings = *opening_.params.settings;
  MutexLock lock(mutex_);
  const std::uint64_t bytes = MemstoreBytes();
  const std::uint64_t most = settings.BlockingBytes();
  if (bytes <= most) return Ok();
  return TooBusy(fmt::format("region {}: {} bytes wait for a flush, more than {}", opening_.encoded_name, bytes, most));
}

void RegionData::FillStatus(RegionStatus& status) const {
  status.reads = reads.load(std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  status.read_point = read_point_;
  status.flushed_sequence = flushed_sequence_;
  if (!view_) return;
  status.memstore_bytes = MemstoreBytes();
  status.store_files = view_->files.size();
  for (const auto& file : view_->files) {
    const StoreFileInfo& info = file->info();
    status.store_bytes += info.bytes;
    status.uncompressed_bytes += std::max(info.bytes, file->raw_bytes());
    if (info.major_ms == 0) continue;
    const bool first = status.oldest_major_ms == 0;
    status.oldest_major_ms = first ? info.major_ms : std::min(status.oldest_major_ms, info.major_ms);
  }
}

void RegionData::Load(ReadableFiles files, const ManifestState& state) {
  if (!RATCHET_MUTANT("region.forget_nonces")) nonces.Load(state.nonces, state.nonces_since_ms);
  auto view = std::make_shared<StoreView>();
  view->active = NewMemstore();
  view->files = std::move(files);
  MutexLock publish_lock(publishing_);
  active_ = view->active.get();
  MutexLock lock(mutex_);
  view_ = std::move(view);
  read_point_ = flushed_sequence_ = state.flushed_sequence;
}

void RegionData::Replay(const LogEntry& entry, const FamilyIds& dead_families) {
  MutexLock lock(mutex_);
  for (const LoggedCell& logged : entry.cells) {
    const bool dead = dead_families.contains(logged.cell.family) && !RATCHET_MUTANT("region.replay_dead_families");
    if (!dead) view_->active->Add(logged.cell, entry.sequence, logged.ttl_ms);
  }
  read_point_ = std::max(read_point_, entry.sequence);
  if (!RATCHET_MUTANT("region.forget_nonces")) nonces.Add(entry.nonces);
}

bool RegionData::HasRoomForReplayed() const {
  const RegionSettings& settings = *opening_.params.settings;
  const MemstoreBudget* budget = settings.budget.get();
  if (budget != nullptr && budget->used.load(std::memory_order_relaxed) > budget->FlushAt()) return false;
  MutexLock lock(mutex_);
  return MemstoreBytes() <= settings.flush_bytes;
}

bool RegionData::Publish(const LogEntry& entry) {
  MutexLock publish_lock(publishing_);
  for (const LoggedCell& logged : entry.cells) active_->Add(logged.cell, entry.sequence, logged.ttl_ms);
  nonces.Add(entry.nonces);
  MutexLock lock(mutex_);
  read_point_ = std::max(read_point_, entry.sequence);
  if (flush_asked_ || active_->bytes() <= opening_.params.settings->flush_bytes) return false;
  flush_asked_ = true;
  return true;
}

void RegionData::PassOver(std::uint64_t sequence) {
  MutexLock lock(mutex_);
  read_point_ = std::max(read_point_, sequence);
}

bool RegionData::SwitchMemstores(std::uint64_t flushed_sequence, SetAside& aside) {
  MutexLock publish_lock(publishing_);
  MutexLock lock(mutex_);
  flush_asked_ = false;
  if (view_->flushing) return true;  // an earlier attempt failed: flush its memstore first
  if (view_->active->empty() && read_point_ == flushed_sequence) return false;
  auto view = std::make_shared<StoreView>(*view_);
  view->flushing = std::exchange(view->active, NewMemstore());
  active_ = view->active.get();
  view_ = std::move(view);
  aside.sequence = read_point_;
  aside.nonces = nonces.DrainUnsaved();
  return true;
}

std::shared_ptr<Memstore> RegionData::flushing() const {
  MutexLock lock(mutex_);
  return view_->flushing;
}

void RegionData::Show(const ManifestEdit& edit, const ReadableFiles& added, bool flushed) {
  std::shared_ptr<Memstore> memstore;  // frees the memstore after the lock is released, if no reader holds it
  {
    MutexLock lock(mutex_);
    memstore = Exchange(edit, added, flushed);
  }
  if (memstore && !RATCHET_MUTANT("region.scans_keep_memstores")) scans.Flushed(memstore, added);
}

std::shared_ptr<Memstore> RegionData::Exchange(const ManifestEdit& edit, const ReadableFiles& added, bool flushed) {
  std::shared_ptr<Memstore> memstore;
  auto view = std::make_shared<StoreView>(*view_);
  std::erase_if(view->files, [&edit](const auto& file) {
    return std::find(edit.removed.begin(), edit.removed.end(), file->info().name) != edit.removed.end();
  });
  view->files.insert(view->files.end(), added.begin(), added.end());
  if (flushed) {
    memstore = std::exchange(view->flushing, nullptr);
    flushed_sequence_ = std::max(flushed_sequence_, edit.flushed_sequence);
  }
  view_ = std::move(view);
  return memstore;
}

}  // namespace ratchet::regionserver
