#include "common/zk/master_election.h"

#include <atomic>
#include <utility>

#include "common/base/log.h"
#include "common/zk/callback_gate.h"

namespace ratchet::zk {

// All state below `gate` is touched only on the session's thread.
struct MasterElection::Impl : std::enable_shared_from_this<MasterElection::Impl> {
  ZkSession& session;
  const ZkPaths paths;
  const MasterNode self;
  const Callbacks callbacks;
  CallbackGate gate;
  std::atomic<bool> is_elected{false};
  std::atomic<std::uint64_t> subscription{0};

  bool lost = false;
  bool registered = false;             // our standby node exists
  std::uint64_t watch_generation = 0;  // only the newest watch counts
  std::optional<ServerName> told_active;
  bool told_anything = false;

  Impl(ZkSession& the_session, ZkPaths the_paths, MasterNode the_self, Callbacks the_callbacks)
      : session(the_session),
        paths(std::move(the_paths)),
        self(std::move(the_self)),
        callbacks(std::move(the_callbacks)) {}

  void Evaluate() {
    gate.Run([this] {
      if (!lost) EvaluateOpen();
    });
  }

  void EvaluateOpen() {
    while (!gate.closed() && !lost) {
      const Status done = is_elected ? CheckOwn() : Compete();
      if (done.ok()) return;
      const Code code = done.error().code();
      if (code == Code::kFenced) return Lose("the ZooKeeper session has expired");
      if (code == Code::kAborted || session.state() != SessionState::kConnected)
        return;  // the next connection comes here again
      RATCHET_LOG(kWarn, "election: {}; trying again", done.error().ToString());
      gate.WaitUnlessClosed(kRetryPause);
    }
  }

  std::function<void()> Again() {
    return [weak = weak_from_this(), generation = ++watch_generation] {
      const auto impl = weak.lock();
      if (impl != nullptr && generation == impl->watch_generation) impl->Evaluate();
    };
  }

  // OK: nothing to do until the watch fires.
  Status Compete() {
    RATCHET_TRY(session.EnsurePath(paths.BackupMasters()));
    for (;;) {
      const auto created = session.Create(paths.Master(), EncodeMasterNode(self), NodeKind::kEphemeral);
      if (created.ok()) return Win();
      if (created.error().code() != Code::kAlreadyExists) return created;
      auto node = session.GetAndWatch(paths.Master(), Again());
      if (!node.ok()) {
        if (node.error().code() == Code::kNotFound) continue;  // gone meanwhile
        return node.error();
      }
      if (node->owner_session == session.session_id()) return Win();  // created by a call whose answer was lost
      const auto active = DecodeMasterNode(node->data);
      if (active.ok() && active->server.SameAddress(self.server) &&
          active->server.start_code < self.server.start_code) {
        // We listen on this address, so the process that wrote this is dead; no need to wait for its session to end.
        IgnoreResult(session.Delete(paths.Master(), node->version), "the next round sees whether it is gone");
        continue;
      }
      return StandBy(active.ok() ? std::optional(active->server) : std::nullopt);
    }
  }

  Status StandBy(const std::optional<ServerName>& active) {
    if (!registered) {
      const auto created =
          session.Create(paths.BackupMaster(self.server.ToString()), EncodeMasterNode(self), NodeKind::kEphemeral);
      if (!created.ok() && created.error().code() != Code::kAlreadyExists) return created;
      registered = true;
    }
    if (!told_anything || told_active != active) {
      told_anything = true;
      told_active = active;
      RATCHET_LOG(kInfo, "standby; the active master is {}", active ? active->ToString() : "unknown");
      if (callbacks.on_active_changed) callbacks.on_active_changed(active);
    }
    return Ok();
  }

  Status Win() {
    is_elected = true;
    RATCHET_LOG(kInfo, "elected as active master: {}", self.server.ToString());
    IgnoreResult(session.Delete(paths.BackupMaster(self.server.ToString())),
                 "it may not exist, and ends with the session");
    registered = false;
    if (callbacks.on_elected) callbacks.on_elected();
    return gate.closed() ? Ok() : CheckOwn();
  }

  // Elected: is the node still ours? Watches it.
  Status CheckOwn() {
    const auto node = session.GetAndWatch(paths.Master(), Again());
    if (node.ok()) {
      if (node->owner_session != session.session_id()) {
        Lose("another process is registered as active master");
        return Ok();
      }
      if (node->data == EncodeMasterNode(self)) return Ok();
      // Its owner is still this session, so this master is still the one that was elected; but no client would find it.
      RATCHET_LOG(kWarn, "{} was changed by another client; writing it again", paths.Master());
      return session.Set(paths.Master(), EncodeMasterNode(self),
                         node->version);  // the watch fires, and this looks again
    }
    if (node.error().code() != Code::kNotFound) return node.error();
    Lose("our registration as active master was removed");
    return Ok();
  }

  void Lose(const std::string& why) {
    if (std::exchange(lost, true)) return;
    is_elected = false;
    RATCHET_LOG(kWarn, "no longer active master: {}", why);
    if (callbacks.on_lost) callbacks.on_lost(why);
  }
};

MasterElection::MasterElection(ZkSession& session, ZkPaths paths, MasterNode self, Callbacks callbacks)
    : impl_(std::make_shared<Impl>(session, std::move(paths), std::move(self), std::move(callbacks))) {}

MasterElection::~MasterElection() { Stop(); }

void MasterElection::Start() {
  std::weak_ptr<Impl> weak = impl_;
  impl_->subscription = impl_->session.Subscribe([weak](SessionState state) {
    const auto impl = weak.lock();
    if (impl == nullptr) return;
    if (state == SessionState::kConnected) impl->Evaluate();
    if (state == SessionState::kExpired) impl->gate.Run([&] { impl->Lose("the ZooKeeper session has expired"); });
  });
  impl_->session.Post([weak] {
    if (const auto impl = weak.lock()) impl->Evaluate();
  });
}

void MasterElection::Stop() {
  impl_->gate.Close();
  if (const auto subscription = impl_->subscription.exchange(0); subscription != 0)
    impl_->session.Unsubscribe(subscription);
  if (impl_->is_elected.exchange(false)) {
    const auto node = impl_->session.Get(impl_->paths.Master());
    if (node.ok() && node->owner_session == impl_->session.session_id()) {
      IgnoreResult(impl_->session.Delete(impl_->paths.Master(), node->version), "it ends with the session anyway");
    }
  }
}

bool MasterElection::elected() const { return impl_->is_elected; }

Result<MasterNode> ReadMaster(ZkSession& session, const ZkPaths& paths) {
  RATCHET_ASSIGN(const NodeData node, session.Get(paths.Master()));
  return DecodeMasterNode(node.data);
}

Result<std::vector<ServerName>> ReadBackupMasters(ZkSession& session, const ZkPaths& paths) {
  const auto names = session.Children(paths.BackupMasters());
  if (!names.ok()) {
    if (names.error().code() == Code::kNotFound) return std::vector<ServerName>{};
    return names.error();
  }
  std::vector<ServerName> servers;
  for (const auto& name : *names) {
    RATCHET_ASSIGN(ServerName server, ServerName::Parse(name));
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace ratchet::zk
