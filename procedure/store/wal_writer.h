// The only writer of an owner's segments: seals the older ones, then writes groups of commits as frames.
//
// A frame is one write, one sync, one CHECK, S1 (check after sync), however many commits it carries. Used by one thread
// at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "procedure/api/store.h"
#include "procedure/store/format.h"
#include "procedure/store/reader.h"
#include "procedure/store/tracker.h"

namespace ratchet::procedure {

// A commit on its way through the queue to the writer.
struct PendingCommit {
  StoreBatch batch;
  CommitDone done;
  std::uint64_t sequence = 0;
  std::optional<Error> refused;  // set by the writer: nothing of the batch was written
};

// Zero-filled files kept ready: the next segment, and a reserve so that claiming and finishing work on a full disk, S6
// (failed sync ends the process).
//
// A spare is filled under another name, synced, and only then renamed to a spare. It is taken into use by a rename.
// If a claimer and the owner that it deposed want the same spare, one of the two does not find the name and never opens
// the file. Threads: Refill from one background thread, the rest from the writer.
class SpareSegments {
 public:
  struct Options {
    std::uint64_t bytes = 0;  // size of each spare
    std::size_t count = 0;    // how many to keep; 0: none are made or used
  };
  struct Taken {
    std::unique_ptr<io::WritableFile> file;
    std::uint64_t capacity = 0;  // zero-filled bytes
  };

  SpareSegments(io::Directory& directory, Options options) : directory_(directory), options_(options) {}

  // Remembers the spares that exist (also an earlier owner's). `epoch`: used in the names of later ones.
  Status Adopt(Epoch epoch);

  // Renames a spare to the segment's name and opens it; nullopt when there is none. The caller syncs the directory.
  Result<std::optional<Taken>> Take(SegmentId as);

  // Makes one missing spare, in small synced pieces so that commits are not delayed; true when it made one. Gives up
  // between pieces when `stop` is set. kNoSpace is remembered, see low_on_space.
  Result<bool> Refill(const std::atomic<bool>& stop);

  [[nodiscard]] std::size_t available() const;
  // The last attempt to make a spare found the disk full.
  [[nodiscard]] bool low_on_space() const { return low_on_space_.load(std::memory_order_relaxed); }

 private:
  Status Fill(const std::string& name, const std::atomic<bool>& stop);

  io::Directory& directory_;
  const Options options_;
  Epoch epoch_;
  std::uint64_t next_number_ = 1;
  std::atomic<bool> low_on_space_{false};
  mutable Mutex mutex_;
  std::set<SegmentId> spares_ GUARDED_BY(mutex_);
};

// A request to the background thread: the oldest segment, whose live records it must rewrite.
struct RewriteRequest {
  SegmentId id;
  std::uint64_t length = 0;
  Roaring64Map pids;
};
// The newest record of each requested pid within the segment.
[[nodiscard]] Result<std::vector<ProcedureUpsert>> ReadStragglers(io::Directory& directory,
                                                                  const RewriteRequest& request);

class WalWriter {
 public:
  struct Options {
    std::uint64_t segment_bytes = 0;  // roll when this much was written
    Millis segment_age{0};            // or when the first record is this old
    std::size_t max_segments =
        0;  // above it the oldest segment's live records are rewritten (see ConsumeRewriteRequest)
    std::uint64_t rewrite_bytes = 0;  // maximum size of the rewritten records in one frame
    std::string owner;
  };
  enum class Outcome : std::uint8_t {
    kWritten,  // durable and checked; the refused ones are marked
    kNoSpace,  // no byte was written: try again later
    kFenced,   // the outcome of the group is unknown
    kDead,     // a sync failed and a test's handler replaced the exit: complete nothing
  };

  // `check`: whether this process still owns the store, S2 (check is positive).
  WalWriter(io::Directory& directory, const Clock& clock, SpareSegments& spares, Options options,
            std::function<Status()> check);

  // Begins the first segment of `epoch`: seal, copies of the head's live records, sync, CHECK (S7: seal before acting;
  // S8: act only on durable records).
  Status Seal(Epoch epoch, const StoreContents& contents);

  Outcome Write(std::span<PendingCommit> group);

  // Work without a commit: stragglers to rewrite, a low-water record to write.
  [[nodiscard]] bool HasOwnWork() const;
  std::optional<RewriteRequest> ConsumeRewriteRequest();
  void AddStragglers(std::vector<ProcedureUpsert> stragglers);

  // Segments below it are not needed: their low-water record is durable and checked, S10 (low-water record before
  // removal).
  [[nodiscard]] SegmentId durable_low_water() const { return durable_low_water_; }
  // Everything up to this sequence is durable and checked.
  [[nodiscard]] std::uint64_t checked_sequence() const { return checked_sequence_; }
  [[nodiscard]] const Tracker& tracker() const { return tracker_; }
  [[nodiscard]] const Error& fence_reason() const { return *fence_reason_; }
  [[nodiscard]] const StoreMetrics& counters() const { return counters_; }

  // Writes the summary of the open segment, if there is room: nothing is lost without it.
  void Close();

 private:
  struct NewSegment {
    std::unique_ptr<io::WritableFile> file;
    std::uint64_t capacity = 0;
  };
  Result<NewSegment> MakeSegment(SegmentId id);
  void UseSegment(SegmentId id, NewSegment made);
  Outcome RollIfDue(std::uint64_t bytes);
  Outcome Roll();
  Outcome LeaveForGood(const Error& why);
  bool MakeRoom(std::uint64_t bytes);
  bool EncodeSummary();
  std::uint64_t EncodeGroup(FrameBuilder& frame, std::span<PendingCommit> group);
  void EncodeBatch(FrameBuilder& frame, const PendingCommit& commit);
  std::uint64_t EncodeOwnWork(FrameBuilder& frame);
  void EncodeStart(FrameBuilder& frame, const StoreContents* sealed);
  std::uint64_t EncodeCopies(FrameBuilder& frame, const StoreContents& contents);
  Outcome SyncAndCheck();
  bool SyncOrDie();

  io::Directory& directory_;
  const Clock& clock_;
  SpareSegments& spares_;
  const Options options_;
  const std::function<Status()> check_;

  Epoch epoch_;
  Tracker tracker_;
  std::unique_ptr<io::RecordWriter> log_;
  std::uint64_t capacity_ = 0;  // of the open segment: bytes that need no more space
  TimePoint began_{};
  bool needs_start_ = true;  // the open segment has no start yet
  ProcId max_pid_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t checked_sequence_ = 0;
  std::deque<ProcedureUpsert> stragglers_;  // of the oldest segment, read and waiting to be rewritten
  bool rewrite_requested_ = false;
  SegmentId durable_low_water_;
  std::optional<Error> fence_reason_;
  StoreMetrics counters_;
};

}  // namespace ratchet::procedure
