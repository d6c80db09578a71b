#include "master/process/master_process.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/base/service_manager.h"
#include "common/base/went_back.h"
#include "common/client/member_of_process.h"
#include "common/identity/token_check.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"
#include "common/io/root_access.h"
#include "common/io/root_numbers.h"
#include "common/io/storage_watch.h"
#include "common/kerberos/process_kerberos.h"
#include "common/model/codec.h"
#include "common/model/name_rules.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/ops/page/process_problems.h"
#include "common/ops/page/security_facts.h"
#include "common/rights/judge.h"
#include "common/rpc/await_listening.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/member_key_file.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/server.h"
#include "common/zk/refused_start.h"
#include "common/zk/server_liveness.h"
#include "master/page/master_page.h"
#include "master/page/refused_page.h"
#include "master/process/active_master.h"
#include "master/process/candidacy.h"
#include "master/process/client_znodes.h"
#include "master/process/early_detection.h"
#include "master/process/listen_options.h"
#include "master/process/logic_options.h"
#include "master/process/own_place.h"
#include "master/process/own_rights.h"
#include "master/process/own_root.h"
#include "master/process/refusal.h"
#include "master/process/send_stop.h"
#include "master/process/step_list.h"
#include "master/process/trace_file.h"
#include "master/rpc/master_services.h"
#include "master/startup/master_logic.h"
#include "master/storage/directory_tools.h"
#include "master/telemetry/load_book.h"

namespace ratchet::master {
namespace {
constexpr Millis kSecond{1'000};  // between two looks at what other processes may change
constexpr Millis kReachTimeout{2'000};
constexpr Millis kStopAfter{500};
}  // namespace

struct MasterProcess::Impl {
  Impl(MasterConfig the_config, ExitLatch& the_exit, ProcessLife the_life)
      : config(std::move(the_config)), life(std::move(the_life)), exit(the_exit) {}

  ~Impl() {
    if (detection != nullptr) detection->Stop();  // its threads use the channels and the parts of the active master
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const MasterConfig config;
  const ProcessLife life;
  ExitLatch& exit;
  SystemClock clock;
  std::unique_ptr<Timers> timers = MakeThreadTimers();
  std::unique_ptr<EarlyDetection> detection;  // null: ZooKeeper alone decides
  std::unique_ptr<rpc::ChannelPool> channels;
  ServerName self;
  OwnRoot root;
  std::shared_ptr<rpc::MemberIdentity> member;
  std::unique_ptr<rpc::MemberKeyFile> key_file;
  std::unique_ptr<MasterGate> gate;
  LoadBook loads;
  OwnRights rights{gate};
  rights::Judge judge{rights, config.rights.users};
  std::unique_ptr<ServiceEnv> service_env;
  std::unique_ptr<rpc::RpcServer> server;
  OwnPlace place{{config, exit, clock, root, [this](int code, const std::string& why) { End(code, why); },
                  [this](const Error& error) { FailRoot(error); }}};
  std::unique_ptr<MasterPage> page;
  std::unique_ptr<TraceFile> trace;
  Candidacy candidacy{exit, [this](int code, const std::string& why) { End(code, why); }};
  std::unique_ptr<ClientZnodes> znodes;
  std::unique_ptr<ActiveMaster> active;
  std::unique_ptr<io::StorageWatch> storage;

  void End(int code, const std::string& why) {
    exit.Request(code, why);
    candidacy.Wake();
  }

  bool FailRoot(const Error& error) {
    const std::string text = IsWentBack(error) ? error.message() : error.ToString();
    const std::string why = fmt::format("--root {}: {}", config.root, text);
    if (IsWentBack(error)) {
      // An elected master ends at once, so that another master may try; the page of that master shows the note.
      if (page == nullptr) {
        NoteRefusal(config, place.session_or_null(), why);
        if (config.refused_page.count() > 0)
          RefusedPage(PageOptions(config, judge), why).Await(config.refused_page, exit);
      }
    }
    End(IsWentBack(error) ? exit_code::kWentBack : exit_code::kRootUnusable, why);
    return false;
  }

  bool OpenRoot() {
    auto opened = LookAtRoot(config.root);
    if (!opened.ok()) return FailRoot(opened.error());
    root = std::move(*opened);
    return true;
  }

  // S77 (members only): call only after the place is claimed. `fresh`: the key to write if there is none yet.
  bool EnsureKeys(const io::ClusterKeys& fresh) {
    const auto keys = io::EnsureClusterKeys(*root.directory, fresh);
    if (!keys.ok()) return FailRoot(keys.error());
    member = std::make_shared<rpc::MemberIdentity>(rpc::MemberRole::kMaster, *keys, config.proof_policy);
    key_file = std::make_unique<rpc::MemberKeyFile>(member, [this] {
      io::LookAtRootAccess(*root.directory);
      return io::ReadClusterKeys(*root.directory);
    });
    return true;
  }

  bool OpenChannels() {
    rpc::ChannelPoolOptions pool;
    pool.name = "master-out";
    pool.user = "master";
    pool.member = member;
    pool.tls = tls::ProcessTls::OfProcess();
    if (config.early_detection) {
      DetectEarly();
      detection->Hear(pool);
    }
    channels = std::make_unique<rpc::ChannelPool>(std::move(pool));
    if (detection != nullptr) detection->Use(*channels);
    return true;
  }

  bool TakeName() {
    // The host is spelled in one way everywhere, because it becomes part of names.
    self = ServerName{LowerCaseHost(config.host), static_cast<std::uint16_t>(config.port),
                      static_cast<std::uint64_t>(clock.WallMillis())};
    if (const Status host = CheckHost(self.host); !host.ok()) {
      End(exit_code::kUsage, host.error().Annotate("--host").ToString());
      return false;
    }
    member->SetName(self);
    return true;
  }

  void MakeServiceEnv() {
    gate = std::make_unique<MasterGate>(self, place.cluster_id(), fmt::format("ratchet {}", life.version), clock);
    service_env.reset(new ServiceEnv{*gate, loads, config.root, [this] { return candidacy.Backups(); },
                                     [this](const std::string& why) { End(exit_code::kOk, why); },
                                     [this](const std::string& why) { StopCluster(why); }});
    service_env->timers = timers.get();
    service_env->past = life.history;
    service_env->fault_points_allowed = life.fault_points_allowed;
    service_env->zookeeper_lost = [this] { return place.Lost(); };
    service_env->own_storage_hangs = [this] { return OwnStorageHangs(); };
    service_env->reach = [this](const ServerName& asked, std::function<void(Status)> done) {
      Reach(asked, std::move(done));
    };
    service_env->remote_lock_timeout = config.remote_lock_timeout;
    service_env->clock_limits = config.clocks;
    service_env->proven_name = [this](std::uint64_t connection) { return member->PeerOn(connection); };
    service_env->reload = config.reload;
    service_env->judge = &judge;
    service_env->oldest_server_version = config.oldest_server_version;
    service_env->rpc_server = [this] { return server.get(); };
    service_env->client_versions = [this] { return server->stats().client_versions; };
    service_env->security = [this] {
      return page::SecurityFacts(config.settings(), member->texts(), server->stats(), life.version);
    };
  }

  bool StartServer() {
    if (!TakeName()) return false;
    MakeServiceEnv();
    rpc::ServerOptions options = ListenOptions(config, self.port, member);
    options.judge = &judge;
    options.tokens = std::make_shared<const identity::TokenCheck>(rights, clock);
    if (detection != nullptr) {
      detection->Hear(options);
      service_env->heard_from = [this](const ServerName& from, std::uint64_t connection) {
        detection->HeardFrom(from, connection);
      };
    }
    options.cluster_id = [this] { return std::optional<std::string>(place.cluster_id()); };
    server = std::make_unique<rpc::RpcServer>(std::move(options));
    server->Add(MakeMasterService(*service_env));
    server->Add(MakeRegionServerStatusService(*service_env));
    server->Add(MakeClientMetaService(*service_env));
    server->Add(MakeHbckService(*service_env));
    server->Add(MakeLockService(*service_env));
    server->Add(MakeRatchetService(*service_env));
    server->Add(MakeMasterAdminService(*service_env));
    Status started = rpc::AwaitListening(*server, config.zk_connect_timeout, clock, exit);
    if (started.ok())
      started = identity::CertificateCallers::CheckAddresses(server->addresses(), config.identity.insecure,
                                                             kerberos::OfProcess() != nullptr);
    if (!started.ok()) {
      End(rpc::ExitCodeWithoutAddress(started.error()), started.error().ToString());
      return false;
    }
    server->LogAddresses(self.Address());
    client::SetMemberOfProcess({config.zookeeper, config.zk_parent, member});
    page = std::make_unique<MasterPage>(
        MasterPageDeps{PageOptions(config, judge), *service_env, *server, place.session(), config.zookeeper,
                       config.zk_parent, config.settings, [] { return ListSteps(StepListFormat::kJson); }});
    if (const Status reach = page->CheckReach(config.identity.insecure); !reach.ok()) {
      End(exit_code::kUsage, reach.error().message());
      return false;
    }
    RATCHET_LOG(kInfo, "Master {} of cluster {} listens, root {}", self.ToString(), place.cluster_id(), config.root);
    NotifyServiceManager("READY=1\nSTATUS=listens, is not the active master");
    return true;
  }

  void DetectEarly() {
    EarlyDetection::Deps deps{clock, config.silence_detection};
    deps.online = [this] { return OnlineServers(); };
    deps.registered = [this] {
      auto registered = zk::ReadLiveServers(place.session(), place.paths());
      return registered.ok() ? *std::move(registered) : std::vector<ServerName>();
    };
    deps.expire = [this](const ServerName& dead, const std::string& why) { Expire(dead, why); };
    deps.replace = [this](const ServerName& dead) { candidacy.ReplaceDead(dead); };
    detection = std::make_unique<EarlyDetection>(std::move(deps));
  }

  // Empty while this master is not active.
  std::vector<ServerName> OnlineServers() const {
    const auto parts = gate->Admit(Need::kWorkers);
    return parts.ok() ? parts->logic->servers.Online() : std::vector<ServerName>();
  }

  void Expire(const ServerName& dead, const std::string& why) {
    if (const auto parts = gate->Admit(Need::kWorkers); parts.ok()) parts->logic->server_manager.Expire(dead, why);
  }

  // Requests the name of the process at the server's address, and compares the names.
  void Reach(const ServerName& asked, std::function<void(Status)> done) {
    rpc::CallOptions options;
    options.timeout = kReachTimeout;
    channels->Call(methods::kGetServerInfo, {asked.host, asked.port}, {}, std::move(options),
                   [asked, done = std::move(done)](const auto& reply) {
                     if (!reply.ok()) return done(reply.error());
                     const auto name = FromProto(reply->message.server_info().server_name());
                     if (name.ok() && *name == asked) return done(Ok());
                     done(Error(Code::kUnavailable, fmt::format("another server answers there: {}",
                                                                name.ok() ? name->ToString() : "one without a name")));
                   });
  }

  void StandForElection() {
    place.WatchSession();
    std::function<void(const std::optional<ServerName>&)> follow;
    if (detection != nullptr) follow = [this](const auto& active_one) { detection->Follow(active_one); };
    candidacy.Stand({place.session(),
                     place.paths(),
                     *gate,
                     *channels,
                     {self, page->shown_port()},
                     place.cluster_id(),
                     config.root,
                     std::move(follow)});
    if (detection != nullptr) detection->Start();
    place.session().Post([this] {
      IgnoreResult(zk::ForgetOwnRefusedStart(place.session(), place.paths(), RefusalStart(config)),
                   "shown until a master leads");
    });
  }

  // S114 (no start without the past): the status and the page of this master show the refusal of another one. On the
  // session's thread.
  void LookForRefusal() {
    if (const auto problem = RefusalProblem(place.session(), place.paths()))
      gate->SetProblem(OwnProblem::kRefusedStart, *problem);
  }

  // S123 (only a proof makes a member): the status and the page show processes at addresses of members that are none.
  void ShowUnproven() {
    const auto problems = page::ProcessProblems(*member, *config.rights.users);
    gate->SetProblem(OwnProblem::kMembers, fmt::format("{}", fmt::join(problems, "; ")));
  }

  void KeepAccess(bool leads) {
    gate->SetProblem(OwnProblem::kZooKeeperRights, place.KeepAccess(member->texts(), leads));
  }

  void KeepPlaceAsStandby() {
    if (exit.requested().has_value() || gate->role() != MasterRole::kStandby) return;
    place.session().Post([this] {
      if (gate->role() != MasterRole::kStandby) return;
      LookForRefusal();
      ShowUnproven();
      KeepAccess(/*leads=*/false);
      place.KeepId(/*active=*/false);
    });
    timers->After(kSecond, [this] { KeepPlaceAsStandby(); });
  }

  // A standby may have waited for years. A lost file is rewritten with the keys of the running processes; keys that
  // were replaced meanwhile are used, because the region servers use them. The claim, which follows, syncs the root.
  bool TakeKeys() {
    const auto keys = io::ReadOrRestoreClusterKeys(*root.directory, member->texts());
    if (!keys.ok()) return FailRoot(keys.error());
    if (member->texts() != *keys) member->SetKeys(*keys);
    return true;
  }

  void Activate() {
    gate->Elected();
    RATCHET_LOG(kInfo, "Elected: {}", self.ToString());
    NotifyServiceManager("STATUS=elected, starts up as the active master");
    if (!place.IsStillMine() || !TakeKeys()) return;
    if (!config.trace.path.empty())
      trace = std::make_unique<TraceFile>(config.trace.path, place.cluster_id(), config.trace.bytes);
    active = std::make_unique<ActiveMaster>(
        ActiveMaster::Deps{config, io::PosixDisk(), place.session(), place.paths(), *channels, clock, *timers, *gate,
                           [this](int code, const std::string& why) { End(code, why); },
                           [this] { storage->Look(false); }, page->listener(), trace.get()});
    znodes = std::make_unique<ClientZnodes>(place.session(), place.paths());
    Refresh();
    WatchStorage();
    const Status activated = active->Activate();
    if (activated.ok()) return;
    if (IsWentBack(activated.error())) return static_cast<void>(FailRoot(activated.error()));
    End(ExitCodeFor(activated.error()), "activation failed: " + activated.error().ToString());
  }

  // No callback waits for the storage, except the check itself.
  void WatchStorage() {
    io::StorageWatchParts parts;
    parts.look = [this] { active->CheckOwner(); };
    parts.permitted = [this](Millis age) {
      if (candidacy.Backups().empty()) return false;
      // During the activation no server reports to this master. A standby has proven its storage at its own start.
      // After a restart this process cannot become a standby before its storage answers, so two masters cannot pass the
      // role back and forth.
      if (gate->role() == MasterRole::kActivating) return true;
      const TimePoint now = clock.Now();
      return service_env->storage.AnswersSince(now - age, now);
    };
    // the end of the process ends the rest of the session
    parts.leave = [this] { static_cast<void>(place.Leave()); };
    parts.end = [this](const std::string& why) { End(exit_code::kStorageHangs, why); };
    parts.last_resort = [this](const std::string& why) {
      if (life.end_at_once) life.end_at_once({exit_code::kStorageHangs, why});
    };
    storage = std::make_unique<io::StorageWatch>(clock, io::SyncWatch::OfProcess(), config.storage, std::move(parts));
  }

  std::optional<Millis> OwnStorageHangs() const {
    const auto oldest = io::SyncWatch::OfProcess().OldestUnfinished();
    return oldest.has_value() && *oldest >= kStorageProblem ? oldest : std::nullopt;
  }

  // Every second, on the session's thread: reads the other masters, and updates the nodes for clients.
  void Refresh() {
    place.session().Post([this] {
      candidacy.ReadBackups();
      LookForRefusal();
      ShowUnproven();
      const bool is_active = gate->role() == MasterRole::kActive;
      KeepAccess(is_active);
      if (!is_active) return;
      place.KeepId(/*active=*/true);
      if (config.publish_client_znodes)
        znodes->Publish(active->MetaLocation());
      else
        znodes->Withdraw();
    });
    timers->After(kSecond, [this] {
      if (!exit.requested().has_value()) Refresh();
    });
  }

  // Shutdown: every region server first, then this master. Standbys keep running.
  void StopCluster(const std::string& why) {
    active->LetServersLeave();
    SendStopRequests(*channels, active->OnlineServers(), why);
    timers->After(kStopAfter, [this, why] { End(exit_code::kOk, why); });
  }

  // Ends steps, stops sending and closes the store before it releases the election.
  void StopInOrder() {
    gate->Stopping();
    if (page != nullptr) page->Stop();
    if (storage != nullptr) storage->Stop();
    if (detection != nullptr) detection->Stop();
    if (active != nullptr) active->Stop();
    trace.reset();  // after the parts that add to it
    server->Stop();
    if (detection != nullptr) detection->StopChannels();
    channels->Stop();
    candidacy.Stop();
    static_cast<void>(place.Leave());
  }
};

MasterProcess::MasterProcess(MasterConfig config, ExitLatch& exit, ProcessLife life)
    : impl_(std::make_unique<Impl>(std::move(config), exit, std::move(life))) {}

MasterProcess::~MasterProcess() = default;

void MasterProcess::LeaveZooKeeper() {
  if (!impl_->place.Leave()) RATCHET_LOG(kWarn, "The ZooKeeper session did not close; it ends after its time-out");
}

ExitReason MasterProcess::Run() {
  Impl& impl = *impl_;
  if (impl.OpenRoot() && impl.place.Connect() && impl.place.PresentKeys() && impl.place.Claim() &&
      impl.EnsureKeys({io::NewClusterKey()}) && impl.OpenChannels() && impl.StartServer()) {
    impl.StandForElection();
    impl.KeepPlaceAsStandby();
    if (impl.candidacy.AwaitElection()) impl.Activate();
  }
  ExitReason reason = impl.exit.Wait();
  if (reason.code == exit_code::kWentBack && impl.page != nullptr)
    NoteRefusal(impl.config, impl.place.session_or_null(), reason.why);
  if (reason.code == exit_code::kOk && impl.server != nullptr) impl.StopInOrder();
  return reason;
}

}  // namespace ratchet::master
