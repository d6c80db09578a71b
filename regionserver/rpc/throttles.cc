#include "regionserver/rpc/throttles.h"

#include <utility>

#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {

void Throttles::Use::HasRead(std::uint64_t bytes) const {
  if (!counts()) return;
  const MutexLock lock(throttles_->mutex_);
  for (const ThrottleTable::Shared& limits : taken_) limits->Correct(expected_, bytes);
}

void Throttles::Take(const hbase::pb::ThrottleList& list) {
  const MutexLock lock(mutex_);
  table_ = ThrottleTable(list, table_);
  limits_anything_ = table_.limits_anything();
  digest_ = list.digest();
}

Result<Throttles::Use> Throttles::Admit(const rpc::CallContext& call, const TableName& table,
                                        const ThrottleWork& work) {
  Use use;
  if (!limits_anything() || call.member || table.IsSystem()) return use;
  const TimePoint now = clock_.Now();
  std::optional<ThrottleWait> wait;
  {
    const MutexLock lock(mutex_);
    wait = table_.Take(call.user, table, work, now, &use.taken_);
  }
  if (wait) {
    ++refused_;
    return rpc::RemoteError(rpc::exception::kRpcThrottling, ThrottleText(*wait));
  }
  use.throttles_ = this;
  use.expected_ = work.read_bytes;
  return use;
}

}  // namespace ratchet::regionserver
