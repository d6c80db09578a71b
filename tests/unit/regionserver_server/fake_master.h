// A master that only listens and sends orders: registered in ZooKeeper, it accepts registrations, heartbeats and
// reports, and sends what a test requests. For tests of the region server's process.
#pragma once

#include <climits>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/server_name.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

// The key that it proves. Region servers obey it only if they find this key below their root.
inline constexpr const char* kFakeMastersKey = "00112233445566778899aabbccddeeff";

class FakeMaster {
 public:
  using Transition = pb::RegionStateTransition;
  // Decides the answer to a report; empty: accepted.
  using OnReport = std::function<Result<pb::ReportRegionStateTransitionResponse>(const Transition&)>;

  // Registers under `paths` in the ZooKeeper at `zookeeper`.
  FakeMaster(const std::string& zookeeper, zk::ZkPaths paths, std::uint64_t epoch, std::string cluster_id,
             const std::string& key = kFakeMastersKey);
  ~FakeMaster();

  void AnswerReportsWith(OnReport on_report);
  // Sets the error of each later heartbeat or registration, or of this number of them; nullopt: none.
  void FailHeartbeats(std::optional<Error> error, int times = INT_MAX);

  // Refuses each later registration under a start code that is not above this one.
  void RefuseStartCodesUpTo(std::uint64_t greatest);

  // Sets the answer to each later heartbeat of a server that wants to stop.
  void LetServersLeave(bool may_leave);

  // Each waits until it has happened, or 20 s.
  [[nodiscard]] std::optional<ServerName> WaitRegistered();
  [[nodiscard]] bool WaitHeartbeats(int count);
  [[nodiscard]] std::optional<Transition> WaitTransition();
  [[nodiscard]] std::optional<pb::RemoteProcedureResult> WaitProcedure();
  // Number of reports so far that no test has waited for.
  [[nodiscard]] std::size_t transitions_waiting() const;
  // The newest heartbeat.
  [[nodiscard]] pb::RegionServerReportRequest last_heartbeat() const;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // True if a server has registered that no test has waited for.
  [[nodiscard]] bool registered_any() const;

  // Sends orders; retried while the server is starting.
  [[nodiscard]] Status Execute(const ServerName& server, pb::ExecuteProceduresRequest request);
  rpc::ChannelPool& channels() { return *channels_; }

 private:
  template <class Value>
  std::optional<Value> Take(std::deque<Value> FakeMaster::*queue_of);
  void AddService();
  [[nodiscard]] std::optional<Error> NextHeartbeatError() REQUIRES(mutex_);

  const std::uint64_t epoch_;
  const std::string cluster_id_;
  mutable Mutex mutex_;
  CondVar changed_;
  OnReport on_report_ GUARDED_BY(mutex_);
  std::optional<Error> heartbeat_error_ GUARDED_BY(mutex_);
  int failures_left_ GUARDED_BY(mutex_) = 0;
  bool may_leave_ GUARDED_BY(mutex_) = true;
  std::uint64_t refused_start_code_ GUARDED_BY(mutex_) = 0;
  std::deque<ServerName> registered_ GUARDED_BY(mutex_);
  std::deque<Transition> transitions_ GUARDED_BY(mutex_);
  std::deque<pb::RemoteProcedureResult> procedures_ GUARDED_BY(mutex_);
  pb::RegionServerReportRequest heartbeat_ GUARDED_BY(mutex_);
  int heartbeats_ GUARDED_BY(mutex_) = 0;
  std::unique_ptr<zk::ZkSession> session_;
  std::unique_ptr<rpc::RpcServer> server_;
  std::unique_ptr<rpc::ChannelPool> channels_;
};

}  // namespace ratchet::regionserver
