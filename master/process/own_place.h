// OwnPlace: a master's session with ZooKeeper, and its place there: the nodes below --zk-parent that belong to its root
// (S72: root and ZooKeeper node belong together), and their rights (--zk-acl).
//
// Owned by the process. The start runs on the main thread, in the order of the functions; the Keep functions run on the
// session's thread; Lost and Leave may be called by any thread after the start.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/mutex.h"
#include "common/io/cluster_key.h"
#include "common/zk/place_access.h"
#include "common/zk/session_closer.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"
#include "master/process/master_config.h"
#include "master/process/own_root.h"

namespace ratchet::master {

class OwnPlace {
 public:
  struct Deps {
    const MasterConfig& config;
    ExitLatch& exit;
    const Clock& clock;
    OwnRoot& root;
    // They end the process with a code and a reason, or because the root cannot be used.
    std::function<void(int code, const std::string& why)> end{};
    std::function<void(const Error&)> fail_root{};
  };
  explicit OwnPlace(Deps deps) : deps_(std::move(deps)) {}
  OwnPlace(const OwnPlace&) = delete;
  OwnPlace& operator=(const OwnPlace&) = delete;

  // The start. Each waits for ZooKeeper; false: the process ends.
  [[nodiscard]] bool Connect();
  // Presents the keys, if a master has written them, so that Claim may write where --zk-acl is set.
  [[nodiscard]] bool PresentKeys();
  // Checks that this root belongs to this place, before any claim, fence or registration.
  [[nodiscard]] bool Claim();
  // Follows the session's states: Lost, and the end of the process with its session.
  void WatchSession();
  // After the election. During this session the place is the one that was claimed; only writes of other clients can
  // have changed it.
  [[nodiscard]] bool IsStillMine();

  // Follows cluster.key; the active master keeps the nodes' rights as --zk-acl says. Returns the problem that the
  // status shows; empty: none.
  [[nodiscard]] std::string KeepAccess(const std::vector<std::string>& keys, bool leads);
  // Rewrites what others have removed: the id may be removed when the active master dies, and without it no process can
  // start again.
  void KeepId(bool active);

  // For how long ZooKeeper has not answered.
  [[nodiscard]] std::optional<Millis> Lost() const;
  // Returns false if the session did not close in time. Needs no storage.
  [[nodiscard]] bool Leave();

  // After Connect.
  [[nodiscard]] zk::ZkSession& session() const { return *session_; }
  [[nodiscard]] zk::ZkSession* session_or_null() const { return session_.get(); }
  [[nodiscard]] const zk::ZkPaths& paths() const { return paths_; }
  // After Claim: the id of the root and of the place.
  [[nodiscard]] const std::string& cluster_id() const { return deps_.root.state.cluster_id; }

 private:
  [[nodiscard]] bool FailSession(const Error& error);
  void Fail(const Error& error);
  // A running master rewrites an id that was removed.
  [[nodiscard]] bool IdMayReturn(const Error& error, TimePoint deadline) const;

  const Deps deps_;
  zk::ZkPaths paths_;
  std::unique_ptr<zk::ZkSession> session_;
  std::unique_ptr<zk::SessionCloser> closer_;
  std::unique_ptr<zk::PlaceAccess> access_;
  mutable Mutex mutex_;
  std::optional<TimePoint> lost_ GUARDED_BY(mutex_);  // time of the last answer
};

}  // namespace ratchet::master
