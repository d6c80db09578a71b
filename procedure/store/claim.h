// A claim on the procedure store: the file claim.<epoch>, created exclusively and never removed, S9 (claims are never
// removed).
//
// The owner of epoch e is the creator of claim.e, until claim.e+1 exists. No clock is involved. In a cluster's root
// each claim is made twice: in the root itself, and then in procedures/, where masters before version 0.2 look. So a
// procedures/ that was moved away or replaced hides no claim from an earlier owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "common/io/root_numbers.h"
#include "procedure/api/wal_store.h"

namespace ratchet::procedure {

// Claims the epoch after the highest one, durably, before anything older is read, S1 (check after sync). Tries the next
// epoch when another master was faster. The directory is synced, so all names that its listing shows afterwards are
// durable too.
[[nodiscard]] Result<Epoch> ClaimNextEpoch(io::Directory& directory);

// Claims an epoch in a cluster's root: it is above the claims in `root` and in `procedures`. Epochs that were claimed
// in the root only, by masters that ended in between, are filled in below it, because an owner looks only for the next
// one.
[[nodiscard]] Result<Epoch> ClaimNextEpoch(io::Directory& root, io::Directory& procedures);

// S2 (check is positive): OK means that claim.<epoch> existed and claim.<epoch + 1> did not, at some moment during the
// call. Anything else, any error, is kFenced. Thread-safe.
[[nodiscard]] Status CheckEpoch(io::Directory& directory, Epoch epoch);

// Like CheckEpoch, in the root and in the directory that is now named procedures/ (S9': claim in root and store).
[[nodiscard]] Status CheckRootEpoch(io::Directory& root, Epoch epoch);

// The facts about the procedure store that a cluster's root keeps outside of procedures/, so that an older copy of the
// store is never treated as the newest. They are the claims (S9': claim in root and store), a limit above every pid,
// S117 (pid limit), and the greatest durable sequence, S114 (no start without the past). Any thread, except Open.
class RootGuard {
 public:
  // The limit is raised by this step: a rename and a sync once per million procedures.
  static constexpr std::uint64_t kPidStep = 1ULL << 20;

  // Called before the first claim of this process. Makes <root>/numbers in a root without claims; WentBack: it is
  // missing in one that has claims.
  [[nodiscard]] static Result<std::unique_ptr<RootGuard>> Open(std::unique_ptr<io::Directory> root);

  // ClaimNextEpoch and CheckRootEpoch of this root.
  [[nodiscard]] Result<Epoch> Claim(io::Directory& procedures);
  [[nodiscard]] Status Check(Epoch epoch);

  // Called between the claim and the seal, when the store was read up to `sequence`. WentBack: the store had a greater
  // sequence before, or a table's directory has a pid above `greatest`, that of the store, and above the limit.
  [[nodiscard]] Status CheckAge(std::uint64_t sequence, ProcId greatest);
  // Called after the seal has passed its CHECK, and before the owner acts. Returns a pid that no earlier owner has
  // reached. `greatest`: the largest pid in the store.
  [[nodiscard]] Result<ProcId> Begin(Epoch epoch, std::uint64_t sequence, ProcId greatest);

  // Called before a record of this pid is written. Costs nothing up to the limit.
  [[nodiscard]] Status AllowPid(ProcId pid);
  // Records that the store is durable, and checked, up to this sequence.
  [[nodiscard]] Status Mark(std::uint64_t sequence);

 private:
  RootGuard(std::unique_ptr<io::Directory> root, std::unique_ptr<io::Directory> numbers)
      : root_(std::move(root)), numbers_(std::move(numbers)) {}

  [[nodiscard]] Status ReadNumbers();

  const std::unique_ptr<io::Directory> root_;
  const std::unique_ptr<io::Directory> numbers_;
  io::RootNumbers known_;  // the highest that was read; constant after Begin
  Epoch epoch_;
  std::atomic<std::uint64_t> pid_limit_{0};
};

}  // namespace ratchet::procedure
