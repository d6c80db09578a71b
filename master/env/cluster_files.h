// ClusterFiles: what the master does to files outside its procedure store.
//
// Owner: the master's shell implements it over io::Disk; simulations in memory. Threads: any. Methods without a
// callback block for a bounded number of file operations of ONE directory and are idempotent: steps run more than once.
// Every path that is created, renamed or removed contains an identity that never comes back (rule S31); the calling
// step runs StepContext::CheckOwner() before each call, so implementations do not.
// Everything that another process must see is synced, directory entries included.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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
// The procedure in such a name; invalid: it is no such name.
[[nodiscard]] ProcId CreatorOf(const std::string& table_directory);

// A descriptor and its number: the higher one of two is the newer one (S48).
struct StoredDescriptor {
  std::uint64_t number = 0;
  TableDescriptor descriptor;
};

// What a copy of a snapshot's regions has found in its place at its end, whether it had to copy it or not.
struct CopiedFiles {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// One server's directory below <root>/wals.
struct LogDirectory {
  ServerName server;
  bool fenced = false;  // carries the mark (its name ends in "-splitting", or FENCED is there)
};

class ClusterFiles {
 public:
  virtual ~ClusterFiles() = default;

  // Makes data/<directory>/desc.<descriptor_id> and one directory per region, whatever part of it is already there.
  // Refuses (kFailedPrecondition) a descriptor of this number with other content.
  virtual Status CreateTableLayout(const std::string& directory, ProcId descriptor_id,
                                   const TableDescriptor& descriptor,
                                   const std::vector<std::string>& encoded_regions) = 0;

  // Moves the whole directory to archive/<epoch>/data/<directory>; nothing to do when it is gone already. The first
  // stage of the cleaner (S32): nothing is deleted here.
  virtual Status ArchiveTableLayout(const std::string& directory, Epoch epoch) = 0;

  // The descriptor with the highest number, or the one with `number`. kNotFound when the directory or the file is
  // missing.
  virtual Result<StoredDescriptor> ReadDescriptor(const std::string& directory,
                                                  std::optional<std::uint64_t> number = std::nullopt) = 0;

  // Makes data/<directory>/desc.<number>.<writer>, whatever part of it is already there; the directory must be there
  // (kNotFound). Nothing replaces a descriptor file. Refuses (kFailedPrecondition) one of this name with other content.
  virtual Status WriteDescriptor(const std::string& directory, std::uint64_t number, ProcId writer,
                                 const TableDescriptor& descriptor) = 0;

  // All tables' directories, as ReadDescriptor takes them. Names that are no table's are skipped.
  virtual Result<std::vector<std::string>> ListTableDirectories() = 0;

  // The encoded names of the regions that have a directory in a table's. kNotFound when the table's own is missing.
  virtual Result<std::vector<std::string>> ListRegionDirectories(const std::string& table_directory) = 0;

  // Makes one directory per region in a table's, whichever are already there.
  virtual Status MakeRegionDirectories(const std::string& table_directory,
                                       const std::vector<std::string>& encoded_regions) = 0;

  // Moves a region's directory to archive/<epoch>/regions/<table_directory>; nothing to do when it is gone already.
  virtual Status ArchiveRegion(const std::string& table_directory, const std::string& encoded, Epoch epoch) = 0;

  // Moves a region's directory to quarantine/data/<table_directory>/<encoded>.<mark>, where no cleaner comes. Where it
  // is now, below the root; empty when it is at neither place. `mark` never comes back.
  virtual Result<std::string> QuarantineRegion(const std::string& table_directory, const std::string& encoded,
                                               const std::string& mark) = 0;

  // ---- Snapshots. `snapshot`: its directory below <root>/snapshots, "<name>.<creating pid>", which never comes back.
  // Makes it, and one directory per region in it, whatever part of it is already there.
  virtual Status CreateSnapshotLayout(const std::string& snapshot, const std::vector<std::string>& encoded_regions) = 0;
  // Makes a file in it, or replaces it: wholly or not at all, with a checksum. kNotFound: the directory is not there.
  virtual Status PutSnapshotFile(const std::string& snapshot, const std::string& name, const std::string& content) = 0;
  // kNotFound: there is no such file. kCorruption: a byte is wrong.
  virtual Result<std::string> ReadSnapshotFile(const std::string& snapshot, const std::string& name) = 0;
  // All of them, finished or not.
  virtual Result<std::vector<std::string>> ListSnapshots() = 0;
  // Moves it to archive/<epoch>/snapshots; nothing to do when it is gone already.
  virtual Status ArchiveSnapshot(const std::string& snapshot, Epoch epoch) = 0;

  // ---- Exports: a snapshot in a directory outside of the root. `place`: its absolute path.
  // Copies regions of a complete snapshot there, with the lengths and checksums of their files; what is there whole
  // stays. Reads and writes whole files: works in the background and calls `done` once, on any thread. kNotFound: the
  // snapshot is gone.
  virtual void ExportRegions(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                             const std::string& place, std::function<void(Result<CopiedFiles>)> done) = 0;
  // The other way round, into a snapshot's layout. kCorruption: a file is not what it was when it was exported.
  virtual void ImportRegions(const std::string& place, const std::vector<std::string>& encoded_regions,
                             const std::string& snapshot, std::function<void(Result<CopiedFiles>)> done) = 0;
  // As those of a snapshot; the directory is made where it is missing.
  virtual Status PutExportFile(const std::string& place, const std::string& name, const std::string& content) = 0;
  virtual Result<std::string> ReadExportFile(const std::string& place, const std::string& name) = 0;

  // All servers' log directories, fenced or not. Directories with names that are no server's are skipped and logged.
  virtual Result<std::vector<LogDirectory>> ListLogDirectories() = 0;

  // S3 MARK: ALIVE -> FENCED, sync, rename to "-splitting", sync the parent; also when it finds any part done. After Ok
  // nothing that the server acknowledges depends on a log of this directory any more. A server without a directory
  // (it never logged, or its logs were retired) is Ok too: SealLogs then finds nothing. Before the mark the storage
  // must have given up the server's storage client, which may take its time-out (S102): works in the background and
  // calls `done` once, on any thread, perhaps before it returns. `urgent` as below.
  virtual void FenceLogs(const ServerName& server, bool urgent, std::function<void(Status)> done) = 0;

  // Lists, syncs (file and directory) and measures every log of a fenced server (S3, S26). Reads whole files: works in
  // the background and calls `done` once, on any thread. kFailedPrecondition when the server is not fenced; kCorruption
  // names a file that is damaged elsewhere than at its tail. `urgent`: the server carried hbase:meta, for which
  // everything waits.
  virtual void SealLogs(const ServerName& server, bool urgent,
                        std::function<void(Result<std::vector<SealedLog>>)> done) = 0;

  // Moves the fenced directory to archive/<epoch>/wals/<server>-splitting: its logs are split, their edits published.
  // Space behind the ends that were sealed is given back before. Gone already: Ok.
  virtual Status RetireLogs(const ServerName& server, const std::vector<SealedLog>& sealed, Epoch epoch) = 0;

  // The same for logs that are shipped to peers yet: to oldWALs/<server>.
  virtual Status KeepLogs(const ServerName& server, const std::vector<SealedLog>& sealed) = 0;
  // Moves oldWALs/<server> to archive/<epoch>/oldWALs/<server>; nothing to do when it is gone already.
  virtual Status ArchiveKeptLogs(const ServerName& server, Epoch epoch) = 0;
};

}  // namespace ratchet::master
