#include "common/http/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/descriptors.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"
#include "common/io/file_descriptor.h"
#include "common/io/listen_sockets.h"

namespace ratchet::http {
namespace {

constexpr Millis kTick{100};  // maximum delay with which a time-out is noticed
constexpr Millis kIdleTick{1'000};
constexpr Millis kAcceptPause{100};  // after an error such as "no more descriptors"
constexpr std::string_view kForeignHost =
    "this page does not answer for the name in this request's address; use an address, the server's --host, or a name "
    "that --info-names lists";
constexpr std::string_view kQueueFull = "too many requests are queued; try again";
constexpr std::string_view kNoTls = "this port speaks HTTPS only; use https:// in the address";

struct Route {
  Lane lane = Lane::kFast;
  HttpHandler handler;
};

// The result that a worker hands to the server's thread.
struct Outcome {
  std::uint64_t connection = 0;
  bool of_stream = false;
  HttpResponse response;            // of a request
  std::optional<std::string> text;  // of a stream
  StreamSource source;
};

struct Client {
  Client(int fd, const HttpOptions& options, std::string address, TimePoint now)
      : wire(fd, options.tls_mode, options.tls.get(), std::move(address), options.limits.request),
        connection(options.limits, now) {}
  HttpWire wire;
  HttpConnection connection;
  TimePoint next_look{};  // when a stream's source is asked next
};

}  // namespace

struct HttpServer::Impl {
  explicit Impl(HttpOptions the_options) : options(std::move(the_options)) {}

  Status Listen();
  void Run();
  void Accept(const io::FileDescriptor& door);
  bool MakeRoom();
  void Serve(std::uint64_t id, Client& client, short events);
  void Read(std::uint64_t id, Client& client);
  void Write(std::uint64_t id, Client& client);
  void Dispatch(std::uint64_t id, Client& client, HttpRequest request);
  void ApplyOutcomes();
  void LookAtStream(std::uint64_t id, Client& client);
  void KeepUnsentBounded();
  void RemoveClosed();
  const Route* RouteOf(const std::string& path) const;
  HttpResponse CallHandler(const Route& route, const HttpRequest& request) const;
  HttpResponse Handled(const Route& route, const HttpRequest& request) const;
  bool RunAdmitted(std::uint64_t id, const Route& route, HttpRequest request);
  void Hand(Outcome outcome);

  const HttpOptions options;
  const SystemClock clock;
  std::map<std::string, Route> routes;        // constant after Start
  std::vector<io::FileDescriptor> listening;  // constant after Start
  io::FileDescriptor wake{-1};
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
  std::atomic<bool> stopping{false};
  std::atomic<std::uint64_t> requests{0}, refused{0}, open{0}, streams{0};
  // Used by the server's thread only:
  std::map<std::uint64_t, Client> clients;
  std::uint64_t next_id = 1;
  TimePoint accept_again{};

  Mutex mutex;
  std::vector<Outcome> outcomes GUARDED_BY(mutex);  // at most one for each connection

  std::unique_ptr<HttpWorkers> workers;
  std::thread thread;
};

Status HttpServer::Impl::Listen() {
  RATCHET_ASSIGN(io::ListenSockets sockets, io::ListenOn(options.host, options.port));
  listening = std::move(sockets.sockets);
  port = sockets.port;
  addresses = std::move(sockets.addresses);
  wake = io::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0)
    return Error(Code::kUnavailable, fmt::format("cannot listen on {}: {}", options.host, std::strerror(errno)));
  return Ok();
}

const Route* HttpServer::Impl::RouteOf(const std::string& path) const {
  if (const auto exact = routes.find(path); exact != routes.end()) return &exact->second;
  const Route* best = nullptr;
  for (const auto& [prefix, route] : routes) {  // sorted, so a longer match comes later
    if (prefix.size() > 1 && prefix.ends_with('/') && path.starts_with(prefix)) best = &route;
  }
  return best;
}

// A stream asks the gate again before each piece, because its user may have lost the right meanwhile.
HttpResponse HttpServer::Impl::Handled(const Route& route, const HttpRequest& request) const {
  if (options.gate == nullptr) return route.handler(request);
  if (auto refusal = options.gate->Admit(request); refusal.has_value()) return std::move(*refusal);
  HttpResponse response = route.handler(request);
  if (response.stream)
    response.stream = [gate = options.gate, request, source = std::move(response.stream)] {
      return gate->Admit(request).has_value() ? std::nullopt : source();
    };
  return response;
}

HttpResponse HttpServer::Impl::CallHandler(const Route& route, const HttpRequest& request) const {
  try {
    HttpResponse response = Handled(route, request);
    if (response.body == nullptr || response.body->size() <= options.max_body_bytes) return response;
    RATCHET_LOG(kWarn, "http: the answer to {} has {} bytes, more than fit", request.path, response.body->size());
    return HttpResponse::Text(500, "the answer is too large; request less");
  } catch (const std::exception& failure) {
    RATCHET_LOG(kError, "http: {} threw: {}", request.path, failure.what());
    return HttpResponse::Text(500, "internal error; the log of this process says more");
  }
}

void HttpServer::Impl::Hand(Outcome outcome) {
  {
    MutexLock lock(mutex);
    outcomes.push_back(std::move(outcome));
  }
  const std::uint64_t one = 1;
  if (::write(wake.get(), &one, sizeof one) < 0) return;  // it is set already
}

void HttpServer::Impl::Dispatch(std::uint64_t id, Client& client, HttpRequest request) {
  requests.fetch_add(1);
  const TimePoint now = clock.Now();
  if (const auto host = request.fields.find("host");
      host != request.fields.end() && !options.names.Allows(host->second))
    return client.connection.Answer(HttpResponse::Text(421, std::string(kForeignHost)), now);
  const Route* route = RouteOf(request.path);
  if (route == nullptr) return client.connection.Answer(HttpResponse::Text(404, "there is no such page"), now);
  request.peer = client.wire.peer();
  const bool quick = options.gate == nullptr || options.gate->IsQuick(request);
  // A login has its own lane, so that guesses of passwords delay no reader.
  const bool queued =
      quick ? RunAdmitted(id, *route, std::move(request))
            : workers->Run(Lane::kLogin, [this, id, route, request = std::move(request)] {
                if (auto refusal = options.gate->Admit(request); refusal.has_value())
                  return Hand({id, false, std::move(*refusal), std::nullopt, nullptr});
                if (!RunAdmitted(id, *route, request))
                  Hand({id, false, HttpResponse::Text(503, std::string(kQueueFull)), std::nullopt, nullptr});
              });
  if (queued) return;
  refused.fetch_add(1);
  client.connection.Answer(HttpResponse::Text(503, std::string(kQueueFull)), now);
}

bool HttpServer::Impl::RunAdmitted(std::uint64_t id, const Route& route, HttpRequest request) {
  return workers->Run(route.lane, [this, id, &route, request = std::move(request)] {
    Hand({id, false, CallHandler(route, request), std::nullopt, nullptr});
  });
}

void HttpServer::Impl::ApplyOutcomes() {
  std::vector<Outcome> taken;
  {
    MutexLock lock(mutex);
    taken.swap(outcomes);
  }
  const TimePoint now = clock.Now();
  for (Outcome& outcome : taken) {
    const auto found = clients.find(outcome.connection);
    if (found == clients.end()) continue;  // the client has gone
    Client& client = found->second;
    if (outcome.of_stream) {
      client.connection.AddToStream(std::move(outcome.text), std::move(outcome.source), now);
    } else if (outcome.response.stream && streams.load() >= options.max_streams) {
      refused.fetch_add(1);
      client.connection.Answer(HttpResponse::Text(503, "the maximum number of followers is reached"), now);
    } else {
      client.connection.Answer(std::move(outcome.response), now);
      if (client.connection.state() == HttpConnection::State::kStreaming) streams.fetch_add(1);  // bounds this round
    }
    Write(found->first, client);
  }
}

void HttpServer::Impl::LookAtStream(std::uint64_t id, Client& client) {
  const TimePoint now = clock.Now();
  if (now < client.next_look) return;
  StreamSource source = client.connection.DetachSource();
  if (!source) return;
  client.next_look = now + options.stream_interval;
  const bool queued = workers->Run(Lane::kStream, [this, id, source] {
    std::optional<std::string> text;
    try {
      text = source();
    } catch (const std::exception& failure) {
      RATCHET_LOG(kError, "http: a stream threw: {}", failure.what());
    }
    if (text.has_value() && text->size() > options.max_body_bytes) text.reset();
    Hand({id, true, {}, std::move(text), source});
  });
  if (!queued) client.connection.AddToStream(std::string(), std::move(source), now);  // next time
}

void HttpServer::Impl::Read(std::uint64_t id, Client& client) {
  std::string plain;
  const TimePoint now = clock.Now();
  switch (client.wire.Receive(plain, now)) {
    case HttpWire::Got::kNothing: return;
    case HttpWire::Got::kEnd: return client.connection.Ended();
    case HttpWire::Got::kPlainAtTls: return client.connection.Refuse(HttpResponse::Text(400, std::string(kNoTls)), now);
    case HttpWire::Got::kBytes: break;
  }
  auto request = client.connection.Took(plain, now);
  if (request.has_value()) Dispatch(id, client, std::move(*request));
}

// One piece for each round, so that a fast reader of much data does not keep the others waiting.
void HttpServer::Impl::Write(std::uint64_t id, Client& client) {
  const std::string_view unsent = client.connection.Unsent();
  if (unsent.empty() && !client.wire.has_output()) return;
  const std::int64_t went = client.wire.Send(unsent);
  if (went < 0) return client.connection.Close();
  if (went == 0) return;
  auto request = client.connection.Sent(static_cast<std::size_t>(went), clock.Now());
  if (request.has_value()) Dispatch(id, client, std::move(*request));
}

// Closes the client that has been idle, or has not finished its request, for longest. Returns false if there is no such
// client.
bool HttpServer::Impl::MakeRoom() {
  auto oldest = clients.end();
  for (auto it = clients.begin(); it != clients.end(); ++it) {
    if (!it->second.connection.expendable()) continue;
    if (oldest == clients.end() || it->second.connection.since() < oldest->second.connection.since()) oldest = it;
  }
  // No client is idle: the slowest reader is closed. Followers and requests that are being answered stay.
  for (auto it = clients.begin(); oldest == clients.end() && it != clients.end(); ++it) {
    if (it->second.connection.state() == HttpConnection::State::kWriting) oldest = it;
  }
  if (oldest == clients.end()) return false;
  refused.fetch_add(1);
  clients.erase(oldest);
  return true;
}

void HttpServer::Impl::Accept(const io::FileDescriptor& door) {
  constexpr int kAtATime = 16;
  for (int i = 0; i < kAtATime; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int fd = ::accept4(door.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) accept_again = clock.Now() + kAcceptPause;
      return;
    }
    io::FileDescriptor accepted(fd);
    const bool room =
        CheckDescriptor(fd, "a reader of the page").ok() && (clients.size() < options.max_connections || MakeRoom());
    if (!room) {
      refused.fetch_add(1);
      continue;
    }
    const int on = 1;
    if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) continue;  // the client has gone already
    accepted.Release();
    clients.try_emplace(next_id++, fd, options, NumericAddress(reinterpret_cast<const sockaddr*>(&peer), size),
                        clock.Now());
  }
}

void HttpServer::Impl::Serve(std::uint64_t id, Client& client, short events) {
  if ((events & POLLIN) != 0) Read(id, client);
  if ((events & POLLOUT) != 0) Write(id, client);
  if ((events & (POLLERR | POLLNVAL)) != 0) client.connection.Close();
  if ((events & POLLHUP) != 0 && (events & POLLIN) == 0) client.connection.Close();
}

// The reader that has been receiving its answer for longest is closed; the next round checks again.
void HttpServer::Impl::KeepUnsentBounded() {
  std::size_t sum = 0;
  Client* slowest = nullptr;
  for (auto& [id, client] : clients) {
    const std::size_t bytes = client.connection.unsent_bytes();
    sum += bytes;
    if (bytes == 0) continue;
    if (slowest == nullptr || client.connection.deadline() < slowest->connection.deadline()) slowest = &client;
  }
  if (sum <= options.max_unsent_bytes) return;
  refused.fetch_add(1);
  slowest->connection.Close();
}

void HttpServer::Impl::RemoveClosed() {
  const auto in_state = [](HttpConnection::State state) {
    return [state](const auto& each) { return each.second.connection.state() == state; };
  };
  for (auto& [id, client] : clients)
    if (client.connection.state() == HttpConnection::State::kClosed) client.wire.Bye();
  std::erase_if(clients, in_state(HttpConnection::State::kClosed));
  open.store(clients.size());
  const auto following = std::count_if(clients.begin(), clients.end(), in_state(HttpConnection::State::kStreaming));
  streams.store(static_cast<std::uint64_t>(following));
}

void HttpServer::Impl::Run() {
  std::vector<pollfd> polled;
  std::vector<std::uint64_t> ids;
  const Millis tick = std::min(kTick, options.stream_interval);
  while (!stopping.load()) {
    const TimePoint now = clock.Now();
    polled.assign({{wake.get(), POLLIN, 0}});
    for (const io::FileDescriptor& door : listening)
      polled.push_back({door.get(), static_cast<short>(now < accept_again ? 0 : POLLIN), 0});
    const std::size_t before_clients = polled.size();
    ids.clear();
    for (auto& [id, client] : clients) {
      if (now >= client.connection.deadline()) client.connection.Expire(now);
      if (client.wire.HasToEnd(now, clock.WallMillis())) client.connection.Close();
      LookAtStream(id, client);
      const bool writes = client.connection.wants_write() || client.wire.has_output();
      const int events = (client.connection.wants_read() ? POLLIN : 0) | (writes ? POLLOUT : 0);
      polled.push_back({client.wire.fd(), static_cast<short>(events), 0});
      ids.push_back(id);
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>((clients.empty() ? kIdleTick : tick).count())) < 0 &&
        errno != EINTR) {
      RATCHET_LOG(kError, "http: poll: {}; the page ends", std::strerror(errno));
      return;
    }
    if (polled[0].revents != 0) {
      std::uint64_t count = 0;
      if (::read(wake.get(), &count, sizeof count) < 0) count = 0;
    }
    for (std::size_t i = 0; i < ids.size(); ++i) Serve(ids[i], clients.at(ids[i]), polled[i + before_clients].revents);
    ApplyOutcomes();
    KeepUnsentBounded();
    RemoveClosed();
    for (std::size_t i = 0; i < listening.size(); ++i)
      if (polled[i + 1].revents != 0) Accept(listening[i]);
  }
}

HttpServer::HttpServer(HttpOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

HttpServer::~HttpServer() { Stop(); }

void HttpServer::Handle(const std::string& path, Lane lane, HttpHandler handler) {
  RATCHET_CHECK(impl_->workers == nullptr, "Handle after Start");
  impl_->routes[path] = {lane, std::move(handler)};
}

Status HttpServer::Start() {
  RATCHET_TRY(impl_->Listen());
  impl_->workers = std::make_unique<HttpWorkers>(impl_->options.workers);
  impl_->thread = std::thread([impl = impl_.get()] {
    SetThreadName(impl->options.workers.name);
    impl->Run();
  });
  return Ok();
}

void HttpServer::Stop() {
  if (impl_->stopping.exchange(true)) return;
  if (impl_->workers != nullptr) impl_->workers->Stop();
  if (impl_->thread.joinable()) {
    const std::uint64_t one = 1;
    if (::write(impl_->wake.get(), &one, sizeof one) < 0) RATCHET_LOG(kDebug, "http: ends within a tick");
    impl_->thread.join();
  }
}

std::uint16_t HttpServer::port() const { return impl_->port; }

std::vector<std::string> HttpServer::addresses() const { return impl_->addresses; }

HttpStats HttpServer::stats() const {
  return {impl_->open.load(), impl_->streams.load(), impl_->requests.load(), impl_->refused.load()};
}

}  // namespace ratchet::http
