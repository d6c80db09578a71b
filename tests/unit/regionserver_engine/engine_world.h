// A small world for tests of the data engine: shared storage on the disk double, servers that log and open one region
// there, power failures, and what the master does around them (fence, seal, split, the next opening).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/io/fenced_directory.h"
#include "regionserver/region/region.h"
#include "regionserver/wal/log_splitter.h"
#include "regionserver/wal/server_log.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {

// Short forms of mutations, all on family "f" by default.
AtomicMutation Put(const std::string& row, const std::string& qualifier, const std::string& value,
                   std::int64_t timestamp = kLatestTimestamp);
AtomicMutation Delete(const std::string& row, const std::string& qualifier, CellType type,
                      std::int64_t timestamp = kLatestTimestamp);
AtomicMutation DeleteRow(const std::string& row, std::int64_t timestamp = kLatestTimestamp);
AtomicMutation Increment(const std::string& row, const std::string& qualifier, std::int64_t amount, Nonce nonce = {});
AtomicMutation Append(const std::string& row, const std::string& qualifier, const std::string& more, Nonce nonce = {});

// One process: its view of the disk, its log, its opening of the region.
struct Server {
  ~Server();
  std::string name;
  std::unique_ptr<io::SimDisk::Process> process;
  std::unique_ptr<io::FencedDirectory> fenced;
  std::unique_ptr<ServerLog> log;
  std::shared_ptr<Region> region;
};

// The opening that the first entry of the server's logs names as its predecessor (S113: serial order of openings);
// empty when the entry is not an opening's mark.
std::vector<QueuePoint> FirstComesAfter(Server& server);

class EngineWorld {
 public:
  EngineWorld();
  ~EngineWorld();

  // Makes the region's directory and /wals, as the master does.
  Status Format();
  Result<std::unique_ptr<Server>> Start(const std::string& name, io::SimHook hook = {});
  Status OpenRegion(Server& server, std::uint64_t open_number);
  // This world's region is hbase:meta: formatted, and open at a server "a,1,1".
  Result<std::unique_ptr<Server>> ServeMeta();
  Result<std::shared_ptr<Region>> OpenRegionIn(Server& server, std::uint64_t open_number,
                                               std::shared_ptr<io::Directory> dir);

  // Waits for the answer; returns nullopt if the process died or the answer never came.
  std::optional<Result<MutationResult>> Mutate(Region& region, AtomicMutation mutation);
  std::vector<Result<MutationResult>> MutateBatch(Region& region, std::vector<AtomicMutation> mutations);
  // The newest value, "" when there is none. With the CHECK that a reply needs.
  Result<std::string> Read(Region& region, const std::string& row, const std::string& qualifier);
  Result<std::vector<Cell>> ScanAll(Region& region, ScanSpec spec = {}, std::uint32_t rows_a_chunk = 3);

  // The master's actions for a dead server: fence, sync and seal each log, split it.
  struct Seal {
    std::string file;
    std::uint64_t length = 0;
    std::uint32_t crc = 0;
    std::uint64_t last_sequence = 0;
  };
  Result<std::vector<Seal>> FenceAndSeal(const std::string& server);
  Result<SplitReport> Split(io::Disk& splitter, const std::string& server, const Seal& seal, std::uint64_t attempt);
  Status Recover(const std::string& server);  // both, until it is done
  // Both stages of the master's cleaner at once (S32: two-stage cleaner): removes the files that the owners call
  // unneeded. Logs of `server`, unless it is fenced, and files of the region. Returns the number of removed files.
  Result<std::size_t> Clean(const std::string& server);
  // The region's directory as it is now.
  std::vector<std::string> RegionFiles();

  [[nodiscard]] bool died() const;
  void ForgetDeath();

  io::SimDisk disk;
  ManualTime time;
  RegionInfo info;
  TableDescriptor table;
  RegionSettings settings;
  bool opened_before = false;       // as in the master's order
  std::uint64_t build_number = 0;   // likewise
  std::uint64_t schema_number = 0;  // likewise
  ServerLogOptions log_options;
  std::function<void(const Error&)> lost;
  std::function<void(const Error&)> unsure;
  OnDamagedFile damaged;

 private:
  std::unique_ptr<io::SimDisk::Process> master_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool died_ GUARDED_BY(mutex_) = false;
  std::uint64_t attempts_ = 0;
};

}  // namespace ratchet::regionserver
