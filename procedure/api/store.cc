#include "procedure/api/store.h"

#include <optional>
#include <utility>

#include "common/base/mutex.h"

namespace ratchet::procedure {

Result<std::uint64_t> ProcedureStore::CommitAndWait(StoreBatch batch) {
  Mutex mutex;
  CondVar completed;
  std::optional<Result<std::uint64_t>> outcome;
  Commit(std::move(batch), [&](Result<std::uint64_t> result) {
    MutexLock lock(mutex);  // notified under the lock: the waiter's stack may be gone once the lock is released
    outcome.emplace(std::move(result));
    completed.NotifyOne();
  });
  MutexLock lock(mutex);
  while (!outcome) completed.Wait(mutex);
  return std::move(*outcome);
}

}  // namespace ratchet::procedure
