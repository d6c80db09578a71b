#include "common/rpc/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/file_descriptor.h"
#include "common/io/listen_sockets.h"
#include "common/io/spare_descriptor.h"
#include "common/rights/judge.h"
#include "common/rpc/heap_trim.h"
#include "common/rpc/io_threads.h"
#include "common/rpc/protobuf_log.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kAcceptPause{100};  // after an error such as "no more file descriptors"
constexpr Millis kWordWhileRefusing{1'000};

}  // namespace

struct RpcServer::Impl {
  explicit Impl(ServerOptions options) : shared(std::move(options)) {}

  Status Listen();
  // One listening socket. Its pause and acceptor belong to the first loop.
  struct Door {
    explicit Door(asio::io_context& loop) : acceptor(loop), pause(loop) {}
    Tcp::acceptor acceptor;
    asio::steady_timer pause;
  };
  void Accept(Door& door);
  void OnAccepted(Door& door, ErrorCode error, Tcp::socket socket);
  bool RoomForMember();
  void RefuseOne(Door& door);
  void SayRefused(const std::string& why);
  void Stop(bool keep_addresses);

  ServerShared shared;
  std::unique_ptr<IoThreads> io;             // connections end with it, before `shared`
  std::vector<std::unique_ptr<Door>> doors;  // constant from Start to Stop
  std::atomic<bool> stopped{false};
  std::vector<io::FileDescriptor> kept;  // listening sockets after StopServing
  std::uint64_t next_id = 1;             // used on the acceptor's loop, like these:
  std::deque<std::weak_ptr<ServerConnection>>
      unproven;               // connections beyond the limit, oldest first; at most 2 * kMemberConnections
  std::uint64_t refused = 0;  // since the last log line
  TimePoint next_word{};
  SystemClock clock;
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
};

Status RpcServer::Impl::Listen() {
  const ServerOptions& options = shared.options;
  io::SpareDescriptor::OfProcess();  // reserved while descriptors are free
  RATCHET_ASSIGN(io::ListenSockets listening, io::ListenOn(options.host, options.port));
  for (io::FileDescriptor& socket : listening.sockets) {
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0)
      return Error(Code::kUnavailable, fmt::format("cannot listen on {}: its address is unknown", options.host));
    auto door = std::make_unique<Door>(io->First());
    ErrorCode error;
    door->acceptor.assign(bound.ss_family == AF_INET6 ? Tcp::v6() : Tcp::v4(), socket.get(), error);
    if (error) return Error(Code::kUnavailable, fmt::format("cannot listen on {}: {}", options.host, error.message()));
    socket.Release();
    // RefuseOne must not wait.
    door->acceptor.native_non_blocking(true, error);
    if (error) return Error(Code::kUnavailable, fmt::format("cannot listen on {}: {}", options.host, error.message()));
    doors.push_back(std::move(door));
  }
  port = listening.port;
  addresses = std::move(listening.addresses);
  asio::post(io->First(), [this] {
    for (const auto& door : doors) Accept(*door);
  });
  return Ok();
}

void RpcServer::Impl::Accept(Door& door) {
  door.acceptor.async_accept(
      io->Next(), [this, &door](ErrorCode error, Tcp::socket socket) { OnAccepted(door, error, std::move(socket)); });
}

void RpcServer::Impl::OnAccepted(Door& door, ErrorCode error, Tcp::socket socket) {
  if (stopped.load() || error == asio::error::operation_aborted) return;
  if (error) {
    RefuseOne(door);
    SayRefused(error.message());
    door.pause.expires_after(kAcceptPause);
    door.pause.async_wait([this, &door](ErrorCode cancelled) {
      if (!cancelled) Accept(door);
    });
    return;
  }
  ServerCounters& counters = *shared.counters;
  // Closes a connection before connections use up the descriptors of other work. The number of a new socket shows how
  // many are in use.
  const Status left = CheckDescriptor(socket.native_handle(), "a connection");
  const bool beyond = !left.ok() || counters.connections_open.load() >= shared.options.max_connections;
  if (beyond) {
    SayRefused(left.ok() ? fmt::format("{} are open, the maximum", shared.options.max_connections)
                         : left.error().message());
  }
  if (beyond && !RoomForMember()) {
    counters.connections_refused.fetch_add(1);
  } else {
    counters.connections_accepted.fetch_add(1);
    auto connection = std::make_shared<ServerConnection>(std::move(socket), shared, next_id++, beyond);
    if (beyond) unproven.push_back(connection);
    ServerConnection& started = *connection;
    asio::post(started.executor(), [connection = std::move(connection)] { connection->Start(); });
  }
  Accept(door);
}

// Beyond the limit a connection stays only if it proves at once that it has the cluster's key, S87 (reserved
// connections for members). If all places are taken, the connection that has not shown it for the longest time is
// closed: a member needs only a moment, and idle clients lose theirs.
bool RpcServer::Impl::RoomForMember() {
  if (shared.options.member == nullptr || RATCHET_MUTANT("rpc.no_room_for_members")) return false;
  std::erase_if(unproven, [](const std::weak_ptr<ServerConnection>& weak) {
    const auto connection = weak.lock();
    return connection == nullptr || !connection->unproven();
  });
  const std::size_t most = std::min<std::size_t>(kMemberConnections, ReservedDescriptors(DescriptorLimit()) / 4);
  const std::size_t now = shared.counters->connections_beyond.load();
  if (now < most) return true;
  if (unproven.empty() || now >= 2 * most) return false;
  if (auto oldest = unproven.front().lock()) {
    ServerConnection& closed = *oldest;
    asio::post(closed.executor(), [oldest = std::move(oldest)] { oldest->CloseUnproven(); });
  }
  unproven.pop_front();
  return true;
}

// No descriptor is left: the first client in the accept queue gets a closed connection, instead of waiting for an
// answer.
void RpcServer::Impl::RefuseOne(Door& door) {
  const int listening = door.acceptor.native_handle();
  const bool closed = io::SpareDescriptor::OfProcess().While([listening] {
    const io::FileDescriptor client(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return client.get() >= 0;
  });
  if (closed) shared.counters->connections_refused.fetch_add(1);
}

// At most one line a second is logged, whatever the number of refused connections.
void RpcServer::Impl::SayRefused(const std::string& why) {
  ++refused;
  const TimePoint now = clock.Now();
  if (now < next_word) return;
  RATCHET_LOG(kWarn, "{}: connection limit reached, cluster members only; {} refused since the last report: {}",
              shared.options.name, refused, why);
  refused = 0;
  next_word = now + kWordWhileRefusing;
}

void RpcServer::Impl::Stop(bool keep_addresses) {
  if (stopped.exchange(true)) return;
  if (io != nullptr) {
    asio::post(io->First(), [this, keep_addresses] {
      ErrorCode ignored;  // it is being destroyed
      for (const auto& door : doors) {
        if (keep_addresses && door->acceptor.is_open() && !RATCHET_MUTANT("rpc.refuse_while_stopping"))
          kept.emplace_back(door->acceptor.release(ignored));
        door->acceptor.close(ignored);
      }
    });
  }
  shared.pool.Stop();
  if (io == nullptr) return;
  io->Flush();  // the last answers, e.g. to the request to stop
  shared.gate->Close();
  shared.handshakes.Stop();
  io->Stop();
  doors.clear();
  io.reset();
}

RpcServer::RpcServer(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  QuietProtobuf();
  BoundFreedMemory();
}

RpcServer::~RpcServer() { Stop(); }

void RpcServer::Add(std::shared_ptr<const Service> service) {
  RATCHET_CHECK(impl_->io == nullptr, "Add after Start");
  const std::string name = service->name();
  if (impl_->shared.options.judge != nullptr) service->CheckComplete();
  const bool added = impl_->shared.services.emplace(name, std::move(service)).second;
  RATCHET_CHECK(added, "service {} added twice", name);
}

Status RpcServer::Start() {
  RATCHET_CHECK(impl_->io == nullptr && !impl_->stopped.load(), "Start twice");
  impl_->io = std::make_unique<IoThreads>(impl_->shared.options.name, impl_->shared.options.io_threads);
  Status listening = impl_->Listen();
  if (!listening.ok()) {
    // No thread uses the parts, because no work was posted. The next Start makes new ones.
    impl_->doors.clear();
    impl_->io.reset();
  }
  return listening;
}

void RpcServer::Stop() { impl_->Stop(/*keep_addresses=*/false); }
void RpcServer::StopServing() { impl_->Stop(/*keep_addresses=*/true); }

std::uint16_t RpcServer::port() const { return impl_->port; }

const std::vector<std::string>& RpcServer::addresses() const { return impl_->addresses; }

void RpcServer::LogAddresses(const std::string& name) const {
  std::string text;
  for (const std::string& address : impl_->addresses)
    text += (text.empty() ? "" : ", ") + JoinHostPort(address, impl_->port);
  RATCHET_LOG(kInfo, "Start: listening on {} as {}", text, name);
  const auto split = SplitHostPort(name);
  const bool meant = split.has_value() && (split->host == "localhost" || IsLoopbackAddress(split->host));
  const bool loopback = std::all_of(impl_->addresses.begin(), impl_->addresses.end(), IsLoopbackAddress);
  if (meant || !loopback) return;
  RATCHET_LOG(kWarn,
              "Start: {} is an address of the loopback interface on this machine, so no other machine can connect: "
              "correct the name's address (/etc/hosts), or set --bind",
              name);
}

ServerStats RpcServer::stats() const {
  const ServerCounters& counters = *impl_->shared.counters;
  ServerStats stats;
  stats.connections_open = counters.connections_open.load();
  stats.connections_accepted = counters.connections_accepted.load();
  stats.connections_refused = counters.connections_refused.load();
  stats.calls_received = counters.calls_received.load();
  stats.calls_answered = counters.calls_answered.load();
  stats.calls_expired = counters.calls_expired.load();
  stats.calls_refused = counters.calls_refused.load();
  if (const rights::Judge* const judge = counters.judge; judge != nullptr) {
    stats.rights_refused = judge->refused();
    stats.rights_would_refuse = judge->would_be_refused();
  }
  stats.calls_at_once = counters.calls_at_once.load();
  stats.bad_connections = counters.bad_connections.load();
  stats.call_bytes = impl_->shared.counters->call_bytes.load();
  stats.unsent_bytes = impl_->shared.counters->unsent_bytes.load();
  stats.queued = impl_->shared.pool.Lengths();
  stats.queue_time = counters.queued.Look();
  stats.client_versions = impl_->shared.versions.Look();
  stats.plain_peers = impl_->shared.plain_peers.Look();
  return stats;
}

std::vector<ShownConnection> RpcServer::Connections(const ConnectionFilter& filter) const {
  std::vector<ShownConnection> matching;
  impl_->shared.gate->WhileOpen([&] {
    for (const auto& connection : impl_->shared.connections.All()) {
      auto facts = connection->Shown();
      if (facts.has_value() && filter.Matches(*facts)) matching.push_back(*std::move(facts));
    }
  });
  std::sort(matching.begin(), matching.end(), [](const auto& left, const auto& right) { return left.id < right.id; });
  return matching;
}

std::size_t RpcServer::CloseConnections(const ConnectionFilter& filter, std::uint64_t except) {
  std::size_t closed = 0;
  impl_->shared.gate->WhileOpen([&] {
    for (const auto& connection : impl_->shared.connections.All()) {
      const auto facts = connection->Shown();
      if (!facts.has_value() || facts->id == except || facts->authentication == Authentication::kMember) continue;
      if (!filter.Matches(*facts)) continue;
      connection->Cut();
      ++closed;
    }
  });
  return closed;
}

void RpcServer::VisitMethods(
    const std::function<void(const std::string&, const std::string&, const MethodStats&)>& visit) const {
  for (const auto& [name, service] : impl_->shared.services) {
    service->VisitStats(
        [&visit, &name = name](const std::string& method, const MethodStats& stats) { visit(name, method, stats); });
  }
}

}  // namespace ratchet::rpc
