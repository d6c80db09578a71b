// ClusterFiles over io::Disk: the layout below <root> (docs/architecture.md, section 1), every change durable when a
// method returns, every change preceded by the ownership CHECK (rule S31: names are never reused), every method
// repeatable at any point.
//
// Threads: thread-safe; methods work on their own handles. SealLogs uses separate threads, "log-sealer-0", ...
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/thread_pool.h"
#include "common/io/disk.h"
#include "common/io/root_history.h"
#include "common/io/storage_client.h"
#include "master/env/cluster_files.h"
#include "master/storage/drop_marks.h"

namespace ratchet::master {

inline constexpr const char* kWalsFolder = "wals";
inline constexpr const char* kKeptWalsFolder = "oldWALs";  // logs that are still being replicated
inline constexpr const char* kDataFolder = "data";
inline constexpr const char* kArchiveFolder = "archive";
inline constexpr const char* kRetiredFilesFolder =
    "files";  // in archive/<epoch>: single files, by their path below <root>
// In archive/<epoch>: regions of tables that stay, by their path below <root>/data. Separate from whole tables, so that
// the table's directory can be moved later without a name conflict.
inline constexpr const char* kRetiredRegionsFolder = "regions";
inline constexpr const char* kSnapshotsFolder = "snapshots";
inline constexpr const char* kQuarantineFolder = "quarantine";
// in quarantine: of regions without a directory (S116: missing directory is not evidence)
inline constexpr const char* kKeptEditsFolder = "edits";
inline constexpr const char* kProceduresFolder = io::kProceduresFolder;

class PosixClusterFiles final : public ClusterFiles {
 public:
  // Makes missing folders. They are durable after the next sync of the root, which a master's claim does, S9' (claim in
  // root and store). `check`: CheckOwner of this master; must stay callable until the destructor.
  static Result<std::unique_ptr<PosixClusterFiles>> Open(io::Disk& disk, const std::string& root,
                                                         std::function<Status()> check);
  ~PosixClusterFiles() override;

  Status CreateTableLayout(const std::string& directory, ProcId descriptor_id, const TableDescriptor& descriptor,
                           const std::vector<std::string>& encoded_regions) override;
  Status MarkDropped(const std::string& directory, ProcId pid) override;
  Status MarkKept(const std::string& directory, ProcId pid) override;
  Result<bool> MayGo(const std::string& directory) override;
  Status ArchiveTableLayout(const std::string& directory, Epoch epoch) override;
  Status ArchiveRegion(const std::string& table_directory, const std::string& encoded, Epoch epoch) override;
  Result<StoredDescriptor> ReadDescriptor(const std::string& directory,
                                          std::optional<std::uint64_t> number = std::nullopt) override;
  Status WriteDescriptor(const std::string& directory, std::uint64_t number, ProcId writer,
                         const TableDescriptor& descriptor) override;
  Result<std::vector<std::string>> ListTableDirectories() override;
  Result<std::vector<std::string>> ListRegionDirectories(const std::string& table_directory) override;
  Status MakeRegionDirectories(const std::string& table_directory,
                               const std::vector<std::string>& encoded_regions) override;
  Result<std::string> QuarantineRegion(const std::string& table_directory, const std::string& encoded,
                                       const std::string& mark) override;
  Result<std::map<std::string, std::size_t>> ListKeptEdits() override;
  Status CreateSnapshotLayout(const std::string& snapshot, const std::vector<std::string>& encoded_regions) override;
  Status PutSnapshotFile(const std::string& snapshot, const std::string& name, const std::string& content) override;
  Result<std::string> ReadSnapshotFile(const std::string& snapshot, const std::string& name) override;
  Result<std::vector<std::string>> ListSnapshots() override;
  Status ArchiveSnapshot(const std::string& snapshot, Epoch epoch) override;
  void ExportRegions(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                     const std::string& place, std::function<void(Result<CopiedFiles>)> done) override;
  void ImportRegions(const std::string& place, const std::vector<std::string>& encoded_regions,
                     const std::string& snapshot, std::function<void(Result<CopiedFiles>)> done) override;
  Status PutExportFile(const std::string& place, const std::string& name, const std::string& content) override;
  Result<std::string> ReadExportFile(const std::string& place, const std::string& name) override;
  Result<std::vector<LogDirectory>> ListLogDirectories() override;
  void FenceLogs(const ServerName& server, bool urgent, std::function<void(Status)> done) override;
  void SealLogs(const ServerName& server, LogOwner owner,
                std::function<void(Result<std::vector<SealedLog>>)> done) override;
  Status RetireLogs(const ServerName& server, const std::vector<SealedLog>& sealed, Epoch epoch) override;
  Status KeepLogs(const ServerName& server, const std::vector<SealedLog>& sealed) override;
  Status ArchiveKeptLogs(const ServerName& server, Epoch epoch) override;

  // Fences the logs of a server that was never recorded, and moves them to the archive, as RetireLogs does. kAborted:
  // the server `is_known` after the fence. kFailedPrecondition: its logs have entries. In both cases the logs stay,
  // fenced.
  Status RetireUnregistered(const ServerName& server, Epoch epoch, const std::function<bool()>& is_known);

  // Sets the function that makes the storage give up a client before FenceLogs marks the logs (S102: evict before
  // fencing); without it the storage's time-out applies. Call before the first fence.
  void SetEviction(std::function<Status(const io::StorageClient&)> evict) { evict_ = std::move(evict); }
  // FenceLogs and SealLogs on the calling thread.
  Status FenceLogsNow(const ServerName& server);
  Result<std::vector<SealedLog>> SealLogsNow(const ServerName& server, LogOwner owner = {});
  // ExportRegions and ImportRegions on the calling thread.
  Result<CopiedFiles> ExportRegionsNow(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                                       const std::string& place);
  Result<CopiedFiles> ImportRegionsNow(const std::string& place, const std::vector<std::string>& encoded_regions,
                                       const std::string& snapshot);
  [[nodiscard]] io::Directory& wals() { return *wals_; }
  [[nodiscard]] io::Directory& data() { return *data_; }
  [[nodiscard]] io::Directory& archive() { return *archive_; }
  // Ends copies of snapshots, waits for a running seal and drops queued ones (`done` gets kAborted).
  void Stop();

 private:
  Status AddMark(io::Directory& table, const std::string& name);
  Status Mark(const std::string& directory, const std::function<std::optional<std::string>(const DropMarks&)>& choose);
  Status EvictClientsOf(const ServerName& server);
  // S119 (made logs are required): returns true if the server's log directory is in the archive or kept for peers, so
  // its logs are completely processed.
  [[nodiscard]] Result<bool> WereRetired(const ServerName& server);
  Status PutDescriptor(io::Directory& table, const std::string& name, const TableDescriptor& descriptor);
  Status QuarantineUnsplit(io::Directory& logs, const ServerName& server, const std::vector<SealedLog>& sealed);
  Status MakeRegions(io::Directory& table, const std::vector<std::string>& encoded_regions);
  [[nodiscard]] std::function<Status()> GoesOn();  // checks that this master owns the cluster and is not stopping
  void CopyInBackground(std::function<Result<CopiedFiles>()> copy, std::function<void(Result<CopiedFiles>)> done);
  PosixClusterFiles(io::Disk& disk, std::unique_ptr<io::Directory> root, std::unique_ptr<io::Directory> wals,
                    std::unique_ptr<io::Directory> data, std::unique_ptr<io::Directory> archive,
                    std::function<Status()> check);

  io::Disk& disk_;
  const std::unique_ptr<io::Directory> root_;
  const std::unique_ptr<io::Directory> wals_;
  const std::unique_ptr<io::Directory> data_;
  const std::unique_ptr<io::Directory> archive_;
  const std::function<Status()> check_;
  std::function<Status(const io::StorageClient&)> evict_;
  std::atomic<bool> stopping_{false};
  ThreadPool sealers_;
  ThreadPool copiers_;  // copy snapshots, one after the other
};

}  // namespace ratchet::master
