#include "master/process/active_master.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "common/base/exit_codes.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/service_manager.h"
#include "common/base/thread_name.h"
#include "common/base/thread_pool.h"
#include "common/io/cluster_id.h"
#include "common/io/fatal.h"
#include "common/rights/need.h"
#include "common/rights/scope.h"
#include "common/rpc/exceptions.h"
#include "common/zk/refused_start.h"
#include "common/zk/server_liveness.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/chores/acl_table.h"
#include "master/cluster/lock_keys.h"
#include "master/cluster/quota_rows.h"
#include "master/cluster/region_directory.h"
#include "master/dispatch/remote_dispatcher.h"
#include "master/env/file_actions.h"
#include "master/env/live_servers.h"
#include "master/history/history_book.h"
#include "master/meta/rpc_meta_table.h"
#include "master/meta/rpc_system_table.h"
#include "master/procedures/register.h"
#include "master/process/chore_threads.h"
#include "master/process/ended_listener.h"
#include "master/process/logic_options.h"
#include "master/process/owner_note.h"
#include "master/process/owner_parts.h"
#include "master/process/root_directory.h"
#include "master/rpc/ratchet_views.h"
#include "master/startup/master_logic.h"
#include "master/storage/archive_cleaner.h"
#include "master/storage/fence_command.h"
#include "master/storage/file_retirer.h"
#include "master/storage/posix_cluster_files.h"
#include "master/storage/stray_logs.h"
#include "procedure/api/lock_procedure.h"
#include "procedure/api/wal_store.h"
#include "procedure/api/worker_pool.h"

namespace ratchet::master {
namespace {

constexpr Millis kLivenessPeriod{1'000};
constexpr Millis kOwnerPeriod{250};
constexpr const char* kCleanerChore = "cleaner";
constexpr Millis kSweepPeriod{3'000};
constexpr Millis kBalancerPeriod{1'000};
constexpr Millis kComparePeriod{60'000};
constexpr int kComparePause = 50;  // multiple of the last comparison's duration, if this exceeds the period
constexpr Millis kLongestComparePause{10 * 60'000};
constexpr Millis kLiveServersPatience{30'000};
constexpr std::size_t kMostSlowWork = 16;  // queued tasks; one of each kind at a time
// Number of threads for actions on files; one more is kept for hbase:meta and crash procedures. The number of actions
// that hang at the same time must reach it before those of other tables wait.
constexpr std::size_t kFileThreads = 8;
constexpr std::size_t kMostFileActions = 10'000;  // queued; a procedure has at most one

// LiveServers from ZooKeeper's /rs, read at each call (rule S34 (which servers may be dead): after the directories).
//
// Thread-safe. Do not call it from the session's own thread while disconnected, because it would wait for itself.
class ZkLiveServers final : public LiveServers {
 public:
  ZkLiveServers(zk::ZkSession& session, zk::ZkPaths paths, const Clock& clock, Millis patience)
      : session_(session), paths_(std::move(paths)), clock_(clock), patience_(patience) {}
  // Retries while ZooKeeper does not answer, up to `patience`.
  Result<std::vector<ServerName>> Read() override {
    const TimePoint deadline = clock_.Now() + patience_;
    while (true) {
      auto live = zk::ReadLiveServers(session_, paths_);
      if (live.ok()) return live;
      // no region server has ever registered
      if (live.error().code() == Code::kNotFound) return std::vector<ServerName>{};
      const auto left = std::chrono::duration_cast<Millis>(deadline - clock_.Now());
      if (live.error().code() != Code::kUnavailable || left.count() <= 0) return live;
      RATCHET_LOG(kWarn, "Cannot read the live servers from ZooKeeper: {}; retrying", live.error().message());
      IgnoreResult(session_.WaitConnected(std::min(left, Millis{1000})), "the read above decides");
    }
  }

 private:
  zk::ZkSession& session_;
  const zk::ZkPaths paths_;
  const Clock& clock_;
  const Millis patience_;
};

// One run of the cleaner's two stages and of the search for logs of servers that never registered. Logs a line for each
// file. Visiting all regions and removing a large tree take long, so do not call it on a timer thread.
void RunCleaner(StrayLogs& stray_logs, FileRetirer& retirer, ArchiveCleaner& cleaner) {
  const auto stray = stray_logs.RunOnce();
  if (!stray.ok())
    RATCHET_LOG(kWarn, "Cannot check the logs of servers that never registered: {}", stray.error().ToString());
  if (stray.ok())
    for (const ServerName& server : *stray)
      RATCHET_LOG(kInfo, "Retired the logs of {}, which never registered", server.ToString());
  const auto retired = retirer.RunOnce();
  if (!retired.ok()) RATCHET_LOG(kWarn, "Retiring files: {}", retired.error().ToString());
  if (retired.ok())
    for (const std::string& path : *retired) RATCHET_LOG(kInfo, "Retired {}", path);
  const auto deleted = cleaner.RunOnce();
  if (!deleted.ok()) RATCHET_LOG(kWarn, "Cleaning the archive: {}", deleted.error().ToString());
  if (!deleted.ok()) return;
  for (const std::string& path : *deleted) RATCHET_LOG(kInfo, "Deleted archive/{}", path);
}

// Locations of the regions of a system table, in the form that the table's reader needs.
std::vector<RpcSystemTable::Place> PlacesOf(const RegionDirectory& regions, const TableName& table) {
  std::vector<RpcSystemTable::Place> places;
  for (RegionNode& node : regions.OfTable(table)) {
    if (IsSplitOrMerged(node.state)) continue;
    const bool open = node.state == RegionState::kOpen;
    places.push_back({std::move(node.info), open ? std::move(node.location) : std::nullopt});
  }
  return places;
}

// Runs the file actions of steps.
class FileActionThreads final : public FileActions {
 public:
  [[nodiscard]] bool Run(std::function<void()> action, bool urgent) override {
    return threads_.Submit({std::move(action), {}, urgent});
  }
  void Stop() { threads_.Stop(); }

 private:
  ThreadPool threads_{
      {.name = "file-action", .threads = kFileThreads, .urgent_threads = 1, .max_queued = kMostFileActions}};
};

}  // namespace

// The parts are declared in the order of their dependencies, and destroyed in reverse.
struct ActiveMaster::Parts {
  Parts(const Deps& deps, std::unique_ptr<procedure::ProcedureStore> the_store,
        std::unique_ptr<PosixClusterFiles> the_files)
      : store(std::move(the_store)),
        files(std::move(the_files)),
        dispatcher(deps.channels, deps.clock, deps.timers, deps.config.dispatch, RandomSeed()),
        meta(deps.channels, deps.config.meta),
        quotas(deps.channels, deps.config.meta.rpc_timeout),
        namespaces(deps.channels, deps.config.meta.rpc_timeout, "info"),
        acl(deps.channels, deps.config.meta.rpc_timeout, kAclFamily),
        live_servers(deps.session, deps.paths, deps.clock, kLiveServersPatience),
        logic({.meta = meta,
               .region_servers = dispatcher,
               .files = *files,
               .live_servers = live_servers,
               .clock = deps.clock,
               .timers = deps.timers},
              LogicOptions(deps.config)),
        acl_table(logic.env, acl) {
    RegisterMasterProcedures(registry);
    registry.Register<procedure::LockProcedure>();
    workers = procedure::MakeThreadWorkers(deps.config.procedures.workers);
    procedure::Executor::Options options = deps.config.procedures.executor;
    options.system_tables = MasterSystemTables();
    options.seed = RandomSeed();
    options.owner = rights::kMasterOwner;  // owner of procedures that the master submits itself
    options.on_store_failure = [on_end = deps.on_end](const Error& error) {
      on_end(ExitCodeFor(error), "procedure store: " + error.ToString());
    };
    if (deps.config.start_paused) {
      options.start_paused = procedure::OperatorNote{deps.gate.self().ToString(), "started with --start-paused"};
    }
    executor = std::make_unique<procedure::Executor>(
        procedure::Executor::Deps{*store, registry, *workers, deps.clock, deps.timers, logic.env_ref()},
        std::move(options));
    logic.Attach(*executor);
    if (deps.listener != nullptr) executor->AddListener(deps.listener);
    ended = std::make_shared<EndedListener>(deps.gate.self().ToString(), deps.trace);
    executor->AddListener(ended);
    logic.env.quota_table = &quotas;
    logic.env.namespace_table = &namespaces;
    logic.env.went_back = [on_end = deps.on_end, raw = store.get()](const Error& error) {
      // A later owner may have given the number that is not known here.
      const Status owner = raw->Check();
      if (!owner.ok()) return on_end(ExitCodeFor(owner.error()), "the ownership check: " + owner.error().ToString());
      on_end(exit_code::kWentBack, error.message());
    };
    logic.env.file_actions = &file_actions;
    logic.env.slow_work = [this](std::function<void()> work) {
      const bool queued = slow_work.Submit({std::move(work)});
      if (!queued && !stopping) RATCHET_LOG(kWarn, "Slow work is refused, because {} tasks are waiting", kMostSlowWork);
      return queued;
    };
    cleaner = std::make_unique<ArchiveCleaner>(
        files->archive(), deps.clock, [this] { return store->Check(); }, deps.config.cleaner);
  }

  std::unique_ptr<procedure::ProcedureStore> store;
  std::unique_ptr<PosixClusterFiles> files;
  RemoteDispatcher dispatcher;
  RpcMetaTable meta;
  RpcSystemTable quotas;
  RpcSystemTable namespaces;
  RpcSystemTable acl;
  ZkLiveServers live_servers;
  procedure::ProcedureRegistry registry;
  std::unique_ptr<procedure::WorkerPool> workers;
  MasterLogic logic;
  AclTable acl_table;
  std::unique_ptr<procedure::Executor> executor;
  FileActionThreads file_actions;  // its actions use the parts above
  std::shared_ptr<EndedListener> ended;
  std::unique_ptr<io::Directory> history_directory;  // until the history book takes ownership
  std::unique_ptr<HistoryBook> history;
  std::unique_ptr<ArchiveCleaner> cleaner;
  std::unique_ptr<FileRetirer> retirer;
  std::unique_ptr<StrayLogs> stray_logs;
  std::unique_ptr<ChoreThreads> chores;
  const std::shared_ptr<std::atomic<TimePoint>> next_compare = std::make_shared<std::atomic<TimePoint>>(TimePoint{});
  // S88 (slow storage work on its own thread)
  ThreadPool slow_work{{.name = "slow-work", .max_queued = kMostSlowWork, .numbered = false}};
  std::unique_ptr<zk::LiveServerWatch> watch;
  std::atomic<bool> stopping{false};
};

ActiveMaster::ActiveMaster(Deps deps) : deps_(std::move(deps)) {}

ActiveMaster::~ActiveMaster() { Stop(); }

Status ActiveMaster::RunStep(ActivationStep step, const std::function<Status()>& run) {
  const std::string name(ActivationStepName(step));
  deps_.gate.BeginStep(name);
  const Status may = HitFault("master.activation", name);
  const Status done = may.ok() ? run() : may;
  if (!done.ok()) {
    deps_.gate.EndStep("FAILED: " + done.error().ToString());
    return done.error().Annotate(name);
  }
  deps_.gate.EndStep(AfterStep(step));
  return Ok();
}

// Runs the shell's work after a step; returns a text for `ratchet status`.
std::string ActiveMaster::AfterStep(ActivationStep step) {
  if (step == ActivationStep::kClaimStore) {
    ConnectParts();
    if (own_client_) {
      const Status noted = NoteClaim(*root_, parts_->executor->epoch(), *own_client_);
      if (!noted.ok())
        RATCHET_LOG(kWarn, "Cannot note the storage client; a later master may have to wait: {}",
                    noted.error().ToString());
    }
    for (const std::string& problem : parts_->executor->LoadProblems()) RATCHET_LOG(kWarn, "store: {}", problem);
    return fmt::format("epoch {}, {} procedures, {} system records", parts_->executor->epoch(),
                       parts_->executor->Count().all, parts_->executor->SystemRecords().size());
  }
  if (step == ActivationStep::kAttachProcedures) {
    return fmt::format("{} regions in transition", parts_->logic.regions.InTransition().size());
  }
  if (step == ActivationStep::kFindDeadServers) {
    const std::size_t known = parts_->logic.servers.List().size();
    const std::size_t online = parts_->logic.servers.Online().size();
    return fmt::format("{} online, {} to recover", online, known - online);
  }
  if (step == ActivationStep::kStartWorkers) deps_.gate.WorkersStarted();
  return {};
}

// Needs the epoch, so it runs after the claim and before any part sends.
void ActiveMaster::ConnectParts() {
  Parts& parts = *parts_;
  const Epoch epoch = parts.executor->epoch();
  const auto check = [store = parts.store.get()] { return store->Check(); };
  parts.dispatcher.Begin(
      OrderSender{epoch, deps_.gate.active_since_ms()},
      {check, [&parts](const ServerName& server) { return parts.logic.servers.IsOnline(server); },
       [&parts](const ServerName& server, const std::string& why) { parts.logic.server_manager.Expire(server, why); },
       [&parts] { return parts.executor->LowestLivePid(); },
       [this](const Error& error) { FailOn(error, "before sending an order"); }});
  parts.meta.Begin(epoch, {check, [&parts] { return parts.logic.regions.MetaLocation(); }});
  parts.quotas.Begin(check, [&parts] { return PlacesOf(parts.logic.regions, QuotaTableName()); });
  parts.namespaces.Begin(check, [&parts] { return PlacesOf(parts.logic.regions, NamespaceTableName()); });
  parts.acl.Begin(check, [&parts] { return PlacesOf(parts.logic.regions, rights::AclTableName()); });
  parts.retirer = std::make_unique<FileRetirer>(
      FileRetirer::Deps{parts.files->wals(), parts.files->data(), parts.files->archive(), epoch, check,
                        [&parts](const ServerName& server) { return parts.logic.servers.IsOnline(server); }});
  parts.stray_logs = std::make_unique<StrayLogs>(StrayLogs::Deps{
      *parts.files, deps_.clock, epoch, [&parts] { return parts.logic.ready(); },
      [&parts](const ServerName& server) {
        const std::string record = std::string(kServerRecordPrefix) + server.ToString();
        return parts.logic.registrations.IsKnown(server) || parts.executor->SystemRecords().contains(record);
      },
      [this] { return zk::ReadLiveServers(deps_.session, deps_.paths); },
      [&parts](const ServerName& server, const std::string& why) {
        parts.logic.server_manager.ExpireUnknown(server, why);
      }});
  parts.history = std::make_unique<HistoryBook>(std::move(parts.history_directory), epoch, deps_.clock,
                                                deps_.config.history, check);
  parts.ended->Begin(epoch, parts.history.get());
  parts.history->Start([&parts, epoch] { return EndedBefore(*parts.executor, epoch); });
  deps_.gate.Recovered(
      {&parts.logic, parts.executor.get(), parts.store.get(), &parts.dispatcher, epoch, parts.history.get()});
}

Evict ActiveMaster::Eviction() const {
  return [&clock = deps_.clock, &config = deps_.config](const io::StorageClient& client) -> Status {
    if (config.fence.command.empty()) return Ok();  // the storage's own time-out applies
    RATCHET_ASSIGN(const FenceCommand command, ParseFenceCommand(config.fence.command, config.fence.environment));
    return RunFenceCommand(clock, command, client, config.fence.timeout,
                           [&client](std::string_view outcome, const std::string& told) {
                             if (const auto audit = audit::AuditLog::OfProcess(); audit != nullptr)
                               audit->Note("fence", client.ToString(), told, outcome);
                           });
  };
}

bool ActiveMaster::NotesClients() const {
  return !deps_.config.fence.command.empty() || !deps_.config.storage_client.empty();
}

// S102 (evict before fencing): before the claim, and before a file is opened that the earlier master's client may
// hold exclusively.
Result<std::vector<std::string>> ActiveMaster::EvictEarlierOwner(io::Directory& root) {
  if (!NotesClients()) return std::vector<std::string>();
  if (!deps_.config.storage_client.empty())
    own_client_ = io::StorageClient{deps_.config.storage_client, io::ClientIdAt(deps_.config.root)};
  deps_.gate.BeginStep("evicting the earlier master's storage client");
  auto evicted = EvictEarlierOwners(root, own_client_, Eviction());
  deps_.gate.EndStep(evicted.ok() ? "done" : "FAILED: " + evicted.error().ToString());
  return evicted;
}

Status ActiveMaster::MakeParts() {
  procedure::WalStoreOptions options = deps_.config.procedures.store;
  options.owner = deps_.gate.self().ToString();
  std::vector<std::string> names;
  BeforeClaim before;
  before.first = [this, &names](io::Directory& root) -> Status {
    RATCHET_ASSIGN(names, EvictEarlierOwner(root));
    return Ok();
  };
  before.last = [this, &names](io::Directory& root, io::Directory& procedures) -> Status {
    if (!NotesClients()) return Ok();
    RATCHET_ASSIGN(const Epoch in_store, procedure::HighestClaim(procedures));
    RATCHET_ASSIGN(const Epoch in_root, procedure::HighestClaim(root));
    return PrepareClaim(root, names, std::max(in_store, in_root), own_client_);
  };
  RATCHET_ASSIGN(OwnerParts made,
                 MakeOwnerParts(deps_.disk, deps_.config.root, deps_.clock, std::move(options), before));
  root_ = std::move(made.root);
  if (!deps_.config.fence.command.empty()) made.files->SetEviction(Eviction());
  parts_ = std::make_shared<Parts>(deps_, std::move(made.store), std::move(made.files));
  parts_->history_directory = std::move(made.history);
  return Ok();
}

Status ActiveMaster::Activate() {
  RATCHET_TRY(MakeParts());
  RATCHET_TRY(parts_->logic.activation.RunUntilWorkersStarted(
      [this](ActivationStep step, const std::function<Status()>& run) { return RunStep(step, run); }));
  StartChores();
  LoadMeta();
  return Ok();
}

// Always ends: meta comes online eventually, because no crash was missed.
void ActiveMaster::LoadMeta() {
  const std::string name(ActivationStepName(ActivationStep::kLoadMeta));
  deps_.gate.BeginStep(name);
  if (const Status may = HitFault("master.activation", name); !may.ok()) return FailOn(may.error(), name);
  parts_->logic.activation.LoadMeta([this](const Status& loaded) {
    if (!loaded.ok()) return FailOn(loaded.error(), "loading hbase:meta");
    deps_.gate.EndStep(
        fmt::format("{} tables, {} regions", parts_->logic.tables.List().size(), parts_->logic.regions.size()));
    deps_.gate.Ready();
    deps_.session.Post([&session = deps_.session, paths = deps_.paths] {
      IgnoreResult(zk::ForgetRefusedStart(session, paths), "shown only while no master is active");
    });
    parts_->history->Add(MakeFailover(deps_.gate, parts_->executor->epoch()));
    RATCHET_LOG(kInfo, "activation: ready, epoch {}", parts_->executor->epoch());
    NotifyServiceManager(fmt::format("STATUS=active master, epoch {}", parts_->executor->epoch()));
  });
}

void ActiveMaster::FailOn(const Error& error, const std::string& where) {
  if (parts_ != nullptr && parts_->stopping.load()) return;
  // S114 (no start without the past): the server of hbase:meta refuses this epoch, and no later one is claimed in this
  // root.
  if (rpc::IsClass(error, rpc::exception::kStale) && parts_ != nullptr && parts_->store->Check().ok()) {
    return deps_.on_end(exit_code::kWentBack,
                        fmt::format("{}: the root is an older copy: a region server knows a later epoch than {}, the "
                                    "highest one that was claimed here ({}): put the newest procedures/ and numbers/ "
                                    "back",
                                    where, parts_->executor->epoch(), error.message()));
  }
  deps_.on_end(ExitCodeFor(error), where + ": " + error.ToString());
}

// Each of them repeats until the master stops. Those that block wait for the storage.
std::vector<Chore> ActiveMaster::Chores() {
  Parts& parts = *parts_;
  MasterLogic& logic = parts.logic;
  return {
      {"owner", kOwnerPeriod, deps_.look_soon},
      {"live-servers", kLivenessPeriod, [this, compare = LiveServersComparison()] { deps_.session.Post(compare); }},
      {"reconciler", kSweepPeriod, [&logic] { logic.reconciler.Sweep(); }},
      {"meta", kComparePeriod, [this] { CompareWithMeta(); }},
      {"balancer", kBalancerPeriod, [&logic] { logic.balancer.Tick(); }},
      {"normalizer", kBalancerPeriod, [&logic] { logic.normalizer.Tick(); }},
      {"replication", kBalancerPeriod, [&logic] { logic.replication_manager.Tick(); }},
      {"quotas", kBalancerPeriod, [&logic] { logic.quota_manager.Tick(); }},
      {"namespaces", kBalancerPeriod, [&logic] { logic.namespace_table.Tick(); }},
      {"rights", kBalancerPeriod, [&parts] { parts.acl_table.Tick(); }},
      {kCleanerChore, deps_.config.cleaner.interval,
       [&parts] {
         parts.logic.snapshot_admin.CleanUp();
         if (parts.logic.switches.IsOn(Switch::kCleaner)) RunCleaner(*parts.stray_logs, *parts.retirer, *parts.cleaner);
       },
       /*blocks=*/true},
      {"survey", kSweepPeriod,
       [this, &logic] {
         logic.reconciler.Survey();
         KeepClusterId();
       },
       /*blocks=*/true},
  };
}

void ActiveMaster::CompareWithMeta() {
  const TimePoint begun = deps_.clock.Now();
  if (!parts_->logic.ready() || begun < parts_->next_compare->load()) return;
  parts_->logic.reconciler.CompareWithMeta(
      [next = parts_->next_compare, &clock = deps_.clock, begun](const Status& compared) {
        const TimePoint ended = clock.Now();  // the comparison has read all of hbase:meta
        if (compared.ok())
          *next = ended + std::min<TimePoint::duration>(kComparePause * (ended - begun), kLongestComparePause);
      });
}

std::function<void()> ActiveMaster::LiveServersComparison() {
  return [this, weak = std::weak_ptr<Parts>(parts_)] {
    const auto parts = weak.lock();
    if (parts != nullptr && !parts->stopping.load()) CompareWithLiveServers();
  };
}

void ActiveMaster::StartChores() {
  parts_->watch = std::make_unique<zk::LiveServerWatch>(
      deps_.session, deps_.paths,
      [compare = LiveServersComparison()](const std::set<ServerName>& /*live*/) { compare(); });
  parts_->watch->Start();
  parts_->chores = std::make_unique<ChoreThreads>(deps_.clock, Chores());
  parts_->logic.env.run_cleaner = [chores = parts_->chores.get()](std::function<void(bool)> done) {
    return chores->RunSoon(kCleanerChore, std::move(done));
  };
}

// A cluster without cluster.id continues, but none of its processes could start again, because --root looks like the
// root of another cluster.
void ActiveMaster::KeepClusterId() {
  const std::string& own = deps_.gate.cluster_id();
  const auto id = io::ReadClusterId(*root_);
  std::string problem;
  if (id.ok() && *id != own) {
    problem = fmt::format("cluster.id below {} names cluster {}, but this is cluster {}", deps_.config.root, *id, own);
  } else if (!id.ok() && id.error().code() != Code::kNotFound) {
    problem = fmt::format("cannot read cluster.id below {}, which must contain {}: {}", deps_.config.root, own,
                          id.error().message());
  } else if (!id.ok() && parts_->store->Check().ok()) {  // the root belongs to this master
    const auto written = EnsureClusterId(*root_, own);
    if (written.ok()) {
      RATCHET_LOG(kWarn, "cluster.id below {} was lost; rewritten: {}", deps_.config.root, own);
    } else {
      problem = fmt::format("cluster.id below {}, which must contain {}, is lost: {}", deps_.config.root, own,
                            written.error().message());
    }
  }
  deps_.gate.SetProblem(OwnProblem::kClusterId, problem);
}

void ActiveMaster::CheckOwner() {
  if (parts_ == nullptr || parts_->stopping.load()) return;
  if (const Status owner = parts_->store->Check(); !owner.ok()) FailOn(owner.error(), "the ownership check");
}

// A server registers in ZooKeeper before it reports to the master, so a server that was online here before the list was
// read, and is not in the list, has lost its registration.
void ActiveMaster::CompareWithLiveServers() {
  const std::vector<ServerName> online = parts_->logic.servers.Online();
  const std::vector<ServerName> registering = parts_->logic.server_manager.Registering();
  const auto live = zk::ReadLiveServers(deps_.session, deps_.paths);
  // disconnected: continue, because the fences protect the data
  if (!live.ok() && live.error().code() != Code::kNotFound) return;
  std::set<ServerName> names;
  if (live.ok()) names.insert(live->begin(), live->end());
  for (const ServerName& server : online) {
    if (names.contains(server)) continue;
    parts_->logic.server_manager.Expire(server, parts_->logic.servers.WasLeaving(server)
                                                    ? "goodbye: it was asked to stop, and has left ZooKeeper"
                                                    : "session ended: its registration in ZooKeeper is gone");
  }
  for (const ServerName& server : registering) {
    if (!names.contains(server)) parts_->logic.registrations.Abandon(server);
  }
}

std::vector<ServerName> ActiveMaster::OnlineServers() const { return parts_->logic.servers.Online(); }

void ActiveMaster::LetServersLeave() {
  for (const ServerName& server : OnlineServers()) parts_->logic.servers.SetDraining(server, true);
}

std::optional<ServerName> ActiveMaster::MetaLocation() const { return parts_->logic.regions.MetaLocation(); }

void ActiveMaster::Stop() {
  if (parts_ == nullptr || parts_->stopping.exchange(true)) return;
  if (parts_->watch != nullptr) parts_->watch->Stop();
  if (parts_->chores != nullptr) parts_->chores->Stop();
  parts_->slow_work.Stop();
  parts_->executor->Stop();
  parts_->file_actions.Stop();
  if (parts_->history != nullptr) parts_->history->Stop();
  parts_->dispatcher.Stop();
  parts_->files->Stop();
  parts_->store->Stop();
}

}  // namespace ratchet::master
