// Counts the regions that were assigned, unassigned, moved and reopened, and the time that took. HBase counts each of
// the four; one procedure type (TransitRegionState) does all of them.
//
// The process has one instance, because the hooks of a procedure have no environment. It counts from the start of the
// process.
// Thread-safe, without locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/latency.h"

namespace ratchet::master {

enum class TransitionKind : std::uint8_t { kAssign, kUnassign, kMove, kReopen };
inline constexpr std::array<std::string_view, 4> kTransitionKindNames{"assign", "unassign", "move", "reopen"};

class TransitionCounts {
 public:
  struct View {
    std::uint64_t submitted = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    LatencySnapshot took;  // from the submission to the end
  };

  static TransitionCounts& OfProcess() {
    static TransitionCounts counts;
    return counts;
  }

  void Submitted(TransitionKind kind) { Of(kind).submitted.fetch_add(1, std::memory_order_relaxed); }
  void Finished(TransitionKind kind, bool success, Millis took) {
    Entry& entry = Of(kind);
    (success ? entry.succeeded : entry.failed).fetch_add(1, std::memory_order_relaxed);
    entry.took.Note(took);
  }
  [[nodiscard]] View Look(TransitionKind kind) const {
    const Entry& entry = entries_[static_cast<std::size_t>(kind)];
    return {entry.submitted.load(std::memory_order_relaxed), entry.succeeded.load(std::memory_order_relaxed),
            entry.failed.load(std::memory_order_relaxed), entry.took.Look()};
  }

 private:
  struct Entry {
    std::atomic<std::uint64_t> submitted{0};
    std::atomic<std::uint64_t> succeeded{0};
    std::atomic<std::uint64_t> failed{0};
    Latency took;
  };
  Entry& Of(TransitionKind kind) { return entries_[static_cast<std::size_t>(kind)]; }

  std::array<Entry, kTransitionKindNames.size()> entries_;
};

}  // namespace ratchet::master
