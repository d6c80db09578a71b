#include "regionserver/region/nonce_table.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "common/base/prng.h"

namespace ratchet::regionserver {

std::size_t NonceTable::Hash::operator()(const Key& key) const {
  static const std::uint64_t secret = RandomSeed();
  std::uint64_t mixed = secret;
  for (const std::uint64_t part : {key.first, key.second}) {
    // The finalizer of SplitMix64 over the secret and each part.
    mixed += part;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31U;
  }
  return mixed;
}

NonceTable::Seen NonceTable::Look(const Nonce& nonce) const {
  MutexLock lock(mutex_);
  if (used_.contains({nonce.group, nonce.value})) return Seen::kExecuted;
  const bool too_old = nonce.begun_ms && *nonce.begun_ms < horizon_ms_ && !RATCHET_MUTANT("region.execute_old_retries");
  return too_old ? Seen::kTooOld : Seen::kNew;
}

void NonceTable::AddLocked(const UsedNonce& nonce) {
  const Key key{nonce.group, nonce.value};
  if (!used_.insert(key).second) return;
  by_age_.emplace_hint(by_age_.end(), nonce.used_ms, key);
  while (by_age_.size() > most_) {
    const auto oldest = by_age_.begin();
    horizon_ms_ = std::max(horizon_ms_, oldest->first + 1);
    used_.erase(oldest->second);
    by_age_.erase(oldest);
  }
}

void NonceTable::Load(const std::vector<UsedNonce>& nonces, std::int64_t horizon_ms) {
  MutexLock lock(mutex_);
  horizon_ms_ = std::max(horizon_ms_, horizon_ms);
  for (const UsedNonce& nonce : nonces) AddLocked(nonce);
}

void NonceTable::Add(const std::vector<UsedNonce>& nonces) {
  MutexLock lock(mutex_);
  for (const UsedNonce& nonce : nonces) {
    AddLocked(nonce);
    unsaved_.push_back(nonce);
  }
}

std::vector<UsedNonce> NonceTable::DrainUnsaved() {
  MutexLock lock(mutex_);
  const std::int64_t horizon = horizon_ms_;
  std::erase_if(unsaved_,
                // the nonce was forgotten meanwhile
                [horizon](const UsedNonce& nonce) { return nonce.used_ms < horizon; });
  return std::exchange(unsaved_, {});
}

void NonceTable::ReturnUnsaved(std::vector<UsedNonce> nonces) {
  MutexLock lock(mutex_);
  nonces.insert(nonces.end(), unsaved_.begin(), unsaved_.end());
  unsaved_ = std::move(nonces);
}

void NonceTable::Forget(std::int64_t before_ms) {
  MutexLock lock(mutex_);
  horizon_ms_ = std::max(horizon_ms_, before_ms);
  while (!by_age_.empty() && by_age_.begin()->first < before_ms) {
    used_.erase(by_age_.begin()->second);
    by_age_.erase(by_age_.begin());
  }
}

std::optional<std::int64_t> NonceTable::newest_ms() const {
  MutexLock lock(mutex_);
  return by_age_.empty() ? std::nullopt : std::optional(by_age_.rbegin()->first);
}

std::int64_t NonceTable::horizon_ms() const {
  MutexLock lock(mutex_);
  return horizon_ms_;
}

std::size_t NonceTable::size() const {
  MutexLock lock(mutex_);
  return used_.size();
}

void RegionTime::Start(const NonceTable& nonces, Millis memory) {
  const std::optional<std::int64_t> used = nonces.newest_ms();
  const std::int64_t horizon = nonces.horizon_ms();
  begun_at_ = clock_.Now();
  // Without any nonce, the horizon is one full nonce memory before the time at which it was written.
  begin_ms_ = used ? *used : horizon != INT64_MIN ? horizon + memory.count() : clock_.WallMillis();
}

std::int64_t RegionTime::Now() const {
  const std::int64_t passed = std::chrono::duration_cast<Millis>(clock_.Now() - begun_at_).count();
  return RATCHET_MUTANT("region.nonces_by_clock") ? clock_.WallMillis() : begin_ms_ + passed;
}

}  // namespace ratchet::regionserver
