#include "regionserver/host/compactor.h"

#include <algorithm>

#include "common/base/log.h"

namespace ratchet::regionserver {
namespace {

std::string TicketOf(const std::string& encoded_name, bool major) { return encoded_name + (major ? "/major" : ""); }

}  // namespace

void PutOffCompactions::Add(const Compaction& compaction, const Error& why) {
  {
    MutexLock lock(mutex_);
    if (!waiting_.insert_or_assign(compaction, why.message()).second) return;
  }
  RATCHET_LOG(kWarn, "Compaction of region {} waits for disk space: {}", compaction.encoded_name, why.message());
}

void PutOffCompactions::Remove(const Compaction& compaction) {
  MutexLock lock(mutex_);
  waiting_.erase(compaction);
}

bool PutOffCompactions::Has(const Compaction& compaction) const {
  MutexLock lock(mutex_);
  return waiting_.contains(compaction);
}

std::vector<PutOffCompactions::Compaction> PutOffCompactions::Due(TimePoint now) {
  MutexLock lock(mutex_);
  std::vector<Compaction> due;
  if (waiting_.empty() || (tried_at_ != TimePoint{} && now - tried_at_ < kPause)) return due;
  tried_at_ = now;
  auto turn = waiting_.upper_bound(last_);
  for (std::size_t i = std::min(kAtOnce, waiting_.size()); i > 0; --i) {
    if (turn == waiting_.end()) turn = waiting_.begin();
    due.push_back(turn->first);
    last_ = turn->first;
    ++turn;
  }
  return due;
}

void PutOffCompactions::Fill(hbase::pb::StorageReport& report) const {
  MutexLock lock(mutex_);
  if (waiting_.empty()) return;
  report.set_put_off_compactions(waiting_.size());
  report.set_put_off_why(waiting_.begin()->second);
}

void Compactor::Soon(const std::string& encoded_name, bool major) {
  if (!on_) return;
  const std::string ticket = TicketOf(encoded_name, major);
  {
    MutexLock lock(mutex_);
    if (!waiting_.insert(ticket).second) return;
  }
  // Major compactions have a lane of their own, so that they do not delay minor ones.
  lanes_.Run(major ? Lane::kLargeCompact : Lane::kSmallCompact, [this, encoded_name, ticket, major] {
    {
      MutexLock lock(mutex_);
      waiting_.erase(ticket);
      running_.insert(ticket);
    }
    if (on_) CompactNow(encoded_name, major);
    MutexLock lock(mutex_);
    running_.erase(running_.find(ticket));
  });
}

void Compactor::CompactNow(const std::string& encoded_name, bool major) {
  auto region = regions_.Find(encoded_name);
  const Status compacted = region.ok() ? (*region)->Compact(major) : Ok();
  if (!compacted.ok() && compacted.error().code() == Code::kNoSpace)
    return put_off_.Add({encoded_name, major}, compacted.error());
  put_off_.Remove({encoded_name, major});
  if (!compacted.ok())
    RATCHET_LOG(kWarn, "Compaction of region {} failed: {}", encoded_name, compacted.error().ToString());
}

Status Compactor::Compact(Region& region, bool major) {
  if (!on_) return Error(Code::kUnavailable, "compactions are switched off at this server (CompactionSwitch)");
  const std::string ticket = TicketOf(region.encoded_name(), major);
  {
    const MutexLock lock(mutex_);
    running_.insert(ticket);
  }
  const Status compacted = region.Compact(major);
  const MutexLock lock(mutex_);
  running_.erase(running_.find(ticket));
  return compacted;
}

bool Compactor::IsCompacting(const std::string& encoded_name, bool major) const {
  if (put_off_.Has({encoded_name, major})) return true;
  const std::string ticket = TicketOf(encoded_name, major);
  const MutexLock lock(mutex_);
  return waiting_.contains(ticket) || running_.contains(ticket);
}

bool Compactor::Switch(bool on) {
  const bool before = on_.exchange(on);
  if (before == on) return before;
  RATCHET_LOG(kInfo, "Compactions are switched {}", on ? "on" : "off");
  if (on)
    for (const auto& region : regions_.All()) Soon(region->encoded_name(), false);
  return before;
}

void Compactor::TryAgain() {
  if (!on_) return;
  for (const auto& compaction : put_off_.Due(clock_.Now())) Soon(compaction.encoded_name, compaction.major);
}

}  // namespace ratchet::regionserver
