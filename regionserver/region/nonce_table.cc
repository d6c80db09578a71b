#include "regionserver/region/nonce_table.h"

namespace ratchet::regionserver {

NonceTable::Seen NonceTable::Look(const Nonce& nonce, std::int64_t now_ms, std::int64_t memory_ms) const {
  MutexLock lock(mutex_);
  if (used_.contains({nonce.group, nonce.value})) return Seen::kExecuted;
  return nonce.begun_ms && *nonce.begun_ms < now_ms - memory_ms ? Seen::kTooOld : Seen::kNew;
}

void NonceTable::Load(const std::vector<UsedNonce>& nonces) {
  MutexLock lock(mutex_);
  for (const UsedNonce& nonce : nonces) used_[{nonce.group, nonce.value}] = nonce.used_ms;
}

void NonceTable::Add(const std::vector<UsedNonce>& nonces) {
  MutexLock lock(mutex_);
  for (const UsedNonce& nonce : nonces) {
    used_[{nonce.group, nonce.value}] = nonce.used_ms;
    unsaved_.push_back(nonce);
  }
}

std::vector<UsedNonce> NonceTable::TakeUnsaved() {
  MutexLock lock(mutex_);
  return std::exchange(unsaved_, {});
}

void NonceTable::ReturnUnsaved(std::vector<UsedNonce> nonces) {
  MutexLock lock(mutex_);
  nonces.insert(nonces.end(), unsaved_.begin(), unsaved_.end());
  unsaved_ = std::move(nonces);
}

void NonceTable::Forget(std::int64_t before_ms) {
  MutexLock lock(mutex_);
  std::erase_if(used_, [&](const auto& entry) { return entry.second < before_ms; });
}

std::size_t NonceTable::size() const {
  MutexLock lock(mutex_);
  return used_.size();
}

}  // namespace ratchet::regionserver
