#include "regionserver/process/server_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/identity/token_check.h"
#include "common/io/cluster_key.h"
#include "common/io/root_access.h"
#include "common/kerberos/process_kerberos.h"
#include "common/model/codec.h"
#include "common/ops/page/process_problems.h"
#include "common/ops/page/security_facts.h"
#include "common/rpc/await_listening.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_meta_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/server_probe.h"
#include "common/zk/master_election.h"
#include "regionserver/process/root_files.h"
#include "regionserver/replication/client_positions.h"
#include "regionserver/replication/client_sink.h"
#include "regionserver/rpc/admin_service.h"
#include "regionserver/rpc/client_meta_service.h"
#include "regionserver/rpc/data_service.h"
#include "regionserver/rpc/read_ahead.h"
#include "regionserver/store/block_cache.h"

namespace ratchet::regionserver {

// Passes calls of clients on to the active master.
class LinkedMasterCalls final : public MasterCalls {
 public:
  explicit LinkedMasterCalls(MasterLink& link) : link_(link) {}
  void Grant(const rpc::CallContext& client, const pb::GrantRequest& request, Done<pb::GrantResponse> done) override {
    link_.AskFor(client, methods::kGrant, request, std::move(done));
  }
  void Revoke(const rpc::CallContext& client, const pb::RevokeRequest& request,
              Done<pb::RevokeResponse> done) override {
    link_.AskFor(client, methods::kRevoke, request, std::move(done));
  }
  void GetUserPermissions(const rpc::CallContext& client, const pb::GetUserPermissionsRequest& request,
                          Done<pb::GetUserPermissionsResponse> done) override {
    link_.AskFor(client, methods::kGetUserPermissions, request, std::move(done));
  }
  void HasUserPermissions(const rpc::CallContext& client, const pb::HasUserPermissionsRequest& request,
                          Done<pb::HasUserPermissionsResponse> done) override {
    link_.AskFor(client, methods::kHasUserPermissions, request, std::move(done));
  }
  void IssueToken(const rpc::CallContext& client, Done<ratchet::pb::IssueTokenResponse> done) override {
    link_.AskFor(client, methods::kIssueToken, {}, std::move(done));
  }

 private:
  MasterLink& link_;
};
namespace {

constexpr Millis kLeaveZooKeeper{2'000};
constexpr Millis kShipPatience{10'000};  // time limit of one call to a peer, or to hbase:replication

// The settings, with what exists only in this process.
rpc::ServerOptions ListenOptionsOf(const ServerOptions& options, const std::string& cluster_id,
                                   std::shared_ptr<const rpc::MemberIdentity> member) {
  rpc::ServerOptions listen = options.listen;
  listen.host = options.bind.empty() ? options.host : options.bind;
  listen.port = static_cast<std::uint16_t>(options.listen_port == 0 ? options.port : options.listen_port);
  listen.watch = options.slow_log.watch;
  listen.member = std::move(member);
  listen.tls = tls::ProcessTls::OfProcess();
  listen.audit = audit::AuditLog::OfProcess();
  listen.callers = identity::CertificateCallers::OfProcess();
  listen.kerberos = kerberos::OfProcess();
  listen.cluster_id = [cluster_id] { return std::optional<std::string>(cluster_id); };
  return listen;
}

constexpr Millis kShowRefusals{60'000};
constexpr Millis kProbePatience{100};

ScannerTableOptions ScannerOptionsOf(const ServerOptions& options, TroubleBook& troubles) {
  ScannerTableOptions scanners = options.scanners;
  scanners.refused = [&troubles](const std::string& why) {
    troubles.Note("scanners", fmt::format("scans are refused: {}", why), kShowRefusals);
  };
  return scanners;
}

// Damage is shown until the region is closed here; a disk error may pass earlier.
void NoteDamage(const DamagedFile& file, TroubleBook& troubles) {
  constexpr Millis kShowDamage{86'400'000};
  constexpr Millis kShowReadError{60'000};
  const bool lasts = file.error.code() == Code::kCorruption || file.error.code() == Code::kNotFound;
  troubles.Note(
      fmt::format("file:{}:{}", file.region, file.path),
      fmt::format("store file {} of region {} of table {} cannot be read: {}; restore a valid copy of the file, "
                  "then run 'ratchet move {}', so that the region is opened with it; or run 'ratchet give-up {} "
                  "--yes', which loses the region's rows",
                  file.path, file.region, file.table, file.error.message(), file.region, file.region),
      lasts ? kShowDamage : kShowReadError);
}

HostOptions HostOptionsOf(const ServerOptions& options, TroubleBook& troubles) {
  HostOptions host = options.regions;
  host.damaged = [&troubles](const DamagedFile& file) { NoteDamage(file, troubles); };
  host.closed = [&troubles](const std::string& region) { troubles.ClearAll(fmt::format("file:{}:", region)); };
  host.region.budget = std::make_shared<MemstoreBudget>(options.memstores);
  host.region.room = std::make_shared<DiskRoom>(options.disk_room.keep_free);
  return host;
}

}  // namespace

ServerParts::ServerParts() : timers(MakeThreadTimers()) {}
ServerParts::~ServerParts() = default;

Status ServerParts::Build(const ServerOptions& options, zk::ZkPaths zk_paths, ExitLatch& exit) {
  paths = std::move(zk_paths);
  zookeeper = options.zookeeper;
  settings = options.settings;
  FollowMaster(exit);
  MakeHost(options, exit);
  queue = std::make_unique<OrderQueue>(epochs, *lanes, [this] { reporter->Kick(); });
  reporter = std::make_unique<OrderReporter>(*queue, epochs, *link, *timers, RandomSeed());
  scanners = std::make_unique<ScannerTable>(clock, *timers, static_cast<std::uint32_t>(RandomSeed()),
                                            ScannerOptionsOf(options, troubles));
  const HeartbeatParts heart{
      .fill = [this](pb::RegionServerReportRequest& request) { FillReport(request); },
      .look = [this] { storage->Look(); },
      .answered = [this, &exit](const pb::RegionServerReportResponse* answer) { TakeAnswer(answer, exit); },
  };
  heartbeat = std::make_unique<Heartbeat>(*link, epochs, *timers, options.heartbeat.interval, heart);
  WatchStorage(options, exit);
  slow_log = std::make_shared<SlowLog>(options.slow_log.most_calls);
  rpc::ServerOptions listen = ListenOptionsOf(options, cluster_id, member);
  users = options.rights.users;
  judge = std::make_unique<rights::Judge>(rights, options.rights.users);
  listen.judge = judge.get();
  listen.tokens = std::make_shared<const identity::TokenCheck>(rights, clock);
  listen.connection_ended = [this](std::uint64_t connection) { scanners->ConnectionEnded(connection); };
  if (options.slow_log.most_calls > 0)
    listen.watch.told = [log = slow_log](const rpc::FinishedCall& call) {
      log->Note(call, SystemClock().WallMillis());
    };
  rpc = std::make_unique<rpc::RpcServer>(std::move(listen));
  AddServices(options, exit);
  ShowPage(options);
  RATCHET_TRY(page->CheckReach(options.identity.insecure));
  RATCHET_TRY(rpc::AwaitListening(*rpc, options.zk_connect_timeout, clock, exit));
  return identity::CertificateCallers::CheckAddresses(rpc->addresses(), options.identity.insecure,
                                                      kerberos::OfProcess() != nullptr);
}

void ServerParts::FollowMaster(ExitLatch& exit) {
  rpc::ChannelPoolOptions pool;
  pool.name = "rpc-master";
  pool.member = member;
  pool.tls = tls::ProcessTls::OfProcess();
  channels = std::make_unique<rpc::ChannelPool>(std::move(pool));
  key_file = std::make_unique<rpc::MemberKeyFile>(member, [this] {
    io::LookAtRootAccess(*root);
    return io::ReadClusterKeys(*root);
  });
  auto last_master = std::make_shared<std::optional<ServerName>>();  // only the session's thread touches it
  tracker = std::make_unique<MasterTracker>(
      *session, paths, *timers, [this, last_master](const std::optional<ServerName>& master) {
        RATCHET_LOG(kInfo, "Active master: {}", master.has_value() ? master->ToString() : "none");
        if (last_master->has_value() && *last_master != master) link->Forget(**last_master);
        *last_master = master;
        if (!master.has_value()) return;
        reporter->RetryNow();
        report->StartAnew();
        if (registered) heartbeat->Now();
      });
  const MasterLinkOptions link_options{
      .call_timeout = Millis(10'000),
      .on_dead = [&exit](const std::string& why) { exit.Request(exit_code::kRefusedByMaster, why); },
  };
  link = std::make_unique<MasterLink>(*channels, *tracker, link_options);
  master_calls = std::make_unique<LinkedMasterCalls>(*link);
}

void ServerParts::MakeHost(const ServerOptions& options, ExitLatch& exit) {
  lanes = std::make_unique<LanePool>(options.lanes);
  BlockCache::OfProcess().SetLimit(options.block_cache.bytes);
  const HostOptions host_options = HostOptionsOf(options, troubles);
  budget = host_options.region.budget;
  host = std::make_unique<RegionHost>(*root, clock, *lanes, host_options,
                                      [&exit](int code, const std::string& why) { exit.Request(code, why); });
  host->orders.GiveRightsTo(
      [this](std::shared_ptr<const ::ratchet::rights::RightsImage> image) { TakeRights(std::move(image)); });
  report = std::make_unique<RegionReport>([this] { return host->regions.DrainChanges(); }, clock);
  budget->make_room = [this] { host->flusher.FlushLargest(); };
}

void ServerParts::TakeRights(const ratchet::pb::RightsImage& image) {
  auto read = ::ratchet::rights::RightsImage::FromProto(image);
  if (!read.ok()) {
    RATCHET_LOG(kError, "the master's image of rights cannot be read: {}", read.error().ToString());
    return;
  }
  TakeRights(std::make_shared<const ::ratchet::rights::RightsImage>(*std::move(read)));
}

void ServerParts::TakeRights(std::shared_ptr<const ::ratchet::rights::RightsImage> image) {
  const auto [epoch, number] = image->number();
  if (!rights.Take(std::move(image))) return;
  RATCHET_LOG(kInfo, "Rights: image {}.{}", epoch, number);
}

// Null: the master did not accept the report.
void ServerParts::TakeAnswer(const pb::RegionServerReportResponse* answer, ExitLatch& exit) {
  if (answer != nullptr && answer->stop())
    exit.Request(exit_code::kOk, "asked to stop: the master has drained this server");
  storage->Answered(answer);
  orderly_stop.Answered(answer);
  report->Answered(answer);
  if (answer == nullptr) return;
  if (answer->has_rights()) TakeRights(answer->rights());
  if (answer->has_throttles()) throttles.Take(answer->throttles());
  if (answer->has_peers()) {
    replicator->Take(answer->peers());
  } else {
    replicator->NoList();
  }
}

void ServerParts::WatchStorage(const ServerOptions& options, ExitLatch& exit) {
  StorageHealthParts health{
      .look =
          [this, &exit] {
            if (replicator != nullptr) replicator->Look();
            host->Upkeep();
            if (const Status alive = host->wals.CheckFence(); !alive.ok())
              exit.Request(exit_code::kFenced, alive.error().ToString());
          },
      .log_directory = [this] { return log_directory == nullptr ? nullptr : &log_directory->directory(); },
      .leave = [this] { static_cast<void>(LeaveZooKeeper()); },  // the rest of the session ends with the process
      .end = [&exit](const std::string& why) { exit.Request(exit_code::kStorageHangs, why); },
      .last_resort =
          [this](const std::string& why) {
            if (life.end_at_once) life.end_at_once({exit_code::kStorageHangs, why});
          },
  };
  storage =
      std::make_unique<StorageHealth>(clock, io::SyncWatch::OfProcess(), options.storage.limit, std::move(health));
}

bool ServerParts::LeaveZooKeeper() { return closer == nullptr || closer->Close(kLeaveZooKeeper); }

void ServerParts::AddServices(const ServerOptions& options, ExitLatch& exit) {
  const auto find = [this](const std::string& name) { return host->regions.Find(name); };
  const auto admit = [this] { return Admit(); };
  constexpr std::int64_t kAheadThreads = 4;
  rpc->Add(MakeDataService({
      .find = find,
      .admit = admit,
      .epochs = epochs,
      .scanners = *scanners,
      .clock = clock,
      .options = options.data,
      .throttles = &throttles,
      .ahead = std::make_shared<AheadBudget>(options.data.scan_ahead_bytes, kAheadThreads),
      .prove_epoch = [this](Epoch claimed) { return ProveEpoch(*root, claimed); },
      .cluster_id = cluster_id,
      .judge = judge.get(),
      .master = master_calls.get(),
  }));
  rpc->Add(MakeAdminService({
      .self = [this] { return self; },
      .admit = admit,
      .take_orders = [this](const pb::ExecuteProceduresRequest& request) { return EnqueueOrders(request); },
      .find = find,
      .all = [this] { return host->regions.All(); },
      .compact_soon = [this](const std::string& name, bool major) { host->compactor.Soon(name, major); },
      .switch_compactions = [this](bool on) { return host->compactor.Switch(on); },
      .roll_logs = [this] { return host->wals.Roll(); },
      .stop = [&exit](const std::string& reason) { exit.Request(exit_code::kOk, reason); },
      .run_slowly = [this](std::function<void()> work) { lanes->Run(Lane::kAdmin, std::move(work)); },
      .info_port = [this] { return page == nullptr ? 0U : page->shown_port(); },
      .slow_log = slow_log,
      .is_compacting = [this](const std::string& name,
                              bool major) { return host->compactor.IsCompacting(name, major); },
      .reload = options.reload,
      .probe = [this](const ServerName& asked) { return rpc::ProbeServer(*channels, asked, kProbePatience); },
      .pulse =
          [this](const ServerName& asked, Millis patience) {
            return rpc::SendPulseSync(*channels, {asked.host, asked.port}, patience);
          },
      .rpc_server = [this] { return rpc.get(); },
      .judge = judge.get(),
  }));
  rpc->Add(MakeClientMetaService(clock,
                                 {
                                     .cluster_id = cluster_id,
                                     .self = [this] { return self; },
                                     .admit = admit,
                                     .active_master = [this] { return tracker->master(); },
                                     .backup_masters =
                                         [this] {
                                           auto backups = zk::ReadBackupMasters(*session, paths);
                                           return backups.ok() ? *backups : std::vector<ServerName>();
                                         },
                                     .meta_locations =
                                         [this](std::function<void(Result<pb::GetMetaRegionLocationsResponse>)> done) {
                                           link->Ask(methods::kGetMetaRegionLocations,
                                                     pb::GetMetaRegionLocationsRequest(), 0, std::move(done));
                                         },
                                 }));
}

Status ServerParts::GiveLogDirectory(std::unique_ptr<io::FencedDirectory> directory) {
  log_directory = std::move(directory);
  RATCHET_TRY(host->wals.UseDirectory(*log_directory));
  StartReplication();
  return Ok();
}

void ServerParts::StartReplication() {
  Replicator::Parts parts;
  parts.own_id = cluster_id;
  parts.own.server = log_directory->name();
  parts.own.files = [this]() -> Result<std::vector<QueueFile>> {
    std::vector<QueueFile> files;
    for (ServerLog::FileInfo& file : host->wals.Files())
      files.push_back({std::move(file.name), file.number, file.bytes, file.closed});
    return files;
  };
  parts.own.open = [this](const std::string& name) { return log_directory->directory().OpenForRead(name); };
  parts.keep_from = [this](std::uint64_t number) { host->wals.KeepFrom(number); };
  parts.root = root.get();
  parts.connect = [](const ClusterKey& key) { return MakeClientSink(key, kShipPatience); };
  parts.positions = MakeClientPositions({zookeeper, paths.parent}, kShipPatience);
  parts.may_ship = [this] { return log_directory->Check(); };
  parts.clock = &clock;
  replicator = std::make_unique<Replicator>(std::move(parts));
  host->orders.GivePeersTo([this](const pb::PeerList& list) { replicator->Take(list); });
}

Status ServerParts::Admit() const {
  if (stopping) return rpc::RemoteError(rpc::exception::kRegionServerStopped, "this server is stopping");
  if (!serving) return rpc::RemoteError(rpc::exception::kServerNotRunningYet, "this server is starting");
  return Ok();
}

Status ServerParts::EnqueueOrders(const pb::ExecuteProceduresRequest& request) {
  RATCHET_ASSIGN(OrderBatch batch, DecodeOrders(request, self.start_code, host->orders));
  Epoch claimed = batch.epoch;
  for (const Order& order : batch.orders) claimed = std::max(claimed, order.address.epoch);
  if (claimed > epochs.highest()) RATCHET_TRY(ProveEpoch(*root, claimed));
  return queue->Take(batch.epoch, batch.lowest_live, std::move(batch.orders));
}

void ServerParts::FillReport(pb::RegionServerReportRequest& request) {
  ToProto(self, *request.mutable_server());
  if (orderly_stop.asked()) request.set_leaving(true);
  request.set_known_epoch(epochs.highest().value());
  if (replicator != nullptr) replicator->Fill(request);
  const auto image = rights.image();
  request.set_rights_epoch(image == nullptr ? 0 : image->number().epoch);  // 0: none
  request.set_rights_number(image == nullptr ? 0 : image->number().number);
  report->Fill(request);
  auto& load = *request.mutable_load();
  load.set_report_end_time(static_cast<std::uint64_t>(clock.WallMillis()));
  if (throttles.digest() != 0) request.set_throttles_digest(throttles.digest());
  storage->Fill(*request.mutable_storage());
  host->FillStorage(*request.mutable_storage());
  if (life.fault_points_allowed) request.set_fault_points_allowed(true);
  const DescriptorUse descriptors = DescriptorsInUse();
  request.set_descriptors_used(descriptors.used);
  request.set_descriptor_limit(descriptors.limit);
  if (settings)
    *request.mutable_security() = page::SecurityFacts(settings(), member->texts(), rpc->stats(), life.version);
  for (std::string& text : page::ProcessProblems(*member, *users)) request.add_trouble(std::move(text));
  for (std::string& text : troubles.List()) request.add_trouble(std::move(text));
  if (page != nullptr && page->shown_port() != 0) request.set_info_port(page->shown_port());
  if (life.history.count == 0) return;
  request.set_came_again(life.history.count);
  request.set_came_again_why(life.history.why);
}

void ServerParts::StopInOrder(Millis flush_limit) {
  if (serving && host != nullptr && flush_limit.count() > 0) host->flusher.FlushAll(clock.Now() + flush_limit);
  stopping = true;
  StopPage();
  if (heartbeat != nullptr) heartbeat->Stop();
  if (storage != nullptr) storage->Stop();
  if (replicator != nullptr) replicator->Stop();
  if (reporter != nullptr) reporter->Stop();
  if (tracker != nullptr) tracker->Stop();
  if (rpc != nullptr) rpc->StopServing();  // the logs are not closed yet
  if (channels != nullptr) channels->Stop();
  if (host != nullptr) host->orders.StopWaiting();
  if (lanes != nullptr) lanes->Stop();
  if (host != nullptr) host->wals.Stop();
  // removes our node at once, so that the master does not wait for the session's end
  static_cast<void>(LeaveZooKeeper());
}

}  // namespace ratchet::regionserver
