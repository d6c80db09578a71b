// The nonces that a region has executed (S29: durable nonces). Log entries and manifests keep them; a retry older than
// the table is refused.
//
// Bounded by age and number: nonces older than the horizon are forgotten. A request that began before the horizon is
// refused, because it may have been executed already.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "regionserver/region/requests.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

class NonceTable {
 public:
  enum class Seen : std::uint8_t { kNew, kExecuted, kTooOld };
  static constexpr std::size_t kMostNonces = 200'000;

  explicit NonceTable(std::size_t most = kMostNonces) : most_(most) {}

  // Returns kTooOld for a nonce that began before the horizon.
  [[nodiscard]] Seen Look(const Nonce& nonce) const;

  // Loads nonces from a manifest, which has all since `horizon_ms`.
  void Load(const std::vector<UsedNonce>& nonces, std::int64_t horizon_ms);
  // Adds nonces that were executed now, or found in recovered edits.
  void Add(const std::vector<UsedNonce>& nonces);
  // Takes the nonces that were added since the last call, for the next manifest record.
  [[nodiscard]] std::vector<UsedNonce> DrainUnsaved();
  // Puts unsaved nonces back in front when that record could not be written.
  void ReturnUnsaved(std::vector<UsedNonce> nonces);
  // Raises the horizon.
  void Forget(std::int64_t before_ms);
  // Returns the horizon in the region's time (RegionTime); initially INT64_MIN.
  [[nodiscard]] std::int64_t horizon_ms() const;
  // Returns the time of the latest use.
  [[nodiscard]] std::optional<std::int64_t> newest_ms() const;
  [[nodiscard]] std::size_t size() const;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  // Keyed by a secret of the process, because clients choose the nonces.
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  void AddLocked(const UsedNonce& nonce) REQUIRES(mutex_);

  const std::size_t most_;
  mutable Mutex mutex_;
  std::unordered_set<Key, Hash> used_ GUARDED_BY(mutex_);
  std::multimap<std::int64_t, Key> by_age_ GUARDED_BY(mutex_);
  std::int64_t horizon_ms_ GUARDED_BY(mutex_) = INT64_MIN;
  std::vector<UsedNonce> unsaved_ GUARDED_BY(mutex_);
};

// The region's own time, used for nonces: it continues from the last time that the region knows, and advances while the
// region is open. Wall clocks that are ahead, behind or set would make fresh requests too old, or forget nonces early.
// Started once, before the region serves; then immutable.
class RegionTime {
 public:
  explicit RegionTime(const Clock& clock) : clock_(clock) {}
  // Call when all nonces are loaded. `memory`: how long nonces are kept.
  void Start(const NonceTable& nonces, Millis memory);
  [[nodiscard]] std::int64_t Now() const;
  // Returns the recent time `wall_ms` of this server's clock in the region's time.
  [[nodiscard]] std::int64_t Of(std::int64_t wall_ms) const { return Now() - (clock_.WallMillis() - wall_ms); }

 private:
  const Clock& clock_;
  std::int64_t begin_ms_ = 0;
  TimePoint begun_at_{};
};

}  // namespace ratchet::regionserver
