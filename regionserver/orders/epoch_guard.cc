#include "regionserver/orders/epoch_guard.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {
namespace {

Error Stale(Epoch got, Epoch highest) {
  return Error(Code::kStale, fmt::format("epoch {} is deposed: epoch {} has been seen", got, highest));
}

}  // namespace

Status EpochGuard::Admit(Epoch epoch) {
  MutexLock lock(mutex_);
  if (epoch < highest_ && !RATCHET_MUTANT("orders.any_epoch")) return Stale(epoch, highest_);
  highest_ = std::max(highest_, epoch);
  return Ok();
}

Epoch EpochGuard::highest() const {
  MutexLock lock(mutex_);
  return highest_;
}

bool EpochGuard::waiting() const {
  MutexLock lock(mutex_);
  return waiting_ > 0;
}

Result<EpochGuard::Ticket> EpochGuard::EnterMetaWork(Epoch epoch) {
  MutexLock lock(mutex_);
  if (epoch < highest_) return Stale(epoch, highest_);
  highest_ = epoch;  // from here no lower epoch is admitted, so the wait below ends
  ++waiting_;
  while (!admitted_.empty() && admitted_.begin()->first < epoch && !RATCHET_MUTANT("orders.raise_without_wait")) {
    left_.Wait(mutex_);
  }
  --waiting_;
  if (epoch < highest_) return Stale(epoch, highest_);  // a higher epoch arrived during the wait
  ++admitted_[epoch];
  return Ticket(this, epoch);
}

void EpochGuard::Leave(Epoch epoch) {
  MutexLock lock(mutex_);
  const auto found = admitted_.find(epoch);
  if (--found->second > 0) return;
  admitted_.erase(found);
  left_.NotifyAll();
}

EpochGuard::Ticket& EpochGuard::Ticket::operator=(Ticket&& other) noexcept {
  if (this == &other) return *this;
  Release();
  guard_ = std::exchange(other.guard_, nullptr);
  epoch_ = other.epoch_;
  return *this;
}

void EpochGuard::Ticket::Release() {
  if (guard_ != nullptr) std::exchange(guard_, nullptr)->Leave(epoch_);
}

}  // namespace ratchet::regionserver
