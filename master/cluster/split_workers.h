// SplitWorkers: assigns log files to the region servers that split them, with a bound for each server. In memory only:
// SplitWal procedures claim their servers again after a restart. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "procedure/api/event.h"

namespace ratchet::master {

class SplitWorkers {
 public:
  explicit SplitWorkers(std::size_t per_server) : per_server_(per_server) {}
  // Assigns the least busy server of `online` to `procedure`, replacing its previous one. Uses servers to avoid only if
  // there is no other. `urgent` (the log of hbase:meta) ignores the bound. Returns nullopt if all are busy or there is
  // none: wait for FreeEvent.
  std::optional<ServerName> Acquire(ProcId procedure, const std::vector<ServerName>& online,
                                    const std::vector<ServerName>& avoid, bool urgent);
  void Claim(ProcId procedure, const ServerName& server);
  // Returns true if a procedure may be waiting, so that the caller must wake FreeEvent.
  bool Release(ProcId procedure);
  [[nodiscard]] std::vector<ProcId> Holders() const;
  static procedure::EventKey FreeEvent() { return {"split-worker-free"}; }

 private:
  const std::size_t per_server_;
  mutable Mutex mutex_;
  std::map<ProcId, ServerName> busy_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
