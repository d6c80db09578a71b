// Tracks which segment holds the newest record of each pid and key: decides when a segment is no longer needed and what
// must be rewritten.
//
// Belongs to the writer thread. Also checks versions, S11 (one commit per pid), since it knows the newest one of every
// pid.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <roaring/roaring64map.hh>

#include "common/base/result.h"
#include "procedure/api/store.h"
#include "procedure/store/format.h"
#include "procedure/store/pid_table.h"
#include "procedure/store/reader.h"

namespace ratchet::procedure {

class Tracker {
 public:
  struct Segment {
    ChainEntry entry;   // length and last sequence once it is closed
    Roaring64Map live;  // pids whose newest record is here
    std::uint64_t live_system = 0;
    std::uint64_t upserts = 0;
    std::uint64_t deletes = 0;
    Roaring64Map touched;  // pids with any record here, for the summary
  };

  // Starts a segment; later records are tracked in it.
  void Begin(SegmentId id);
  // Takes over the records that a claimer read, as older segments, before the first Begin. Records in the head are left
  // to the caller, which copies them (S8: act only on durable records), unless `with_head`.
  void Load(const StoreContents& contents, bool with_head);

  // OK, or kStale with the reason: then no part of the batch may be written.
  [[nodiscard]] Status Judge(const StoreBatch& batch);

  void Upsert(ProcId pid, std::uint64_t version, std::uint64_t bytes);
  void Delete(ProcId pid);
  void PutSystem(const std::string& key, const std::string& value);
  void DeleteSystem(const std::string& key);
  void CloseNewest(std::uint64_t length, std::uint64_t last_sequence);

  // Forgets the oldest segments without live records (never the newest); true when there were any.
  bool DropDeadSegments();
  [[nodiscard]] const Segment& oldest() const { return segments_.front(); }
  [[nodiscard]] const Segment& newest() const { return segments_.back(); }
  [[nodiscard]] std::vector<ChainEntry> Chain() const;  // without the newest
  [[nodiscard]] std::size_t segment_count() const { return segments_.size(); }
  [[nodiscard]] std::size_t live_count() const { return pids_.size(); }
  // The size of the newest records of all pids in a segment.
  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  // True if the newest record of `pid` has this version and is in the oldest segment.
  [[nodiscard]] bool IsStraggler(ProcId pid, std::uint64_t version) const;
  // A system record whose newest version is in the oldest segment, if any.
  [[nodiscard]] std::optional<SystemPut> StragglingSystemRecord() const;
  [[nodiscard]] std::string NewestSummaryPids() const;

 private:
  struct System {
    std::string value;
    std::uint32_t place = 0;
  };
  Segment& At(std::uint32_t place) { return segments_[place - first_place_]; }
  [[nodiscard]] std::uint32_t NewestPlace() const {
    return first_place_ + static_cast<std::uint32_t>(segments_.size()) - 1;
  }

  std::deque<Segment> segments_;
  std::uint32_t first_place_ = 0;  // places number segments and are never reused
  PidTable pids_;                  // version, place, bytes
  std::uint64_t live_bytes_ = 0;
  std::map<std::string, System, std::less<>> system_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace ratchet::procedure
