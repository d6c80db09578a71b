#include "regionserver/region/scan_registry.h"

#include <algorithm>

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

void ScanRegistry::Flushed(const std::shared_ptr<Memstore>& memstore,
                           const std::vector<std::shared_ptr<const StoreFiles::Reader>>& files) {
  std::vector<std::shared_ptr<const void>> garbage;  // destroyed after the lock is released
  MutexLock lock(mutex_);
  for (FlushListener* scan : scans_) scan->Flushed(memstore, files, &garbage);
}

}  // namespace ratchet::regionserver
