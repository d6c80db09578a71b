// What the driver and a preloaded process share: a mapped file, one a process. It survives the process's restarts.
#pragma once

#include <atomic>
#include <cstdint>

namespace ratchet::chaos {

inline constexpr std::uint64_t kShimMagic = 0x314D494853544152;  // "RATSHIM1"
// The environment variable that names the file.
inline constexpr const char* kShimVariable = "RATCHET_SHIM";

struct ShimControl {
  std::uint64_t magic;
  // Orders to the process; 0: behave.
  std::atomic<std::int32_t> sync_errno;        // every sync fails with it
  std::atomic<std::int32_t> sync_delay_ms;     // every sync takes so much longer
  std::atomic<std::int32_t> read_errno;        // of reading and opening files: one call in `one_in` fails with it
  std::atomic<std::int32_t> list_errno;        // of listing directories and looking for names: one call in `one_in`
  std::atomic<std::int32_t> list_delay_ms;     // of the same: each call takes so much longer
  std::atomic<std::int32_t> one_in;            // 0 and 1: every call
  std::atomic<std::int32_t> descriptor_errno;  // whatever would make a descriptor fails with it: one call in `one_in`
  std::atomic<std::int64_t> clock_offset_ns;
  std::atomic<std::int64_t> drift_ppm;       // the wall clock gains so many us a second ...
  std::atomic<std::int64_t> drift_since_ns;  // ... since then, CLOCK_MONOTONIC
  // What it did.
  std::atomic<std::uint64_t> syncs;
  std::atomic<std::uint64_t> syncs_failed;
  std::atomic<std::uint64_t> syncs_delayed;
  std::atomic<std::uint64_t> reads_failed;
  std::atomic<std::uint64_t> lists_failed;
  std::atomic<std::uint64_t> descriptors_refused;
  std::atomic<std::uint64_t> calls;  // that might have failed: which of them is the n-th
  std::atomic<std::uint64_t> clock_reads_changed;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

}  // namespace ratchet::chaos
