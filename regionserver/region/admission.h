// Decides which work on a region may begin and continue: the state of the opening, the mutations in flight, the locks
// on rows, and the loss of the region.
//
// A region is lost when a higher opening exists (S21: numbered openings); no other event drops it (S50: give up only on
// proof). When the owner cannot be determined after the manifest was written, the region serves nothing, and the
// process must end.
//
// Owner: Region. Thread-safe. `mutex_` guards all state. It is the last lock of a thread: nothing is called and no disk
// is used while it is held. Row locks are taken before every mutex of the region, and never while another row lock is
// held. The log's thread calls CheckOpening.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "regionserver/region/opening_rules.h"
#include "regionserver/region/row_locks.h"
#include "regionserver/wal/server_log.h"

namespace ratchet::regionserver {

class Admission final : public LogMember {
 public:
  explicit Admission(const OpeningRules& opening) : opening_(opening) {}

  // Checks only this opening's mark; changes nothing.
  [[nodiscard]] Status CheckOpening() override;
  // Checks S21 (numbered openings) and S2 (check is positive) together, for file work and opening. A higher opening
  // drops the region.
  [[nodiscard]] Status CheckOwnership();
  // Repeats the check after the manifest was written. When the owner cannot be determined, this opening stops serving
  // and the process must end.
  [[nodiscard]] Status CheckWritten();
  // Returns OK while the region is open or closing; cheap.
  [[nodiscard]] Status CheckReadable() const;
  // S24 (visible after sync): data that was read before this call may be sent when it returns OK.
  [[nodiscard]] Status CheckServing();
  // For a mutation that is in the log: fails when the region was lost meanwhile.
  [[nodiscard]] Status CheckKept() const;

  // Admits one more mutation in flight, or returns why not.
  [[nodiscard]] Status Admit();
  void Discharge();  // ends one mutation in flight
  [[nodiscard]] Result<std::shared_ptr<RowLocks::Held>> LockRows(const std::set<std::string>& rows) {
    return row_locks_->Acquire(rows, opening_.params.settings->row_lock_wait);
  }

  // The steps of an opening and of a close, in this order.
  [[nodiscard]] Status BeginServing();  // kFenced: the region was lost while it was opening
  // Refuses new mutations, and waits for those in flight. May be called again after a close that failed before its
  // record.
  [[nodiscard]] Status Drain();
  [[nodiscard]] Status EndReads();    // before the record CLOSED is written
  void AllowReadsAgain();             // the record CLOSED was not written, so the region may be closed again
  [[nodiscard]] Status EndServing();  // the close has passed its last check
  [[nodiscard]] bool reads_ended() const;
  // The record CLOSED may be durable, but the close failed: this opening never serves again.
  void FailAfterClosed(const Error& error);

  void Lose(const Error& error);  // a higher opening exists
  void Abandon();                 // like Lose, without a call of OpenParams::lost

 private:
  enum class State : std::uint8_t { kOpening, kOpen, kClosing, kClosed };
  [[nodiscard]] Status NotServing() const REQUIRES(mutex_);
  [[nodiscard]] bool IsLostOrUnsure() const REQUIRES(mutex_) { return lost_ || unsure_; }
  // Returns false when the region was lost before.
  bool MarkLost();

  const OpeningRules& opening_;
  const std::shared_ptr<RowLocks> row_locks_ = std::make_shared<RowLocks>(opening_.order);

  mutable Mutex mutex_;
  CondVar drained_;
  std::uint64_t in_flight_ GUARDED_BY(mutex_) = 0;
  State state_ GUARDED_BY(mutex_) = State::kOpening;
  bool lost_ GUARDED_BY(mutex_) = false;
  bool unsure_ GUARDED_BY(mutex_) = false;  // see OpenParams::unsure
};

}  // namespace ratchet::regionserver
