// Shared state of the driver and a preloaded process: one mapped file for each process. It survives the process's
// restarts.
#pragma once

#include <atomic>
#include <cstdint>

namespace ratchet::chaos {

inline constexpr std::uint64_t kShimMagic = 0x314D494853544152;  // "RATSHIM1"
// The environment variable that names the file.
inline constexpr const char* kShimVariable = "RATCHET_SHIM";

struct ShimControl {
  std::uint64_t magic;
  // Orders to the process; 0: normal behaviour.
  std::atomic<std::int32_t> sync_errno;     // every sync fails with this error
  std::atomic<std::int32_t> sync_delay_ms;  // every sync takes this much longer
  std::atomic<std::int32_t> read_errno;     // reading and opening files: one call in `one_in` fails with this error
  // listing directories and looking up names: one call in `one_in` fails with this error
  std::atomic<std::int32_t> list_errno;
  std::atomic<std::int32_t> list_delay_ms;     // listing and look-ups: each call takes this much longer
  std::atomic<std::int32_t> one_in;            // 0 and 1: every call
  std::atomic<std::int32_t> descriptor_errno;  // whatever would make a descriptor fails with it: one call in `one_in`
  std::atomic<std::int32_t> write_errno;       // every change of a file or folder fails with it
  std::atomic<std::int32_t> create_errno;      // every creation of a file or folder fails with it
  std::atomic<std::int32_t> lookup_error;      // look-ups of host names answer it (EAI_AGAIN)
  std::atomic<std::int32_t> nth_errno;         // of the n-th call: what it fails with; 0: the process ends there
  std::atomic<std::int64_t> nth_call;          // counts calls of files down; acts when it comes to 0
  std::atomic<std::int64_t> clock_offset_ns;
  std::atomic<std::int64_t> drift_ppm;       // the wall clock gains this number of us per second ...
  std::atomic<std::int64_t> drift_since_ns;  // ... since this time of CLOCK_MONOTONIC
  // Counters of the effects.
  std::atomic<std::uint64_t> syncs;
  std::atomic<std::uint64_t> syncs_failed;
  std::atomic<std::uint64_t> syncs_delayed;
  std::atomic<std::uint64_t> reads_failed;
  std::atomic<std::uint64_t> lists_failed;
  std::atomic<std::uint64_t> descriptors_refused;
  std::atomic<std::uint64_t> writes_refused;
  std::atomic<std::uint64_t> creations_refused;
  std::atomic<std::uint64_t> lookups_failed;
  std::atomic<std::uint64_t> nth_acted;
  std::atomic<std::uint64_t> calls;  // that might have failed: which of them is the n-th
  std::atomic<std::uint64_t> clock_reads_changed;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

}  // namespace ratchet::chaos
