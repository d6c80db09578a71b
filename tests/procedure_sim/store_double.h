// The simulated store: a disk that outlives masters, commits that the simulation completes, and power failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/prng.h"
#include "procedure/api/store.h"

namespace ratchet::sim {

// Phase in which a master died. Counted only with work in flight and a full reload afterwards.
enum class CrashPhase : std::uint8_t {
  kBeforeWrite,  // commits are in flight and not written
  kWritten,      // commits are written and not synced: any part of them may survive
  kSynced,       // commits are durable, and no caller was notified
  kPublished,    // the oldest commit was completed and its continuation has run; the rest is lost
  kLoading,      // a new master dies between its claim and its first step
  kUndoing,      // one of the first four, while a tree is partly undone
};
inline constexpr std::array<const char*, 6> kCrashPhaseNames = {"before write", "written", "synced",
                                                                "published",    "loading", "undoing"};

// One master's store. Single-threaded.
class StoreDouble : public procedure::ProcedureStore {
 public:
  // Completes the oldest commit, or a group; false when none is in flight.
  virtual bool Pump() = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  // The master's machine dies in that phase (one of the first four; kPublished: after a Pump). No commit is completed
  // afterwards.
  virtual void PowerFailure(CrashPhase phase, Prng& prng) = 0;
  // The next Claim dies after `operations` disk operations, if it has that many.
  virtual void DieInClaim(std::uint64_t /*operations*/) {}
  // A record that must never reach a store; empty if there was none.
  [[nodiscard]] virtual const std::string& violation() const = 0;
};

// The disk.
class Medium {
 public:
  virtual ~Medium() = default;
  // The store of one more master; the previous one must have had a power failure.
  [[nodiscard]] virtual std::unique_ptr<StoreDouble> Open() = 0;
  // Returns an independent copy of the current content, to reload from.
  [[nodiscard]] virtual std::unique_ptr<Medium> Copy() const = 0;
  // Returns a copy with one damaged file of the store: truncated, with a flipped byte, or with zeros at its beginning.
  // Null if there are no files. Sets `what` to a description.
  [[nodiscard]] virtual std::unique_ptr<Medium> DamagedCopy(Prng& /*prng*/, std::string& /*what*/) const {
    return nullptr;
  }
  // Forgets system records whose keys start with `prefix`, so that a long run stays small.
  virtual void ForgetSystemRecords(const std::string& /*prefix*/) {}
  // Every record, for the report of a violation.
  [[nodiscard]] virtual std::string Describe() const { return {}; }
};

// Records in memory: fast, for very many crashes.
[[nodiscard]] std::unique_ptr<Medium> MakeMemoryMedium();
// The real store (procedure/store) on a simulated disk that loses unsynced data.
[[nodiscard]] std::unique_ptr<Medium> MakeWalMedium();

}  // namespace ratchet::sim
