// The log of a region server: group commit into files of its fenced directory.
//
// One writer thread gathers what has come in since its last sync, appends it, syncs once, CHECKs once (the fence, and
// for each region touched that no higher opening exists), and then publishes and answers in order (S1: check after
// sync; S21: numbered openings; S24: visible after sync). A failed sync ends the process (S6: failed sync ends the
// process). Two logs share one directory: "log.%010d" for ordinary regions, "meta.%010d" for hbase:meta. Files are
// rolled through the directory handle; a file's name is durable before the first answer from it (S4: directory made
// once). The server never deletes a log file: it records on the storage which files are covered by manifests, and the
// master's cleaner removes them (S32: two-stage cleaner).
//
// Owner: the region server. Outlives all regions. Threads: all methods from any thread; callbacks on the log's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/latency.h"
#include "common/base/result.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// The log's view of a region. Lives as long as an append of the region is pending.
class LogMember {
 public:
  virtual ~LogMember() = default;
  // Returns kFenced, and only this, when a higher opening of the region exists (S21). Any other error: ownership cannot
  // be determined (S50: give up only on proof). Called after the sync and before the answer.
  [[nodiscard]] virtual Status CheckOpening() = 0;

 private:
  friend class ServerLog;
  std::uint64_t newest_refused_ = 0;  // newest sequence that was not written; used on the log's thread only
};

struct ServerLogOptions {
  std::string prefix = "log";                     // "log" or "meta"
  std::uint64_t roll_bytes = 32ULL << 20;         // a file is closed at the first batch end beyond it
  std::uint64_t max_pending_bytes = 64ULL << 20;  // see WaitForRoom
  // A larger entry is refused and not written. The limit is that of the file format, and no setting reaches it.
  std::uint64_t max_entry_bytes = io::kMaxRecordLength - (1U << 20);
  bool prepare_next = true;  // zero-fill the next file on a second thread; false: make the file when it is needed
  // Called once, on the log's thread, when a CHECK found the fence: the process must end.
  std::function<void(const Error&)> fenced;
  // Called once, on the log's thread, when a region's CheckOpening could not determine whether the opening is still
  // valid. The log then has durable entries that can neither be acknowledged nor removed, so the process must end and
  // its log be split (S50).
  std::function<void(const Error&)> unsure;
};

class ServerLog {
 public:
  // `directory` outlives the log. Creates the first file, durably.
  [[nodiscard]] static Result<std::unique_ptr<ServerLog>> Open(io::FencedDirectory& directory,
                                                               ServerLogOptions options);
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  // Queues an entry. Entries of one region are written in the order of these calls. `done` gets OK when the entry is
  // durable and CHECKed; entries complete in order. kFenced: a higher opening of this region exists. kAborted: the log
  // has ended, by its fence or because a CHECK gave no answer, and the process must end; the outcome is unknown to the
  // client. kNoSpace: the disk is full, nothing was written, later appends may succeed. kResourceExhausted: the entry
  // is above max_entry_bytes, nothing was written. After a failed sync no entry is completed (the process has ended).
  // Never waits. Returns false when the log has ended; `done` will not be called.
  //
  // `computed_from`: the oldest sequence of the region from which the entry was computed before it was readable; 0:
  // none. If the log refuses an entry of the region from there on, it refuses this one too (S126: same fate as its
  // source), with kUnavailable.
  [[nodiscard]] bool Append(const LogEntry& entry, std::shared_ptr<LogMember> member, std::function<void(Status)> done,
                            std::uint64_t computed_from = 0);
  // Like Append for an answer that was computed from such entries and logs nothing: `done` is called in its turn.
  [[nodiscard]] bool Follow(std::shared_ptr<LogMember> member, std::function<void(Status)> done,
                            std::uint64_t computed_from);

  // Waits while more than max_pending_bytes is queued. Must not be called on the log's thread, and should not be called
  // under row locks.
  void WaitForRoom();

  // S2 (check is positive): checks the fence now. kAborted when the log has ended for another reason; its entries can
  // then only be recovered by a split.
  [[nodiscard]] Status Check() const;
  // True if Check makes a round trip to the storage, S101 (cached names need a proof).
  [[nodiscard]] bool CheckMakesRoundTrip() const;
  // Closes the current file after what is queued and begins the next one. Waits for it.
  [[nodiscard]] Status Roll();

  // S32: everything of `region` at or below `sequence` is in a manifest that is durable and has passed its CHECK since.
  // A later opening starts from that manifest, so it does not need these entries. Never called for a region whose
  // opening was lost, because the log must keep its entries.
  void Covered(const std::string& region, std::uint64_t sequence);
  // Records on the storage up to which file the closed files are covered (common/io/unneeded_files.h), and forgets
  // these files. File work: a creation or a rename, no sync.
  void MarkCovered();
  // Files with this number and above are not marked as covered, even if manifests cover them, because replication still
  // needs them. 0: no file is marked. The limit never falls below a marked file.
  void KeepFrom(std::uint64_t number);

  struct FileInfo {
    std::string name;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    bool closed = false;
    std::map<std::string, std::uint64_t>
        owed;                    // region -> last sequence in this file, while no manifest is known to cover it
    std::size_t owed_count = 0;  // for Files(): the number of regions; `owed` has the first of them
  };
  // Returns the files that are not marked as covered, oldest first, for the choice of regions to flush. `most_owed`:
  // how many entries of `owed` are copied for each file; there is one for each region that was written to.
  [[nodiscard]] std::vector<FileInfo> Files(std::size_t most_owed = SIZE_MAX) const;

  struct Metrics {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t syncs = 0;
    std::uint64_t rolls = 0;
    LatencySnapshot sync_time{};  // duration of each sync
  };
  [[nodiscard]] Metrics GetMetrics() const;

  // Completes what is queued, ends the threads, gives back unused space and marks what is covered, the last file
  // included. Later appends fail with kAborted.
  void Stop();

 private:
  struct Impl;
  explicit ServerLog(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::regionserver
