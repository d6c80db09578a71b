#include "master/process/master_process.h"

#include <atomic>
#include <utility>

#include <fmt/core.h>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/base/service_manager.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"
#include "common/io/storage_watch.h"
#include "common/model/name_rules.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/server.h"
#include "common/zk/cluster_place.h"
#include "common/zk/master_election.h"
#include "common/zk/session_closer.h"
#include "common/zk/session_start.h"
#include "common/zk/zk_session.h"
#include "master/files/directory_tools.h"
#include "master/page/master_page.h"
#include "master/process/active_master.h"
#include "master/process/client_znodes.h"
#include "master/process/listen_options.h"
#include "master/process/own_root.h"
#include "master/process/step_list.h"
#include "master/process/trace_file.h"
#include "master/service/load_book.h"
#include "master/service/master_services.h"

namespace ratchet::master {
namespace {
constexpr const char* kVersion = "ratchet 0.1";
constexpr Millis kConnectSlice{2'000};
constexpr Millis kStandbyPoll{1'000};
constexpr Millis kCompareTimeout{5'000};
constexpr Millis kLeaveZooKeeper{2'000};
}  // namespace

struct MasterProcess::Impl {
  Impl(MasterConfig the_config, ExitLatch& the_exit, ProcessLife the_life)
      : config(std::move(the_config)), life(std::move(the_life)), exit(the_exit) {}

  const MasterConfig config;
  const ProcessLife life;
  ExitLatch& exit;
  SystemClock clock;
  std::unique_ptr<Timers> timers = MakeThreadTimers();
  std::unique_ptr<rpc::ChannelPool> channels;
  ServerName self;
  OwnRoot root;
  std::string cluster_id;
  std::string cluster_key;
  std::unique_ptr<MasterGate> gate;
  LoadBook loads;
  std::unique_ptr<ServiceEnv> service_env;
  std::unique_ptr<rpc::RpcServer> server;
  std::unique_ptr<zk::ZkSession> session;
  std::unique_ptr<MasterPage> page;
  std::unique_ptr<TraceFile> trace;
  std::unique_ptr<zk::SessionCloser> closer;
  zk::ZkPaths paths;
  std::unique_ptr<zk::MasterElection> election;
  std::unique_ptr<ClientZnodes> znodes;
  std::unique_ptr<ActiveMaster> active;
  std::unique_ptr<io::StorageWatch> storage;

  Mutex mutex;
  CondVar changed;
  bool elected GUARDED_BY(mutex) = false;
  std::vector<ServerName> backups GUARDED_BY(mutex);
  std::optional<TimePoint> zookeeper_lost GUARDED_BY(mutex);  // since when it has not answered

  void End(int code, const std::string& why) {
    exit.Request(code, why);
    MutexLock lock(mutex);
    changed.NotifyAll();
  }

  bool FailRoot(const Error& error) {
    End(exit_code::kRootUnusable, fmt::format("--root {}: {}", config.root, error.ToString()));
    return false;
  }

  bool TakeRoot() {
    auto opened = LookAtRoot(config.root);
    if (!opened.ok()) return FailRoot(opened.error());
    root = std::move(*opened);
    return true;
  }

  // S72, before anything is claimed, fenced or registered: does this root belong to this place in ZooKeeper?
  bool TakePlace() {
    while (!exit.requested().has_value()) {
      const auto failure = TakePlaceFor(root, *session, paths, config.adopt_zookeeper);
      cluster_id = root.state.cluster_id;
      if (!failure.has_value()) return true;
      if (failure->of_root) return FailRoot(failure->error);
      if (failure->error.code() == Code::kUnavailable) {
        IgnoreResult(session->WaitConnected(kConnectSlice), "the next try decides");
        continue;
      }
      FailPlace(failure->error);
    }
    return false;
  }

  void FailPlace(const Error& error) {
    const Code code = error.code();
    End(code == Code::kFailedPrecondition ? exit_code::kWrongPlace
        : code == Code::kFenced           ? exit_code::kSessionExpired
                                          : exit_code::kZooKeeperUnreachable,
        error.message());
  }

  // S77, only once the root is known to belong to its place. `fresh`: what is written where there is no key yet.
  bool TakeKey(const std::string& fresh) {
    auto key = io::EnsureClusterKey(*root.directory, fresh);
    if (!key.ok()) return FailRoot(key.error());
    cluster_key = std::move(*key);
    return true;
  }

  bool OpenChannels() {
    rpc::ChannelPoolOptions pool;
    pool.name = "master-out";
    pool.user = "master";
    pool.cluster_key = cluster_key;
    channels = std::make_unique<rpc::ChannelPool>(std::move(pool));
    return true;
  }

  bool StartServer() {
    // One spelling everywhere: it becomes part of names.
    self = ServerName{LowerCaseHost(config.host), static_cast<std::uint16_t>(config.port),
                      static_cast<std::uint64_t>(clock.WallMillis())};
    if (const Status host = CheckHost(self.host); !host.ok()) {
      End(exit_code::kUsage, host.error().Annotate("--host").ToString());
      return false;
    }
    gate = std::make_unique<MasterGate>(self, cluster_id, kVersion, clock);
    service_env.reset(new ServiceEnv{*gate, loads, config.root, [this] { return Backups(); },
                                     [this](const std::string& why) { End(exit_code::kOk, why); },
                                     [this](const std::string& why) { StopCluster(why); }});
    service_env->timers = timers.get();
    service_env->past = life.past;
    service_env->fault_points_allowed = life.fault_points_allowed;
    service_env->zookeeper_lost = [this] { return ZooKeeperLost(); };
    service_env->own_storage_hangs = [this] { return OwnStorageHangs(); };
    service_env->remote_lock_timeout = config.remote_lock_timeout;
    service_env->clock_limits = config.clocks;
    service_env->reload = config.reload;
    service_env->oldest_server_version = config.oldest_server_version;
    rpc::ServerOptions options = ListenOptions(config, self.port, cluster_key);
    options.cluster_id = [this] { return std::optional<std::string>(cluster_id); };
    server = std::make_unique<rpc::RpcServer>(std::move(options));
    server->Add(MakeMasterService(*service_env));
    server->Add(MakeRegionServerStatusService(*service_env));
    server->Add(MakeClientMetaService(*service_env));
    server->Add(MakeHbckService(*service_env));
    server->Add(MakeLockService(*service_env));
    server->Add(MakeRatchetService(*service_env));
    server->Add(MakeMasterAdminService(*service_env));
    if (const Status started = server->Start(); !started.ok()) {
      End(exit_code::kPortTaken, started.error().ToString());
      return false;
    }
    page = std::make_unique<MasterPage>(MasterPageDeps{{config.info_host, config.info_port},
                                                       *service_env,
                                                       *server,
                                                       *session,
                                                       config.zookeeper,
                                                       config.zk_parent,
                                                       config.settings,
                                                       [] { return ListSteps(StepListFormat::kJson); }});
    RATCHET_LOG(kInfo, "Master {} of cluster {} listens, root {}", self.ToString(), cluster_id, config.root);
    TellServiceManager("READY=1\nSTATUS=listens, is not the active master");
    return true;
  }

  bool ConnectZooKeeper() {
    paths.parent = config.zk_parent;
    zk::SessionStart start({config.zookeeper, config.zk_session}, config.zk_connect_timeout, clock, exit);
    auto opened = start.Open();
    if (!opened.ok()) return FailSession(opened.error());
    session = std::move(*opened);
    closer = std::make_unique<zk::SessionCloser>(*session);
    const Status connected = start.AwaitConnected(*session);
    return connected.ok() || FailSession(connected.error());
  }
  bool FailSession(const Error& error) {
    End(zk::ExitCodeWithoutSession(error), error.ToString());  // nothing new where an end was asked for
    return false;
  }

  // A standby of another --root must not wait here: elected, it would find region servers that are not its own.
  void CompareClusters(const ServerName& other) {
    rpc::CallOptions options;
    options.timeout = kCompareTimeout;
    channels->Call(methods::kGetStatus, {other.host, other.port}, ::ratchet::pb::GetStatusRequest(), std::move(options),
                   [this, other](const auto& reply) {
                     if (!reply.ok() || !reply->message.has_cluster_id()) return;
                     const std::string& theirs = reply->message.cluster_id();
                     if (theirs == cluster_id) return;
                     End(exit_code::kWrongCluster,
                         fmt::format("the active master {} is of cluster {}, --root {} of cluster {}", other.ToString(),
                                     theirs, config.root, cluster_id));
                   });
  }

  void StandForElection() {
    session->Subscribe([this](zk::SessionState state) {
      RATCHET_LOG(kInfo, "ZooKeeper session: {}", zk::SessionStateName(state));
      {
        MutexLock lock(mutex);
        zookeeper_lost.reset();
        if (state == zk::SessionState::kConnecting) zookeeper_lost = clock.Now();
      }
      if (state == zk::SessionState::kExpired) End(exit_code::kSessionExpired, "the ZooKeeper session expired");
    });
    zk::MasterElection::Callbacks callbacks;
    callbacks.on_elected = [this] {
      MutexLock lock(mutex);
      elected = true;
      changed.NotifyAll();
    };
    callbacks.on_lost = [this](const std::string& why) { End(exit_code::kSessionExpired, "election lost: " + why); };
    callbacks.on_active_changed = [this](const std::optional<ServerName>& who) {
      RATCHET_LOG(kInfo, "Active master: {}", who.has_value() ? who->ToString() : "none");
      if (gate->role() == MasterRole::kStandby) gate->SetActiveMaster(who);
      if (who.has_value() && *who != self) CompareClusters(*who);
    };
    election = std::make_unique<zk::MasterElection>(*session, paths, zk::MasterNode{self, page->shown_port()},
                                                    std::move(callbacks));
    election->Start();
  }

  // Blocks until elected (true) or asked to end.
  bool AwaitElection() {
    MutexLock lock(mutex);
    while (!elected && !exit.requested().has_value()) changed.WaitFor(mutex, kStandbyPoll);
    return elected && !exit.requested().has_value();
  }

  // As long as this session lives, the place is the one that was compared at the start; only other clients' writes can
  // have changed it (S72).
  bool StillMyPlace() {
    while (!exit.requested().has_value()) {
      const Status kept = zk::KeepPlace(*session, paths, cluster_id, /*active=*/false);
      if (kept.ok()) return true;
      if (kept.error().code() != Code::kUnavailable) FailPlace(kept.error());
      IgnoreResult(session->WaitConnected(kConnectSlice), "the next try decides");
    }
    return false;
  }

  // A standby may have waited for years. Region servers that were started meanwhile show what the file says now; a file
  // that was lost is written again with what the running processes have.
  bool StillTheKey() {
    const std::string mine = cluster_key;
    if (!TakeKey(mine)) return false;
    if (cluster_key == mine) return true;
    End(exit_code::kRootUnusable,
        fmt::format("{}/{} has changed since this master started; start it again", config.root, io::kClusterKeyFile));
    return false;
  }

  void Activate() {
    gate->Elected();
    RATCHET_LOG(kInfo, "Elected: {}", self.ToString());
    TellServiceManager("STATUS=elected, starts up as the active master");
    if (!StillMyPlace() || !StillTheKey()) return;
    if (!config.trace_file.empty())
      trace = std::make_unique<TraceFile>(config.trace_file, cluster_id, config.trace_file_bytes);
    active = std::make_unique<ActiveMaster>(
        ActiveMaster::Deps{config, io::PosixDisk(), *session, paths, *channels, clock, *timers, *gate,
                           [this](int code, const std::string& why) { End(code, why); },
                           [this] { storage->Look(false); }, page->listener(), trace.get()});
    znodes = std::make_unique<ClientZnodes>(*session, paths);
    Refresh();
    WatchStorage();
    const Status activated = active->Activate();
    if (!activated.ok()) End(ExitCodeFor(activated.error()), "activation failed: " + activated.error().ToString());
  }

  // False: the session did not close in time. Needs no storage.
  bool LeaveZooKeeper() { return closer == nullptr || closer->Close(kLeaveZooKeeper); }

  // Nothing in what is called here waits for storage, but the look.
  void WatchStorage() {
    io::StorageWatchParts parts;
    parts.look = [this] { active->CheckOwner(); };
    parts.permitted = [this](Millis age) {
      if (Backups().empty()) return false;
      // While it activates, no server reports to it. A standby has shown its storage at its own start: this one, come
      // again, cannot be a standby before its storage answers, so that no two masters hand the office to and fro.
      if (gate->role() == MasterRole::kActivating) return true;
      const TimePoint now = clock.Now();
      return service_env->storage.AnswersSince(now - age, now);
    };
    parts.leave = [this] { static_cast<void>(LeaveZooKeeper()); };  // what is left of the session goes with the process
    parts.end = [this](const std::string& why) { End(exit_code::kStorageHangs, why); };
    parts.last_resort = [this](const std::string& why) {
      if (life.end_at_once) life.end_at_once({exit_code::kStorageHangs, why});
    };
    io::StorageWatchOptions options;
    options.limit = config.sync_timeout;
    storage = std::make_unique<io::StorageWatch>(clock, io::SyncWatch::OfProcess(), options, std::move(parts));
  }

  std::optional<Millis> ZooKeeperLost() {
    MutexLock lock(mutex);
    if (!zookeeper_lost.has_value()) return std::nullopt;
    return std::chrono::duration_cast<Millis>(clock.Now() - *zookeeper_lost);
  }

  std::optional<Millis> OwnStorageHangs() const {
    const auto oldest = io::SyncWatch::OfProcess().OldestUnfinished();
    return oldest.has_value() && *oldest >= kStorageProblem ? oldest : std::nullopt;
  }

  // Every second, on the session's thread: which other masters are there, and what clients may read.
  void Refresh() {
    session->Post([this] {
      const auto read = zk::ReadBackupMasters(*session, paths);
      if (read.ok()) {
        MutexLock lock(mutex);
        backups = *read;
      }
      const bool is_active = gate->role() == MasterRole::kActive;
      if (is_active)
        IgnoreResult(zk::KeepPlace(*session, paths, cluster_id, /*active=*/true), "looked at again in a second");
      if (config.publish_client_znodes && is_active) znodes->Publish(active->MetaLocation());
    });
    timers->After(kStandbyPoll, [this] {
      if (!exit.requested().has_value()) Refresh();
    });
  }

  std::vector<ServerName> Backups() {
    MutexLock lock(mutex);
    return backups;
  }

  // Shutdown: every region server first, then this master; standbys notice and stay.
  void StopCluster(const std::string& why) {
    hbase::pb::StopServerRequest request;
    request.set_reason(why);
    active->LetServersLeave();
    for (const ServerName& target : active->OnlineServers()) {
      channels->Call(methods::kStopServer, {target.host, target.port}, request, {}, [target](const auto& reply) {
        if (!reply.ok()) RATCHET_LOG(kWarn, "{} was not told to stop: {}", target.ToString(), reply.error().ToString());
      });
    }
    timers->After(Millis{500}, [this, why] { End(exit_code::kOk, why); });
  }

  // Steps end, nothing is sent any more, the store is closed; only then the next master is let in.
  void StopInOrder() {
    gate->Stopping();
    if (page != nullptr) page->Stop();
    if (storage != nullptr) storage->Stop();
    if (active != nullptr) active->Stop();
    trace.reset();  // after what adds to it
    server->Stop();
    channels->Stop();
    if (election != nullptr) election->Stop();
    static_cast<void>(LeaveZooKeeper());
  }
};

MasterProcess::MasterProcess(MasterConfig config, ExitLatch& exit, ProcessLife life)
    : impl_(std::make_unique<Impl>(std::move(config), exit, std::move(life))) {}

MasterProcess::~MasterProcess() = default;

void MasterProcess::LeaveZooKeeper() {
  if (!impl_->LeaveZooKeeper()) RATCHET_LOG(kWarn, "The ZooKeeper session does not close; it ends with its time-out");
}

ExitReason MasterProcess::Run() {
  Impl& impl = *impl_;
  if (impl.TakeRoot() && impl.ConnectZooKeeper() && impl.TakePlace() && impl.TakeKey(io::NewClusterKey()) &&
      impl.OpenChannels() && impl.StartServer()) {
    impl.StandForElection();
    if (impl.AwaitElection()) impl.Activate();
  }
  ExitReason reason = impl.exit.Wait();
  if (reason.code == exit_code::kOk && impl.server != nullptr) impl.StopInOrder();
  return reason;
}

}  // namespace ratchet::master
