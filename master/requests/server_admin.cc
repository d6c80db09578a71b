#include "master/requests/server_admin.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutex.h"
#include "master/cluster/address_key.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/procedures/admin/drain_server.h"
#include "master/procedures/admin/recommission_server.h"
#include "master/procedures/core/master_env.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// Calls `done` once, when the given number of parts have finished, with the first error if there is one.
class AllOf {
 public:
  AllOf(std::size_t count, std::function<void(Status)> done) : left_(count), done_(std::move(done)) {}
  void Take(const Status& each) {
    Status outcome = Ok();
    {
      const MutexLock lock(mutex_);
      if (!each.ok() && failed_.ok()) failed_ = each;
      if (--left_ > 0) return;
      outcome = failed_;
    }
    done_(std::move(outcome));
  }

 private:
  Mutex mutex_;
  std::size_t left_ GUARDED_BY(mutex_);
  Status failed_ GUARDED_BY(mutex_) = Ok();
  const std::function<void(Status)> done_;
};

}  // namespace

void ServerAdmin::DrainServer(const Drain& drain, RequestContext context, Done done) {
  SubmitAsked(
      env_, master::DrainServer::Make(drain.server, {drain.offload, drain.and_stop}), std::move(context),
      [this, server = drain.server] { return master::DrainServer::Check(env_, server); }, std::move(done));
}

void ServerAdmin::Recommission(const ServerName& server, const std::vector<std::string>& regions,
                               RequestContext context, Done done) {
  auto check = [this, server, count = regions.size()]() -> Status {
    if (count > RecommissionServer::kRegionsAtMost) {
      return IllegalRequest(
          fmt::format("{} regions in one request, the limit is {}: send the others in another request", count,
                      RecommissionServer::kRegionsAtMost));
    }
    if (env_.decommissions.Has(server) || count > 0) return Ok();
    return IllegalRequest(fmt::format(
        "server {} is not decommissioned ('ratchet drained' lists decommissioned servers)", AddressKey(server)));
  };
  SubmitAsked(env_, RecommissionServer::Make(server, regions), std::move(context), std::move(check), std::move(done));
}

void ServerAdmin::Unmark(const ServerName& server, std::vector<std::string> regions, const RequestContext& context,
                         std::function<void(Status)> done) {
  if (!env_.decommissions.Has(server)) return done(Ok());
  auto move = [this, server, regions = std::move(regions), context, done] {
    if (regions.empty()) return done(Ok());
    Recommission(server, regions, context,
                 [done](const Result<ProcId>& pid) { done(pid.ok() ? Ok() : Status(pid.error())); });
  };
  Recommission(server, {}, context, [this, done, move](const Result<ProcId>& pid) {
    if (!pid.ok()) return done(pid.error());
    env_.executor->OnFinished(*pid, [done, move](const procedure::ProcedureResult& result) {
      if (result.error) return done(*result.error);
      move();
    });
  });
}

void ServerAdmin::Decommission(const std::vector<ServerName>& servers, bool offload, const RequestContext& context,
                               std::function<void(Status)> done) {
  if (servers.empty()) return done(Ok());
  auto drain = [this, servers, context, done] {
    const auto all = std::make_shared<AllOf>(servers.size(), done);
    for (const ServerName& server : servers) {
      DrainServer({server, true, false}, context,
                  [all](const Result<ProcId>& pid) { all->Take(pid.ok() ? Ok() : Status(pid.error())); });
    }
  };
  const auto all = std::make_shared<AllOf>(servers.size(), [offload, drain, done](const Status& marked) {
    if (!marked.ok() || !offload) return done(marked);
    drain();
  });
  for (const ServerName& server : servers) {
    DrainServer({server, false, false}, context, [this, all](const Result<ProcId>& pid) {
      if (!pid.ok()) return all->Take(pid.error());
      env_.executor->OnFinished(*pid, [all](const procedure::ProcedureResult& result) {
        all->Take(result.error ? Status(*result.error) : Ok());
      });
    });
  }
}

}  // namespace ratchet::master
