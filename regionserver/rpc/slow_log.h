// The most recent slow and large calls, as HBase's clients read them (GetLogEntries, GetSlowLogResponses).
//
// A bounded list: a new call replaces the oldest one. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/proto/slow_log.pb.h"
#include "common/rpc/call_watch.h"
#include "common/rpc/service.h"

namespace ratchet::regionserver {

struct SlowLogOptions {
  rpc::CallWatch watch{.slow = Millis(10'000), .large = 100U << 20};  // which calls are kept
  std::size_t most_calls = 256;                                       // the newest; 0: none

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis({"slow-call-ms",
                        "Client calls that take at least this long are kept in the slow log.",
                        {"hbase.ipc.warn.response.time"}},
                       &watch.slow, Millis(0), Millis(86'400'000));
    settings.AddBytes({"large-answer-bytes",
                       "Client calls with an answer of at least this size are kept in the slow log.",
                       {"hbase.ipc.warn.response.size"}},
                      &watch.large, 0, 1ull << 40);
    settings.AddInt({"slow-log-calls",
                     "Number of slow and large calls that are kept (the newest); 0: none.",
                     {"hbase.regionserver.slowlog.ringbuffer.size"}},
                    &most_calls, {0, 100'000});
  }
};

class SlowLog {
 public:
  explicit SlowLog(std::size_t most) : most_(most) {}

  // Adds a call of ClientService; calls of other services are ignored.
  void Note(const rpc::FinishedCall& call, std::int64_t now_ms);
  // Returns the newest first, up to the number that the request wants, filtered by its filters.
  [[nodiscard]] hbase::pb::SlowLogResponses Read(const hbase::pb::SlowLogResponseRequest& request) const;
  void Clear();

 private:
  const std::size_t most_;
  mutable Mutex mutex_;
  std::deque<hbase::pb::SlowLogPayload> calls_ GUARDED_BY(mutex_);  // the oldest first
};

// Adds AdminService's methods that read and clear the log.
void AddSlowLogMethods(rpc::Service& service, const std::shared_ptr<SlowLog>& log);

}  // namespace ratchet::regionserver
