// UndoWrites: writes to hbase:meta for undo functions, which may not wait. The first call starts the write and says "under
// way"; the executor repeats the undo with backoff, and a later call finds the result. In memory only: after a restart the
// write starts again, which is harmless. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

class UndoWrites {
 public:
  explicit UndoWrites(MetaTable& meta) : meta_(meta) {}
  // One write of `procedure` at a time. Ok: all of `edits` are in meta. kUnavailable: not yet. Other errors: of the write;
  // the next call starts it again.
  Status Write(ProcId procedure, const std::vector<MetaEdit>& edits);

 private:
  struct Pending;
  MetaTable& meta_;
  Mutex mutex_;
  std::map<ProcId, std::shared_ptr<Pending>> pending_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
