#include "master/procedures/undo_writes.h"

#include <optional>

namespace ratchet::master {

struct UndoWrites::Pending {
  Mutex mutex;
  std::optional<Status> result GUARDED_BY(mutex);
};

Status UndoWrites::Write(ProcId procedure, const std::vector<MetaEdit>& edits) {
  std::shared_ptr<Pending> pending;
  bool fresh = false;
  {
    const MutexLock lock(mutex_);
    auto& slot = pending_[procedure];
    fresh = slot == nullptr;
    if (fresh) slot = std::make_shared<Pending>();
    pending = slot;
  }
  if (fresh) {
    meta_.Write(edits, [pending](Status status) {
      const MutexLock lock(pending->mutex);
      pending->result = std::move(status);
    });
  }
  std::optional<Status> result;
  {
    const MutexLock lock(pending->mutex);
    result = pending->result;
  }
  if (!result) return Error(Code::kUnavailable, "the write to hbase:meta is under way");
  const MutexLock lock(mutex_);
  pending_.erase(procedure);
  return *result;
}

}  // namespace ratchet::master
