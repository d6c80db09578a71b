// All parts of the running process, in the order of construction; private to the folder.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/self_restart.h"
#include "common/io/disk.h"
#include "common/io/fenced_directory.h"
#include "common/model/server_name.h"
#include "common/ops/api/api_views.h"
#include "common/ops/page/info_page.h"
#include "common/rights/judge.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/member_key_file.h"
#include "common/rpc/server.h"
#include "common/zk/session_closer.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "regionserver/host/region_host.h"
#include "regionserver/host/region_report.h"
#include "regionserver/host/trouble_book.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/orders/lane_pool.h"
#include "regionserver/orders/order_queue.h"
#include "regionserver/orders/order_reporter.h"
#include "regionserver/process/heartbeat.h"
#include "regionserver/process/master_link.h"
#include "regionserver/process/master_tracker.h"
#include "regionserver/process/options.h"
#include "regionserver/process/orderly_stop.h"
#include "regionserver/process/storage_health.h"
#include "regionserver/replication/replicator.h"
#include "regionserver/rpc/scanner_table.h"
#include "regionserver/rpc/slow_log.h"
#include "regionserver/rpc/throttles.h"
#include "regionserver/rpc/user_services.h"

namespace ratchet::regionserver {

struct ServerParts {
  ServerParts();
  ~ServerParts();

  // Makes all parts and listens; no request is served before SetServing. Errors are those of rpc::AwaitListening.
  [[nodiscard]] Status Build(const ServerOptions& options, zk::ZkPaths zk_paths, ExitLatch& exit);
  [[nodiscard]] Status GiveLogDirectory(std::unique_ptr<io::FencedDirectory> directory);
  void SetServing(bool on) { serving = on; }
  void StopInOrder(Millis flush_limit);

  // Returns the error of every request while the server is starting or stopping.
  [[nodiscard]] Status Admit() const;
  // Steps of Build.
  void FollowMaster(ExitLatch& exit);
  void MakeHost(const ServerOptions& options, ExitLatch& exit);
  void AddServices(const ServerOptions& options, ExitLatch& exit);
  void ShowPage(const ServerOptions& options);
  void WatchStorage(const ServerOptions& options, ExitLatch& exit);

  [[nodiscard]] Status EnqueueOrders(const pb::ExecuteProceduresRequest& request);
  void StartReplication();
  void FillReport(pb::RegionServerReportRequest& request);
  // The master's image of all rights, S127 (images only rise). An image that cannot be read is logged and left.
  void TakeRights(const ratchet::pb::RightsImage& image);
  void TakeRights(std::shared_ptr<const ratchet::rights::RightsImage> image);
  void TakeAnswer(const pb::RegionServerReportResponse* answer, ExitLatch& exit);
  void StopPage();
  // Returns false when the session did not close in time. Needs no storage.
  [[nodiscard]] bool LeaveZooKeeper();

  SystemClock clock;
  std::unique_ptr<Timers> timers;
  std::unique_ptr<io::Directory> root;
  std::unique_ptr<io::Directory> wals;
  std::string cluster_id;
  std::shared_ptr<rpc::MemberIdentity> member;
  rights::RightsHolder rights;
  std::shared_ptr<const rights::Users> users;
  std::unique_ptr<rights::Judge> judge;
  ServerName self;  // final once `serving`
  ProcessLife life;
  std::function<std::vector<SettingRow>()> settings;  // those in force; may be empty
  std::atomic<bool> serving{false};
  std::atomic<bool> registered{false};
  std::atomic<bool> stopping{false};
  OrderlyStop orderly_stop{clock};
  zk::ZkPaths paths;
  std::string zookeeper;
  EpochGuard epochs;
  std::unique_ptr<io::FencedDirectory> log_directory;
  std::unique_ptr<zk::ZkSession> session;
  std::unique_ptr<zk::SessionCloser> closer;
  std::unique_ptr<MasterTracker> tracker;
  std::unique_ptr<rpc::ChannelPool> channels;
  std::unique_ptr<MasterLink> link;
  std::unique_ptr<MasterCalls> master_calls;
  TroubleBook troubles{clock};
  std::unique_ptr<LanePool> lanes;
  std::shared_ptr<MemstoreBudget> budget;
  std::unique_ptr<RegionHost> host;
  std::unique_ptr<RegionReport> report;
  std::unique_ptr<OrderQueue> queue;
  std::unique_ptr<OrderReporter> reporter;
  std::unique_ptr<ScannerTable> scanners;
  Throttles throttles{clock};
  std::unique_ptr<rpc::RpcServer> rpc;
  std::unique_ptr<api::ApiViews> views;
  std::unique_ptr<page::InfoPage> page;
  std::shared_ptr<SlowLog> slow_log;
  std::unique_ptr<Heartbeat> heartbeat;
  std::unique_ptr<StorageHealth> storage;
  std::unique_ptr<Replicator> replicator;  // set once there is a log directory
  std::unique_ptr<rpc::MemberKeyFile> key_file;
};

}  // namespace ratchet::regionserver
