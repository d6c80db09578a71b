// The procedure store on shared storage, for hosts: its options, and the functions that make one.
//
// A store is a directory with a log of segments and one owner at a time (procedure/store/README.md). Its owner is the
// process that claimed it last: ProcedureStore::Claim.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/latency.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"
#include "procedure/api/store.h"

namespace ratchet::procedure {

struct WalStoreOptions {
  std::uint64_t segment_bytes = 16U << 20;  // a segment is rolled when it has grown to this
  Millis segment_age{3'600'000};            // or when it is this old
  // With more segments the oldest one's live records are rewritten; but twice the number that the live records would
  // fill is always allowed.
  std::size_t max_segments = 8;
  std::uint64_t max_frame_bytes = 2U << 20;  // about this much is gathered for one sync
  // zero-filled files kept ready: one to roll into, one as reserve, S6 (failed sync ends the process)
  std::size_t spares = 2;
  bool threads = true;
  std::string owner;  // this process's name, for humans
};

// The facts about a store that a cluster's root keeps outside of the store's own directory, so that an older copy of
// the store is never treated as the newest (procedure/store/claim.h). Opened before the store is made.
class RootGuard;
// WentBack: the root has claims, but its facts are missing. In a root without claims the facts are made.
[[nodiscard]] Result<std::shared_ptr<RootGuard>> OpenRootGuard(std::unique_ptr<io::Directory> root);

// `directory`: of the store alone. `quarantine`: where copies of damaged files go. `clock` must outlive the store.
// `guard`: of the root that `directory` belongs to; null for a store without a root.
[[nodiscard]] std::unique_ptr<ProcedureStore> MakeWalStore(std::unique_ptr<io::Directory> directory,
                                                           std::unique_ptr<io::Directory> quarantine,
                                                           const Clock& clock, WalStoreOptions options,
                                                           std::shared_ptr<RootGuard> guard = nullptr);

// The highest epoch that was claimed in a root or in a store's directory; Epoch() if there is none.
[[nodiscard]] Result<Epoch> HighestClaim(io::Directory& directory);

// The durations of the syncs of this process's procedure store. One object for the process, because it has one store at
// a time; never freed. Thread-safe.
[[nodiscard]] inline Latency& StoreSyncTimes() {
  static auto* const times = new Latency;
  return *times;
}

}  // namespace ratchet::procedure
