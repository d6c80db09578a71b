// The open scans of a region: the lowest read point that they need, and which scans are notified when a memstore was
// flushed.
//
// Owner: the region; scans leave before they are destroyed. Thread-safe. Lock order: this before a scan's own lock and
// before the region's state.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "common/base/mutex.h"
#include "regionserver/region/store_view.h"

namespace ratchet::regionserver {

class FlushListener {
 public:
  virtual ~FlushListener() = default;
  [[nodiscard]] virtual std::uint64_t read_point() const = 0;
  // `files` hold the cells that `memstore` held. Objects that are no longer needed are moved to `garbage`.
  virtual void Flushed(const std::shared_ptr<Memstore>& memstore,
                       const std::vector<std::shared_ptr<const StoreFiles::Reader>>& files,
                       std::vector<std::shared_ptr<const void>>* garbage) = 0;
};

class ScanRegistry {
 public:
  // `enter` takes the scan's view; no flush becomes visible between that and the scan's entry here.
  void Enter(FlushListener& scan, const std::function<void()>& enter);
  void Leave(FlushListener& scan);
  // Returns the lowest read point of all scans, at most `newest`.
  [[nodiscard]] std::uint64_t SmallestReadPoint(std::uint64_t newest) const;
  void Flushed(const std::shared_ptr<Memstore>& memstore,
               const std::vector<std::shared_ptr<const StoreFiles::Reader>>& files);

 private:
  mutable Mutex mutex_;
  std::set<FlushListener*> scans_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
