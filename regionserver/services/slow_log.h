// The slow and the large calls of late, as HBase's clients read them (GetLogEntries, GetSlowLogResponses).
//
// A ring of so many: the oldest goes when one more comes. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "common/base/mutex.h"
#include "common/model/proto/slow_log.pb.h"
#include "common/rpc/call_watch.h"
#include "common/rpc/service.h"

namespace ratchet::regionserver {

class SlowLog {
 public:
  explicit SlowLog(std::size_t most) : most_(most) {}

  // Takes a call of ClientService; of others it takes none.
  void Note(const rpc::FinishedCall& call, std::int64_t now_ms);
  // The newest first, as many as the request wants, that its filters let through.
  [[nodiscard]] hbase::pb::SlowLogResponses Read(const hbase::pb::SlowLogResponseRequest& request) const;
  void Clear();

 private:
  const std::size_t most_;
  mutable Mutex mutex_;
  std::deque<hbase::pb::SlowLogPayload> calls_ GUARDED_BY(mutex_);  // the oldest first
};

// AdminService's methods that read and clear it.
void AddSlowLogMethods(rpc::Service& service, const std::shared_ptr<SlowLog>& log);

}  // namespace ratchet::regionserver
