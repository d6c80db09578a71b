// The content of shared storage, as the master's logic sees it: table directories, servers' logs with their fences, and
// for each region the flushed value, the value recovered by splits, and the highest manifest.
//
// A region's data is one number that grows with each acknowledged write. `acknowledged` is the truth that only the
// checker knows: an opening of the region must find it. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/model/server_name.h"
#include "common/model/table_descriptor.h"
#include "master/env/cluster_files.h"

namespace ratchet::sim {

struct RegionData {
  std::uint64_t flushed = 0;
  std::uint64_t compactions = 0;
  bool damaged = false;     // a store file is damaged: the region is not compacted
  bool unopenable = false;  // every server refuses to open it
  std::uint64_t refused_compactions = 0;
  std::uint64_t recovered = 0;
  std::uint64_t open_number = 0;  // highest manifest.<open_number>, openings and builds
  std::uint64_t served = 0;       // the highest opening
  bool closed = false;            // the highest one that has a state ends with CLOSED (S35: proof of a clean close)
  std::uint64_t built = 0;        // the build that made it (S38: no empty opening over data)
};

struct ServerLogs {
  bool fenced = false;
  bool sealed = false;
  std::string unreadable;                      // why no log can be sealed; empty: logs can be sealed
  bool meta = false;                           // has a log of hbase:meta
  bool directory_lost = false;                 // moved away by hand, with all logs
  bool log_lost = false;                       // one log file was moved away by hand
  bool log_accepted = false;                   // an operator continues without it
  bool unindexed = false;                      // it is unknown which regions its logs name
  std::size_t user_logs = 1;                   // files that the edits are spread over
  std::map<std::string, std::uint64_t> edits;  // encoded region -> greatest value in its log
};

struct TableFiles {
  std::map<std::uint64_t, TableDescriptor> descriptors;
  std::set<std::string> regions;
  std::vector<std::string> marks;    // S115 (missing row is not evidence)
  bool descriptor_withheld = false;  // the storage refuses to read it now
  bool descriptor_damaged = false;   // reading it is an error
};

struct SnapshotFiles {
  std::set<std::string> regions;
  std::map<std::string, std::string> files;                               // by name
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> copies;  // (region, number) -> value
};

struct Storage {
  // a test has put an older copy of something in place (S118: older copy stays closed)
  bool went_back = false;
  std::map<std::string, TableFiles> tables;  // live directories
  std::set<std::string> archived;            // directories, and "wals/<server>"
  std::set<std::string> quarantined;         // "<table's directory>/<region>.<mark>"
  std::map<std::string, SnapshotFiles> snapshots;
  std::map<std::string, SnapshotFiles> exports;  // by place
  int failing_copies = 0;                        // number of the next copies of a snapshot's regions that fail
  std::map<ServerName, ServerLogs> logs;         // not retired
  std::map<std::string, RegionData> regions;
  std::set<std::string> damaged;  // regions that no server can open
  std::map<std::string, std::uint64_t> acknowledged;
  std::map<std::string, std::vector<std::string>> parents;  // of a region that a build has made
  std::vector<std::string> violations;                      // errors found by a checker; must stay empty
  Status next_layout_error = Ok();                          // answered once by CreateTableLayout
  std::function<void()> on_create_layout;                   // called once, by the next CreateTableLayout
  std::function<void()> on_list_logs;                       // called once, before ListLogDirectories looks
};

class SimFiles final : public master::ClusterFiles {
 public:
  // `point` is called when each member is entered.
  SimFiles(Storage& storage, Timers& timers, std::function<void()> point)
      : storage_(storage), timers_(timers), point_(std::move(point)) {}
  Status CreateTableLayout(const std::string& directory, ProcId descriptor_id, const TableDescriptor& descriptor,
                           const std::vector<std::string>& encoded_regions) override;
  Status MarkDropped(const std::string& directory, ProcId pid) override;
  Status MarkKept(const std::string& directory, ProcId pid) override;
  Result<bool> MayGo(const std::string& directory) override;
  Status ArchiveTableLayout(const std::string& directory, Epoch epoch) override;
  Status ArchiveRegion(const std::string& table_directory, const std::string& encoded, Epoch epoch) override;
  Result<master::StoredDescriptor> ReadDescriptor(const std::string& directory,
                                                  std::optional<std::uint64_t> number = std::nullopt) override;
  Status WriteDescriptor(const std::string& directory, std::uint64_t number, ProcId writer,
                         const TableDescriptor& descriptor) override;
  Result<std::vector<std::string>> ListTableDirectories() override;
  Result<std::vector<std::string>> ListRegionDirectories(const std::string& table_directory) override;
  Status MakeRegionDirectories(const std::string& table_directory,
                               const std::vector<std::string>& encoded_regions) override;
  Result<std::string> QuarantineRegion(const std::string& table_directory, const std::string& encoded,
                                       const std::string& mark) override;
  Status CreateSnapshotLayout(const std::string& snapshot, const std::vector<std::string>& encoded_regions) override;
  Status PutSnapshotFile(const std::string& snapshot, const std::string& name, const std::string& content) override;
  Result<std::string> ReadSnapshotFile(const std::string& snapshot, const std::string& name) override;
  Result<std::vector<std::string>> ListSnapshots() override;
  Status ArchiveSnapshot(const std::string& snapshot, Epoch epoch) override;
  void ExportRegions(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                     const std::string& place, std::function<void(Result<master::CopiedFiles>)> done) override;
  void ImportRegions(const std::string& place, const std::vector<std::string>& encoded_regions,
                     const std::string& snapshot, std::function<void(Result<master::CopiedFiles>)> done) override;
  Status PutExportFile(const std::string& place, const std::string& name, const std::string& content) override;
  Result<std::string> ReadExportFile(const std::string& place, const std::string& name) override;
  Result<std::vector<master::LogDirectory>> ListLogDirectories() override;
  void FenceLogs(const ServerName& server, bool urgent, std::function<void(Status)> done) override;
  void SealLogs(const ServerName& server, master::LogOwner owner,
                std::function<void(Result<std::vector<master::SealedLog>>)> done) override;
  Status RetireLogs(const ServerName& server, const std::vector<master::SealedLog>& sealed, Epoch epoch) override;
  Status KeepLogs(const ServerName& server, const std::vector<master::SealedLog>& sealed) override;
  Status ArchiveKeptLogs(const ServerName& server, Epoch epoch) override;

 private:
  void CopyRegions(const SnapshotFiles* from, SnapshotFiles* to, const std::vector<std::string>& encoded_regions,
                   std::function<void(Result<master::CopiedFiles>)> done);

  Storage& storage_;
  Timers& timers_;
  const std::function<void()> point_;
};

[[nodiscard]] std::string UserLogName(std::size_t index);
// Which of a server's logs has a region's edits.
[[nodiscard]] std::size_t UserLogOf(const ServerLogs& logs, const std::string& encoded);
inline constexpr const char* kMetaLog = "meta.0000000001";

}  // namespace ratchet::sim
