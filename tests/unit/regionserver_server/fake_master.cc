#include "tests/unit/regionserver_server/fake_master.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "chaos/cluster/child_process.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/region_server_status_service.h"
#include "common/zk/znode_codec.h"
#include "tests/support/members.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kMasterPatience{20'000};

}  // namespace

FakeMaster::FakeMaster(const std::string& zookeeper, zk::ZkPaths paths, std::uint64_t epoch, std::string cluster_id,
                       const std::string& key)
    : epoch_(epoch), cluster_id_(std::move(cluster_id)) {
  const auto own = MakeMember({key});
  rpc::ServerOptions listen;
  listen.member = own;
  server_ = std::make_unique<rpc::RpcServer>(std::move(listen));
  AddService();
  EXPECT_TRUE(server_->Start().ok());
  NameMember(*own, *server_);
  channels_ = std::make_unique<rpc::ChannelPool>(MemberPool(key));
  session_ = *zk::ZkSession::Open({zookeeper, Millis(6000)});
  EXPECT_TRUE(session_->WaitConnected(kMasterPatience).ok());
  EXPECT_TRUE(session_->EnsurePath(paths.RegionServers()).ok());
  const std::string node = zk::EncodeMasterNode({ServerName{"127.0.0.1", server_->port(), epoch}, 0});
  EXPECT_TRUE(session_->Create(paths.Master(), node, zk::NodeKind::kEphemeral).ok());
}

FakeMaster::~FakeMaster() {
  session_->Close();
  channels_->Stop();
  server_->Stop();
}

void FakeMaster::AddService() {
  auto service = std::make_shared<rpc::Service>(methods::kRegionServerStatusService);
  using Context = rpc::CallContext;
  service->On(
      methods::kRegionServerStartup, [this](const Context&, const auto& request, std::string_view, auto responder) {
        MutexLock lock(mutex_);
        if (const auto error = NextHeartbeatError()) {
          responder.Fail(*error);
          return;
        }
        if (refused_start_code_ >= request.server_start_code()) {
          pb::RegionServerStartupResponse refusal;
          refusal.set_refused_start_code(refused_start_code_);
          refusal.set_refusal("this text has no numbers");
          responder.Reply(refusal);
          return;
        }
        registered_.push_back(ServerName{request.use_this_hostname_instead(),
                                         static_cast<std::uint16_t>(request.port()), request.server_start_code()});
        changed_.NotifyAll();
        pb::RegionServerStartupResponse response;
        response.set_epoch(epoch_);
        response.set_cluster_id(cluster_id_);
        responder.Reply(response);
      });
  service->On(methods::kRegionServerReport,
              [this](const Context&, const auto& request, std::string_view, auto responder) {
                MutexLock lock(mutex_);
                if (const auto error = NextHeartbeatError()) {
                  responder.Fail(*error);
                  return;
                }
                heartbeat_ = request;
                ++heartbeats_;
                changed_.NotifyAll();
                pb::RegionServerReportResponse response;
                response.set_epoch(epoch_);
                if (request.leaving()) response.set_may_leave(may_leave_);
                responder.Reply(response);
              });
  service->On(methods::kReportRegionStateTransition,
              [this](const Context&, const auto& request, std::string_view, auto responder) {
                MutexLock lock(mutex_);
                Result<pb::ReportRegionStateTransitionResponse> answer = pb::ReportRegionStateTransitionResponse();
                if (on_report_) answer = on_report_(request.transition(0));
                transitions_.push_back(request.transition(0));
                changed_.NotifyAll();
                if (answer.ok()) answer->set_epoch(epoch_);
                responder.ReplyOrFail(answer);
              });
  service->On(methods::kReportProcedureDone,
              [this](const Context&, const auto& request, std::string_view, auto responder) {
                MutexLock lock(mutex_);
                for (const auto& result : request.result()) procedures_.push_back(result);
                changed_.NotifyAll();
                responder.Reply(pb::ReportProcedureDoneResponse());
              });
  server_->Add(service);
}

void FakeMaster::AnswerReportsWith(OnReport on_report) {
  MutexLock lock(mutex_);
  on_report_ = std::move(on_report);
}

void FakeMaster::FailHeartbeats(std::optional<Error> error, int times) {
  MutexLock lock(mutex_);
  heartbeat_error_ = std::move(error);
  failures_left_ = times;
}

void FakeMaster::LetServersLeave(bool may_leave) {
  MutexLock lock(mutex_);
  may_leave_ = may_leave;
}

void FakeMaster::RefuseStartCodesUpTo(std::uint64_t greatest) {
  MutexLock lock(mutex_);
  refused_start_code_ = greatest;
}

std::optional<Error> FakeMaster::NextHeartbeatError() {
  if (!heartbeat_error_.has_value() || failures_left_ == 0) return std::nullopt;
  --failures_left_;
  return heartbeat_error_;
}

template <class Value>
std::optional<Value> FakeMaster::Take(std::deque<Value> FakeMaster::*queue_of) {
  const auto until = std::chrono::steady_clock::now() + kMasterPatience;
  MutexLock lock(mutex_);
  auto& queue = this->*queue_of;
  while (queue.empty()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return std::nullopt;
    changed_.WaitFor(mutex_, until - now);
  }
  Value value = std::move(queue.front());
  queue.pop_front();
  return value;
}

std::optional<ServerName> FakeMaster::WaitRegistered() { return Take(&FakeMaster::registered_); }
std::optional<FakeMaster::Transition> FakeMaster::WaitTransition() { return Take(&FakeMaster::transitions_); }
std::optional<pb::RemoteProcedureResult> FakeMaster::WaitProcedure() { return Take(&FakeMaster::procedures_); }

bool FakeMaster::WaitHeartbeats(int count) {
  const auto until = std::chrono::steady_clock::now() + kMasterPatience;
  MutexLock lock(mutex_);
  const int wanted = heartbeats_ + count;
  while (heartbeats_ < wanted) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return false;
    changed_.WaitFor(mutex_, until - now);
  }
  return true;
}

std::size_t FakeMaster::transitions_waiting() const {
  MutexLock lock(mutex_);
  return transitions_.size();
}

bool FakeMaster::registered_any() const {
  const MutexLock lock(mutex_);
  return !registered_.empty();
}

pb::RegionServerReportRequest FakeMaster::last_heartbeat() const {
  MutexLock lock(mutex_);
  return heartbeat_;
}

Status FakeMaster::Execute(const ServerName& server, pb::ExecuteProceduresRequest request) {
  if (!request.has_epoch()) request.set_epoch(epoch_);
  const auto until = std::chrono::steady_clock::now() + kMasterPatience;
  while (true) {
    auto reply = channels_->CallSync(methods::kExecuteProcedures, {server.host, server.port}, request);
    if (reply.ok()) return Ok();
    const bool again = rpc::IsTransient(reply.error()) || rpc::IsClass(reply.error(), rpc::kNotSent);
    if (!again || std::chrono::steady_clock::now() >= until) return std::move(reply).error();
    chaos::PollPause(20);
  }
}

}  // namespace ratchet::regionserver
