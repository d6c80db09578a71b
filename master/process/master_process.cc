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
#include "common/rpc/exceptions.h"
#include "common/rpc/member_key_file.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/pulse.h"
#include "common/rpc/server.h"
#include "common/rpc/server_probe.h"
#include "common/zk/cluster_place.h"
#include "common/zk/master_election.h"
#include "common/zk/place_access.h"
#include "common/zk/refused_start.h"
#include "common/zk/server_liveness.h"
#include "common/zk/session_closer.h"
#include "common/zk/session_start.h"
#include "common/zk/zk_session.h"
#include "master/page/master_page.h"
#include "master/page/refused_page.h"
#include "master/process/active_master.h"
#include "master/process/active_watch.h"
#include "master/process/client_znodes.h"
#include "master/process/death_watch.h"
#include "master/process/listen_options.h"
#include "master/process/logic_options.h"
#include "master/process/own_rights.h"
#include "master/process/own_root.h"
#include "master/process/refusal.h"
#include "master/process/send_stop.h"
#include "master/process/silence_watch.h"
#include "master/process/step_list.h"
#include "master/process/trace_file.h"
#include "master/rpc/master_services.h"
#include "master/startup/master_logic.h"
#include "master/storage/directory_tools.h"
#include "master/telemetry/load_book.h"

namespace ratchet::master {
namespace {
constexpr Millis kConnectSlice{2'000};
constexpr Millis kStandbyPoll{1'000};
constexpr Millis kCompareTimeout{5'000};
constexpr Millis kReachTimeout{2'000};
constexpr Millis kProbePatience{100};
constexpr Millis kPulseTimeout{1'000};
constexpr Millis kLongestSilence{10'000};
constexpr Millis kSecondOpinionTimeout{1'000};
constexpr Millis kLookAtPlaceAgain{200};
constexpr Millis kLeaveZooKeeper{2'000};
}  // namespace

struct MasterProcess::Impl {
  Impl(MasterConfig the_config, ExitLatch& the_exit, ProcessLife the_life)
      : config(std::move(the_config)), life(std::move(the_life)), exit(the_exit) {}

  ~Impl() {
    if (active_watch != nullptr) active_watch->Stop();  // its thread uses the channels and the election
    if (silence != nullptr) silence->Stop();            // its thread uses the parts of the active master
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const MasterConfig config;
  const ProcessLife life;
  ExitLatch& exit;
  SystemClock clock;
  std::unique_ptr<Timers> timers = MakeThreadTimers();
  std::unique_ptr<ActiveWatch> active_watch;  // null: ZooKeeper alone decides
  std::unique_ptr<rpc::ChannelPool> channels;
  ServerName self;
  OwnRoot root;
  std::string cluster_id;
  std::shared_ptr<rpc::MemberIdentity> member;
  std::unique_ptr<rpc::MemberKeyFile> key_file;
  std::unique_ptr<MasterGate> gate;
  LoadBook loads;
  OwnRights rights{gate};
  rights::Judge judge{rights, config.rights.users};
  std::unique_ptr<ServiceEnv> service_env;
  std::unique_ptr<DeathWatch> deaths;  // null: ZooKeeper alone decides
  std::unique_ptr<rpc::ChannelPool> pulse_channels;
  std::unique_ptr<SilenceWatch> silence;  // null: silence is left to ZooKeeper
  std::unique_ptr<rpc::RpcServer> server;
  std::unique_ptr<zk::ZkSession> session;
  std::unique_ptr<MasterPage> page;
  std::unique_ptr<TraceFile> trace;
  std::unique_ptr<zk::SessionCloser> closer;
  zk::ZkPaths paths;
  std::unique_ptr<zk::PlaceAccess> access;
  std::unique_ptr<zk::MasterElection> election;
  std::unique_ptr<ClientZnodes> znodes;
  std::unique_ptr<ActiveMaster> active;
  std::unique_ptr<io::StorageWatch> storage;

  Mutex mutex;
  CondVar changed;
  bool elected GUARDED_BY(mutex) = false;
  std::vector<ServerName> backups GUARDED_BY(mutex);
  std::optional<TimePoint> zookeeper_lost GUARDED_BY(mutex);  // time of the last answer

  void End(int code, const std::string& why) {
    exit.Request(code, why);
    MutexLock lock(mutex);
    changed.NotifyAll();
  }

  bool FailRoot(const Error& error) {
    const std::string text = IsWentBack(error) ? error.message() : error.ToString();
    const std::string why = fmt::format("--root {}: {}", config.root, text);
    if (IsWentBack(error)) {
      // An elected master ends at once, so that another master may try; the page of that master shows the note.
      if (page == nullptr) {
        NoteRefusal(config, session.get(), why);
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

  // Presents the keys, if a master has written them, so that ClaimPlace may write where --zk-acl is set.
  bool PresentKeys() {
    access = std::make_unique<zk::PlaceAccess>(*session, paths);
    auto keys = io::ReadClusterKeys(*root.directory);
    if (!keys.ok() && keys.error().code() == Code::kNotFound) keys = io::ClusterKeys();
    if (!keys.ok()) return FailRoot(keys.error());
    while (!exit.requested().has_value()) {
      const Status begun = access->Begin(*keys);
      if (begun.ok()) return true;
      if (begun.error().code() != Code::kUnavailable) FailPlace(begun.error());
      IgnoreResult(session->WaitConnected(kConnectSlice), "the next try decides");
    }
    return false;
  }

  // S72 (root and ZooKeeper node belong together): checks that this root belongs to this place in ZooKeeper, before any
  // claim, fence or registration.
  bool ClaimPlace() {
    const TimePoint deadline = clock.Now() + zk::kIdReturnsWithin;
    while (!exit.requested().has_value()) {
      const auto failure = ClaimPlaceFor(root, *session, paths, config.adopt_zookeeper);
      cluster_id = root.state.cluster_id;
      if (!failure.has_value()) return true;
      if (failure->of_root) return FailRoot(failure->error);
      if (failure->error.code() == Code::kUnavailable) {
        IgnoreResult(session->WaitConnected(kConnectSlice), "the next try decides");
        continue;
      }
      // A running master rewrites an id that was removed.
      if (failure->error.code() == Code::kFailedPrecondition && clock.Now() < deadline) {
        const auto returns = zk::IdMayReturn(*session, paths);
        if (returns.ok() && *returns) {
          static_cast<void>(exit.WaitFor(kLookAtPlaceAgain));
          continue;
        }
      }
      FailPlace(failure->error);
    }
    return false;
  }

  void FailPlace(const Error& error) { End(zk::ExitCodeWithoutPlace(error), error.message()); }

  // S77 (members only): call only after ClaimPlace. `fresh`: the key to write if there is none yet.
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
    if (config.early_detection && config.silence_detection) {
      rpc::ChannelPoolOptions pulses = pool;  // orders and pulses do not delay each other
      pulses.name = "master-pulse";
      pulse_channels = std::make_unique<rpc::ChannelPool>(std::move(pulses));
    }
    if (config.early_detection) {
      WatchTheActiveMaster();
      pool.connection_ended = [this](const rpc::Endpoint& endpoint) { active_watch->ConnectionEnded(endpoint); };
    }
    channels = std::make_unique<rpc::ChannelPool>(std::move(pool));
    return true;
  }

  bool StartServer() {
    // The host is spelled in one way everywhere, because it becomes part of names.
    self = ServerName{LowerCaseHost(config.host), static_cast<std::uint16_t>(config.port),
                      static_cast<std::uint64_t>(clock.WallMillis())};
    if (const Status host = CheckHost(self.host); !host.ok()) {
      End(exit_code::kUsage, host.error().Annotate("--host").ToString());
      return false;
    }
    member->SetName(self);
    gate = std::make_unique<MasterGate>(self, cluster_id, fmt::format("ratchet {}", life.version), clock);
    service_env.reset(new ServiceEnv{*gate, loads, config.root, [this] { return Backups(); },
                                     [this](const std::string& why) { End(exit_code::kOk, why); },
                                     [this](const std::string& why) { StopCluster(why); }});
    service_env->timers = timers.get();
    service_env->past = life.history;
    service_env->fault_points_allowed = life.fault_points_allowed;
    service_env->zookeeper_lost = [this] { return ZooKeeperLost(); };
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
    rpc::ServerOptions options = ListenOptions(config, self.port, member);
    options.judge = &judge;
    options.tokens = std::make_shared<const identity::TokenCheck>(rights, clock);
    if (config.early_detection) WatchForDeaths(options);
    options.cluster_id = [this] { return std::optional<std::string>(cluster_id); };
    server = std::make_unique<rpc::RpcServer>(std::move(options));
    service_env->rpc_server = [this] { return server.get(); };
    service_env->client_versions = [this] { return server->stats().client_versions; };
    service_env->security = [this] {
      return page::SecurityFacts(config.settings(), member->texts(), server->stats(), life.version);
    };
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
    page = std::make_unique<MasterPage>(MasterPageDeps{PageOptions(config, judge), *service_env, *server, *session,
                                                       config.zookeeper, config.zk_parent, config.settings,
                                                       [] { return ListSteps(StepListFormat::kJson); }});
    if (const Status reach = page->CheckReach(config.identity.insecure); !reach.ok()) {
      End(exit_code::kUsage, reach.error().message());
      return false;
    }
    RATCHET_LOG(kInfo, "Master {} of cluster {} listens, root {}", self.ToString(), cluster_id, config.root);
    NotifyServiceManager("READY=1\nSTATUS=listens, is not the active master");
    return true;
  }

  void WatchForDeaths(rpc::ServerOptions& options) {
    DeathWatch::Deps deps{clock};
    deps.online = [this] { return OnlineServers(); };
    deps.probe = Prober();
    deps.ask = AskOthers();
    deps.expire = [this](const ServerName& dead, const std::string& why) { Expire(dead, why); };
    deaths = std::make_unique<DeathWatch>(std::move(deps));
    service_env->heard_from = [this](const ServerName& from, std::uint64_t connection) {
      deaths->HeardFrom(from, connection);
    };
    options.connection_ended = [this](std::uint64_t connection) { deaths->ConnectionEnded(connection); };
  }

  // Empty while this master is not active.
  std::vector<ServerName> OnlineServers() const {
    const auto parts = gate->Admit(Need::kWorkers);
    return parts.ok() ? parts->logic->servers.Online() : std::vector<ServerName>();
  }

  void Expire(const ServerName& dead, const std::string& why) {
    if (const auto parts = gate->Admit(Need::kWorkers); parts.ok()) parts->logic->server_manager.Expire(dead, why);
  }

  void WatchForSilence() {
    SilenceWatch::Deps deps{clock};
    deps.online = [this] { return OnlineServers(); };
    deps.pulse = [this](const ServerName& asked, SilenceWatch::Done done) {
      rpc::SendPulse(*pulse_channels, {asked.host, asked.port}, kLongestSilence, std::move(done));
    };
    deps.ask_self = [this](const ServerName& asked, SilenceWatch::Done done) {
      rpc::SendPulse(*channels, {asked.host, asked.port}, SilenceJudge::kPatience, std::move(done));
    };
    deps.ask_other = [this](const ServerName& other, const ServerName& suspect, SilenceWatch::Done done) {
      hbase::pb::ProbeServerRequest request;
      ToProto(suspect, *request.mutable_server());
      request.set_silence_ms(static_cast<std::uint32_t>(SilenceJudge::kPatience.count()));
      rpc::CallOptions options;
      options.timeout = SilenceJudge::kAnswersWithin;
      channels->Call(methods::kProbeServer, {other.host, other.port}, request, std::move(options),
                     [done = std::move(done)](const auto& reply) {
                       const bool silent =
                           reply.ok() && reply->message.verdict() == hbase::pb::ProbeServerResponse::SILENT;
                       done(silent ? rpc::PulseEnd::kSilent : rpc::PulseEnd::kUnclear);
                     });
    };
    deps.believe = [this] { return deaths->Believe(); };
    deps.expire = [this](const ServerName& silent, const std::string& why) { Expire(silent, why); };
    silence = std::make_unique<SilenceWatch>(std::move(deps));
    silence->Start();
  }

  // Follows no master before the election has begun, so it uses the parts that are made until then.
  void WatchTheActiveMaster() {
    ActiveWatch::Deps deps{clock};
    deps.reaches = [this](const ServerName& asked) {
      rpc::CallOptions options;
      options.timeout = kPulseTimeout;
      const auto reply = channels->CallSync(methods::kGetServerInfo, {asked.host, asked.port}, {}, std::move(options));
      if (reply.ok()) return true;
      const std::string_view what = reply.error().remote_class();
      return what != rpc::kNotSent && what != rpc::kConnectionLost;
    };
    deps.probe = Prober();
    deps.region_servers = [this] {
      auto registered = zk::ReadLiveServers(*session, paths);
      return registered.ok() ? *std::move(registered) : std::vector<ServerName>();
    };
    deps.ask = AskOthers();
    deps.remove = [this](const ServerName& dead, const std::string& why) {
      RATCHET_LOG(kWarn, "the active master {} is gone: {}", dead.ToString(), why);
      election->ReplaceDead(dead);
    };
    active_watch = std::make_unique<ActiveWatch>(std::move(deps));
  }

  std::function<rpc::ProbeFinding(const ServerName&)> Prober() {
    return [this](const ServerName& asked) { return rpc::ProbeServer(*channels, asked, kProbePatience); };
  }

  AskForOpinion AskOthers() {
    return [this](const ServerName& other, const ServerName& suspect) { return SecondOpinion(other, suspect); };
  }

  Result<rpc::ProbeVerdict> SecondOpinion(const ServerName& other, const ServerName& suspect) {
    hbase::pb::ProbeServerRequest request;
    ToProto(suspect, *request.mutable_server());
    rpc::CallOptions options;
    options.timeout = kSecondOpinionTimeout;
    RATCHET_ASSIGN(const auto reply,
                   channels->CallSync(methods::kProbeServer, {other.host, other.port}, request, std::move(options)));
    switch (reply.message.verdict()) {
      case hbase::pb::ProbeServerResponse::GONE: return rpc::ProbeVerdict::kGone;
      case hbase::pb::ProbeServerResponse::ALIVE: return rpc::ProbeVerdict::kAlive;
      default: return rpc::ProbeVerdict::kNoFinding;
    }
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
    End(zk::ExitCodeWithoutSession(error), error.ToString());  // has no effect after an earlier End
    return false;
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

  // A standby of another --root must not wait here, because after its election it would find foreign region servers.
  void CompareClusters(const ServerName& other) {
    rpc::CallOptions options;
    options.timeout = kCompareTimeout;
    channels->Call(methods::kGetStatus, {other.host, other.port}, ::ratchet::pb::GetStatusRequest(), std::move(options),
                   [this, other](const auto& reply) {
                     if (!reply.ok() || !reply->message.has_cluster_id()) return;
                     const std::string& theirs = reply->message.cluster_id();
                     if (theirs == cluster_id) return;
                     End(exit_code::kWrongCluster,
                         fmt::format("the active master {} belongs to cluster {}, --root {} to cluster {}",
                                     other.ToString(), theirs, config.root, cluster_id));
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
      if (active_watch != nullptr) active_watch->Follow(std::nullopt);
      MutexLock lock(mutex);
      elected = true;
      changed.NotifyAll();
    };
    callbacks.on_lost = [this](const std::string& why) { End(exit_code::kSessionExpired, "election lost: " + why); };
    callbacks.on_active_changed = [this](const std::optional<ServerName>& who) {
      RATCHET_LOG(kInfo, "Active master: {}", who.has_value() ? who->ToString() : "none");
      if (gate->role() == MasterRole::kStandby) gate->SetActiveMaster(who);
      if (who.has_value() && *who != self) CompareClusters(*who);
      if (active_watch != nullptr) active_watch->Follow(who != self ? who : std::nullopt);
    };
    callbacks.on_obstacle = [this](const std::string& why) { gate->SetProblem(OwnProblem::kElection, why); };
    election = std::make_unique<zk::MasterElection>(*session, paths, zk::MasterNode{self, page->shown_port()},
                                                    std::move(callbacks));
    if (pulse_channels != nullptr) WatchForSilence();
    election->Start();
    session->Post([this] {
      IgnoreResult(zk::ForgetOwnRefusedStart(*session, paths, RefusalStart(config)), "shown until a master leads");
    });
  }

  // S114 (no start without the past): the status and the page of this master show the refusal of another one. On the
  // session's thread.
  void LookForRefusal() {
    if (const auto problem = RefusalProblem(*session, paths)) gate->SetProblem(OwnProblem::kRefusedStart, *problem);
  }

  // S123 (only a proof makes a member): the status and the page show processes at addresses of members that are none.
  void ShowUnproven() {
    const auto problems = page::ProcessProblems(*member, *config.rights.users);
    gate->SetProblem(OwnProblem::kMembers, fmt::format("{}", fmt::join(problems, "; ")));
  }

  // Follows cluster.key; the active master keeps the nodes' rights as --zk-acl says. On the session's thread.
  void KeepAccess(bool leads) {
    Status kept = access->Take(member->texts());
    if (kept.ok() && leads) kept = access->KeepSometimes(config.closes_zookeeper, clock.Now());
    const bool wrong = !kept.ok() && kept.error().code() == Code::kFailedPrecondition;
    gate->SetProblem(OwnProblem::kZooKeeperRights, wrong ? kept.error().message() : std::string());
  }

  // Blocks until elected (returns true) or asked to end.
  bool AwaitElection() {
    MutexLock lock(mutex);
    while (!elected && !exit.requested().has_value()) changed.WaitFor(mutex, kStandbyPoll);
    return elected && !exit.requested().has_value();
  }

  // The id may be removed when the active master dies; without it no process can start again.
  void KeepPlaceAsStandby() {
    if (exit.requested().has_value() || gate->role() != MasterRole::kStandby) return;
    session->Post([this] {
      if (gate->role() != MasterRole::kStandby) return;
      LookForRefusal();
      ShowUnproven();
      KeepAccess(/*leads=*/false);
      IgnoreResult(zk::KeepPlace(*session, paths, cluster_id, /*active=*/false), "looked at again in a second");
    });
    timers->After(kStandbyPoll, [this] { KeepPlaceAsStandby(); });
  }

  // During this session the place is the one that was checked at the start; only writes of other clients can have
  // changed it (S72).
  bool StillMyPlace() {
    while (!exit.requested().has_value()) {
      const Status kept = zk::KeepPlace(*session, paths, cluster_id, /*active=*/false);
      if (kept.ok()) return true;
      if (kept.error().code() != Code::kUnavailable) FailPlace(kept.error());
      IgnoreResult(session->WaitConnected(kConnectSlice), "the next try decides");
    }
    return false;
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
    if (!StillMyPlace() || !TakeKeys()) return;
    if (!config.trace.path.empty())
      trace = std::make_unique<TraceFile>(config.trace.path, cluster_id, config.trace.bytes);
    active = std::make_unique<ActiveMaster>(
        ActiveMaster::Deps{config, io::PosixDisk(), *session, paths, *channels, clock, *timers, *gate,
                           [this](int code, const std::string& why) { End(code, why); },
                           [this] { storage->Look(false); }, page->listener(), trace.get()});
    znodes = std::make_unique<ClientZnodes>(*session, paths);
    Refresh();
    WatchStorage();
    const Status activated = active->Activate();
    if (activated.ok()) return;
    if (IsWentBack(activated.error())) return static_cast<void>(FailRoot(activated.error()));
    End(ExitCodeFor(activated.error()), "activation failed: " + activated.error().ToString());
  }

  // Returns false if the session did not close in time. Needs no storage.
  bool LeaveZooKeeper() { return closer == nullptr || closer->Close(kLeaveZooKeeper); }

  // No callback waits for the storage, except the check itself.
  void WatchStorage() {
    io::StorageWatchParts parts;
    parts.look = [this] { active->CheckOwner(); };
    parts.permitted = [this](Millis age) {
      if (Backups().empty()) return false;
      // During the activation no server reports to this master. A standby has proven its storage at its own start.
      // After a restart this process cannot become a standby before its storage answers, so two masters cannot pass the
      // role back and forth.
      if (gate->role() == MasterRole::kActivating) return true;
      const TimePoint now = clock.Now();
      return service_env->storage.AnswersSince(now - age, now);
    };
    // the end of the process ends the rest of the session
    parts.leave = [this] { static_cast<void>(LeaveZooKeeper()); };
    parts.end = [this](const std::string& why) { End(exit_code::kStorageHangs, why); };
    parts.last_resort = [this](const std::string& why) {
      if (life.end_at_once) life.end_at_once({exit_code::kStorageHangs, why});
    };
    storage = std::make_unique<io::StorageWatch>(clock, io::SyncWatch::OfProcess(), config.storage, std::move(parts));
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

  // Every second, on the session's thread: reads the other masters, and updates the nodes for clients.
  void Refresh() {
    session->Post([this] {
      const auto read = zk::ReadBackupMasters(*session, paths);
      if (read.ok()) {
        MutexLock lock(mutex);
        backups = *read;
      }
      LookForRefusal();
      ShowUnproven();
      const bool is_active = gate->role() == MasterRole::kActive;
      KeepAccess(is_active);
      if (is_active)
        IgnoreResult(zk::KeepPlace(*session, paths, cluster_id, /*active=*/true), "looked at again in a second");
      if (!is_active) return;
      if (config.publish_client_znodes)
        znodes->Publish(active->MetaLocation());
      else
        znodes->Withdraw();
    });
    timers->After(kStandbyPoll, [this] {
      if (!exit.requested().has_value()) Refresh();
    });
  }

  std::vector<ServerName> Backups() {
    MutexLock lock(mutex);
    return backups;
  }

  // Shutdown: every region server first, then this master. Standbys keep running.
  void StopCluster(const std::string& why) {
    active->LetServersLeave();
    SendStopRequests(*channels, active->OnlineServers(), why);
    timers->After(Millis{500}, [this, why] { End(exit_code::kOk, why); });
  }

  // Ends steps, stops sending and closes the store before it releases the election.
  void StopInOrder() {
    gate->Stopping();
    if (page != nullptr) page->Stop();
    if (storage != nullptr) storage->Stop();
    if (silence != nullptr) silence->Stop();
    if (deaths != nullptr) deaths->Stop();
    if (active_watch != nullptr) active_watch->Stop();
    if (active != nullptr) active->Stop();
    trace.reset();  // after the parts that add to it
    server->Stop();
    if (pulse_channels != nullptr) pulse_channels->Stop();
    channels->Stop();
    if (election != nullptr) election->Stop();
    static_cast<void>(LeaveZooKeeper());
  }
};

MasterProcess::MasterProcess(MasterConfig config, ExitLatch& exit, ProcessLife life)
    : impl_(std::make_unique<Impl>(std::move(config), exit, std::move(life))) {}

MasterProcess::~MasterProcess() = default;

void MasterProcess::LeaveZooKeeper() {
  if (!impl_->LeaveZooKeeper()) RATCHET_LOG(kWarn, "The ZooKeeper session did not close; it ends after its time-out");
}

ExitReason MasterProcess::Run() {
  Impl& impl = *impl_;
  if (impl.OpenRoot() && impl.ConnectZooKeeper() && impl.PresentKeys() && impl.ClaimPlace() &&
      impl.EnsureKeys({io::NewClusterKey()}) && impl.OpenChannels() && impl.StartServer()) {
    impl.StandForElection();
    impl.KeepPlaceAsStandby();
    if (impl.AwaitElection()) impl.Activate();
  }
  ExitReason reason = impl.exit.Wait();
  if (reason.code == exit_code::kWentBack && impl.page != nullptr)
    NoteRefusal(impl.config, impl.session.get(), reason.why);
  if (reason.code == exit_code::kOk && impl.server != nullptr) impl.StopInOrder();
  return reason;
}

}  // namespace ratchet::master
