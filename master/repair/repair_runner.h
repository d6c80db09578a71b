// RepairRunner: runs the repairs that comparisons return, and keeps their findings for operators. It submits no second
// procedure for a repair before the first has ended. Thread-safe; it holds no lock while it calls another part.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/strong_id.h"
#include "master/repair/sweep.h"

namespace ratchet::master {

class ServerManager;

// One finding; the list is bounded, newest last.
struct ReconcilerFinding {
  std::int64_t at_ms = 0;
  ServerName server;    // without a host if no server is concerned
  std::string encoded;  // empty if no single region is concerned
  std::string what;     // the inconsistency and the repair
};

class RepairRunner {
 public:
  RepairRunner(MasterEnv& env, ServerManager& manager) : env_(env), manager_(manager) {}

  // Runs the repairs in their order. Returns how many of them were needed.
  std::size_t Run(std::vector<Repair> repairs);
  // Logs a finding, and keeps it for operators.
  void Note(Finding finding);
  // Forgets the submitted procedures that have ended. Call periodically.
  void ForgetEnded();
  [[nodiscard]] std::vector<ReconcilerFinding> Findings() const;

 private:
  // Each returns false if the repair is not needed: its cause may have gone since the comparison.
  bool Do(const ReleaseSlot& slot);
  bool Do(const ReleaseRegion& release);
  bool Do(const ExpireServer& expire);
  bool Do(SubmitProcedure& submit);
  bool Do(const ReadSchemas& unread);
  [[nodiscard]] bool IsRunning(ProcId pid) const;

  MasterEnv& env_;
  ServerManager& manager_;
  mutable Mutex mutex_;
  std::vector<ReconcilerFinding> findings_ GUARDED_BY(mutex_);
  // Submitted procedures by key; an invalid pid means that the submission is in progress.
  std::map<std::string, ProcId> sent_ GUARDED_BY(mutex_);
  std::atomic<bool> reading_schemas_{false};
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace ratchet::master
