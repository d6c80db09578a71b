#include "common/zk/master_election.h"

#include <atomic>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
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
  std::string told_obstacle;

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
        return;  // the next connection calls this again
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
    for (;;) {
      const auto created =
          session.CreateAndCount(paths.Master(), EncodeMasterNode(self), NodeKind::kEphemeral, paths.Elections());
      if (created.ok()) return Win();
      if (created.error().code() == Code::kNotFound) {
        RATCHET_TRY(session.EnsurePath(paths.BackupMasters()));
        RATCHET_TRY(session.EnsurePath(paths.Elections()));
        continue;
      }
      if (created.error().code() != Code::kAlreadyExists) return created;
      const auto elections = session.Get(paths.Elections());  // before the node: a later election raises it
      if (!elections.ok()) {
        if (elections.error().code() != Code::kNotFound) return elections.error();
        RATCHET_TRY(session.EnsurePath(paths.Elections()));
        continue;
      }
      auto node = session.GetAndWatch(paths.Master(), Again());
      if (!node.ok()) {
        if (node.error().code() == Code::kNotFound) continue;  // gone meanwhile
        return node.error();
      }
      if (node->owner_session == session.session_id()) return Win();  // created by a call whose answer was lost
      const auto active = DecodeMasterNode(node->data);
      if (active.ok() && active->server.SameAddress(self.server) &&
          active->server.start_code < self.server.start_code) {
        // We listen on this address, so the process that wrote this node is dead; no need to wait for its session to
        // end.
        IgnoreResult(session.DeleteAtCount(paths.Master(), node->version, paths.Elections(), elections->version),
                     "the next round sees whether it is gone");
        continue;
      }
      ReportObstacle(MasterNodeProblem(*node, paths).value_or(std::string()));
      return StandBy(active.ok() ? std::optional(active->server) : std::nullopt);
    }
  }

  Status StandBy(const std::optional<ServerName>& active) {
    if (!registered) {
      RATCHET_TRY(session.EnsurePath(paths.BackupMasters()));
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

  void ReplaceDead(const ServerName& dead) {
    if (lost || is_elected) return;
    const auto replaced = TryReplaceDead(dead);
    if (replaced.ok()) {
      registered = false;
      BeginToLead();
    } else {
      RATCHET_LOG(kInfo, "the node of the dead master {} stays until its session ends: {}", dead.ToString(),
                  replaced.error().ToString());
    }
    EvaluateOpen();  // finds the node also if the answer was lost
  }

  // One transaction, so that one sync of ZooKeeper is enough: the node of the dead master, its own as a standby, and
  // the election.
  Status TryReplaceDead(const ServerName& dead) {
    RATCHET_ASSIGN(const ElectedNode elected, ReadElected(session, paths));
    RATCHET_ASSIGN(const MasterNode named, DecodeMasterNode(elected.node.data));
    const bool same = named.server == dead || RATCHET_MUTANT("election.remove_any_master");
    if (!same) return Error(Code::kFailedPrecondition, fmt::format("it names {} now", named.server.ToString()));
    const auto replace = [&](const std::vector<std::string>& as_standby) {
      return session.ReplaceAtCount(paths.Master(), elected.node.version, EncodeMasterNode(self), as_standby,
                                    paths.Elections(), elected.elections);
    };
    Status replaced = replace({paths.BackupMaster(self.server.ToString())});
    if (!replaced.ok() && replaced.error().code() == Code::kNotFound) replaced = replace({});  // it has no such node
    return replaced;
  }

  void ReportObstacle(const std::string& why) {
    if (why == told_obstacle) return;
    told_obstacle = why;
    if (!why.empty()) RATCHET_LOG(kError, "no master can be elected: {}", why);
    if (callbacks.on_obstacle) callbacks.on_obstacle(why);
  }

  // Does not wait for the removal of the own node as a standby.
  Status Win() {
    registered = false;
    session.Post([weak = weak_from_this()] {
      const auto impl = weak.lock();
      if (impl == nullptr) return;
      IgnoreResult(impl->session.Delete(impl->paths.BackupMaster(impl->self.server.ToString())),
                   "it may not exist, and ends with the session");
    });
    BeginToLead();
    return gate.closed() ? Ok() : CheckOwn();
  }

  void BeginToLead() {
    is_elected = true;
    RATCHET_LOG(kInfo, "elected as active master: {}", self.server.ToString());
    ReportObstacle({});
    if (callbacks.on_elected) callbacks.on_elected();
  }

  // Elected: checks that the node is still ours, and watches it.
  Status CheckOwn() {
    const auto node = session.GetAndWatch(paths.Master(), Again());
    if (node.ok()) {
      if (node->owner_session != session.session_id()) {
        Lose("another process is registered as active master");
        return Ok();
      }
      if (node->data == EncodeMasterNode(self)) return Ok();
      // Its owner is still this session, so this master is still the elected one; but no client would find it.
      RATCHET_LOG(kWarn, "{} was changed by another client; writing it again", paths.Master());
      return session.Set(paths.Master(), EncodeMasterNode(self),
                         node->version);  // the watch fires, and this function looks again
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

void MasterElection::ReplaceDead(const ServerName& dead) {
  impl_->session.Post([weak = std::weak_ptr<Impl>(impl_), dead] {
    const auto impl = weak.lock();
    if (impl != nullptr) impl->gate.Run([&] { impl->ReplaceDead(dead); });
  });
}

void MasterElection::Stop() {
  impl_->gate.Close();
  if (const auto subscription = impl_->subscription.exchange(0); subscription != 0)
    impl_->session.Unsubscribe(subscription);
  if (impl_->is_elected.exchange(false)) {
    // A standby that sees this process end may remove the node and be elected in between.
    const auto mine = ReadElected(impl_->session, impl_->paths);
    if (mine.ok() && mine->node.owner_session == impl_->session.session_id())
      IgnoreResult(RemoveElected(impl_->session, impl_->paths, *mine), "it ends with the session anyway");
  }
}

bool MasterElection::elected() const { return impl_->is_elected; }

std::optional<std::string> MasterNodeProblem(const NodeData& node, const ZkPaths& paths) {
  const bool decoded = DecodeMasterNode(node.data).ok();
  if (node.owner_session != 0 && decoded) return std::nullopt;
  const std::string content =
      decoded ? "names a master" : fmt::format("has {} bytes that name no master", node.data.size());
  if (node.owner_session == 0) {
    return fmt::format(
        "the ZooKeeper node {} is persistent and {}: no master of a cluster has created it, and no master is elected "
        "while it exists; remove it (zkCli.sh delete {})",
        paths.Master(), content, paths.Master());
  }
  return fmt::format(
      "the ZooKeeper node {} of session {:#x} {}: no master is elected until that session ends; end its process, or "
      "remove the node (zkCli.sh delete {})",
      paths.Master(), static_cast<std::uint64_t>(node.owner_session), content, paths.Master());
}

// The number comes first, because a later election raises it.
Result<ElectedNode> ReadElected(ZkSession& session, const ZkPaths& paths) {
  RATCHET_ASSIGN(const NodeData elections, session.Get(paths.Elections()));
  RATCHET_ASSIGN(NodeData node, session.Get(paths.Master()));
  return ElectedNode{std::move(node), elections.version};
}

Status RemoveElected(ZkSession& session, const ZkPaths& paths, const ElectedNode& elected) {
  return session.DeleteAtCount(paths.Master(), elected.node.version, paths.Elections(), elected.elections);
}

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
