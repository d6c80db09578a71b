// The registers in use, and the operations on each. Pure apart from its mutex.
//
// Every register is used for a bounded number of operations and then replaced by a new one in the same region. So
// histories stay small, the check stays fast, and over time every region gets many keys. Half of all operations go to
// one hot register at a time, so that clients conflict.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "chaos/history/operation.h"
#include "chaos/workloads/register_client.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

// A register that no worker uses.
struct FinishedRegister {
  RegisterName name;
  History history;
  bool has_unknown = false;  // a change of unknown outcome may still happen
};

// Thread-safe.
class RegisterPool {
 public:
  static constexpr int kOperations = 80;  // operations of one register
  static constexpr int kMostUnknown = 3;  // with more, it is retired early: each may double the check's work

  // Makes two registers per region, one of text and one of numbers.
  explicit RegisterPool(int regions);

  struct Ticket {
    std::uint64_t id = 0;
    RegisterName name;
    Value recent;  // the last value that a worker read or wrote; for conditions that may be true
  };
  [[nodiscard]] Ticket Begin(Prng& prng);
  // Adds the operation to the register's history, and the further effects that it may have: operations of unknown
  // outcome.
  void End(const Ticket& ticket, Operation operation, History perhaps = {});

  // Returns registers that have finished since the last call.
  [[nodiscard]] std::vector<FinishedRegister> CollectFinished();
  // Returns all remaining registers; no operation may be in progress.
  [[nodiscard]] std::vector<FinishedRegister> CollectAll();

 private:
  struct Register {
    FinishedRegister content;
    int started = 0;
    int under_way = 0;
    int unknown = 0;
    bool retired = false;
    Value recent;
  };
  [[nodiscard]] std::uint64_t NewRegister(std::size_t slot) REQUIRES(mutex_);

  const int regions_;
  mutable Mutex mutex_;
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  std::uint64_t begun_ GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> slots_ GUARDED_BY(mutex_);        // ids; slot = 2 * region + (1 for numbers)
  std::vector<std::uint64_t> generations_ GUARDED_BY(mutex_);  // of each slot
  std::map<std::uint64_t, Register> registers_ GUARDED_BY(mutex_);
  std::vector<FinishedRegister> finished_ GUARDED_BY(mutex_);
};

// Draws the next operation of a client on a register. `unique` is a text that no other operation has.
[[nodiscard]] Operation DrawOperation(const RegisterPool::Ticket& ticket, const std::string& unique, Prng& prng);

}  // namespace ratchet::chaos
