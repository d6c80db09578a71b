#include "regionserver/process/server_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/descriptors.h"
#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "common/io/cluster_key.h"
#include "common/model/codec.h"
#include "common/rpc/await_listening.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_meta_service.h"
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
namespace {

constexpr Millis kLeaveZooKeeper{2'000};
constexpr Millis kShipPatience{10'000};    // time limit of one call to a peer, or to hbase:replication
constexpr std::int64_t kOrderThreads = 2;  // these threads only accept orders; lanes execute them

rpc::ServerOptions ListenOptions(const ServerOptions& options, const std::string& cluster_id,
                                 std::shared_ptr<const rpc::MemberIdentity> member) {
  rpc::ServerOptions listen;
  listen.name = "rpc";
  listen.host = options.bind.empty() ? options.host : options.bind;
  listen.port = static_cast<std::uint16_t>(options.listen_port == 0 ? options.port : options.listen_port);
  const auto queue = [&options](std::int64_t threads) {
    return rpc::QueueOptions{static_cast<int>(threads), static_cast<std::size_t>(options.queue_length)};
  };
  listen.max_call_bytes = options.max_call_bytes;
  listen.max_request_messages = static_cast<std::size_t>(options.max_request_messages);
  listen.max_unsent_total_bytes = options.max_answer_bytes;
  listen.queues = {queue(options.handlers), queue(options.admin_handlers), queue(kOrderThreads),
                   queue(options.meta_handlers), queue(options.meta_handlers)};
  listen.watch.slow = options.slow_call;
  listen.watch.large = options.large_answer_bytes;
  listen.member = std::move(member);
  listen.tls = tls::ProcessTls::OfProcess();
  listen.cluster_id = [cluster_id] { return std::optional<std::string>(cluster_id); };
  return listen;
}

constexpr Millis kShowRefusals{60'000};
constexpr Millis kProbePatience{100};

ScannerTableOptions ScannerOptionsOf(const ServerOptions& options, TroubleBook& troubles) {
  ScannerTableOptions scanners;
  scanners.lease = options.scanner_lease;
  scanners.max_open = options.max_scanners;
  scanners.max_of_connection = options.max_scanners_of_connection;
  scanners.max_of_user = options.max_scanners_of_user;
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
  HostOptions host;
  host.damaged = [&troubles](const DamagedFile& file) { NoteDamage(file, troubles); };
  host.closed = [&troubles](const std::string& region) { troubles.ClearAll(fmt::format("file:{}:", region)); };
  host.region.flush_bytes = options.memstore_flush_bytes;
  FollowMemstore(options);
  host.region.blocking_bytes = options.memstore_blocking_bytes;
  host.region.compaction_min_files = static_cast<std::size_t>(options.compaction_min_files);
  host.region.max_cell_bytes = options.max_cell_bytes;
  host.region.max_unit_bytes = options.max_mutation_bytes;
  host.region.max_row_bytes = options.max_row_bytes;
  host.wal.roll_bytes = options.log_roll_bytes;
  host.wal.most_files = options.max_logs;
  host.region.budget = std::make_shared<MemstoreBudget>();
  host.region.budget->limit = options.memstore_total_bytes;
  host.region.budget->flush_at = options.memstore_flush_at;
  host.region.room = std::make_shared<DiskRoom>(options.keep_free_bytes);
  return host;
}

}  // namespace

ServerParts::ServerParts() : timers(MakeThreadTimers()) {}
ServerParts::~ServerParts() = default;

Status ServerParts::Build(const ServerOptions& options, zk::ZkPaths zk_paths, ExitLatch& exit) {
  paths = std::move(zk_paths);
  zookeeper = options.zookeeper;
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
  heartbeat = std::make_unique<Heartbeat>(*link, epochs, *timers, options.report_interval, heart);
  WatchStorage(options, exit);
  slow_log = std::make_shared<SlowLog>(static_cast<std::size_t>(options.slow_log_calls));
  rpc::ServerOptions listen = ListenOptions(options, cluster_id, member);
  listen.connection_ended = [this](std::uint64_t connection) { scanners->ConnectionEnded(connection); };
  if (options.slow_log_calls > 0)
    listen.watch.told = [log = slow_log](const rpc::FinishedCall& call) {
      log->Note(call, SystemClock().WallMillis());
    };
  rpc = std::make_unique<rpc::RpcServer>(std::move(listen));
  AddServices(options, exit);
  ShowPage(options);
  return rpc::AwaitListening(*rpc, options.zk_connect_timeout, clock, exit);
}

void ServerParts::FollowMaster(ExitLatch& exit) {
  rpc::ChannelPoolOptions pool;
  pool.name = "rpc-master";
  pool.member = member;
  pool.tls = tls::ProcessTls::OfProcess();
  channels = std::make_unique<rpc::ChannelPool>(std::move(pool));
  key_file = std::make_unique<rpc::MemberKeyFile>(member, [this] { return io::ReadClusterKeys(*root); });
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
}

void ServerParts::MakeHost(const ServerOptions& options, ExitLatch& exit) {
  LaneThreads threads;
  threads.regions = static_cast<int>(options.open_threads);
  threads.split_log = static_cast<int>(options.split_log_threads);
  threads.flush = static_cast<int>(options.flush_threads);
  threads.small_compact = static_cast<int>(options.small_compaction_threads);
  threads.large_compact = static_cast<int>(options.large_compaction_threads);
  lanes = std::make_unique<LanePool>(threads);
  BlockCache::OfProcess().SetLimit(options.block_cache_bytes);
  const HostOptions host_options = HostOptionsOf(options, troubles);
  budget = host_options.region.budget;
  host = std::make_unique<RegionHost>(*root, clock, *lanes, host_options,
                                      [&exit](int code, const std::string& why) { exit.Request(code, why); });
  report = std::make_unique<RegionReport>([this] { return host->regions.DrainChanges(); }, clock);
  budget->make_room = [this] { host->flusher.FlushLargest(); };
}

// Null: the master did not accept the report.
void ServerParts::TakeAnswer(const pb::RegionServerReportResponse* answer, ExitLatch& exit) {
  if (answer != nullptr && answer->stop())
    exit.Request(exit_code::kOk, "asked to stop: the master has drained this server");
  storage->Answered(answer);
  orderly_stop.Answered(answer);
  report->Answered(answer);
  if (answer == nullptr) return;
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
  storage = std::make_unique<StorageHealth>(clock, io::SyncWatch::OfProcess(), options.sync_timeout, std::move(health));
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
      .max_result_bytes = options.max_result_bytes,
      .max_multi_bytes = options.max_multi_bytes,
      .throttles = &throttles,
      .ahead = std::make_shared<AheadBudget>(options.scan_ahead_bytes, kAheadThreads),
      .prove_epoch = [this](Epoch claimed) { return ProveEpoch(*root, claimed); },
      .cluster_id = cluster_id,
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
  for (std::string& text : member->Problems()) request.add_trouble(std::move(text));
  if (const auto tls = tls::ProcessTls::OfProcess(); tls != nullptr)
    for (std::string& text : tls->Problems()) request.add_trouble(std::move(text));
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
