// The first defence of rules S23 (epochs are a second safeguard) and S28 (conditional meta writes): the highest master
// epoch that this server has seen. Orders and writes to meta with a lower epoch are refused. Safety does not rest on
// it, but on order numbers, openings and transition numbers: a server that has just started knows no epoch, and no part
// waits for it to learn one.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"

namespace ratchet::regionserver {

class EpochGuard {
 public:
  // Admits an order or an acknowledgement from the owner of `epoch`. kStale when a higher epoch was seen; a higher one
  // is remembered.
  [[nodiscard]] Status Admit(Epoch epoch);
  [[nodiscard]] Epoch highest() const;
  // True while a caller waits for tickets that are not yet released.
  [[nodiscard]] bool waiting() const;

  // Holds a write to meta admitted under its epoch; while it lives, a higher epoch's meta work waits.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept : guard_(other.guard_), epoch_(other.epoch_) { other.guard_ = nullptr; }
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { Release(); }
    void Release();

   private:
    friend class EpochGuard;
    Ticket(EpochGuard* guard, Epoch epoch) : guard_(guard), epoch_(epoch) {}
    EpochGuard* guard_ = nullptr;
    Epoch epoch_;
  };

  // Begins meta work of the owner of `epoch`: a write, or the scan by which it loads meta. Waits (as long as one group
  // commit takes) until every admitted write of a lower epoch has been released, so that what the new owner reads and
  // writes comes after all of them. kStale when a higher epoch has been seen. The ticket must not be released by a
  // thread that waits here.
  [[nodiscard]] Result<Ticket> EnterMetaWork(Epoch epoch);

 private:
  void Leave(Epoch epoch);

  mutable Mutex mutex_;
  CondVar left_;
  Epoch highest_ GUARDED_BY(mutex_);
  int waiting_ GUARDED_BY(mutex_) = 0;
  std::map<Epoch, std::uint64_t> admitted_ GUARDED_BY(mutex_);  // meta work in progress, by epoch
};

}  // namespace ratchet::regionserver
