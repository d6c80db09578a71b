#include "common/rpc/member_key_file.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::rpc {

MemberKeyFile::MemberKeyFile(std::shared_ptr<MemberIdentity> identity, Read read, Pace pace)
    : identity_(std::move(identity)), read_(std::move(read)), pace_(pace), thread_([this] { Run(); }) {}

MemberKeyFile::~MemberKeyFile() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

bool MemberKeyFile::Pause(Millis pause) {
  const SystemClock clock;
  const TimePoint until = clock.Now() + pause;
  MutexLock lock(mutex_);
  for (TimePoint now = clock.Now(); !ends_ && now < until; now = clock.Now()) changed_.WaitFor(mutex_, until - now);
  return !ends_;
}

void MemberKeyFile::Run() {
  SetThreadName("member-key");
  const SystemClock clock;
  TimePoint read_at = clock.Now();
  while (Pause(pace_.look)) {
    if (!identity_->TakeDoubt() && clock.Now() - read_at < pace_.read) continue;
    read_at = clock.Now();
    Follow();
  }
}

void MemberKeyFile::Follow() {
  const auto first = read_();
  const std::string unread = first.ok() ? std::string() : first.error().message();
  if (unread != unread_ && !unread.empty())
    RATCHET_LOG(kWarn, "cluster.key cannot be read, and the earlier keys remain in use: {}", unread);
  unread_ = unread;
  if (!first.ok() || *first == identity_->texts() || !Pause(pace_.between_reads)) return;
  const auto second = read_();
  if (!second.ok() || *second != *first) return;
  identity_->SetKeys(*second);
  RATCHET_LOG(kInfo, "cluster.key has changed: this process uses its {} key{} from now on", second->size(),
              second->size() == 1 ? "" : "s");
}

}  // namespace ratchet::rpc
