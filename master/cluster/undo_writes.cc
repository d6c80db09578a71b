#include "master/cluster/undo_writes.h"

#include <iterator>
#include <optional>

namespace ratchet::master {

struct UndoWrites::Pending {
  Mutex mutex;
  std::optional<Status> result GUARDED_BY(mutex);
};

struct UndoWrites::Announced {
  Mutex mutex;
  std::map<ProcId, int> under_way GUARDED_BY(mutex);
};

UndoWrites::UndoWrites(MetaTable& meta) : meta_(meta), announced_(std::make_shared<Announced>()) {}

std::function<void()> UndoWrites::Announce(ProcId procedure) {
  {
    const MutexLock lock(announced_->mutex);
    ++announced_->under_way[procedure];
  }
  return [announced = announced_, procedure] {
    const MutexLock lock(announced->mutex);
    if (--announced->under_way[procedure] == 0) announced->under_way.erase(procedure);
  };
}

// Removes results that were not fetched because an operator ended the procedure. Another procedure that loses its
// result starts its write again, which is harmless.
void UndoWrites::ForgetAnswered() {
  for (auto it = pending_.begin(); it != pending_.end();) {
    const std::shared_ptr<Pending> each = it->second;
    const MutexLock lock(each->mutex);
    it = each->result ? pending_.erase(it) : std::next(it);
  }
}

Status UndoWrites::Write(ProcId procedure, int part, const std::vector<MetaEdit>& edits) {
  {
    const MutexLock lock(announced_->mutex);
    if (announced_->under_way.contains(procedure)) {
      return Error(Code::kUnavailable, "a write to hbase:meta of the step is still in progress");
    }
  }
  std::shared_ptr<Pending> pending;
  bool fresh = false;
  {
    const MutexLock lock(mutex_);
    auto& slot = pending_[{procedure, part}];
    fresh = slot == nullptr;
    if (fresh) slot = std::make_shared<Pending>();
    pending = slot;
    if (fresh && pending_.size() > kMostPending) ForgetAnswered();
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
  if (!result) return Error(Code::kUnavailable, "the write to hbase:meta is in progress");
  const MutexLock lock(mutex_);
  pending_.erase({procedure, part});
  return *result;
}

}  // namespace ratchet::master
