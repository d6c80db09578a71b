#include "chaos/cluster/rolling_restart.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/client/drain.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr int kProbesPerServer = 2;

Status In(Status done, const std::string& what) { return done.ok() ? done : Status(done.error().Annotate(what)); }

class Restarts {
 public:
  Restarts(ProcessCluster& cluster, const RollingRestartOptions& options, client::Connection& connection)
      : cluster_(cluster), options_(options), connection_(connection), admin_(connection, options.timeout) {}

  Result<LongestOperation> Run() {
    const auto servers = cluster_.Names(Role::kRegionServer);
    GapProbe probe(connection_, kProbesPerServer * static_cast<int>(servers.size()));
    probe_ = &probe;
    RATCHET_TRY(probe.Begin());
    RATCHET_TRY(Masters());
    for (const std::string& name : servers) RATCHET_TRY(In(Server(name), "rolling restart stops at " + name));
    probe.Now("");
    return probe.End();
  }

 private:
  Status Masters() {
    RATCHET_ASSIGN(const std::string active, cluster_.WaitActiveMaster(options_.timeout));
    for (const std::string& name : cluster_.Names(Role::kMaster)) {
      if (name == active) continue;
      RATCHET_TRY(In(Master(name, /*alone=*/false), "rolling restart stops at " + name));
    }
    const bool alone = cluster_.Names(Role::kMaster).size() == 1;
    return In(Master(active, alone), "rolling restart stops at " + active);
  }

  Status Master(const std::string& name, bool alone) {
    const TimePoint begun = clock_.Now();
    probe_->Now(name + " is restarted");
    RATCHET_ASSIGN(const std::string active, cluster_.WaitActiveMaster(options_.timeout));
    RATCHET_TRY(In(cluster_.Stop(name, options_.timeout), "its stop"));
    if (alone) {
      RATCHET_TRY(In(cluster_.Start(name), "its start"));
    } else {
      // The other processes do not depend on this one, and its start does not wait for them.
      if (name == active) RATCHET_TRY(Ended(cluster_.WaitActiveMaster(options_.timeout, name)));
      RATCHET_TRY(In(cluster_.Start(name), "its start"));
      RATCHET_TRY(Ended(cluster_.WaitLog(name, "standby", options_.timeout)));
    }
    RATCHET_TRY(In(cluster_.WaitServing(options_.timeout), "after its start"));
    Say(fmt::format("{:<12} restarted within {} ms{}", name, Since(begun), name == active ? " (was active)" : ""));
    return Ok();
  }

  Status Server(const std::string& name) {
    const TimePoint begun = clock_.Now();
    probe_->Now(name + " is drained");
    RATCHET_ASSIGN(const ServerName server, ServerAt(cluster_.Info(name).port));
    RATCHET_ASSIGN(const auto regions, RegionsOn(server));
    RATCHET_TRY(In(admin_.WaitOk(client::Drain(admin_, server, false)), "its drain"));
    const auto drained = Since(begun);
    probe_->Now(name + " is restarted");
    RATCHET_TRY(In(cluster_.Stop(name, options_.timeout), "its stop"));
    RATCHET_TRY(In(cluster_.Start(name), "its start"));
    RATCHET_TRY(In(cluster_.WaitServing(options_.timeout), "after its start"));
    const auto back = Since(begun);
    probe_->Now(name + " is refilled");
    RATCHET_ASSIGN(const ServerName next, ServerAt(cluster_.Info(name).port));
    RATCHET_TRY(In(admin_.WaitOk(client::Undrain(admin_, next, regions)), "its undrain"));
    RATCHET_TRY(In(cluster_.WaitServing(options_.timeout), "after its undrain"));
    RATCHET_ASSIGN(const auto again, RegionsOn(next));
    Say(fmt::format(
        "{:<12} restarted within {} ms: drained of {} regions within {} ms, back within {} ms, has {} again", name,
        Since(begun), regions.size(), drained, back, again.size()));
    return Ok();
  }

  Result<ServerName> ServerAt(std::uint16_t port) {
    RATCHET_ASSIGN(const auto answer, (admin_.Call(methods::kListServers, {})));
    for (const auto& row : answer.server()) {
      RATCHET_ASSIGN(ServerName name, FromProto(row.server()));
      if (name.port == port && row.state() == "ONLINE") return name;
    }
    return Error(Code::kNotFound, fmt::format("the master knows no live server at port {}", port));
  }

  // Includes the probe's own regions.
  Result<std::vector<std::string>> RegionsOn(const ServerName& server) {
    RATCHET_ASSIGN(const auto answer, (admin_.Call(methods::kListRegions, {})));
    std::vector<std::string> regions;
    for (const auto& row : answer.region()) {
      if (!row.has_server()) continue;
      RATCHET_ASSIGN(const ServerName at, FromProto(row.server()));
      if (at == server) regions.push_back(row.encoded_name());
    }
    return regions;
  }

  static Status Ended(const Result<std::string>& waited) { return waited.ok() ? Ok() : Status(waited.error()); }
  [[nodiscard]] long long Since(TimePoint then) const {
    return std::chrono::duration_cast<Millis>(clock_.Now() - then).count();
  }
  void Say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  ProcessCluster& cluster_;
  const RollingRestartOptions& options_;
  client::Connection& connection_;
  client::Admin admin_;
  const SystemClock clock_;
  GapProbe* probe_ = nullptr;
};

}  // namespace

Result<LongestOperation> RollingRestart(ProcessCluster& cluster, const RollingRestartOptions& options) {
  if (cluster.Names(Role::kRegionServer).size() < 2) {
    return Error(Code::kFailedPrecondition,
                 "a rolling restart needs two region servers: no other server could take the regions of the only one");
  }
  RATCHET_TRY(In(cluster.WaitServing(options.timeout), "a rolling restart begins with a cluster that serves"));
  client::ConnectionOptions connecting;
  connecting.zookeeper = cluster.zookeeper();
  connecting.user = "rolling-restart";
  connecting.operation_timeout = options.timeout;
  connecting.rpc_timeout = Millis{5'000};
  RATCHET_ASSIGN(const auto connection, client::Connection::Open(connecting));
  return Restarts(cluster, options, *connection).Run();
}

}  // namespace ratchet::chaos
