#include "common/zk/zk_session.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <span>
#include <thread>
#include <utility>

#include <zookeeper/zookeeper.h>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/name_resolver.h"
#include "common/base/thread_name.h"
#include "common/zk/quiet_close.h"
#include "common/zk/server_list.h"
#include "common/zk/session_probe.h"

namespace ratchet::zk {
namespace {

// A limit above the size of any node of the cluster; a larger node belongs to other software.
constexpr int kMaxNodeBytes = 64 << 10;
constexpr Millis kLookAgain{500};       // while disconnected: interval of look-ups and of the probe
constexpr Millis kFirstLookUp{2'000};   // time limit for each name, in Open
constexpr Millis kLeastRefusal{1'000};  // a session counts as lost after a refusal of at least this time
constexpr int kNoLookUpsByLibrary = -1;

Error ToError(int code, const std::string& what, SessionState state) {
  const std::string text = what + ": " + zerror(code);
  switch (code) {
    case ZNONODE: return {Code::kNotFound, text};
    case ZNODEEXISTS: return {Code::kAlreadyExists, text};
    case ZBADVERSION:
    case ZNOTEMPTY: return {Code::kFailedPrecondition, text};
    case ZSESSIONEXPIRED: return {Code::kFenced, text};
    case ZCLOSING: return {Code::kAborted, text};
    case ZINVALIDSTATE: return {state == SessionState::kExpired ? Code::kFenced : Code::kUnavailable, text};
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONMOVED: return {Code::kUnavailable, text};
    default: return {Code::kIo, text};
  }
}

// Returns the error of the operation that failed; the others were not carried out.
int AllOrNone(zhandle_t* zh, std::span<const zoo_op_t> operations) {
  std::vector<zoo_op_result_t> results(operations.size());
  const int code = zoo_multi(zh, static_cast<int>(operations.size()), operations.data(), results.data());
  if (code == ZOK) return code;
  for (const zoo_op_result_t& result : results)
    if (result.err != ZOK && result.err != ZRUNTIMEINCONSISTENCY) return result.err;
  return code;
}

// The rights in the library's form. It refers to `rights`, which outlives it.
class LibraryRights {
 public:
  explicit LibraryRights(const NodeRights& rights) {
    for (const NodeRight& right : rights)
      entries_.push_back(
          {right.permissions, {const_cast<char*>(right.scheme.c_str()), const_cast<char*>(right.id.c_str())}});
    vector_ = {static_cast<std::int32_t>(entries_.size()), entries_.data()};
  }
  LibraryRights(const LibraryRights&) = delete;
  LibraryRights& operator=(const LibraryRights&) = delete;
  [[nodiscard]] const ACL_vector* get() const { return &vector_; }

 private:
  std::vector<ACL> entries_;
  ACL_vector vector_{};
};

// The library logs at length while a server is away; that is for debugging only.
void LogFromLibrary(const char* message) { RATCHET_LOG(kDebug, "zookeeper client: {}", message); }

}  // namespace

std::string_view SessionStateName(SessionState state) {
  switch (state) {
    case SessionState::kConnecting: return "connecting";
    case SessionState::kConnected: return "connected";
    case SessionState::kExpired: return "expired";
    case SessionState::kClosed: return "closed";
  }
  return "unknown";
}

struct Watched {
  SessionState state = SessionState::kConnecting;
  std::optional<Millis> lost;  // for how long a session that was connected once has been disconnected
  Millis limit{0};             // the session time-out
  std::string servers;
  bool names_changed = false;
};

// libzookeeper's threads see this object through zoo_get_context until zookeeper_close has returned.
struct ZkSession::Impl : std::enable_shared_from_this<ZkSession::Impl> {
  // The handle lives until Close, which waits here for running operations.
  SharedMutex handle_mutex ACQUIRED_BEFORE(mutex);
  zhandle_t* handle GUARDED_BY(handle_mutex) = nullptr;

  mutable Mutex mutex;
  CondVar changed;
  SessionState session_state GUARDED_BY(mutex) = SessionState::kConnecting;
  std::int64_t id GUARDED_BY(mutex) = 0;
  Millis timeout GUARDED_BY(mutex){0};
  std::string ticket GUARDED_BY(mutex);
  bool closing GUARDED_BY(mutex) = false;
  std::deque<std::function<void()>> queue GUARDED_BY(mutex);
  std::map<std::uint64_t, std::function<void(SessionState)>> subscribers GUARDED_BY(mutex);
  std::map<std::uint64_t, std::function<void()>> watches GUARDED_BY(mutex);
  std::uint64_t last_number GUARDED_BY(mutex) = 0;
  std::optional<TimePoint> lost GUARDED_BY(mutex);  // start of the disconnection; only for a session that has an id
  bool refused GUARDED_BY(mutex) = false;           // ZooKeeper grants new sessions and does not take this one back
  std::vector<std::string> presented GUARDED_BY(mutex);  // keys
  NodeRights of_new_nodes GUARDED_BY(mutex) = OpenRights();
  std::map<std::string, NameResolver::Addresses> addresses GUARDED_BY(mutex);  // of the members, by host
  std::string servers GUARDED_BY(mutex);                                       // numeric, as the library has them
  std::thread events;
  std::thread watch;
  SystemClock clock;
  ServerList members;  // constant after Open

  void Enqueue(std::function<void()> work) {
    MutexLock lock(mutex);
    if (closing) return;
    queue.push_back(std::move(work));
    changed.NotifyAll();
  }

  void RunEvents() {
    SetThreadName("zk-events");
    mutex.Lock();
    while (!closing) {
      if (queue.empty()) {
        changed.Wait(mutex);
        continue;
      }
      auto work = std::move(queue.front());
      queue.pop_front();
      mutex.Unlock();
      work();
      work = nullptr;
      mutex.Lock();
    }
    mutex.Unlock();
  }

  // On libzookeeper's completion thread: records the state, leaves the rest to our own thread.
  static void OnSessionEvent(zhandle_t* zh, int type, int state, const char* /*path*/, void* /*context*/) {
    auto* impl = static_cast<Impl*>(const_cast<void*>(zoo_get_context(zh)));
    if (impl == nullptr || type != ZOO_SESSION_EVENT) return;
    SessionState now = SessionState::kConnecting;
    if (state == ZOO_CONNECTED_STATE) now = SessionState::kConnected;
    if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) now = SessionState::kExpired;
    MutexLock lock(impl->mutex);
    if (impl->closing || impl->session_state == now || impl->session_state == SessionState::kExpired) return;
    impl->session_state = now;
    impl->lost.reset();
    if (now == SessionState::kConnecting && impl->id != 0) impl->lost = impl->clock.Now();
    if (now == SessionState::kConnected) {
      impl->refused = false;
      const clientid_t* client = zoo_client_id(zh);
      impl->id = client->client_id;
      impl->ticket.assign(reinterpret_cast<const char*>(client), sizeof *client);
      impl->timeout = Millis(zoo_recv_timeout(zh));
    }
    RATCHET_LOG(kInfo, "ZooKeeper session {:#x} is {}", static_cast<std::uint64_t>(impl->id), SessionStateName(now));
    impl->queue.push_back([impl, now] { impl->NotifySubscribers(now); });
    impl->changed.NotifyAll();
  }

  // Looks the members' names up; the answers go to `addresses`. Never waits.
  void LookUpMembers() {
    for (const HostPort& member : members.members) {
      if (IsNumericHost(member.host)) continue;
      NameResolver::OfProcess().Resolve(
          member.host, [weak = weak_from_this(), host = member.host](const Result<NameResolver::Addresses>& found) {
            const auto impl = weak.lock();
            if (impl == nullptr || !found.ok()) return;
            const MutexLock lock(impl->mutex);
            impl->addresses[host] = *found;
          });
    }
  }

  // The first look-up. Names without an address are looked up again while there is no connection.
  Result<std::string> FindServers(const std::string& text) {
    std::string why;
    for (const HostPort& member : members.members) {
      auto found = NameResolver::OfProcess().ResolveWithin(member.host, kFirstLookUp);
      const MutexLock lock(mutex);
      if (found.ok()) {
        addresses[member.host] = *std::move(found);
      } else {
        why = found.error().message();
      }
    }
    const MutexLock lock(mutex);
    servers = members.Numeric(addresses);
    if (!servers.empty()) return servers;
    return Error(Code::kUnavailable,
                 fmt::format("ZooKeeper servers '{}': no address is known for any of these names ({})", text, why));
  }

  // Waits while there is nothing to do for a watcher of the connection. Returns false if the session is being closed.
  bool AwaitDisconnected() {
    const MutexLock lock(mutex);
    while (!closing && session_state != SessionState::kConnecting) changed.Wait(mutex);
    const TimePoint until = clock.Now() + kLookAgain;
    for (TimePoint now = clock.Now(); now < until && !closing; now = clock.Now())
      static_cast<void>(changed.WaitFor(mutex, until - now));
    return !closing;
  }

  Watched Look() {
    const MutexLock lock(mutex);
    Watched now;
    now.state = session_state;
    if (lost.has_value()) now.lost = std::chrono::duration_cast<Millis>(clock.Now() - *lost);
    now.limit = std::max(timeout, kLeastRefusal);
    now.servers = members.Numeric(addresses);
    now.names_changed = !now.servers.empty() && now.servers != servers;
    if (now.names_changed) servers = now.servers;
    return now;
  }

  // Gives the library the current addresses of the names: a member may have restarted at another one.
  void GiveServers(const std::string& numeric) {
    const ReaderLock lock(handle_mutex);
    if (handle == nullptr || StateNow() != SessionState::kConnecting) return;
    RATCHET_LOG(kInfo, "ZooKeeper's servers have other addresses now: {}", numeric);
    if (const int code = zoo_set_servers(handle, numeric.c_str()); code != ZOK)
      RATCHET_LOG(kWarn, "ZooKeeper's servers {}: {}", numeric, zerror(code));
  }

  // Counts the session as lost if ZooKeeper has refused it for too long.
  void Refuse(const Watched& now) {
    const MutexLock lock(mutex);
    if (closing || session_state != SessionState::kConnecting || !lost.has_value()) return;
    RATCHET_LOG(kWarn,
                "ZooKeeper at {} grants new sessions, but has not taken session {:#x} back for {} ms: its data was set "
                "back to an older copy, or lost. The session counts as expired",
                now.servers, static_cast<std::uint64_t>(id), now.lost->count());
    session_state = SessionState::kExpired;
    refused = true;
    queue.push_back([this] { NotifySubscribers(SessionState::kExpired); });
    changed.NotifyAll();
  }

  // Looks for new addresses of names, and for a permanent refusal by ZooKeeper, while the session is disconnected.
  void RunWatch() {
    SetThreadName("zk-watch");
    std::unique_ptr<SessionProbe> probe;
    while (AwaitDisconnected()) {
      if (StateNow() != SessionState::kConnecting) {
        probe.reset();
        continue;
      }
      LookUpMembers();
      const Watched now = Look();
      if (now.names_changed) {
        GiveServers(now.servers);
        probe.reset();
      }
      if (now.state != SessionState::kConnecting || !now.lost.has_value() || *now.lost < now.limit) {
        probe.reset();
        continue;
      }
      if (probe == nullptr) probe = std::make_unique<SessionProbe>(now.servers, now.limit);
      // The minimum: a session which ZooKeeper would take back has had that time to reconnect.
      const auto granted = probe->ConnectedFor();
      if (granted.has_value() && *granted >= now.limit) Refuse(now);
    }
  }

  // `context` carries the number of a watch; session events also arrive at watches but do not concern them.
  static void OnNodeEvent(zhandle_t* zh, int type, int /*state*/, const char* /*path*/, void* context) {
    auto* impl = static_cast<Impl*>(const_cast<void*>(zoo_get_context(zh)));
    if (impl == nullptr || type == ZOO_SESSION_EVENT) return;
    MutexLock lock(impl->mutex);
    const auto found = impl->watches.find(reinterpret_cast<std::uintptr_t>(context));
    if (found == impl->watches.end() || impl->closing) return;
    impl->queue.push_back(std::move(found->second));
    impl->watches.erase(found);
    impl->changed.NotifyAll();
  }

  void NotifySubscribers(SessionState now) {
    std::vector<std::uint64_t> numbers;
    {
      MutexLock lock(mutex);
      for (const auto& [number, subscriber] : subscribers) numbers.push_back(number);
    }
    for (const auto number : numbers) {
      std::function<void(SessionState)> subscriber;
      {
        MutexLock lock(mutex);
        const auto found = subscribers.find(number);
        if (found == subscribers.end()) continue;
        subscriber = found->second;
      }
      subscriber(now);
    }
  }

  std::uint64_t AddWatch(std::function<void()> changed_callback) {
    MutexLock lock(mutex);
    watches.emplace(++last_number, std::move(changed_callback));
    return last_number;
  }

  void DropWatch(std::uint64_t number) {
    MutexLock lock(mutex);
    watches.erase(number);
  }

  [[nodiscard]] SessionState StateNow() const {
    MutexLock lock(mutex);
    return session_state;
  }

  [[nodiscard]] NodeRights RightsOfNewNodes() const {
    MutexLock lock(mutex);
    return of_new_nodes;
  }

  // Calls `operation` with the handle, if there is one.
  Status Call(const std::string& what, const std::function<int(zhandle_t*)>& operation) {
    ReaderLock lock(handle_mutex);
    const SessionState state = StateNow();
    if (state == SessionState::kClosed) return Error(Code::kAborted, what + ": the session is closed");
    if (state == SessionState::kExpired) return Error(Code::kFenced, what + ": the session has expired");
    if (state != SessionState::kConnected) return Error(Code::kUnavailable, what + ": not connected to ZooKeeper");
    const int code = operation(handle);
    if (code != ZOK) return ToError(code, what, StateNow());
    return Ok();
  }

  Result<NodeData> Read(const std::string& path) {
    NodeData node;
    RATCHET_TRY(Call("read " + path, [&](zhandle_t* zh) {
      node.data.resize(kMaxNodeBytes);
      int size = kMaxNodeBytes;
      Stat stat{};
      const int code = zoo_get(zh, path.c_str(), 0, node.data.data(), &size, &stat);
      if (code != ZOK) return code;
      if (stat.dataLength > kMaxNodeBytes) return static_cast<int>(ZMARSHALLINGERROR);
      node.data.resize(static_cast<std::size_t>(size < 0 ? 0 : size));
      node.owner_session = stat.ephemeralOwner;
      node.created_zxid = stat.czxid;
      node.version = stat.version;
      return code;
    }));
    return node;
  }
};

ZkSession::ZkSession(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ZkSession>> ZkSession::Open(SessionOptions options) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
  auto members = ParseServerList(options.servers);
  if (!members.has_value()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("ZooKeeper servers '{}': expected host:port,[IPv6 address]:port", options.servers));
  }
  if (!options.resume_ticket.empty() && options.resume_ticket.size() != sizeof(clientid_t)) {
    return Error(Code::kInvalidArgument, "the ticket is not that of a ZooKeeper session");
  }
  auto impl = std::make_shared<Impl>();
  impl->members = *std::move(members);
  RATCHET_ASSIGN(const std::string numeric, impl->FindServers(options.servers));
  impl->events = std::thread([raw = impl.get()] { raw->RunEvents(); });
  std::unique_ptr<ZkSession> session(new ZkSession(impl));
  clientid_t resumed{};
  std::memcpy(&resumed, options.resume_ticket.data(), options.resume_ticket.size());
  zhandle_t* handle =
      zookeeper_init2(numeric.c_str(), &Impl::OnSessionEvent, static_cast<int>(options.session_timeout.count()),
                      options.resume_ticket.empty() ? nullptr : &resumed, impl.get(), 0, &LogFromLibrary);
  if (handle == nullptr) {
    return Error(Code::kUnavailable,
                 fmt::format("ZooKeeper servers '{}' ({}): {}", options.servers, numeric, std::strerror(errno)));
  }
  // The library gets addresses, not names; without this call it resolves them whenever it polls its socket.
  static_cast<void>(zoo_set_servers_resolution_delay(handle, kNoLookUpsByLibrary));
  {
    const WriterLock lock(impl->handle_mutex);
    impl->handle = handle;
  }
  impl->watch = std::thread([raw = impl.get()] { raw->RunWatch(); });
  return session;
}

ZkSession::~ZkSession() { Close(); }

void ZkSession::Close() {
  RATCHET_CHECK(std::this_thread::get_id() != impl_->events.get_id(),
                "a ZooKeeper session is closed by its own callback");
  {
    MutexLock lock(impl_->mutex);
    impl_->closing = true;
    impl_->queue.clear();
    // From here on no operation begins, so that the writer's lock below is granted.
    if (impl_->session_state != SessionState::kExpired) impl_->session_state = SessionState::kClosed;
    impl_->changed.NotifyAll();
  }
  if (impl_->events.joinable()) impl_->events.join();
  if (impl_->watch.joinable()) impl_->watch.join();
  WriterLock handle_lock(impl_->handle_mutex);
  if (impl_->handle != nullptr) {
    const int code = CloseQuietly(impl_->handle);
    if (code != ZOK) RATCHET_LOG(kDebug, "closing the ZooKeeper session: {}", zerror(code));
    impl_->handle = nullptr;
  }
  MutexLock lock(impl_->mutex);
  impl_->watches.clear();
  impl_->changed.NotifyAll();
}

Status ZkSession::WaitConnected(Millis timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  MutexLock lock(impl_->mutex);
  for (;;) {
    if (impl_->session_state == SessionState::kConnected) return Ok();
    if (impl_->session_state == SessionState::kExpired)
      return Error(Code::kFenced, "the ZooKeeper session has expired");
    if (impl_->closing) return Error(Code::kAborted, "the ZooKeeper session is closed");
    const auto now = std::chrono::steady_clock::now();
    if (now >= until)
      return Error(Code::kTimeout, fmt::format("no connection to ZooKeeper within {} ms", timeout.count()));
    impl_->changed.WaitFor(impl_->mutex, until - now);
  }
}

SessionState ZkSession::state() const { return impl_->StateNow(); }

std::int64_t ZkSession::session_id() const {
  MutexLock lock(impl_->mutex);
  return impl_->id;
}

Millis ZkSession::negotiated_timeout() const {
  MutexLock lock(impl_->mutex);
  return impl_->timeout;
}

bool ZkSession::refused() const {
  MutexLock lock(impl_->mutex);
  return impl_->refused;
}

std::string ZkSession::ticket() const {
  MutexLock lock(impl_->mutex);
  return impl_->ticket;
}

std::uint64_t ZkSession::Subscribe(std::function<void(SessionState)> on_state) {
  MutexLock lock(impl_->mutex);
  impl_->subscribers.emplace(++impl_->last_number, std::move(on_state));
  return impl_->last_number;
}

void ZkSession::Unsubscribe(std::uint64_t subscription) {
  MutexLock lock(impl_->mutex);
  impl_->subscribers.erase(subscription);
}

Status ZkSession::Create(const std::string& path, std::string_view data, NodeKind kind) {
  const NodeRights rights = impl_->RightsOfNewNodes();
  const LibraryRights acl(rights);
  return impl_->Call("create " + path, [&](zhandle_t* zh) {
    return zoo_create(zh, path.c_str(), data.data(), static_cast<int>(data.size()), acl.get(),
                      kind == NodeKind::kEphemeral ? ZOO_EPHEMERAL : 0, nullptr, 0);
  });
}

Status ZkSession::CreateAndCount(const std::string& path, std::string_view data, NodeKind kind,
                                 const std::string& counter) {
  const NodeRights rights = impl_->RightsOfNewNodes();
  const LibraryRights acl(rights);
  return impl_->Call("create " + path, [&](zhandle_t* zh) {
    std::array<zoo_op_t, 2> operations{};
    zoo_create_op_init(&operations[0], path.c_str(), data.data(), static_cast<int>(data.size()), acl.get(),
                       kind == NodeKind::kEphemeral ? ZOO_EPHEMERAL : 0, nullptr, 0);
    zoo_set_op_init(&operations[1], counter.c_str(), "", 0, -1, nullptr);
    return AllOrNone(zh, operations);
  });
}

Status ZkSession::ReplaceAtCount(const std::string& path, std::int32_t version, std::string_view data,
                                 const std::vector<std::string>& with, const std::string& counter,
                                 std::int32_t counter_version) {
  const NodeRights rights = impl_->RightsOfNewNodes();
  const LibraryRights acl(rights);
  return impl_->Call("replace " + path, [&](zhandle_t* zh) {
    std::vector<zoo_op_t> operations(3 + with.size());
    zoo_set_op_init(&operations[0], counter.c_str(), "", 0, counter_version, nullptr);
    zoo_delete_op_init(&operations[1], path.c_str(), version);
    zoo_create_op_init(&operations[2], path.c_str(), data.data(), static_cast<int>(data.size()), acl.get(),
                       ZOO_EPHEMERAL, nullptr, 0);
    for (std::size_t i = 0; i < with.size(); ++i) zoo_delete_op_init(&operations[3 + i], with[i].c_str(), -1);
    return AllOrNone(zh, operations);
  });
}

Status ZkSession::DeleteAtCount(const std::string& path, std::int32_t version, const std::string& counter,
                                std::int32_t counter_version) {
  return impl_->Call("delete " + path, [&](zhandle_t* zh) {
    std::array<zoo_op_t, 2> operations{};
    zoo_check_op_init(&operations[0], counter.c_str(), counter_version);
    zoo_delete_op_init(&operations[1], path.c_str(), version);
    return AllOrNone(zh, operations);
  });
}

Status ZkSession::Set(const std::string& path, std::string_view data, std::optional<std::int32_t> version) {
  return impl_->Call("write " + path, [&](zhandle_t* zh) {
    return zoo_set(zh, path.c_str(), data.data(), static_cast<int>(data.size()), version.value_or(-1));
  });
}

Status ZkSession::EnsurePath(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const auto created = Create(path.substr(0, slash), "", NodeKind::kPersistent);
    if (!created.ok() && created.error().code() != Code::kAlreadyExists) return created;
    if (slash == std::string::npos) return Ok();
  }
}

Status ZkSession::Sync(const std::string& path) {
  return impl_->Call("sync " + path, [&](zhandle_t* zh) {
    // The library has no blocking form of it. Ends like every call: answered, or with the connection.
    auto done = std::make_unique<std::promise<int>>();
    auto answer = done->get_future();
    const auto on_done = [](int code, const char* /*value*/, const void* context) {
      const std::unique_ptr<std::promise<int>> mine(static_cast<std::promise<int>*>(const_cast<void*>(context)));
      mine->set_value(code);
    };
    const int code = zoo_async(zh, path.c_str(), on_done, done.get());
    if (code != ZOK) return code;
    static_cast<void>(done.release());  // the library calls back exactly once
    return answer.get();
  });
}

Result<NodeData> ZkSession::Get(const std::string& path) { return impl_->Read(path); }

Result<std::vector<std::string>> ZkSession::Children(const std::string& path) {
  return ChildrenAndWatch(path, nullptr);
}

Status ZkSession::Delete(const std::string& path, std::optional<std::int32_t> version) {
  return impl_->Call("delete " + path,
                     [&](zhandle_t* zh) { return zoo_delete(zh, path.c_str(), version.value_or(-1)); });
}

Result<NodeData> ZkSession::GetAndWatch(const std::string& path, std::function<void()> changed) {
  // An exists-watch fires on creation, change and removal alike; a get-watch is not left on a missing node.
  const std::uint64_t watch = impl_->AddWatch(std::move(changed));
  const auto watched = impl_->Call("watch " + path, [&](zhandle_t* zh) {
    Stat stat{};
    return zoo_wexists(zh, path.c_str(), &Impl::OnNodeEvent, reinterpret_cast<void*>(watch), &stat);
  });
  if (!watched.ok()) {
    if (watched.error().code() != Code::kNotFound) impl_->DropWatch(watch);
    return watched.error();
  }
  auto node = impl_->Read(path);
  if (!node.ok() && node.error().code() != Code::kNotFound) impl_->DropWatch(watch);
  return node;
}

Result<std::vector<std::string>> ZkSession::ChildrenAndWatch(const std::string& path, std::function<void()> changed) {
  const bool watching = changed != nullptr;
  const std::uint64_t watch = watching ? impl_->AddWatch(std::move(changed)) : 0;
  std::vector<std::string> names;
  const auto listed = impl_->Call("list " + path, [&](zhandle_t* zh) {
    String_vector children{};
    const int code = zoo_wget_children(zh, path.c_str(), watching ? &Impl::OnNodeEvent : nullptr,
                                       reinterpret_cast<void*>(watch), &children);
    if (code != ZOK) return code;
    for (int i = 0; i < children.count; ++i) names.emplace_back(children.data[i]);
    deallocate_String_vector(&children);
    return code;
  });
  if (!listed.ok()) {
    if (watching) impl_->DropWatch(watch);
    return listed.error();
  }
  return names;
}

Status ZkSession::Authenticate(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    ReaderLock handle_lock(impl_->handle_mutex);
    {
      MutexLock lock(impl_->mutex);
      auto& presented = impl_->presented;
      if (std::find(presented.begin(), presented.end(), key) != presented.end()) continue;
      if (impl_->closing || impl_->handle == nullptr) return Error(Code::kAborted, "the ZooKeeper session is closed");
      presented.push_back(key);
    }
    const std::string credential = CredentialOf(key);
    const int code =
        zoo_add_auth(impl_->handle, "digest", credential.data(), static_cast<int>(credential.size()), nullptr, nullptr);
    if (code != ZOK) return ToError(code, "present the cluster's key", impl_->StateNow());
  }
  return Ok();
}

void ZkSession::CreateWith(const NodeRights& rights) {
  MutexLock lock(impl_->mutex);
  impl_->of_new_nodes = rights;
}

Result<NodeRights> ZkSession::Rights(const std::string& path) {
  NodeRights rights;
  RATCHET_TRY(impl_->Call("read the rights of " + path, [&](zhandle_t* zh) {
    ACL_vector entries{};
    Stat stat{};
    const int code = zoo_get_acl(zh, path.c_str(), &entries, &stat);
    if (code != ZOK) return code;
    for (int i = 0; i < entries.count; ++i)
      rights.push_back({entries.data[i].id.scheme, entries.data[i].id.id, entries.data[i].perms});
    deallocate_ACL_vector(&entries);
    return code;
  }));
  std::sort(rights.begin(), rights.end());
  return rights;
}

Status ZkSession::SetRights(const std::string& path, const NodeRights& rights) {
  const LibraryRights acl(rights);
  return impl_->Call("set the rights of " + path,
                     [&](zhandle_t* zh) { return zoo_set_acl(zh, path.c_str(), -1, acl.get()); });
}

void ZkSession::Post(std::function<void()> work) { impl_->Enqueue(std::move(work)); }

}  // namespace ratchet::zk
