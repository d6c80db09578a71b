#include "regionserver/process/region_server.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/exit_codes.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/service_manager.h"
#include "common/base/version.h"
#include "common/io/root_access.h"
#include "common/io/root_history.h"
#include "common/io/storage_client.h"
#include "common/model/name_rules.h"
#include "common/rpc/await_listening.h"
#include "common/rpc/exceptions.h"
#include "common/zk/cluster_place.h"
#include "common/zk/place_access.h"
#include "common/zk/server_liveness.h"
#include "common/zk/session_start.h"
#include "regionserver/process/root_files.h"
#include "regionserver/process/server_parts.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kAskMasterAgain{100};
constexpr Millis kAskWithClockAgain{500};
constexpr int kClockRefusals = 3;  // consecutive refusals
constexpr Millis kWordWhileTrying{1'000};
constexpr Millis kLookAtPlaceAgain{200};
constexpr int kStartCodeAttempts = 100;
constexpr int kNamesTried = 10;  // names that masters may refuse in one start of the process

zk::ZkPaths PathsBelow(const std::string& parent) {
  zk::ZkPaths paths;
  paths.parent = parent;
  return paths;
}

}  // namespace

RegionServer::RegionServer(ServerOptions options, ExitLatch& exit, ProcessLife life)
    : options_(std::move(options)), life_(std::move(life)), exit_(exit), parts_(std::make_unique<ServerParts>()) {
  options_.host = LowerCaseHost(std::move(options_.host));  // one spelling, because the host becomes part of names
}

RegionServer::~RegionServer() = default;

Status RegionServer::Failed(int code, Error error) {
  failure_code_ = code;
  return error;
}

void RegionServer::Start() {
  for (int names = 1;; ++names) {
    come_again_ = false;
    const Status started = StartParts();
    if (started.ok()) return;
    if (!come_again_ || names == kNamesTried) {
      exit_.Request(failure_code_, started.error().ToString());
      return;
    }
    RATCHET_LOG(kWarn, "Start: {} is refused, retrying under another start code: {}", parts_->self.ToString(),
                started.error().ToString());
    parts_->StopInOrder(Millis(0));
    parts_ = std::make_unique<ServerParts>();
  }
}

Status RegionServer::ComeAgain(std::uint64_t refused_start_code, Error refusal) {
  least_start_code_ = std::max(least_start_code_, refused_start_code + 1);
  come_again_ = true;
  return Failed(exit_code::kRefusedByMaster, std::move(refusal));
}

Status RegionServer::StartParts() {
  RATCHET_TRY(OpenStorage());
  RATCHET_TRY(ConnectZooKeeper());
  RATCHET_TRY(ComparePlace());
  RATCHET_TRY(BuildParts());
  RATCHET_TRY(MakeLogDirectory());
  RATCHET_TRY(Register());
  RATCHET_TRY(RegisterWithMaster());
  BeginHeartbeats();
  return Ok();
}

Status RegionServer::OpenStorage() {
  if (const Status host = CheckHost(options_.host); !host.ok()) {
    return Failed(exit_code::kUsage, host.error().Annotate("--host"));
  }
  RATCHET_LOG(kInfo, "Start: root directory {}", options_.root);
  auto root = io::PosixDisk().Open(options_.root);
  if (!root.ok()) {
    return Failed(exit_code::kRootUnusable, root.error().Annotate(fmt::format("--root {}", options_.root)));
  }
  parts_->root = std::move(*root);
  if (const Status ours = io::CheckRootAccess(*parts_->root); !ours.ok()) {
    return Failed(exit_code::kRootUnusable, ours.error().Annotate(fmt::format("--root {}", options_.root)));
  }
  auto id = AwaitClusterId(*parts_->root, parts_->clock, options_.start_timeout,
                           [this](Millis pause) { return exit_.WaitFor(pause); });
  if (!id.ok()) return Failed(exit_code::kRootUnusable, id.error());
  parts_->cluster_id = *id;
  // before the comparison with ZooKeeper (S72: root and ZooKeeper node belong together)
  const auto history = io::HasHistory(*parts_->root);
  if (!history.ok()) return Failed(exit_code::kRootUnusable, history.error());
  root_has_history_ = *history;
  RATCHET_LOG(kInfo, "Start: cluster id {}", parts_->cluster_id);
  auto wals = io::PosixDisk().OpenOrMake(options_.root + "/wals");
  if (!wals.ok()) return Failed(exit_code::kRootUnusable, wals.error());
  parts_->wals = std::move(*wals);
  return Ok();
}

Status RegionServer::ConnectZooKeeper() {
  RATCHET_LOG(kInfo, "Start: ZooKeeper {}", options_.zookeeper);
  zk::SessionStart start({options_.zookeeper, options_.zk_session}, options_.zk_connect_timeout, parts_->clock, exit_);
  auto session = start.Open();
  if (!session.ok()) return Failed(zk::ExitCodeWithoutSession(session.error()), session.error());
  parts_->session = std::move(*session);
  parts_->closer = std::make_unique<zk::SessionCloser>(*parts_->session);
  if (Status connected = start.AwaitConnected(*parts_->session); !connected.ok()) {
    return Failed(zk::ExitCodeWithoutSession(connected.error()), connected.error());
  }
  parts_->session->Subscribe([this](zk::SessionState state) {
    RATCHET_LOG(kInfo, "ZooKeeper session is {}", zk::SessionStateName(state));
    if (state == zk::SessionState::kExpired) {
      exit_.Request(exit_code::kSessionExpired, "the ZooKeeper session expired: others may own our regions");
    }
  });
  return Ok();
}

// S72: checks that --root belongs to this node of ZooKeeper, before a log directory is made there.
Status RegionServer::ComparePlace() {
  const zk::ZkPaths paths = PathsBelow(options_.zk_parent);
  const TimePoint deadline = parts_->clock.Now() + zk::kIdReturnsWithin;
  while (true) {
    const auto place = zk::ReadPlace(*parts_->session, paths);
    if (place.ok()) {
      const Status belongs = zk::ComparePlace({parts_->cluster_id, root_has_history_}, *place, paths.ClusterId());
      if (belongs.ok()) return ReadClusterKeys();
      // A running master writes a removed id again.
      const auto returns = zk::IdMayReturn(*parts_->session, paths);
      const bool waits = parts_->clock.Now() < deadline && returns.ok() && *returns;
      if (!waits || exit_.WaitFor(kLookAtPlaceAgain)) return Failed(exit_code::kWrongPlace, belongs.error());
      continue;
    }
    if (place.error().code() != Code::kUnavailable)
      return Failed(zk::ExitCodeWithoutPlace(place.error()), place.error());
    if (exit_.requested().has_value()) return Failed(exit_code::kOk, Error(Code::kAborted, "stopped during the start"));
    IgnoreResult(parts_->session->WaitConnected(kWordWhileTrying), "the error is retried");
  }
}

Status RegionServer::ReadClusterKeys() {
  const auto keys = AwaitClusterKeys(*parts_->root, parts_->clock, options_.start_timeout,
                                     [this](Millis pause) { return exit_.WaitFor(pause); });
  if (!keys.ok()) return Failed(exit_code::kRootUnusable, keys.error());
  parts_->member = std::make_shared<rpc::MemberIdentity>(rpc::MemberRole::kRegionServer, *keys, options_.proof_policy);
  return PresentKeys(*keys);
}

// The node of this server gets the rights of its parent (--zk-acl of the masters).
Status RegionServer::PresentKeys(const io::ClusterKeys& keys) {
  zk::PlaceAccess access(*parts_->session, PathsBelow(options_.zk_parent));
  while (!exit_.requested().has_value()) {
    Status begun = access.Begin(keys);
    if (begun.ok()) return begun;
    if (begun.error().code() != Code::kUnavailable)
      return Failed(zk::ExitCodeWithoutPlace(begun.error()), begun.error());
    IgnoreResult(parts_->session->WaitConnected(kWordWhileTrying), "the error is retried");
  }
  return Failed(exit_code::kOk, Error(Code::kAborted, "stopped during the start"));
}

Status RegionServer::BuildParts() {
  auto start_code = ChooseStartCode(*parts_->wals, options_.host, static_cast<std::uint16_t>(options_.port),
                                    parts_->clock.WallMillis());
  if (!start_code.ok()) return Failed(exit_code::kRootUnusable, start_code.error());
  parts_->self =
      ServerName{options_.host, static_cast<std::uint16_t>(options_.port), std::max(*start_code, least_start_code_)};
  parts_->life = life_;
  if (Status built = parts_->Build(options_, PathsBelow(options_.zk_parent), exit_); !built.ok()) {
    return Failed(rpc::ExitCodeWithoutAddress(built.error()), built.error());
  }
  parts_->rpc->LogAddresses(JoinHostPort(options_.host, parts_->self.port));
  NotifyServiceManager("READY=1\nSTATUS=listens, waits for the master");
  return Ok();
}

Status RegionServer::MakeLogDirectory() {
  for (int attempt = 0; attempt < kStartCodeAttempts; ++attempt) {
    auto made = io::FencedDirectory::Make(*parts_->wals, parts_->self.ToString());
    if (made.ok()) {
      RATCHET_LOG(kInfo, "Start: this server is {}", parts_->self.ToString());
      parts_->member->SetName(parts_->self);
      if (!options_.storage_client.empty()) {
        // Notes the client before the registration, so that no master can miss it (S102: evict before fencing).
        const io::StorageClient client{options_.storage_client, io::ClientIdAt(options_.root)};
        if (Status noted = io::NoteClient((*made)->directory(), io::kClientNotePrefix, client); !noted.ok())
          return Failed(exit_code::kRootUnusable, noted.error().Annotate("noting the storage client"));
      }
      if (Status given = parts_->GiveLogDirectory(std::move(*made)); !given.ok()) {
        return Failed(exit_code::kRootUnusable, given.error());
      }
      return Ok();
    }
    // Another process with this address took the same millisecond, or a starting master saw a directory without a
    // registered server and fenced it (S34: which servers may be dead). A name is never reused, so try the next one.
    if (made.error().code() != Code::kAlreadyExists && made.error().code() != Code::kFenced) {
      return Failed(exit_code::kRootUnusable, made.error().Annotate("own log directory"));
    }
    ++parts_->self.start_code;
  }
  return Failed(exit_code::kRootUnusable, Error(Code::kAlreadyExists, "no free name for the log directory"));
}

Status RegionServer::Register() {
  parts_->link->SetSelf(parts_->self);
  RATCHET_LOG(kInfo, "Start: registering in ZooKeeper");
  Status registered =
      zk::RegisterRegionServer(*parts_->session, parts_->paths, parts_->self, ReportedVersion(life_.version),
                               options_.zk_connect_timeout, parts_->page->shown_port());
  if (!registered.ok()) {
    const bool expired = registered.error().code() == Code::kFenced;
    return Failed(expired ? exit_code::kSessionExpired : exit_code::kZooKeeperUnreachable, registered.error());
  }
  parts_->tracker->Start();
  parts_->SetServing(true);  // orders may arrive as soon as the master has answered the registration
  return Ok();
}

Status RegionServer::RegisterWithMaster() {
  pb::RegionServerStartupRequest request;
  request.set_port(parts_->self.port);
  request.set_server_start_code(parts_->self.start_code);
  request.set_use_this_hostname_instead(parts_->self.host);
  request.set_version(ReportedVersion(life_.version));
  request.set_cluster_id(parts_->cluster_id);
  std::string last_answer;
  for (int refusals = 0;;) {
    request.set_server_current_time(static_cast<std::uint64_t>(parts_->clock.WallMillis()));
    auto response = parts_->link->Startup(request);
    if (response.ok() && response->has_refused_start_code()) {
      return ComeAgain(response->refused_start_code(),
                       rpc::RemoteError(rpc::exception::kYouAreDead, response->refusal()));
    }
    if (response.ok()) {
      if (response->has_cluster_id() && response->cluster_id() != parts_->cluster_id) {
        return Failed(exit_code::kWrongCluster,
                      Error(Code::kFailedPrecondition, fmt::format("the master is of cluster {}, --root of cluster {}",
                                                                   response->cluster_id(), parts_->cluster_id)));
      }
      if (response->has_epoch()) IgnoreResult(parts_->epochs.Admit(Epoch(response->epoch())), "only teaches");
      if (response->has_rights()) parts_->TakeRights(response->rights());
      RATCHET_LOG(kInfo, "Start: registered with the master, epoch={}", response->epoch());
      return Ok();
    }
    const Error& error = response.error();
    if (rpc::IsClass(error, rpc::exception::kDoNotRetryIo) || rpc::IsClass(error, rpc::exception::kAccessDenied)) {
      return Failed(exit_code::kWrongCluster, error);
    }
    if (rpc::IsClass(error, rpc::exception::kYouAreDead)) return ComeAgain(0, error);
    // S74 (clock skew limit): a single refusal may come from a request that waited in a stopped process, or from a
    // clock that is being set. So several in a row are required.
    refusals = rpc::IsClass(error, rpc::exception::kClockOutOfSync) ? refusals + 1 : 0;
    if (refusals == kClockRefusals) return Failed(exit_code::kClockOff, error);
    if (error.ToString() != last_answer) RATCHET_LOG(kInfo, "Start: not registered yet: {}", error.ToString());
    last_answer = error.ToString();
    if (exit_.WaitFor(refusals > 0 ? kAskWithClockAgain : kAskMasterAgain))
      return Failed(exit_code::kOk, Error(Code::kAborted, "stopped during the start"));
  }
}

void RegionServer::BeginHeartbeats() {
  parts_->registered = true;
  parts_->heartbeat->Start();
  RATCHET_LOG(kInfo, "Start: serving as {}", parts_->self.ToString());
  NotifyServiceManager(fmt::format("STATUS=serves regions as {}", parts_->self.ToString()));
}

void RegionServer::StopInOrder() {
  // A server that was fenced, declared dead or lost its session meanwhile has no right to flush.
  ServerParts& parts = *parts_;
  OrderlyStopParts departing;
  departing.report = [&parts] { parts.heartbeat->Now(); };
  departing.master_is_active = [&parts] { return parts.tracker->master().has_value(); };
  departing.regions = [&parts] { return parts.host->regions.All().size(); };
  const bool orderly =
      !parts.registered || parts.orderly_stop.HandOver(options_.stop.drain_timeout.Get(), exit_, departing);
  parts_->StopInOrder(orderly ? options_.stop.flush_timeout.Get() : Millis(0));
}

void RegionServer::LeaveZooKeeper() {
  if (!parts_->LeaveZooKeeper()) RATCHET_LOG(kWarn, "The ZooKeeper session cannot be closed; it ends with its timeout");
}

}  // namespace ratchet::regionserver
