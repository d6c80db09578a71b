// The nonces that a region has executed (S29). Survives in log entries and manifests; a retry older than it is refused.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "regionserver/log/log_entry.h"
#include "regionserver/region/requests.h"

namespace ratchet::regionserver {

class NonceTable {
 public:
  enum class Seen : std::uint8_t { kNew, kExecuted, kTooOld };
  // kTooOld: begun longer ago than nonces are kept, so that it cannot be told from one that was executed and forgotten.
  [[nodiscard]] Seen Look(const Nonce& nonce, std::int64_t now_ms, std::int64_t memory_ms) const;

  // Already in a manifest.
  void Load(const std::vector<UsedNonce>& nonces);
  // Executed now, or found in recovered edits.
  void Add(const std::vector<UsedNonce>& nonces);
  // Those that were added since the last call, for the next manifest record.
  [[nodiscard]] std::vector<UsedNonce> TakeUnsaved();
  // Puts them back in front when that record could not be written.
  void ReturnUnsaved(std::vector<UsedNonce> nonces);
  void Forget(std::int64_t before_ms);
  [[nodiscard]] std::size_t size() const;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  mutable Mutex mutex_;
  std::map<Key, std::int64_t> used_ GUARDED_BY(mutex_);
  std::vector<UsedNonce> unsaved_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
