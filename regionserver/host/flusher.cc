#include "regionserver/host/flusher.h"

#include <memory>

#include "common/base/log.h"

namespace ratchet::regionserver {
namespace {

// A flush of hbase:meta waits for no other flush, because all other work waits for meta.
Lane FlushLaneOf(const std::string& encoded_name) {
  return encoded_name == kMetaEncodedName ? Lane::kMetaFlush : Lane::kFlush;
}

}  // namespace

bool Flusher::Flush(Region& region) {
  const Status flushed = region.Flush();
  if (!flushed.ok())
    RATCHET_LOG(kWarn, "Flush of region {} failed: {}", region.encoded_name(), flushed.error().ToString());
  return flushed.ok();
}

void Flusher::Soon(const std::string& encoded_name) {
  {
    MutexLock lock(mutex_);
    if (!waiting_.insert(encoded_name).second) return;
  }
  lanes_.Run(FlushLaneOf(encoded_name), [this, encoded_name] {
    {
      MutexLock lock(mutex_);
      waiting_.erase(encoded_name);
    }
    const auto region = regions_.Find(encoded_name);
    if (region.ok() && Flush(**region)) compactor_.Soon(encoded_name, false);
  });
}

void Flusher::FlushLargest() {
  if (making_room_.exchange(true)) return;
  lanes_.Run(Lane::kFlush, [this] {
    std::shared_ptr<Region> largest;
    std::uint64_t bytes = 0;
    for (const auto& region : regions_.All()) {
      const std::uint64_t held = region->info().IsMeta() ? 0 : region->GetStatus().memstore_bytes;
      if (held > bytes) bytes = held, largest = region;
    }
    if (largest != nullptr) {
      RATCHET_LOG(kInfo, "Region {} is flushed to free memory: {} bytes", largest->encoded_name(), bytes);
      if (Flush(*largest)) compactor_.Soon(largest->encoded_name(), false);
    }
    making_room_ = false;
  });
}

void Flusher::FlushAll(TimePoint deadline) {
  for (const auto& region : regions_.All()) {
    if (clock_.Now() >= deadline) {
      RATCHET_LOG(kWarn, "Stop: out of time; the rest is in the log");
      return;
    }
    Flush(*region);
  }
}

}  // namespace ratchet::regionserver
