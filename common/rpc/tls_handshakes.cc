#include "common/rpc/tls_handshakes.h"

#include <utility>

#include "common/base/mutant.h"

namespace ratchet::rpc {

bool TlsHandshakes::Enter(const std::string& address) {
  const MutexLock lock(mutex_);
  const bool member = members_.contains(address);
  const std::size_t most = member || RATCHET_MUTANT("tls.no_places_for_members") ? kMost : kMost - kKeptForMembers;
  if (running_ >= most) return false;
  const auto found = of_address_.find(address);
  if (!member && found != of_address_.end() && found->second >= kMostOfAddress) return false;
  ++running_;
  ++of_address_[address];
  return true;
}

void TlsHandshakes::Leave(const std::string& address) {
  const MutexLock lock(mutex_);
  --running_;
  const auto found = of_address_.find(address);
  if (--found->second == 0) of_address_.erase(found);
}

void TlsHandshakes::NoteMember(const std::string& address) {
  const MutexLock lock(mutex_);
  if (members_.size() < kMostMemberAddresses) members_.insert(address);
}

void TlsHandshakes::Post(std::function<void()> work) {
  const MutexLock lock(mutex_);
  if (stopped_) return;
  if (threads_ == nullptr) threads_ = std::make_unique<IoThreads>(name_ + "-tls", kThreads);
  asio::post(threads_->Next(), std::move(work));
}

void TlsHandshakes::Stop() {
  std::unique_ptr<IoThreads> threads;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    threads = std::move(threads_);
  }
  if (threads != nullptr) threads->Stop();
}

}  // namespace ratchet::rpc
