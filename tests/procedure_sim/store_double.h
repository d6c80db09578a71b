// What the simulation needs of a store: a disk that outlives masters, commits that are completed by hand, and power
// failures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/prng.h"
#include "procedure/store/procedure_store.h"

namespace ratchet::sim {

// Where a master died. Each counts only with work in flight and a full reload afterwards.
enum class CrashPhase : std::uint8_t {
  kBeforeWrite,  // commits are in flight, nothing of them was written
  kWritten,      // they are written, not synced: any part of them may survive
  kSynced,       // they are durable, no caller was told
  kPublished,    // the oldest was completed and its continuation has run, the rest is lost
  kLoading,      // a new master dies between its claim and its first step
  kUndoing,      // one of the first four, while some tree is half undone
};
inline constexpr std::array<const char*, 6> kCrashPhaseNames = {"before write", "written", "synced",
                                                                "published",    "loading", "undoing"};

// One master's store. Single-threaded.
class StoreDouble : public procedure::ProcedureStore {
 public:
  // Completes the oldest commit, or a group; false when none is in flight.
  virtual bool Pump() = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  // The master's machine dies in that phase (one of the first four; kPublished: after a Pump). Nothing is completed any
  // more.
  virtual void PowerFailure(CrashPhase phase, Prng& prng) = 0;
  // The next Claim dies on its way, after `operations` operations of the disk, if it has that many.
  virtual void DieInClaim(std::uint64_t /*operations*/) {}
  // Not empty: something that must never reach a store.
  [[nodiscard]] virtual const std::string& violation() const = 0;
};

// The disk.
class Medium {
 public:
  virtual ~Medium() = default;
  // The store of one more master; the one before must have lost its power.
  [[nodiscard]] virtual std::unique_ptr<StoreDouble> Open() = 0;
  // An independent copy of what is on it now, to reload from.
  [[nodiscard]] virtual std::unique_ptr<Medium> Copy() const = 0;
  // Such a copy with one file of the store damaged: cut, a byte flipped, its beginning zeros. Null: there are no files.
  // `what`: says what was done.
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
// The real store (procedure/store) on a disk double that forgets what was not synced.
[[nodiscard]] std::unique_ptr<Medium> MakeWalMedium();

}  // namespace ratchet::sim
