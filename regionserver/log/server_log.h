// The log of a region server: group commit into files of its fenced directory.
//
// One writer thread gathers what has come in since its last sync, appends it, syncs once, CHECKs once (the fence, and
// for each region touched that no higher opening exists), and then publishes and answers in order (S1, S21, S24). A
// failed sync ends the process (S6). Two logs share one directory: "log.%010d" for ordinary regions, "meta.%010d" for
// hbase:meta. Files are rolled through the directory handle; a file's name is durable before the first answer from it
// (S4). The server never deletes a log file: it says on the storage which ones manifests cover, and the master's
// cleaner takes them (S32).
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
#include "regionserver/log/log_entry.h"

namespace ratchet::regionserver {

// What the log has to know of a region. Lives as long as an append of it is pending.
class LogMember {
 public:
  virtual ~LogMember() = default;
  // kFenced, and only this, when a higher opening of the region exists (S21). Any other error: it cannot be told (S50).
  // Called after the sync that is to be answered.
  [[nodiscard]] virtual Status CheckOpening() = 0;
};

struct ServerLogOptions {
  std::string prefix = "log";                     // or "meta"
  std::uint64_t roll_bytes = 32ULL << 20;         // a file is closed at the first batch end beyond it
  std::uint64_t max_pending_bytes = 64ULL << 20;  // see WaitForRoom
  // A larger entry is refused without being written: the file format's own limit, which no setting reaches.
  std::uint64_t max_entry_bytes = io::kMaxRecordLength - (1U << 20);
  bool prepare_next = true;  // zero-fill the next file on a second thread; false: make it when it is needed
  // Called once, on the log's thread, when a CHECK found the fence: the process must end.
  std::function<void(const Error&)> fenced;
  // Called once, on the log's thread, when a region's CheckOpening could not tell whether the opening still counts:
  // entries are durable that can neither be answered nor taken back, so the process must end and its log be split
  // (S50).
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
  // has ended and the process must, by its fence or because a CHECK could not tell; after both the outcome is unknown
  // to the client. kNoSpace: the disk is full, nothing was written, later appends may succeed. kResourceExhausted: the
  // entry is above max_entry_bytes, nothing was written. After a failed sync nothing is completed any more (the process
  // has ended). Never waits. False: the log has ended and `done` will not be called.
  [[nodiscard]] bool Append(const LogEntry& entry, std::shared_ptr<LogMember> member, std::function<void(Status)> done);

  // Waits while more than max_pending_bytes is queued. Not on the log's thread, and best without row locks.
  void WaitForRoom();

  // S2: the fence, now. kAborted when the log has ended otherwise: what it holds can only be split any more.
  [[nodiscard]] Status Check() const;
  // Closes the current file after what is queued and begins the next one. Waits for it.
  [[nodiscard]] Status Roll();

  // S32: everything of `region` at or below `sequence` is in a manifest that is durable and has passed its CHECK since.
  // A server that opens the region from now on begins with it, so no entry up to there is needed again. Never called
  // for a region whose opening was lost: its entries stay owed.
  void Covered(const std::string& region, std::uint64_t sequence);
  // Says on the storage up to where the closed files are covered (common/io/unneeded_files.h), and forgets these. File
  // work: a creation or a renaming, no sync.
  void MarkCovered();
  // Files with this number and above are not marked, though manifests cover them: something else needs them yet
  // (replication). 0: none is marked. It never falls again below what is marked.
  void KeepFrom(std::uint64_t number);

  struct FileInfo {
    std::string name;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    bool closed = false;
    std::map<std::string, std::uint64_t>
        owed;                    // region -> last sequence in here, while no manifest is known to cover it
    std::size_t owed_count = 0;  // of Files: how many there are, of which `owed` has the first
  };
  // The files that are not marked as covered, oldest first: for the choice of regions to flush. `most_owed`: how many
  // entries of `owed` are copied for each file; there is one for each region that was written to.
  [[nodiscard]] std::vector<FileInfo> Files(std::size_t most_owed = SIZE_MAX) const;

  struct Metrics {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t syncs = 0;
    std::uint64_t rolls = 0;
    LatencySnapshot sync_time{};  // of each sync
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
