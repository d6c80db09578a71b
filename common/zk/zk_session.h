// One ZooKeeper session: RAII over libzookeeper_mt.
//
// Rules of the cluster (docs/architecture.md): while disconnected the process continues (fences guard the data);
// expired is final: the object never connects again and its owner ends the process. ZooKeeper is a liveness registry
// and an election, nothing else; no decision about data depends on it.
//
// Names: NameResolver looks the members' names up, and libzookeeper gets addresses only, because it would look names up
// in the thread that keeps the session alive. They are looked up again while the session is disconnected.
//
// A ZooKeeper that was set back to older data, or lost it, refuses the sessions of clients that know of later
// transactions, without an answer. So a session also counts as expired when it has been disconnected for longer than
// its time-out while a new session could be held for as long.
//
// Threads: all callbacks run one after the other on the session's own thread "zk-events", never on libzookeeper's, so
// they may call the blocking operations below. Every public member is thread-safe. Blocking operations end within the
// session time-out, and at once (kUnavailable) while disconnected. Close() and the destructor must not be called from a
// callback (checked).
//
// Errors: kUnavailable (disconnected, outcome may be unknown, try again), kFenced (session expired), kAborted (closed),
// kNotFound, kAlreadyExists, kFailedPrecondition (version or not empty), kIo (anything else, with ZooKeeper's text).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/zk/node_rights.h"

namespace ratchet::zk {

enum class SessionState : std::uint8_t {
  kConnecting,  // at start, or disconnected: ZooKeeper may or may not hold the session
  kConnected,
  kExpired,  // final: ZooKeeper removed our ephemeral nodes
  kClosed,   // final: Close() was called
};
[[nodiscard]] std::string_view SessionStateName(SessionState state);

struct SessionOptions {
  std::string servers;           // "host:port,[IPv6 address]:port"
  Millis session_timeout{2000};  // requested; the server may grant another one (its minimum is 2 ticks)
  std::string resume_ticket{};   // from another ZkSession: take its session over (only tests and chaos do)
};

struct NodeData {
  std::string data;
  std::int64_t owner_session = 0;  // 0: not ephemeral
  std::int64_t created_zxid = 0;   // distinguishes incarnations of one path
  std::int32_t version = 0;        // of the data
};

enum class NodeKind { kPersistent, kEphemeral };

class ZkSession {
 public:
  // Starts connecting; returns at once, or after a bounded time when a name has to be looked up. kInvalidArgument:
  // SessionOptions::servers is malformed; kUnavailable: none of the names has an address now.
  [[nodiscard]] static Result<std::unique_ptr<ZkSession>> Open(SessionOptions options);
  ~ZkSession();
  ZkSession(const ZkSession&) = delete;
  ZkSession& operator=(const ZkSession&) = delete;

  // kTimeout when there is no connection within `timeout`; kFenced when the session expired.
  [[nodiscard]] Status WaitConnected(Millis timeout);
  [[nodiscard]] SessionState state() const;
  [[nodiscard]] std::int64_t session_id() const;    // 0 before the first connection
  [[nodiscard]] Millis negotiated_timeout() const;  // as the server granted
  // Returns true if it counts as expired because ZooKeeper grants new sessions but has not taken this one back.
  [[nodiscard]] bool refused() const;
  [[nodiscard]] std::string ticket() const;  // id and password, opaque; empty before the first connection

  // Calls `on_state` for every change from now on. Returns a number for Unsubscribe, after which no further call
  // begins.
  std::uint64_t Subscribe(std::function<void(SessionState)> on_state);
  void Unsubscribe(std::uint64_t subscription);

  [[nodiscard]] Status Create(const std::string& path, std::string_view data, NodeKind kind);
  // Creates a node and raises the version of the node `counter`, or does neither. kNotFound: the parent or `counter` is
  // missing.
  [[nodiscard]] Status CreateAndCount(const std::string& path, std::string_view data, NodeKind kind,
                                      const std::string& counter);
  // Changes a node in place. kNotFound; kFailedPrecondition when it is not at `version`.
  [[nodiscard]] Status Set(const std::string& path, std::string_view data,
                           std::optional<std::int32_t> version = std::nullopt);
  // Creates the missing parts of `path`, parents too, as persistent empty nodes.
  [[nodiscard]] Status EnsurePath(const std::string& path);
  // The member of the ensemble that we are connected to answers reads, and may lag behind. Reads after Sync see every
  // write that was completed before it.
  [[nodiscard]] Status Sync(const std::string& path);
  [[nodiscard]] Result<NodeData> Get(const std::string& path);
  [[nodiscard]] Result<std::vector<std::string>> Children(const std::string& path);
  [[nodiscard]] Status Delete(const std::string& path, std::optional<std::int32_t> version = std::nullopt);

  // Deletes the ephemeral node `path` at `version` and creates it again for this session, deletes the nodes `with`, and
  // raises the version of the node `counter` from `counter_version`; or does none of this. kFailedPrecondition: a
  // version differs; kNotFound: a node is missing.
  [[nodiscard]] Status ReplaceAtCount(const std::string& path, std::int32_t version, std::string_view data,
                                      const std::vector<std::string>& with, const std::string& counter,
                                      std::int32_t counter_version);
  // Deletes a node at `version` if the node `counter` is at `counter_version`; kFailedPrecondition if either is not. A
  // node that is deleted and created again begins with the same version; CreateAndCount makes the difference visible.
  [[nodiscard]] Status DeleteAtCount(const std::string& path, std::int32_t version, const std::string& counter,
                                     std::int32_t counter_version);

  // Like Get, with a one-shot watch: `changed` is called once, when the node (or the list) may have changed; a watch
  // survives a reconnection. GetAndWatch also watches for the creation of a missing node (when it returns kNotFound).
  // After any other error no watch is set.
  [[nodiscard]] Result<NodeData> GetAndWatch(const std::string& path, std::function<void()> changed);
  [[nodiscard]] Result<std::vector<std::string>> ChildrenAndWatch(const std::string& path,
                                                                  std::function<void()> changed);

  // Presents these keys of the cluster to ZooKeeper, now and after each reconnection; a key that was presented before
  // is skipped. Does not need a connection.
  [[nodiscard]] Status Authenticate(const std::vector<std::string>& keys);
  // Nodes that are created from now on have these rights; until the first call all clients may change them.
  void CreateWith(const NodeRights& rights);
  [[nodiscard]] Result<NodeRights> Rights(const std::string& path);
  [[nodiscard]] Status SetRights(const std::string& path, const NodeRights& rights);

  // Runs `work` on the session's thread, after what is already queued there. Dropped when the session is closed.
  void Post(std::function<void()> work);

  // Ends the session: ephemeral nodes are deleted at once. Waits for a running callback; queued ones are dropped.
  // Idempotent.
  void Close();

 private:
  struct Impl;
  explicit ZkSession(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace ratchet::zk
