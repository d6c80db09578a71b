// ClusterFiles: the master's operations on files outside its procedure store.
//
// Owner: the master's shell implements it over io::Disk; simulations in memory. Threads: any. Methods without a
// callback block for a bounded number of file operations of ONE directory and are idempotent: steps run more than once.
// Every path that is created, renamed or removed contains an identity that is never reused (rule S31: names are never
// reused); for a step, ActOnFiles (procedures/core/act_on_files.h) makes the ownership CHECK before each call.
// Everything that another process must see is synced, directory entries included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"
#include "master/env/orders.h"

namespace ratchet::master {

// "<namespace>/<table>.<creating pid>", below <root>/data. Meta's is "hbase/meta.1", made by InitMeta.
[[nodiscard]] std::string TableDirectoryName(const TableName& table, ProcId creator);
// Returns the procedure in such a name; invalid for another name.
[[nodiscard]] ProcId CreatorOf(const std::string& table_directory);

// A descriptor and its number: the descriptor with the higher number is newer (S48: schema pinned in the order).
struct StoredDescriptor {
  std::uint64_t number = 0;
  TableDescriptor descriptor;
};

// Files that are complete at the target after a copy of a snapshot's regions, copied now or before.
struct CopiedFiles {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// One server's directory below <root>/wals.
struct LogDirectory {
  ServerName server;
  bool fenced = false;  // has the mark: its name ends in "-splitting", or it has the file FENCED
};

// The empty file with which an operator allows the removal of a table's directory (S115: missing row is not evidence).
inline constexpr std::string_view kDropByHand = "dropped.1";

class ClusterFiles {
 public:
  virtual ~ClusterFiles() = default;

  // Makes data/<directory>/desc.<descriptor_id> and one directory per region, also if some of it exists. Refuses
  // (kFailedPrecondition) a descriptor of this number with other content. A new directory may be removed until
  // MarkKept.
  virtual Status CreateTableLayout(const std::string& directory, ProcId descriptor_id,
                                   const TableDescriptor& descriptor,
                                   const std::vector<std::string>& encoded_regions) = 0;

  // S115 (missing row is not evidence; master/storage/drop_marks.h): records durably in a table's directory that the
  // directory may be removed. Returns Ok also if the directory does not exist. Call before the first row of the table
  // is removed.
  virtual Status MarkDropped(const std::string& directory, ProcId pid) = 0;
  // Records durably that the directory stays. `pid`: the procedure that made the directory; if invalid, only existing
  // marks are overridden. Call before the last row of the table is written.
  virtual Status MarkKept(const std::string& directory, ProcId pid) = 0;
  // Returns true if a mark allows the removal of the directory, or the directory is empty. kNotFound: it does not
  // exist.
  virtual Result<bool> MayGo(const std::string& directory) = 0;

  // Moves the whole directory to archive/<epoch>/data/<directory>; Ok if it is already gone. This is the first stage of
  // the cleaner (S32: two-stage cleaner) and deletes nothing. kFailedPrecondition: no mark allows it (S115).
  virtual Status ArchiveTableLayout(const std::string& directory, Epoch epoch) = 0;

  // The descriptor with the highest number, or the one with `number`. kNotFound when the directory or the file is
  // missing.
  virtual Result<StoredDescriptor> ReadDescriptor(const std::string& directory,
                                                  std::optional<std::uint64_t> number = std::nullopt) = 0;

  // Makes data/<directory>/desc.<number>.<writer>, also if some of it exists; the directory must exist (kNotFound). A
  // descriptor file is never replaced. Refuses (kFailedPrecondition) a file of this name with other content.
  virtual Status WriteDescriptor(const std::string& directory, std::uint64_t number, ProcId writer,
                                 const TableDescriptor& descriptor) = 0;

  // Lists the directories of all tables, in the form that ReadDescriptor takes. Skips other names.
  virtual Result<std::vector<std::string>> ListTableDirectories() = 0;

  // Lists the encoded names of the regions with a directory in the table's directory. kNotFound if the latter is
  // missing.
  virtual Result<std::vector<std::string>> ListRegionDirectories(const std::string& table_directory) = 0;

  // Makes one directory per region in a table's directory, also if some exist.
  virtual Status MakeRegionDirectories(const std::string& table_directory,
                                       const std::vector<std::string>& encoded_regions) = 0;

  // Moves a region's directory to archive/<epoch>/regions/<table_directory>; nothing to do when it is gone already.
  virtual Status ArchiveRegion(const std::string& table_directory, const std::string& encoded, Epoch epoch) = 0;

  // Moves a region's directory to quarantine/data/<table_directory>/<encoded>.<mark>, which the cleaner never touches.
  // Returns its current path below the root; empty if it is at neither place. `mark` must be unique.
  virtual Result<std::string> QuarantineRegion(const std::string& table_directory, const std::string& encoded,
                                               const std::string& mark) = 0;

  // S116 (missing directory is not evidence): lists the regions whose edits are in quarantine/edits, because their
  // directory was missing when a log was split, with the number of files of each.
  virtual Result<std::map<std::string, std::size_t>> ListKeptEdits() { return std::map<std::string, std::size_t>(); }

  // ---- Snapshots. `snapshot`: its directory below <root>/snapshots, "<name>.<creating pid>", which is never reused.
  // Makes it, and one directory per region in it, also if some of it exists.
  virtual Status CreateSnapshotLayout(const std::string& snapshot, const std::vector<std::string>& encoded_regions) = 0;
  // Makes or atomically replaces a file in it, with a checksum. kNotFound: the directory does not exist.
  virtual Status PutSnapshotFile(const std::string& snapshot, const std::string& name, const std::string& content) = 0;
  // kNotFound: the file does not exist. kCorruption: checksum mismatch.
  virtual Result<std::string> ReadSnapshotFile(const std::string& snapshot, const std::string& name) = 0;
  // Lists all snapshots, finished or not.
  virtual Result<std::vector<std::string>> ListSnapshots() = 0;
  // Moves it to archive/<epoch>/snapshots; nothing to do when it is gone already.
  virtual Status ArchiveSnapshot(const std::string& snapshot, Epoch epoch) = 0;

  // ---- Exports: a snapshot in a directory outside of the root. `place`: its absolute path. Copies regions of a
  // complete snapshot there, with the lengths and checksums of their files; complete files there are kept. Works in the
  // background, because it copies whole files, and calls `done` once, on any thread. kNotFound: the snapshot is gone.
  virtual void ExportRegions(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                             const std::string& place, std::function<void(Result<CopiedFiles>)> done) = 0;
  // Copies regions from an export into a snapshot's layout. kCorruption: a file differs from its state at the export.
  virtual void ImportRegions(const std::string& place, const std::vector<std::string>& encoded_regions,
                             const std::string& snapshot, std::function<void(Result<CopiedFiles>)> done) = 0;
  // Like PutSnapshotFile; makes the directory if it is missing.
  virtual Status PutExportFile(const std::string& place, const std::string& name, const std::string& content) = 0;
  virtual Result<std::string> ReadExportFile(const std::string& place, const std::string& name) = 0;

  // Lists the log directories of all servers, fenced or not. Skips and logs directories with other names.
  virtual Result<std::vector<LogDirectory>> ListLogDirectories() = 0;

  // S3 (durable fence mark): ALIVE -> FENCED, sync, rename to "-splitting", sync the parent; also if some of it is
  // done. After Ok, no later acknowledgement of the server depends on a log of this directory. The result is Ok too if
  // the directory was retired. kNotFound: the directory does not exist, so nothing is fenced (S119: made logs are
  // required). Before the mark, the storage must give up the server's storage client, which may take its time-out
  // (S102: evict before fencing): works in the background and calls `done` once, on any thread, perhaps before it
  // returns. `urgent`: see SealLogs.
  virtual void FenceLogs(const ServerName& server, bool urgent, std::function<void(Status)> done) = 0;

  // Lists, syncs (file and directory) and measures every log of a fenced server (S3, S26: split up to the seal). Works
  // in the background, because it reads whole files, and calls `done` once, on any thread. kFailedPrecondition: the
  // server is not fenced. kNotFound: no directory exists, and none was retired. A log that was made and no longer
  // exists is sealed as missing (S119). If the server carried hbase:meta, everything waits for this, and the call is
  // `urgent`.
  virtual void SealLogs(const ServerName& server, LogOwner owner,
                        std::function<void(Result<std::vector<SealedLog>>)> done) = 0;

  // Moves the fenced directory to archive/<epoch>/wals/<server>-splitting: its logs are split, their edits published.
  // First releases the space after the sealed ends. Ok if it is already gone.
  virtual Status RetireLogs(const ServerName& server, const std::vector<SealedLog>& sealed, Epoch epoch) = 0;

  // Like RetireLogs, for logs that are still being replicated: moves them to oldWALs/<server>.
  virtual Status KeepLogs(const ServerName& server, const std::vector<SealedLog>& sealed) = 0;
  // Moves oldWALs/<server> to archive/<epoch>/oldWALs/<server>; nothing to do when it is gone already.
  virtual Status ArchiveKeptLogs(const ServerName& server, Epoch epoch) = 0;
};

}  // namespace ratchet::master
