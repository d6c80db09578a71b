#include "common/rpc/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/file_descriptor.h"
#include "common/io/spare_descriptor.h"
#include "common/rpc/io_threads.h"
#include "common/rpc/protobuf_log.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kAcceptPause{100};  // after an error such as "no more file descriptors"
constexpr Millis kWordWhileRefusing{1'000};

Error CannotListen(const ServerOptions& options, const ErrorCode& error) {
  return {Code::kUnavailable, fmt::format("cannot listen on {}:{}: {}", options.host, options.port, error.message())};
}

}  // namespace

struct RpcServer::Impl {
  explicit Impl(ServerOptions options) : shared(std::move(options)) {}

  Status Listen();
  void Accept();
  void OnAccepted(ErrorCode error, Tcp::socket socket);
  bool RoomForMember();
  void RefuseOne();
  void SayRefused(const std::string& why);
  void Stop();

  ServerShared shared;
  std::unique_ptr<IoThreads> io;  // connections die with it, before `shared`
  std::unique_ptr<Tcp::acceptor> acceptor;
  std::unique_ptr<asio::steady_timer> pause;
  std::atomic<bool> stopped{false};
  std::uint64_t next_id = 1;  // on the acceptor's loop, like these:
  std::deque<std::weak_ptr<ServerConnection>>
      unproven;               // beyond the limit, oldest first; at most 2 * kMemberConnections
  std::uint64_t refused = 0;  // since it was said last
  TimePoint next_word{};
  SystemClock clock;
  std::uint16_t port = 0;
};

Status RpcServer::Impl::Listen() {
  const ServerOptions& options = shared.options;
  io::SpareDescriptor::OfProcess();  // taken while there are some
  ErrorCode error;
  Tcp::resolver resolver(io->First());
  const auto found = resolver.resolve(options.host, std::to_string(options.port), Tcp::resolver::passive, error);
  if (error || found.empty()) return CannotListen(options, error);
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor = std::make_unique<Tcp::acceptor>(io->First());
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(Tcp::acceptor::max_listen_connections, error);
  if (!error) acceptor->native_non_blocking(true, error);  // RefuseOne must not wait
  if (error) return CannotListen(options, error);
  port = acceptor->local_endpoint(error).port();
  if (error) return CannotListen(options, error);
  pause = std::make_unique<asio::steady_timer>(io->First());
  asio::post(io->First(), [this] { Accept(); });
  return Ok();
}

void RpcServer::Impl::Accept() {
  acceptor->async_accept(io->Next(),
                         [this](ErrorCode error, Tcp::socket socket) { OnAccepted(error, std::move(socket)); });
}

void RpcServer::Impl::OnAccepted(ErrorCode error, Tcp::socket socket) {
  if (stopped.load() || error == asio::error::operation_aborted) return;
  if (error) {
    RefuseOne();
    SayRefused(error.message());
    pause->expires_after(kAcceptPause);
    pause->async_wait([this](ErrorCode cancelled) {
      if (!cancelled) Accept();
    });
    return;
  }
  ServerCounters& counters = *shared.counters;
  // Closed before connections starve the rest: the number of a new socket tells how many descriptors are in use.
  const Status left = CheckDescriptor(socket.native_handle(), "a connection");
  const bool beyond = !left.ok() || counters.connections_open.load() >= shared.options.max_connections;
  if (beyond) {
    SayRefused(left.ok() ? fmt::format("{} are open, as many as it takes", shared.options.max_connections)
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
  Accept();
}

// Beyond the limit a connection stays only if it shows the cluster's key at once (S87). Where all places are taken, the
// one that has not for the longest time goes: a member needs a moment, and idle clients give theirs up.
bool RpcServer::Impl::RoomForMember() {
  if (shared.options.cluster_key.empty() || RATCHET_MUTANT("rpc.no_room_for_members")) return false;
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

// No descriptor is left: the client at the head of the line is told by a close, and not left to wait for an answer.
void RpcServer::Impl::RefuseOne() {
  const int listening = acceptor->native_handle();
  const bool closed = io::SpareDescriptor::OfProcess().While([listening] {
    const io::FileDescriptor client(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return client.get() >= 0;
  });
  if (closed) shared.counters->connections_refused.fetch_add(1);
}

// At most once a second, however many there are.
void RpcServer::Impl::SayRefused(const std::string& why) {
  ++refused;
  const TimePoint now = clock.Now();
  if (now < next_word) return;
  RATCHET_LOG(kWarn,
              "{}: no room for connections but those of the cluster's members, {} came since this was said last: {}",
              shared.options.name, refused, why);
  refused = 0;
  next_word = now + kWordWhileRefusing;
}

void RpcServer::Impl::Stop() {
  if (stopped.exchange(true)) return;
  if (io != nullptr) {
    asio::post(io->First(), [this] {
      ErrorCode ignored;  // it is going away
      if (acceptor != nullptr) acceptor->close(ignored);
    });
  }
  shared.pool.Stop();
  if (io == nullptr) return;
  io->Flush();  // the last answers, e.g. to the request to stop
  shared.gate->Close();
  io->Stop();
  pause.reset();
  acceptor.reset();
  io.reset();
}

RpcServer::RpcServer(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) { QuietProtobuf(); }

RpcServer::~RpcServer() { Stop(); }

void RpcServer::Add(std::shared_ptr<const Service> service) {
  RATCHET_CHECK(impl_->io == nullptr, "Add after Start");
  const std::string name = service->name();
  const bool added = impl_->shared.services.emplace(name, std::move(service)).second;
  RATCHET_CHECK(added, "service {} added twice", name);
}

Status RpcServer::Start() {
  RATCHET_CHECK(impl_->io == nullptr && !impl_->stopped.load(), "Start twice");
  impl_->io = std::make_unique<IoThreads>(impl_->shared.options.name, impl_->shared.options.io_threads);
  return impl_->Listen();
}

void RpcServer::Stop() { impl_->Stop(); }

std::uint16_t RpcServer::port() const { return impl_->port; }

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
  stats.bad_connections = counters.bad_connections.load();
  stats.call_bytes = impl_->shared.counters->call_bytes.load();
  stats.unsent_bytes = impl_->shared.counters->unsent_bytes.load();
  stats.queued = impl_->shared.pool.Lengths();
  stats.queue_time = counters.queued.Look();
  return stats;
}

void RpcServer::VisitMethods(
    const std::function<void(const std::string&, const std::string&, const MethodStats&)>& visit) const {
  for (const auto& [name, service] : impl_->shared.services) {
    service->VisitStats(
        [&visit, &name = name](const std::string& method, const MethodStats& stats) { visit(name, method, stats); });
  }
}

}  // namespace ratchet::rpc
