// UndoWrites: writes to hbase:meta for undo functions, which may not wait. The first call starts the write and returns
// kUnavailable; the executor repeats the undo with backoff, and a later call finds the result. In memory only: after a
// restart the write starts again, which is harmless.
//
// An undo may begin while a write of the step that it undoes is still in progress, and must not overtake it: a row that
// was deleted first would reappear. So steps announce their writes here, and undo writes wait for them. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

class UndoWrites {
 public:
  explicit UndoWrites(MetaTable& meta);
  // Runs one write of `part` of `procedure` at a time. Ok: all of `edits` are in meta. kUnavailable: not yet. Other
  // errors come from the write; the next call starts it again. An undo that writes several parts in order starts each
  // part when the previous parts are in meta, and may rewrite those meanwhile.
  Status Write(ProcId procedure, int part, const std::vector<MetaEdit>& edits);

  // Announces a write of a step of `procedure`. Call the result when the outcome is known, also after this object is
  // destroyed.
  [[nodiscard]] std::function<void()> Announce(ProcId procedure);

 private:
  struct Pending;
  struct Announced;
  static constexpr std::size_t kMostPending = 10'000;
  void ForgetAnswered() REQUIRES(mutex_);
  MetaTable& meta_;
  const std::shared_ptr<Announced> announced_;
  Mutex mutex_;
  std::map<std::pair<ProcId, int>, std::shared_ptr<Pending>> pending_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
