#include "regionserver/process/master_tracker.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/zk/znode_codec.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kReadAgain{200};  // pause after a read that ZooKeeper did not answer

}  // namespace

// State shared with watches and timers, which may outlive the tracker.
struct MasterTracker::State : std::enable_shared_from_this<MasterTracker::State> {
  State(zk::ZkSession& session_in, zk::ZkPaths paths_in, Timers& timers_in, OnChange on_change_in)
      : session(session_in), paths(std::move(paths_in)), timers(timers_in), on_change(std::move(on_change_in)) {}

  void PostRead() {
    session.Post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Read();
    });
  }

  // Runs on the session's thread.
  void Read() {
    {
      MutexLock lock(mutex);
      if (stopped) return;
    }
    auto node = session.GetAndWatch(paths.Master(), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Read();
    });
    if (node.ok()) {
      auto decoded = zk::DecodeMasterNode(node->data);
      if (decoded.ok()) return Found(decoded->server);
      RATCHET_LOG(kWarn, "The node {} is invalid: {}", paths.Master(), decoded.error().ToString());
      return Found(std::nullopt);
    }
    if (node.error().code() == Code::kNotFound) return Found(std::nullopt);
    if (node.error().code() == Code::kFenced) return;  // the session has ended, and this server with it
    timers.After(kReadAgain, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->RetryRead();
    });
  }

  void RetryRead() {
    {
      MutexLock lock(mutex);
      if (stopped) return;
    }
    PostRead();
  }

  void Found(std::optional<ServerName> found) {
    {
      MutexLock lock(mutex);
      if (stopped || found == master) return;
      master = found;
    }
    on_change(found);
  }

  zk::ZkSession& session;
  const zk::ZkPaths paths;
  Timers& timers;
  const OnChange on_change;
  mutable Mutex mutex;
  bool stopped GUARDED_BY(mutex) = false;
  std::optional<ServerName> master GUARDED_BY(mutex);
};

MasterTracker::MasterTracker(zk::ZkSession& session, zk::ZkPaths paths, Timers& timers, OnChange on_change)
    : state_(std::make_shared<State>(session, std::move(paths), timers, std::move(on_change))) {}

MasterTracker::~MasterTracker() { Stop(); }

void MasterTracker::Start() { state_->PostRead(); }

void MasterTracker::Stop() {
  MutexLock lock(state_->mutex);
  state_->stopped = true;
}

std::optional<ServerName> MasterTracker::master() const {
  MutexLock lock(state_->mutex);
  return state_->master;
}

}  // namespace ratchet::regionserver
