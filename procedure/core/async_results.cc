#include "procedure/core/async_results.h"

namespace ratchet::procedure {

std::any* AsyncResults::Value(std::string_view key) {
  MutexLock lock(mutex_);
  const auto found = slots_.find(key);
  if (found == slots_.end() || !found->second.value.has_value()) return nullptr;
  return &found->second.value;
}

std::function<void(std::any)> AsyncResults::Begin(std::string_view key) {
  MutexLock lock(mutex_);
  const auto [slot, fresh] = slots_.try_emplace(std::string(key));
  if (!fresh) return nullptr;
  slot->second.generation = ++generations_;
  return [self = shared_from_this(), name = slot->first, generation = slot->second.generation](std::any value) {
    self->Arrive(name, generation, std::move(value));
  };
}

void AsyncResults::Arrive(const std::string& key, std::uint64_t generation, std::any value) {
  std::function<void()> wake;
  {
    MutexLock lock(mutex_);
    const auto found = slots_.find(key);
    if (wake_ == nullptr || found == slots_.end() || found->second.generation != generation ||
        found->second.value.has_value()) {
      return;  // forgotten meanwhile
    }
    found->second.value = std::move(value);
    ++arrivals_;
    wake = wake_;
  }
  wake();
}

void AsyncResults::ForgetKey(std::string_view key) {
  MutexLock lock(mutex_);
  const auto found = slots_.find(key);
  if (found != slots_.end()) slots_.erase(found);
}

void AsyncResults::Forget() {
  MutexLock lock(mutex_);
  wake_ = nullptr;
  slots_.clear();
}

std::uint64_t AsyncResults::arrivals() const {
  MutexLock lock(mutex_);
  return arrivals_;
}

std::string AsyncResults::Pending() const {
  MutexLock lock(mutex_);
  std::string text;
  for (const auto& [key, slot] : slots_) {
    if (slot.value.has_value()) continue;
    if (!text.empty()) text += ", ";
    text += key;
  }
  return text;
}

}  // namespace ratchet::procedure
