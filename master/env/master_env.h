// MasterEnv: everything that a master procedure may touch, handed to steps by StepContext::env<MasterEnv>().
//
// Owned by MasterLogic (master/control/master_logic.h); the four outside interfaces by the shell. All members outlive
// the executor. Thread-safe: each part guards itself.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/mutant.h"
#include "common/base/strong_id.h"

namespace ratchet::procedure {
class Executor;
}

namespace ratchet::master {

class ClusterFiles;
class LiveServers;
class MetaTable;
class SystemTable;
class RegionServers;

class NamespaceDirectory;
class PeerDirectory;
class Placement;
class RegionDirectory;
class ServerDirectory;
class SnapshotBook;
class SplitWorkers;
class Switches;
class TableDirectory;
class UndoWrites;
struct MasterOptions;

struct MasterEnv {
  // Outside.
  MetaTable& meta;
  RegionServers& region_servers;
  ClusterFiles& files;
  LiveServers& live_servers;
  const Clock& clock;
  // Inside.
  RegionDirectory& regions;
  ServerDirectory& servers;
  TableDirectory& tables;
  Placement& placement;
  SplitWorkers& split_workers;
  UndoWrites& undo_writes;
  SnapshotBook& snapshots;
  NamespaceDirectory& namespaces;
  PeerDirectory& peers;
  Switches& switches;
  const MasterOptions& options;
  procedure::Executor* executor = nullptr;  // set once, before Recover
  // hbase:meta has been read into memory once in this activation; woken as MetaLoadedEvent().
  std::atomic<bool> meta_loaded{false};
  // Set by the shell before the activation: runs what may wait for the storage for long on a thread that no order, no
  // report and no answer needs (S88). False: too much waits for that thread, or it has ended. Empty: at once, here.
  std::function<bool(std::function<void()> work)> slow_work;
  // Set by the shell before requests are admitted: has the cleaner run once, soon, and calls `done` when that run has
  // ended, on its thread; with false when the master stops before. False at once: too many wait for the cleaner.
  std::function<bool(std::function<void(bool ran)> done)> run_cleaner;
  // Set by the shell before the activation; null: no quotas are kept.
  SystemTable* quota_table = nullptr;
  // Likewise, of hbase:namespace; null: the table is not kept.
  SystemTable* namespace_table = nullptr;
  [[nodiscard]] bool RunSlowWork(std::function<void()> work) const {
    if (slow_work && !RATCHET_MUTANT("master.slow_work_at_once")) return slow_work(std::move(work));
    work();
    return true;
  }
};

}  // namespace ratchet::master
