// MasterEnv: everything that a master procedure may touch, handed to steps by StepContext::env<MasterEnv>().
//
// Owned by MasterLogic (master/startup/master_logic.h); the four outside interfaces by the shell. All members outlive
// the executor. Thread-safe: each part guards itself.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/mutant.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

class ClusterFiles;
class FileActions;
class LiveServers;
class MetaTable;
class SystemTable;
class RegionServers;

class Decommissions;
class Membership;
class NamespaceDirectory;
class PeerDirectory;
class Placement;
class RegionDirectory;
class Registrations;
class RightsBook;
class SnapshotBook;
class SplitWorkers;
class Switches;
class TableCreations;
class TableDirectory;
class UndoWrites;
struct MasterOptions;

struct MasterEnv {
  // Interfaces to the outside.
  MetaTable& meta;
  RegionServers& region_servers;
  ClusterFiles& files;
  LiveServers& live_servers;
  const Clock& clock;
  // In-memory state.
  RegionDirectory& regions;
  Membership& servers;
  Registrations& registrations;
  Decommissions& decommissions;
  TableDirectory& tables;
  Placement& placement;
  SplitWorkers& split_workers;
  UndoWrites& undo_writes;
  TableCreations& creations;
  SnapshotBook& snapshots;
  NamespaceDirectory& namespaces;
  PeerDirectory& peers;
  RightsBook& rights;
  Switches& switches;
  const MasterOptions& options;
  procedure::Executor* executor = nullptr;  // set once, before Recover
  // hbase:meta has been read into memory once in this activation; woken as MetaLoadedEvent().
  std::atomic<bool> meta_loaded{false};
  // Set by the shell before the activation. Runs work that may wait long for the storage on a thread that no order,
  // report or answer needs (S88: slow storage work on its own thread). Returns false if too much work waits for that
  // thread, or it has ended. If empty, the work runs at once on the calling thread.
  std::function<bool(std::function<void()> work)> slow_work{};
  // Set by the shell before requests are admitted: runs the cleaner once, soon, and calls `done` on its thread when
  // that run has ended, with false if the master stops before. Returns false if too many callers wait for the cleaner.
  std::function<bool(std::function<void(bool ran)> done)> run_cleaner{};
  // Set by the shell before the activation: ends this process, because the procedure store or hbase:meta is an older
  // copy (S118: older copy stays closed). May be empty.
  std::function<void(const Error&)> went_back{};
  // Set by the shell before the activation; null: the master has no quotas.
  SystemTable* quota_table = nullptr;
  // Set in the same way, for hbase:namespace; null: the master does not maintain the table.
  SystemTable* namespace_table = nullptr;
  // Set by the shell before the activation; null: steps act on files on their own thread.
  FileActions* file_actions = nullptr;
  [[nodiscard]] bool RunSlowWork(std::function<void()> work) const {
    if (slow_work && !RATCHET_MUTANT("master.slow_work_at_once")) return slow_work(std::move(work));
    work();
    return true;
  }
};

}  // namespace ratchet::master
