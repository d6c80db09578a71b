// Everything that exists only while this process is the active master: the claimed store, the executor, the logic, and
// its hands (dispatcher, hbase:meta, files). Built when elected.
//
// Life: construct -> Activate (blocks until the workers run) -> ... -> Stop -> destroy. Activate runs on main's thread;
// `on_end` may come from any thread, more than once: the process must end then, and change nothing more (a
// deposed master is harmless).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/rpc/channel_pool.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/control/activation.h"
#include "master/process/master_config.h"
#include "master/process/owner_note.h"
#include "master/service/master_gate.h"
#include "procedure/session/procedure_listener.h"

namespace ratchet::master {

// With which the process ends after an error of the store, of the activation or of a CHECK.
[[nodiscard]] int ExitCodeFor(const Error& error);

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
    std::function<void()> look_soon;                           // has CheckOwner called, where it may wait for storage
    std::shared_ptr<procedure::ProcedureListener> listener{};  // of all procedures; may be null
    TraceFile* trace = nullptr;                                // may be null
  };
  explicit ActiveMaster(Deps deps);
  ~ActiveMaster();
  ActiveMaster(const ActiveMaster&) = delete;
  ActiveMaster& operator=(const ActiveMaster&) = delete;

  // Start-up steps 1 to 5, then begins with step 6, which ends by itself (MasterGate::Ready).
  [[nodiscard]] Status Activate();
  // No step runs, nothing is sent and the store is closed when it returns.
  void Stop();

  // A master that was paused beyond its successor's claim finds out here at the latest, and leaves. May wait for
  // storage.
  void CheckOwner();
  // For the chores: expires servers that ZooKeeper no longer lists. On the session's thread.
  void CompareWithLiveServers();
  [[nodiscard]] std::vector<ServerName> OnlineServers() const;
  // The whole cluster is being stopped: no region is moved off a server that leaves (S73).
  void LetServersLeave();
  [[nodiscard]] std::optional<ServerName> MetaLocation() const;

 private:
  struct Parts;
  [[nodiscard]] Status MakeParts();
  [[nodiscard]] Evict Eviction() const;
  [[nodiscard]] bool NotesClients() const;
  // What the root holds; nothing where no client is noted.
  [[nodiscard]] Result<std::vector<std::string>> EvictEarlierOwner(io::Directory& root);
  void ConnectParts();
  void LoadMeta();
  [[nodiscard]] Status RunStep(ActivationStep step, const std::function<Status()>& run);
  [[nodiscard]] std::string AfterStep(ActivationStep step);
  void FailOn(const Error& error, const std::string& where);
  void ScheduleChore(Millis period, std::function<void()> chore);
  void StartChores();

  const Deps deps_;
  std::unique_ptr<io::Directory> root_;  // for notes of clients; null until the store is claimed
  std::optional<io::StorageClient> own_client_;
  std::shared_ptr<Parts> parts_;  // chores hold it weakly
};

}  // namespace ratchet::master
