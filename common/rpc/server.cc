#include "common/rpc/server.h"

#include <map>
#include <utility>

#include "common/base/log.h"
#include "common/rpc/io_threads.h"
#include "common/rpc/protobuf_log.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {
namespace {

constexpr Millis kAcceptPause{100};  // after an error such as "no more file descriptors"

Error CannotListen(const ServerOptions& options, const ErrorCode& error) {
  return {Code::kUnavailable, fmt::format("cannot listen on {}:{}: {}", options.host, options.port, error.message())};
}

}  // namespace

struct RpcServer::Impl {
  explicit Impl(ServerOptions options) : shared(std::move(options)) {}

  Status Listen();
  void Accept();
  void OnAccepted(ErrorCode error, Tcp::socket socket);
  void Stop();

  ServerShared shared;
  std::unique_ptr<IoThreads> io;  // connections die with it, before `shared`
  std::unique_ptr<Tcp::acceptor> acceptor;
  std::unique_ptr<asio::steady_timer> pause;
  std::atomic<bool> stopped{false};
  std::uint64_t next_id = 1;  // on the acceptor's loop
  std::uint16_t port = 0;
};

Status RpcServer::Impl::Listen() {
  const ServerOptions& options = shared.options;
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
    RATCHET_LOG(kWarn, "{}: cannot accept a connection: {}", shared.options.name, error.message());
    pause->expires_after(kAcceptPause);
    pause->async_wait([this](ErrorCode cancelled) {
      if (!cancelled) Accept();
    });
    return;
  }
  ServerCounters& counters = *shared.counters;
  if (counters.connections_open.load() >= shared.options.max_connections) {
    counters.connections_refused.fetch_add(1);
  } else {
    counters.connections_accepted.fetch_add(1);
    auto connection = std::make_shared<ServerConnection>(std::move(socket), shared, next_id++);
    ServerConnection& started = *connection;
    asio::post(started.executor(), [connection = std::move(connection)] { connection->Start(); });
  }
  Accept();
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
  stats.queued_bytes = impl_->shared.pool.queued_bytes();
  return stats;
}

}  // namespace ratchet::rpc
