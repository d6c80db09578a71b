#include "common/zk/zk_session.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include <zookeeper/zookeeper.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"
#include "common/zk/quiet_close.h"
#include "common/zk/server_list.h"

namespace ratchet::zk {
namespace {

// More than any node of the cluster holds; a larger one is not ours.
constexpr int kMaxNodeBytes = 64 << 10;

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

// The library complains at length while a server is away; that is for debugging only.
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

// libzookeeper's threads see this object through zoo_get_context until zookeeper_close has returned.
struct ZkSession::Impl {
  // The handle lives until Close, which waits here for operations under way.
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
  std::thread events;

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

  // On libzookeeper's completion thread: note the state, hand the rest to our own thread.
  static void OnSessionEvent(zhandle_t* zh, int type, int state, const char* /*path*/, void* /*context*/) {
    auto* impl = static_cast<Impl*>(const_cast<void*>(zoo_get_context(zh)));
    if (impl == nullptr || type != ZOO_SESSION_EVENT) return;
    SessionState now = SessionState::kConnecting;
    if (state == ZOO_CONNECTED_STATE) now = SessionState::kConnected;
    if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) now = SessionState::kExpired;
    MutexLock lock(impl->mutex);
    if (impl->closing || impl->session_state == now || impl->session_state == SessionState::kExpired) return;
    impl->session_state = now;
    if (now == SessionState::kConnected) {
      const clientid_t* client = zoo_client_id(zh);
      impl->id = client->client_id;
      impl->ticket.assign(reinterpret_cast<const char*>(client), sizeof *client);
      impl->timeout = Millis(zoo_recv_timeout(zh));
    }
    RATCHET_LOG(kInfo, "ZooKeeper session {:#x} is {}", static_cast<std::uint64_t>(impl->id), SessionStateName(now));
    impl->queue.push_back([impl, now] { impl->TellSubscribers(now); });
    impl->changed.NotifyAll();
  }

  // `context` carries the number of a watch; session events reach watches too and are not for them.
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

  void TellSubscribers(SessionState now) {
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

  // Calls `operation` with the handle, if there is one to call.
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
  auto impl = std::make_shared<Impl>();
  impl->events = std::thread([raw = impl.get()] { raw->RunEvents(); });
  std::unique_ptr<ZkSession> session(new ZkSession(impl));
  if (!options.resume_ticket.empty() && options.resume_ticket.size() != sizeof(clientid_t)) {
    return Error(Code::kInvalidArgument, "the ticket is not that of a ZooKeeper session");
  }
  clientid_t resumed{};
  std::memcpy(&resumed, options.resume_ticket.data(), options.resume_ticket.size());
  zhandle_t* handle =
      zookeeper_init2(options.servers.c_str(), &Impl::OnSessionEvent, static_cast<int>(options.session_timeout.count()),
                      options.resume_ticket.empty() ? nullptr : &resumed, impl.get(), 0, &LogFromLibrary);
  if (handle == nullptr && !LooksLikeServerList(options.servers)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("ZooKeeper servers '{}': expected host:port,host:port", options.servers));
  }
  if (handle == nullptr) {
    return Error(Code::kUnavailable,
                 fmt::format("ZooKeeper servers '{}': no address is known for any of these names ({})", options.servers,
                             std::strerror(errno)));
  }
  WriterLock lock(impl->handle_mutex);
  impl->handle = handle;
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
    // From here on no operation begins, so that the writer's lock below comes.
    if (impl_->session_state != SessionState::kExpired) impl_->session_state = SessionState::kClosed;
    impl_->changed.NotifyAll();
  }
  if (impl_->events.joinable()) impl_->events.join();
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
  return impl_->Call("create " + path, [&](zhandle_t* zh) {
    return zoo_create(zh, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE,
                      kind == NodeKind::kEphemeral ? ZOO_EPHEMERAL : 0, nullptr, 0);
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

void ZkSession::Post(std::function<void()> work) { impl_->Enqueue(std::move(work)); }

}  // namespace ratchet::zk
