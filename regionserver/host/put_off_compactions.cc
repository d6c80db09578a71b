#include "regionserver/host/put_off_compactions.h"

#include <algorithm>

#include "common/base/log.h"

namespace ratchet::regionserver {

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

}  // namespace ratchet::regionserver
