#include "common/http/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"
#include "common/io/file_descriptor.h"

namespace ratchet::http {
namespace {

constexpr Millis kTick{100};  // how late a time-out may be seen
constexpr Millis kIdleTick{1'000};
constexpr Millis kAcceptPause{100};  // after an error such as "no more descriptors"
constexpr std::size_t kPiece = 16u << 10;

struct Route {
  Lane lane = Lane::kFast;
  HttpHandler handler;
};

// What a worker hands to the server's thread.
struct Outcome {
  std::uint64_t connection = 0;
  bool of_stream = false;
  HttpResponse response;            // of a request
  std::optional<std::string> text;  // of a stream
  StreamSource source;
};

struct Client {
  Client(int the_fd, const HttpConnectionLimits& limits, TimePoint now) : fd(the_fd), connection(limits, now) {}
  io::FileDescriptor fd;
  HttpConnection connection;
  TimePoint next_look{};  // at a stream's source
};

}  // namespace

struct HttpServer::Impl {
  explicit Impl(HttpOptions the_options) : options(std::move(the_options)) {}

  Status Listen();
  void Run();
  void Accept();
  bool MakeRoom();
  void Serve(std::uint64_t id, Client& client, short events);
  void Read(std::uint64_t id, Client& client);
  void Write(std::uint64_t id, Client& client);
  void Dispatch(std::uint64_t id, Client& client, HttpRequest request);
  void TakeOutcomes();
  void LookAtStream(std::uint64_t id, Client& client);
  void KeepUnsentBounded();
  void RemoveClosed();
  const Route* RouteOf(const std::string& path) const;
  HttpResponse CallHandler(const Route& route, const HttpRequest& request) const;
  void Hand(Outcome outcome);

  const HttpOptions options;
  const SystemClock clock;
  std::map<std::string, Route> routes;  // constant after Start
  io::FileDescriptor listening{-1};
  io::FileDescriptor wake{-1};
  std::uint16_t port = 0;
  std::atomic<bool> stopping{false};
  std::atomic<std::uint64_t> requests{0}, refused{0}, open{0}, streams{0};
  // Of the server's thread:
  std::map<std::uint64_t, Client> clients;
  std::uint64_t next_id = 1;
  TimePoint accept_again{};

  Mutex mutex;
  std::vector<Outcome> outcomes GUARDED_BY(mutex);  // at most one for each connection

  std::unique_ptr<HttpWorkers> workers;
  std::thread thread;
};

Status HttpServer::Impl::Listen() {
  const auto cannot = [this](const char* why) {
    return Error(Code::kUnavailable, fmt::format("cannot listen on {}:{}: {}", options.host, options.port, why));
  };
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(options.host.c_str(), std::to_string(options.port).c_str(), &hints, &found);
  if (failed != 0) return cannot(::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  listening = io::FileDescriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (listening.get() < 0 || ::setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listening.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(listening.get(), SOMAXCONN) != 0) {
    return cannot(std::strerror(errno));
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  std::array<char, NI_MAXSERV> text{};
  if (::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&bound), length, nullptr, 0, text.data(), text.size(),
                    NI_NUMERICSERV) != 0) {
    return cannot("its port cannot be told");
  }
  port = static_cast<std::uint16_t>(std::atoi(text.data()));
  wake = io::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) return cannot(std::strerror(errno));
  return Ok();
}

const Route* HttpServer::Impl::RouteOf(const std::string& path) const {
  if (const auto exact = routes.find(path); exact != routes.end()) return &exact->second;
  const Route* best = nullptr;
  for (const auto& [prefix, route] : routes) {  // sorted, so a longer one that fits comes later
    if (prefix.size() > 1 && prefix.ends_with('/') && path.starts_with(prefix)) best = &route;
  }
  return best;
}

HttpResponse HttpServer::Impl::CallHandler(const Route& route, const HttpRequest& request) const {
  try {
    HttpResponse response = route.handler(request);
    if (response.body == nullptr || response.body->size() <= options.max_body_bytes) return response;
    RATCHET_LOG(kWarn, "http: the answer to {} has {} bytes, more than fit", request.path, response.body->size());
    return HttpResponse::Text(500, "the answer is too large; ask for less");
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
  const Route* route = RouteOf(request.path);
  const TimePoint now = clock.Now();
  if (route == nullptr) return client.connection.Answer(HttpResponse::Text(404, "there is nothing here"), now);
  const bool queued = workers->Run(route->lane, [this, id, route, request = std::move(request)] {
    Hand({id, false, CallHandler(*route, request), std::nullopt, nullptr});
  });
  if (queued) return;
  refused.fetch_add(1);
  client.connection.Answer(HttpResponse::Text(503, "too many requests wait; ask again"), now);
}

void HttpServer::Impl::TakeOutcomes() {
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
      client.connection.Answer(HttpResponse::Text(503, "as many followers as may be are here"), now);
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
  StreamSource source = client.connection.TakeSource();
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
  std::array<char, kPiece> piece{};
  const ssize_t got = ::recv(client.fd.get(), piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return client.connection.Ended();
  auto request = client.connection.Took({piece.data(), static_cast<std::size_t>(got)}, clock.Now());
  if (request.has_value()) Dispatch(id, client, std::move(*request));
}

// One piece for each look, so that a fast reader of much does not keep the others waiting.
void HttpServer::Impl::Write(std::uint64_t id, Client& client) {
  const std::string_view unsent = client.connection.Unsent();
  if (unsent.empty()) return;
  const ssize_t went = ::send(client.fd.get(), unsent.data(), std::min(unsent.size(), 16 * kPiece), MSG_NOSIGNAL);
  if (went < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (went < 0) return client.connection.Close();
  auto request = client.connection.Sent(static_cast<std::size_t>(went), clock.Now());
  if (request.has_value()) Dispatch(id, client, std::move(*request));
}

// Closes the client that has been idle, or has not finished its request, for longest. False: there is none to close.
bool HttpServer::Impl::MakeRoom() {
  auto oldest = clients.end();
  for (auto it = clients.begin(); it != clients.end(); ++it) {
    if (!it->second.connection.expendable()) continue;
    if (oldest == clients.end() || it->second.connection.since() < oldest->second.connection.since()) oldest = it;
  }
  // None is idle: the slowest reader goes. Followers and requests that are being answered stay.
  for (auto it = clients.begin(); oldest == clients.end() && it != clients.end(); ++it) {
    if (it->second.connection.state() == HttpConnection::State::kWriting) oldest = it;
  }
  if (oldest == clients.end()) return false;
  refused.fetch_add(1);
  clients.erase(oldest);
  return true;
}

void HttpServer::Impl::Accept() {
  constexpr int kAtATime = 16;
  for (int i = 0; i < kAtATime; ++i) {
    const int fd = ::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
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
    if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) continue;  // it has gone already
    accepted.Release();
    clients.try_emplace(next_id++, fd, options.limits, clock.Now());
  }
}

void HttpServer::Impl::Serve(std::uint64_t id, Client& client, short events) {
  if ((events & POLLIN) != 0) Read(id, client);
  if ((events & POLLOUT) != 0) Write(id, client);
  if ((events & (POLLERR | POLLNVAL)) != 0) client.connection.Close();
  if ((events & POLLHUP) != 0 && (events & POLLIN) == 0) client.connection.Close();
}

// The reader that takes its answer for longest goes; the next round looks again.
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
    polled.assign({{wake.get(), POLLIN, 0}, {listening.get(), static_cast<short>(now < accept_again ? 0 : POLLIN), 0}});
    ids.clear();
    for (auto& [id, client] : clients) {
      if (now >= client.connection.deadline()) client.connection.Expire(now);
      LookAtStream(id, client);
      const int events =
          (client.connection.wants_read() ? POLLIN : 0) | (client.connection.wants_write() ? POLLOUT : 0);
      polled.push_back({client.fd.get(), static_cast<short>(events), 0});
      ids.push_back(id);
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>((clients.empty() ? kIdleTick : tick).count())) < 0 &&
        errno != EINTR) {
      RATCHET_LOG(kError, "http: poll: {}; the page is gone", std::strerror(errno));
      return;
    }
    if (polled[0].revents != 0) {
      std::uint64_t count = 0;
      if (::read(wake.get(), &count, sizeof count) < 0) count = 0;
    }
    for (std::size_t i = 0; i < ids.size(); ++i) Serve(ids[i], clients.at(ids[i]), polled[i + 2].revents);
    TakeOutcomes();
    KeepUnsentBounded();
    RemoveClosed();
    if (polled[1].revents != 0) Accept();
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

HttpStats HttpServer::stats() const {
  return {impl_->open.load(), impl_->streams.load(), impl_->requests.load(), impl_->refused.load()};
}

}  // namespace ratchet::http
