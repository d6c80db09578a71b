#include "common/zk/server_liveness.h"

#include <atomic>
#include <optional>
#include <utility>

#include "common/base/log.h"
#include "common/zk/callback_gate.h"
#include "common/zk/znode_codec.h"

namespace ratchet::zk {
namespace {

// A name that is not a server's is another program's mistake: logged, not followed.
std::set<ServerName> ParseNames(const std::vector<std::string>& names) {
  std::set<ServerName> servers;
  for (const auto& name : names) {
    auto server = ServerName::Parse(name);
    if (server.ok()) {
      servers.insert(std::move(server).value());
    } else {
      RATCHET_LOG(kWarn, "ZooKeeper lists a region server named '{}': {}", name, server.error().message());
    }
  }
  return servers;
}

}  // namespace

Status RegisterRegionServer(ZkSession& session, const ZkPaths& paths, const ServerName& server,
                            std::string_view version, Millis deadline, std::uint32_t info_port) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  const std::string path = paths.RegionServer(server.ToString());
  for (;;) {
    const auto left = std::chrono::duration_cast<Millis>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return Error(Code::kTimeout, fmt::format("{} could not be registered in {} ms", path, deadline.count()));
    RATCHET_TRY(session.WaitConnected(left));
    auto done = session.EnsurePath(paths.RegionServers());
    if (done.ok()) done = session.Create(path, EncodeRegionServerNode(info_port, version), NodeKind::kEphemeral);
    if (done.ok()) return done;
    if (done.error().code() == Code::kAlreadyExists) {
      // The node is ours when the answer to an earlier try was lost.
      const auto node = session.Get(path);
      if (node.ok() && node->owner_session == session.session_id()) return Ok();
      if (node.ok()) return done;
    } else if (done.error().code() != Code::kUnavailable) {
      return done;
    }
  }
}

Result<std::vector<ServerName>> ReadLiveServers(ZkSession& session, const ZkPaths& paths) {
  // Without the sync a server that a lagging member does not list yet would be treated as dead.
  RATCHET_TRY(session.Sync(paths.RegionServers()));
  const auto names = session.Children(paths.RegionServers());
  if (!names.ok()) {
    if (names.error().code() == Code::kNotFound) return std::vector<ServerName>{};  // no server has ever registered
    return names.error();
  }
  const auto servers = ParseNames(*names);
  return std::vector<ServerName>(servers.begin(), servers.end());
}

struct LiveServerWatch::Impl : std::enable_shared_from_this<LiveServerWatch::Impl> {
  ZkSession& session;
  const ZkPaths paths;
  const OnChange on_change;
  CallbackGate gate;
  std::atomic<std::uint64_t> subscription{0};
  std::uint64_t watch_generation = 0;  // session's thread only, like the rest
  std::optional<std::set<ServerName>> told;

  Impl(ZkSession& the_session, ZkPaths the_paths, OnChange the_on_change)
      : session(the_session), paths(std::move(the_paths)), on_change(std::move(the_on_change)) {}

  void Read() {
    gate.Run([this] {
      while (!gate.closed()) {
        const auto done = ReadOnce();
        if (done.ok()) return;
        // Without a connection the next one calls this again.
        if (session.state() != SessionState::kConnected) return;
        if (done.error().code() != Code::kNotFound) {
          RATCHET_LOG(kWarn, "reading the live servers: {}; trying again", done.error().ToString());
          gate.WaitUnlessClosed(kRetryPause);
        }
      }
    });
  }

  Status ReadOnce() {
    auto names =
        session.ChildrenAndWatch(paths.RegionServers(), [weak = weak_from_this(), generation = ++watch_generation] {
          const auto impl = weak.lock();
          if (impl != nullptr && generation == impl->watch_generation) impl->Read();
        });
    if (!names.ok()) {
      if (names.error().code() == Code::kNotFound) RATCHET_TRY(session.EnsurePath(paths.RegionServers()));
      return names.error();
    }
    auto live = ParseNames(*names);
    if (told == live) return Ok();
    told = std::move(live);
    on_change(*told);
    return Ok();
  }
};

LiveServerWatch::LiveServerWatch(ZkSession& session, ZkPaths paths, OnChange on_change)
    : impl_(std::make_shared<Impl>(session, std::move(paths), std::move(on_change))) {}

LiveServerWatch::~LiveServerWatch() { Stop(); }

void LiveServerWatch::Start() {
  std::weak_ptr<Impl> weak = impl_;
  const auto read = [weak] {
    if (const auto impl = weak.lock()) impl->Read();
  };
  impl_->subscription = impl_->session.Subscribe([read](SessionState state) {
    if (state == SessionState::kConnected) read();
  });
  impl_->session.Post(read);
}

void LiveServerWatch::Stop() {
  impl_->gate.Close();
  if (const auto subscription = impl_->subscription.exchange(0); subscription != 0)
    impl_->session.Unsubscribe(subscription);
}

}  // namespace ratchet::zk
