// Sends every call of this server to the active master: registration, heartbeats, answers to orders, clients' requests.
//
// Each call goes to the master that ZooKeeper names at that moment, over one pipelined connection. When ZooKeeper names
// another master, calls to the old one fail at once, so that callers retry with the new one. Thread-safe; callbacks
// come on the RPC library's threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/model/server_name.h"
#include "common/rpc/acting_for.h"
#include "common/rpc/channel.h"
#include "common/rpc/channel_pool.h"
#include "regionserver/orders/order_reporter.h"
#include "regionserver/process/master_tracker.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

struct MasterLinkOptions {
  Millis call_timeout{10'000};
  std::function<void(const std::string& why)>
      on_dead;  // a master reports this server as dead, or treats it as a client
};

class MasterLink final : public MasterPort {
 public:
  // `pool` and `tracker` must outlive the link and every callback.
  MasterLink(rpc::ChannelPool& pool, MasterTracker& tracker, MasterLinkOptions options);

  // Sets this server's name, which the registration returns; call before the first report.
  void SetSelf(const ServerName& self);

  // Tries once to register with the active master; blocking. kUnavailable while there is none.
  [[nodiscard]] Result<pb::RegionServerStartupResponse> Startup(const pb::RegionServerStartupRequest& request);
  void Heartbeat(const pb::RegionServerReportRequest& request,
                 std::function<void(Result<pb::RegionServerReportResponse>)> done);

  void ReportTransitions(const std::vector<OrderReport>& reports,
                         std::function<void(Result<ReportVerdict>)> done) override;
  void ReportProceduresDone(const std::vector<OrderReport>& reports, std::function<void(Status)> done) override;

  // Calls any service of the active master. `done` gets kUnavailable when there is none.
  template <class Request, class Response>
  void Ask(const rpc::Method<Request, Response>& method, const std::type_identity_t<Request>& request,
           std::uint32_t priority, std::type_identity_t<std::function<void(Result<Response>)>> done) {
    auto channel = ChannelTo(method.service);
    if (!channel.ok()) return done(std::move(channel).error());
    (*channel)->Call(method, request, CallOptions(priority),
                     [this, done = std::move(done)](Result<rpc::Reply<Response>> reply) {
                       if (reply.ok()) return done(std::move(reply->message));
                       LookForDeath(reply.error());
                       done(std::move(reply).error());
                     });
  }

  // Passes on the call of a client, S150 (only members act for others): the master judges that client. An answer for
  // the client is not one about this server.
  template <class Request, class Response>
  void AskFor(const rpc::CallContext& client, const rpc::Method<Request, Response>& method,
              const std::type_identity_t<Request>& request,
              std::type_identity_t<std::function<void(Result<Response>)>> done) {
    auto channel = ChannelTo(method.service);
    if (!channel.ok()) return done(std::move(channel).error());
    rpc::CallOptions options = CallOptions(0);
    if (client.timeout.count() > 0) options.timeout = client.timeout;
    options.acts_for = rpc::EncodeActingFor(client);
    (*channel)->Call(method, request, std::move(options), [done = std::move(done)](Result<rpc::Reply<Response>> reply) {
      if (reply.ok()) return done(std::move(reply->message));
      done(std::move(reply).error());
    });
  }

  // Called when ZooKeeper names another master: drops the connection to `old`.
  void Forget(const ServerName& old);

 private:
  [[nodiscard]] Result<std::shared_ptr<rpc::Channel>> ChannelTo(std::string_view service);
  [[nodiscard]] rpc::CallOptions CallOptions(std::uint32_t priority) const;
  void LookForDeath(const Error& error) const;
  [[nodiscard]] ServerName self() const;

  rpc::ChannelPool& pool_;
  MasterTracker& tracker_;
  const MasterLinkOptions options_;
  mutable Mutex mutex_;
  ServerName self_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
