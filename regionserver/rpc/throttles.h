// Throttles: decides by the master's quotas whether a client's request may be served now; otherwise
// RpcThrottlingException with the time after which the client may retry.
//
// Thread-safe; never blocks. Without quotas a request costs one read of a flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/table_name.h"
#include "common/rpc/call.h"
#include "regionserver/rpc/throttle_limits.h"

namespace ratchet::regionserver {

class Throttles {
 public:
  // The amounts that a request has taken. The caller reports the bytes read at the end; otherwise the estimate counts.
  class Use {
   public:
    Use() = default;
    void HasRead(std::uint64_t bytes) const;
    [[nodiscard]] bool counts() const { return throttles_ != nullptr && !taken_.empty(); }

   private:
    friend class Throttles;
    Throttles* throttles_ = nullptr;  // null: no limits
    std::vector<ThrottleTable::Shared> taken_;
    std::uint64_t expected_ = 0;
  };

  // `clock` outlives this object, which outlives every Use.
  explicit Throttles(const Clock& clock) : clock_(clock) {}

  void Take(const hbase::pb::ThrottleList& list);
  // Digest of the current list; 0: no list.
  [[nodiscard]] std::uint64_t digest() const { return digest_.load(); }
  // Returns false if Admit accepts every request.
  [[nodiscard]] bool limits_anything() const { return limits_anything_.load(std::memory_order_relaxed); }
  // Requests of the cluster's own processes and on system tables are never refused.
  [[nodiscard]] Result<Use> Admit(const rpc::CallContext& call, const TableName& table, const ThrottleWork& work);
  [[nodiscard]] std::uint64_t refused() const { return refused_.load(); }

 private:
  const Clock& clock_;
  std::atomic<bool> limits_anything_{false};
  std::atomic<std::uint64_t> digest_{0};
  std::atomic<std::uint64_t> refused_{0};
  Mutex mutex_;
  ThrottleTable table_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
