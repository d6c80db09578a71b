#include "tests/bench/scale/simulated_servers.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "common/base/exit_latch.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/base/version.h"
#include "common/io/cluster_id.h"
#include "common/io/fenced_directory.h"
#include "common/model/codec.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/member_identity.h"
#include "common/rpc/server.h"
#include "common/zk/server_liveness.h"
#include "regionserver/host/load_turns.h"
#include "regionserver/host/online_list.h"
#include "regionserver/host/split_log.h"
#include "regionserver/orders/order_decoder.h"
#include "regionserver/orders/order_reporter.h"
#include "regionserver/process/heartbeat.h"
#include "regionserver/process/master_link.h"
#include "regionserver/process/root_files.h"
#include "regionserver/rpc/admin_service.h"
#include "regionserver/wal/server_log.h"

namespace ratchet::bench {
namespace {

using namespace regionserver;  // NOLINT(google-build-using-namespace): its parts in another order
namespace hpb = ::hbase::pb;

constexpr Millis kStartPatience{30'000};
constexpr Millis kHeartbeat{1'000};
constexpr const char* kHost = "127.0.0.1";

// Runs all work after the fixed delay; the work of these servers never waits.
class DelayedLanes final : public Lanes {
 public:
  DelayedLanes(Timers& timers, Millis delay) : timers_(timers), delay_(delay) {}
  void Run(Lane /*lane*/, std::function<void()> work) override { timers_.After(delay_, std::move(work)); }

 private:
  Timers& timers_;
  const Millis delay_;
};

rpc::ServerOptions ListenOptions(std::shared_ptr<const rpc::MemberIdentity> member) {
  rpc::ServerOptions listen;
  listen.name = "sim";
  listen.host = kHost;
  listen.member = std::move(member);
  for (rpc::QueueOptions& queue : listen.queues) queue.threads = 1;
  return listen;
}

rpc::ChannelPoolOptions PoolOptions(std::shared_ptr<const rpc::MemberIdentity> member) {
  rpc::ChannelPoolOptions pool;
  pool.name = "sim";
  pool.member = std::move(member);
  return pool;
}

}  // namespace

class SimulatedServer final : public OrderExecutor, public std::enable_shared_from_this<SimulatedServer> {
 public:
  explicit SimulatedServer(SimulatedPlace& place)
      : place_(place),
        member_(std::make_shared<rpc::MemberIdentity>(rpc::MemberRole::kRegionServer, place.keys)),
        lanes_(*place.timers, place.delay),
        channels_(PoolOptions(member_)),
        link_(channels_, *place.tracker, {Millis(10'000), [this](const std::string& why) { Died(why); }}),
        queue_(epochs_, lanes_, [this] { reporter_->Kick(); }),
        reporter_(std::make_unique<OrderReporter>(queue_, epochs_, link_, *place.timers, RandomSeed())),
        rpc_(std::make_unique<rpc::RpcServer>(ListenOptions(member_))) {}
  ~SimulatedServer() override { Stop(); }

  Status Start() {
    rpc_->Add(MakeAdminService({
        .self = [this] { return self_; },
        .admit = [] { return Ok(); },
        .take_orders = [this](const hpb::ExecuteProceduresRequest& request) { return TakeOrders(request); },
        .find = [](const std::string& name) -> Result<std::shared_ptr<Region>> {
          return rpc::RemoteError(rpc::exception::kNotServingRegion, name + " is simulated");
        },
        .all = [] { return std::vector<std::shared_ptr<Region>>(); },
        .compact_soon = [](const std::string&, bool) {},
        .switch_compactions = [](bool on) { return on; },
        .roll_logs = [] { return Ok(); },
        .stop = [](const std::string&) {},
        .run_slowly = [](const std::function<void()>& work) { work(); },
    }));
    RATCHET_TRY(rpc_->Start());
    RATCHET_ASSIGN(const std::uint64_t start_code,
                   ChooseStartCode(*place_.wals, kHost, rpc_->port(), SystemClock().WallMillis()));
    self_ = {kHost, rpc_->port(), start_code};
    RATCHET_ASSIGN(log_directory_, io::FencedDirectory::Make(*place_.wals, self_.ToString()));
    RATCHET_TRY(MakeLog());
    member_->SetName(self_);
    link_.SetSelf(self_);
    RATCHET_TRY(
        zk::RegisterRegionServer(*place_.session, place_.paths, self_, std::string(kVersionNumber), kStartPatience));
    RATCHET_TRY(RegisterWithMaster());
    heartbeat_ = std::make_unique<Heartbeat>(
        link_, epochs_, *place_.timers, kHeartbeat,
        HeartbeatParts{[this](hpb::RegionServerReportRequest& request) { Fill(request); }, [] {},
                       [this](const hpb::RegionServerReportResponse* answer) { Answered(answer); }});
    heartbeat_->Start();
    return Ok();
  }

  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    if (heartbeat_ != nullptr) heartbeat_->Stop();
    reporter_->Stop();
    rpc_.reset();
    channels_.Stop();
    const MutexLock lock(mutex_);
    place_.open -= regions_.size();
    regions_.clear();
  }

  void NewMaster(const std::optional<ServerName>& old, bool active) {
    if (old.has_value()) link_.Forget(*old);
    if (!active) return;
    reporter_->RetryNow();
    {
      const MutexLock lock(mutex_);
      list_.StartAnew();
      turns_.StartAnew();
    }
    if (heartbeat_ != nullptr) heartbeat_->Now();
  }

  [[nodiscard]] const ServerName& name() const { return self_; }
  [[nodiscard]] std::uint64_t held() {
    const MutexLock lock(mutex_);
    return held_;
  }

  // ---- OrderExecutor: called by the timers' thread ----
  OrderAnswer Open(const OpenOrder& order) override {
    OrderAnswer answer;
    answer.outcome = OrderOutcome::kOpened;
    answer.open_sequence = 2;
    answer.open_number = order.open_number;
    answer.schema_number = order.schema_number;
    const auto info = FromProto(order.region);
    if (!info.ok()) return FailedAnswer(OrderOutcome::kFailedOpen, info.error());
    const MutexLock lock(mutex_);
    if (stopped_) return answer;
    if (regions_.insert_or_assign(order.encoded_name, info->name()).second) ++place_.open;
    list_.Opened(order.encoded_name, order.open_number);
    turns_.Opened(order.encoded_name);
    return answer;
  }
  void OpenWithOthers(std::shared_ptr<const OpenOrder> order, std::function<void(OrderAnswer)> done) override {
    place_.timers->After(place_.delay, [self = shared_from_this(), order = std::move(order), done = std::move(done)] {
      done(self->Open(*order));
    });
  }
  std::optional<OrderAnswer> Close(const CloseOrder& order) override {
    OrderAnswer answer;
    answer.outcome = OrderOutcome::kClosed;
    const MutexLock lock(mutex_);
    if (regions_.erase(order.encoded_name) != 0) --place_.open;
    list_.Closed(order.encoded_name);
    turns_.Closed(order.encoded_name);
    return answer;
  }
  // The log of a simulated server is small and empty.
  OrderAnswer SplitLog(const SplitLogOrder& order) override {
    auto report = RunSplit(*place_.root, order);
    if (!report.ok()) return FailedAnswer(OrderOutcome::kFailed, report.error());
    OrderAnswer answer = Done();
    answer.payload = *std::move(report);
    return answer;
  }
  OrderAnswer Flush(const FlushOrder& /*order*/) override { return Refused(); }
  OrderAnswer Compact(const CompactOrder& /*order*/) override { return Refused(); }
  OrderAnswer Build(const BuildOrder& /*order*/) override { return Refused(); }
  OrderAnswer Copy(const CopyOrder& /*order*/) override { return Refused(); }
  OrderAnswer RefreshPeers(const RefreshPeersOrder& /*order*/) override { return Done(); }
  OrderAnswer TakeRights(const TakeRightsOrder& /*order*/) override { return Done(); }

 private:
  static OrderAnswer Done() {
    OrderAnswer answer;
    answer.outcome = OrderOutcome::kDone;
    return answer;
  }
  static OrderAnswer Refused() {
    return FailedAnswer(OrderOutcome::kFailed, Error(Code::kFailedPrecondition, "a simulated server has no data"));
  }
  // A master expects the first log of each server (S119: made logs are required).
  Status MakeLog() {
    ServerLogOptions options;
    options.prepare_next = false;
    const auto log = ServerLog::Open(*log_directory_, options);
    return log.ok() ? Ok() : Status(log.error());
  }
  void Died(const std::string& why) {
    if (!stopped_) RATCHET_LOG(kError, "{}: a simulated server is refused: {}", self_.ToString(), why);
  }

  Status TakeOrders(const hpb::ExecuteProceduresRequest& request) {
    RATCHET_ASSIGN(OrderBatch batch, DecodeOrders(request, self_.start_code, *this));
    return queue_.Take(batch.epoch, batch.lowest_live, std::move(batch.orders));
  }

  Status RegisterWithMaster() {
    hpb::RegionServerStartupRequest request;
    request.set_port(self_.port);
    request.set_server_start_code(self_.start_code);
    request.set_use_this_hostname_instead(self_.host);
    request.set_version(std::string(kVersionNumber));
    request.set_cluster_id(place_.cluster_id);
    ExitLatch never;
    const TimePoint deadline = SystemClock().Now() + kStartPatience;
    while (true) {
      request.set_server_current_time(static_cast<std::uint64_t>(SystemClock().WallMillis()));
      auto response = link_.Startup(request);
      if (response.ok() && response->has_refused_start_code()) return Error(Code::kStale, response->refusal());
      if (response.ok()) return Ok();
      if (SystemClock().Now() > deadline) return std::move(response).error();
      static_cast<void>(never.WaitFor(Millis(20)));
    }
  }

  void Fill(hpb::RegionServerReportRequest& request) {
    ToProto(self_, *request.mutable_server());
    request.set_known_epoch(epochs_.highest().value());
    const MutexLock lock(mutex_);
    FillList(list_.Next(), request);
    auto& load = *request.mutable_load();
    load.set_report_end_time(static_cast<std::uint64_t>(SystemClock().WallMillis()));
    load.set_total_number_of_requests(0);
    FillLoads(request);
    request.set_ahead_count(0);
  }

  void FillLoads(hpb::RegionServerReportRequest& request) REQUIRES(mutex_) {
    const std::uint64_t reports = ++reports_;
    // The first regions are busy.
    const auto busy = static_cast<std::ptrdiff_t>(std::min(place_.loads, regions_.size()));
    const auto end_of_busy = std::next(regions_.begin(), busy);
    const auto requests_of = [&](const std::string& name) REQUIRES(mutex_) {
      return busy > 0 && (end_of_busy == regions_.end() || name < end_of_busy->first) ? reports : 0;
    };
    auto& load = *request.mutable_load();
    const LoadTurns::Report report = turns_.Next(
        SystemClock().Now(),
        [&](const std::string& name) REQUIRES(mutex_) { return std::optional<std::size_t>(requests_of(name)); },
        [&](const std::string& name)
            REQUIRES(mutex_) { FillLoad(regions_.at(name), requests_of(name), *load.add_region_loads()); });
    request.set_loads_complete(report.complete);
    request.set_loads_held(report.held);
    held_ = report.held;
  }

  static void FillLoad(const std::string& name, std::uint64_t requests, hpb::RegionLoad& load) {
    load.mutable_region_specifier()->set_type(hpb::RegionSpecifier::REGION_NAME);
    load.mutable_region_specifier()->set_value(name);
    load.set_stores(1);
    load.set_storefiles(0);
    load.set_store_uncompressed_size_mb(0);
    load.set_storefile_size_mb(0);
    load.set_mem_store_size_mb(0);
    load.set_read_requests_count(requests);
    load.set_write_requests_count(0);
    load.set_complete_sequence_id(1);
    auto* store = load.add_store_complete_sequence_id();
    store->set_family_name("f");
    store->set_sequence_id(1);
  }

  void Answered(const hpb::RegionServerReportResponse* answer) {
    if (answer == nullptr) return;
    const MutexLock lock(mutex_);
    list_.Answered(answer->list_taken());
    LoadTurns::Answer loads;
    loads.taken = answer->list_taken() != 0;
    if (answer->has_loads_a_second()) loads.loads_a_second = answer->loads_a_second();
    loads.all = answer->all_loads();
    turns_.Answered(loads);
  }

  SimulatedPlace& place_;
  const std::shared_ptr<rpc::MemberIdentity> member_;
  ServerName self_;
  std::unique_ptr<io::FencedDirectory> log_directory_;
  DelayedLanes lanes_;
  EpochGuard epochs_;
  rpc::ChannelPool channels_;
  MasterLink link_;
  OrderQueue queue_;
  std::unique_ptr<OrderReporter> reporter_;
  std::unique_ptr<rpc::RpcServer> rpc_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::atomic<bool> stopped_{false};
  Mutex mutex_;
  std::map<std::string, std::string> regions_ GUARDED_BY(mutex_);  // encoded name -> name
  OnlineList list_ GUARDED_BY(mutex_);
  LoadTurns turns_ GUARDED_BY(mutex_);
  std::uint64_t reports_ GUARDED_BY(mutex_) = 0;
  std::uint64_t held_ GUARDED_BY(mutex_) = 0;
};

Result<std::unique_ptr<SimulatedServers>> SimulatedServers::Connect(const std::string& root,
                                                                    const std::string& zookeeper, Millis delay,
                                                                    std::size_t loads) {
  auto place = std::make_unique<SimulatedPlace>();
  place->delay = delay;
  place->loads = loads;
  RATCHET_ASSIGN(place->root, io::PosixDisk().Open(root));
  RATCHET_ASSIGN(place->wals, io::PosixDisk().OpenOrMake(root + "/wals"));
  RATCHET_ASSIGN(place->cluster_id, io::ReadClusterId(*place->root));
  RATCHET_ASSIGN(place->keys, io::ReadClusterKeys(*place->root));
  RATCHET_ASSIGN(place->session, zk::ZkSession::Open({zookeeper, Millis(30'000)}));
  RATCHET_TRY(place->session->WaitConnected(kStartPatience));
  place->timers = MakeThreadTimers();
  std::unique_ptr<SimulatedServers> servers(new SimulatedServers(std::move(place)));
  servers->FollowMaster();
  return servers;
}

void SimulatedServers::FollowMaster() {
  auto last = std::make_shared<std::optional<ServerName>>();  // used by the session's thread only
  place_->tracker = std::make_unique<MasterTracker>(
      *place_->session, place_->paths, *place_->timers, [this, last](const std::optional<ServerName>& master) {
        std::vector<std::shared_ptr<SimulatedServer>> servers;
        {
          const MutexLock lock(mutex_);
          servers = servers_;
        }
        const std::optional<ServerName> old = *last != master ? *last : std::nullopt;
        *last = master;
        for (const auto& server : servers) server->NewMaster(old, master.has_value());
      });
  place_->tracker->Start();
}

SimulatedServers::~SimulatedServers() {
  place_->tracker->Stop();
  for (const auto& server : servers_) server->Stop();
  place_->session->Close();
  place_->timers.reset();  // no callback uses a server from now on
}

Status SimulatedServers::Start(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto server = std::make_shared<SimulatedServer>(*place_);
    RATCHET_TRY(server->Start());
    const MutexLock lock(mutex_);
    servers_.push_back(std::move(server));
  }
  return Ok();
}

Status SimulatedServers::Kill(std::size_t count) {
  std::vector<std::shared_ptr<SimulatedServer>> killed;
  {
    const MutexLock lock(mutex_);
    for (; count > 0 && !servers_.empty(); --count) {
      killed.push_back(std::move(servers_.back()));
      servers_.pop_back();
    }
  }
  for (const auto& server : killed) server->Stop();
  for (const auto& server : killed)
    RATCHET_TRY(place_->session->Delete(place_->paths.RegionServer(server->name().ToString())));
  return Ok();
}

std::uint64_t SimulatedServers::held() {
  const MutexLock lock(mutex_);
  std::uint64_t held = 0;
  for (const auto& server : servers_) held += server->held();
  return held;
}

}  // namespace ratchet::bench
