// The events of procedures, in order, for readers outside. Pure.
//
// A ring buffer of the newest entries: writing never waits for a reader. A reader asks for the entries after the last
// one that it has; the answer to a slow reader contains how many entries it has missed. The stream belongs to one
// executor object; a new one starts at 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/strong_id.h"

namespace ratchet::procedure {

enum class ActivityKind : std::uint8_t {
  kSubmitted,   // a root is durable
  kSpawned,     // a child is durable
  kStep,        // a step's outcome is durable; detail: the outcome
  kSuspended,   // it waits for an event, a report or a time-out
  kRetry,       // a step will run again; detail: why
  kFailed,      // its tree will be undone; detail: why
  kUndone,      // a step was undone
  kUndoFailed,  // an undo will be tried again; detail: why
  kParked,      // an operator must act; detail: why
  kVerb,        // an operator's verb is durable; detail: verb, operator, reason
  kPaused,      // detail: scope, operator, reason
  kResumed,
  kEnded,  // detail: "success", or the error
};
[[nodiscard]] std::string_view ActivityName(ActivityKind kind);

struct Activity {
  std::uint64_t sequence = 0;
  std::int64_t at_ms = 0;  // wall clock, for humans
  ActivityKind kind = ActivityKind::kSubmitted;
  ProcId pid;  // invalid: concerns no single procedure
  ProcId root;
  std::string type;
  std::string step;
  std::string detail;
};

struct ActivityBatch {
  std::vector<Activity> events;
  std::uint64_t lost = 0;  // entries after the requested number that are gone
  std::uint64_t last = 0;  // the newest number
};

// Type and step names live as long as the program (they are in step tables), so an entry allocates nothing unless it
// has a detail.
struct ActivityEntry {
  std::int64_t at_ms = 0;
  ActivityKind kind = ActivityKind::kSubmitted;
  ProcId pid;
  ProcId root;
  std::string_view type;
  std::string_view step;
  std::string detail;
};

class ActivityStream {
 public:
  // 0: keeps no entries.
  explicit ActivityStream(std::size_t capacity) : ring_(capacity) {}

  void Add(ActivityEntry entry) {
    ++last_;
    if (!ring_.empty()) ring_[last_ % ring_.size()] = std::move(entry);
  }
  // Returns the oldest `limit` entries after number `after`.
  [[nodiscard]] ActivityBatch After(std::uint64_t after, std::size_t limit) const {
    ActivityBatch batch;
    batch.last = last_;
    after = std::min(after, last_);
    const std::uint64_t oldest = last_ > ring_.size() ? last_ - ring_.size() + 1 : 1;
    const std::uint64_t first = std::max(after + 1, oldest);
    batch.lost = first - after - 1;
    for (std::uint64_t n = first; n <= last_ && batch.events.size() < limit; ++n) {
      const ActivityEntry& entry = ring_[n % ring_.size()];
      batch.events.push_back({n, entry.at_ms, entry.kind, entry.pid, entry.root, std::string(entry.type),
                              std::string(entry.step), entry.detail});
    }
    return batch;
  }
  [[nodiscard]] bool enabled() const { return !ring_.empty(); }

 private:
  std::vector<ActivityEntry> ring_;
  std::uint64_t last_ = 0;
};

}  // namespace ratchet::procedure
