// The parts that exist only while this process is the active master: the claimed store, the executor, the logic, and
// its interfaces (dispatcher, hbase:meta, files). Built when elected.
//
// Life: construct -> Activate (blocks until the workers run) -> ... -> Stop -> destroy. Activate runs on main's thread.
// `on_end` may be called from any thread, more than once: the process must then end without further changes (a deposed
// master is harmless).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/rpc/channel_pool.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/chores/chore.h"
#include "master/process/master_config.h"
#include "master/process/owner_note.h"
#include "master/rpc/master_gate.h"
#include "master/startup/activation.h"
#include "procedure/api/procedure_listener.h"

namespace ratchet::master {

class TraceFile;

class ActiveMaster {
 public:
  struct Deps {
    const MasterConfig& config;
    io::Disk& disk;
    zk::ZkSession& session;
    zk::ZkPaths paths;
    rpc::ChannelPool& channels;
    Clock& clock;
    Timers& timers;
    MasterGate& gate;
    std::function<void(int exit_code, const std::string& why)> on_end;
    std::function<void()> look_soon;  // schedules CheckOwner on a thread that may wait for the storage
    std::shared_ptr<procedure::ProcedureListener> listener{};  // gets all procedures; may be null
    TraceFile* trace = nullptr;                                // may be null
  };
  explicit ActiveMaster(Deps deps);
  ~ActiveMaster();
  ActiveMaster(const ActiveMaster&) = delete;
  ActiveMaster& operator=(const ActiveMaster&) = delete;

  // Runs start-up steps 1 to 5, then begins step 6, which ends asynchronously (MasterGate::Ready).
  [[nodiscard]] Status Activate();
  // When it returns, no step runs, no message is sent, and the store is closed.
  void Stop();

  // Ends a master that was paused until after its successor's claim, if no other check found this before. May wait for
  // the storage.
  void CheckOwner();
  // Rewrites <root>/cluster.id if it is lost, and reports if it is wrong. Waits for the storage.
  void KeepClusterId();
  // Periodic task: expires servers that ZooKeeper no longer lists. Runs on the session's thread.
  void CompareWithLiveServers();
  [[nodiscard]] std::vector<ServerName> OnlineServers() const;
  // Call when the whole cluster is being stopped: regions are then not moved off leaving servers (S73: orderly stop).
  void LetServersLeave();
  [[nodiscard]] std::optional<ServerName> MetaLocation() const;

 private:
  struct Parts;
  [[nodiscard]] Status MakeParts();
  [[nodiscard]] Evict Eviction() const;
  [[nodiscard]] bool NotesClients() const;
  // Returns the names in the root; empty if no client is noted.
  [[nodiscard]] Result<std::vector<std::string>> EvictEarlierOwner(io::Directory& root);
  void ConnectParts();
  void LoadMeta();
  [[nodiscard]] Status RunStep(ActivationStep step, const std::function<Status()>& run);
  [[nodiscard]] std::string AfterStep(ActivationStep step);
  void FailOn(const Error& error, const std::string& where);
  // CompareWithLiveServers, which does nothing once this master stops.
  [[nodiscard]] std::function<void()> LiveServersComparison();
  void StartChores();
  [[nodiscard]] std::vector<Chore> Chores();
  // Compares memory with hbase:meta; the next comparison waits longer, the longer this one takes.
  void CompareWithMeta();

  const Deps deps_;
  std::unique_ptr<io::Directory> root_;  // for the notes of storage clients; null until the store is claimed
  std::optional<io::StorageClient> own_client_;
  std::shared_ptr<Parts> parts_;  // periodic tasks hold it weakly
};

}  // namespace ratchet::master
