#include "chaos/network/links.h"

#include <sys/socket.h>

#include <future>
#include <map>
#include <thread>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "chaos/network/proxied_connection.h"
#include "chaos/network/source_finder.h"
#include "common/base/thread_name.h"

namespace ratchet::chaos {
namespace {

using Tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr std::chrono::milliseconds kLookForProcess{5};

struct Listener {
  Listener(asio::io_context& io, ProxiedPort which) : port(std::move(which)), acceptor(io), pause(io), look(io) {}
  ProxiedPort port;
  Tcp::acceptor acceptor;
  asio::steady_timer pause;  // after a failed accept, or between two looks for the process
  Tcp::socket look;
  // No process listens, so this port refuses connections too: otherwise no probe could find that it is gone.
  bool refuses = false;
  bool shut = false;     // refuses although a process listens
  bool accepts = false;  // an accept is in progress, or a connection waits for its name: there is one at a time
};

std::map<std::uint16_t, std::string> NamesOfPorts(const std::vector<ProxiedPort>& ports) {
  std::map<std::uint16_t, std::string> names;
  for (const auto& port : ports) {
    if (port.from.empty()) names.emplace(port.advertised, port.to);
  }
  return names;
}

}  // namespace

struct Links::Impl {
  Impl(const std::vector<ProxiedPort>& ports, std::uint64_t seed, NameSource source)
      : name_of(std::move(source)), prng(seed) {
    if (name_of) return;
    name_of = [finder = std::make_shared<SourceFinder>(NamesOfPorts(ports))](std::uint16_t theirs, std::uint16_t ours) {
      return finder->NameOf(theirs, ours);
    };
  }

  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  asio::io_context looks;  // finds names of processes; one search at a time for each listener
  asio::executor_work_guard<asio::io_context::executor_type> looking = asio::make_work_guard(looks);
  NameSource name_of;
  Prng prng;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::map<LinkName, std::unique_ptr<LinkState>> links;
  std::thread thread;
  std::thread look_thread;

  LinkState& State(const LinkName& name) {
    auto& state = links[name];
    if (state == nullptr) state = std::make_unique<LinkState>();
    return *state;
  }

  Status Listen(const ProxiedPort& port) {
    auto listener = std::make_unique<Listener>(io, port);
    asio::error_code error;
    listener->acceptor.open(Tcp::v4(), error);
    if (!error) listener->acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) listener->acceptor.bind({asio::ip::address_v4::loopback(), port.advertised}, error);
    if (!error) listener->acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return Error(Code::kIo,
                   fmt::format("cannot listen at port {} for {}: {}", port.advertised, port.to, error.message()));
    }
    Accept(*listener);
    listeners.push_back(std::move(listener));
    return Ok();
  }

  void Accept(Listener& listener) {
    if (listener.refuses || std::exchange(listener.accepts, true)) return;
    listener.acceptor.async_accept([this, &listener](const asio::error_code& error, Tcp::socket socket) {
      if (!error && listener.acceptor.is_open()) return Accepted(listener, std::move(socket));
      listener.accepts = false;
      if (error == asio::error::operation_aborted || !listener.acceptor.is_open()) return;
      // The accept failed, for example because no descriptor is free. An immediate retry would keep the thread busy.
      listener.pause.expires_after(kAcceptPause);
      listener.pause.async_wait([this, &listener](const asio::error_code& cancelled) {
        if (!cancelled && listener.acceptor.is_open()) Accept(listener);
      });
    });
  }

  // Accepts the next connection only when this one has its name: more connections wait in the listener's queue.
  void Accepted(Listener& listener, Tcp::socket socket) {
    const ProxiedPort& port = listener.port;
    asio::error_code error;
    const auto their_port = socket.remote_endpoint(error).port();
    if (error) return AcceptNext(listener);  // the connection is gone again
    if (!port.from.empty()) return Begin(listener, port.from, std::move(socket));
    asio::post(looks, [this, &listener, their_port, held = std::make_shared<Tcp::socket>(std::move(socket))] {
      asio::post(io, [this, &listener, held, from = name_of(their_port, listener.port.advertised)] {
        if (listener.acceptor.is_open()) Begin(listener, from, std::move(*held));
      });
    });
  }

  void Begin(Listener& listener, const std::string& from, Tcp::socket socket) {
    const ProxiedPort& port = listener.port;
    if (listener.shut) {  // it was accepted before
      asio::error_code ignored;
      socket.set_option(asio::socket_base::linger(true, 0), ignored);
      socket.close(ignored);
      return AcceptNext(listener);
    }
    auto refused = [this, &listener] { Refuse(listener); };
    std::make_shared<ProxiedConnection>(State({from, port.to}), std::move(socket), port.listens, prng.Fork(),
                                        std::move(refused))
        ->Start();
    AcceptNext(listener);
  }

  void AcceptNext(Listener& listener) {
    listener.accepts = false;
    Accept(listener);
  }

  // The port stays bound, so that no other program takes it.
  void Refuse(Listener& listener) {
    if (listener.refuses || !listener.acceptor.is_open()) return;
    listener.refuses = true;
    asio::error_code ignored;
    listener.acceptor.cancel(ignored);
    ::shutdown(listener.acceptor.native_handle(), SHUT_RD);
    LookForProcess(listener);
  }

  // Until a process listens again.
  void LookForProcess(Listener& listener) {
    listener.pause.expires_after(kLookForProcess);
    listener.pause.async_wait([this, &listener](const asio::error_code& cancelled) {
      if (cancelled || !listener.acceptor.is_open()) return;
      if (listener.shut) return LookForProcess(listener);
      listener.look = Tcp::socket(io);
      listener.look.async_connect({asio::ip::address_v4::loopback(), listener.port.listens},
                                  [this, &listener](asio::error_code error) {
                                    if (!listener.acceptor.is_open()) return;
                                    asio::error_code ignored;
                                    listener.look.close(ignored);
                                    if (listener.shut) return LookForProcess(listener);
                                    if (!error)
                                      listener.acceptor.listen(asio::socket_base::max_listen_connections, error);
                                    if (error) return LookForProcess(listener);
                                    listener.refuses = false;
                                    Accept(listener);
                                  });
    });
  }

  void SetShut(const std::string& process, bool shut) {
    for (const auto& listener : listeners) {
      if (listener->port.to != process || !listener->port.from.empty()) continue;
      listener->shut = shut;
      if (shut) Refuse(*listener);
    }
  }

  // Runs `work_item` on the thread "links" and waits for it.
  template <class Work>
  void Do(Work work_item) {
    std::promise<void> done;
    asio::post(io, [&] {
      work_item();
      done.set_value();
    });
    done.get_future().wait();
  }

  // Uses a copy, because connections leave the set during the calls.
  static void ForEach(LinkState& state, const std::function<void(ProxiedConnection&)>& tell) {
    const auto connections = state.connections;
    for (const auto& connection : connections) tell(*connection);
  }

  // Returns the number of connections.
  static std::size_t ResetAll(LinkState& state) {
    const std::size_t count = state.connections.size();
    ForEach(state, [](ProxiedConnection& connection) { connection.End(/*abrupt=*/true, /*by_fault=*/true); });
    return count;
  }

  static void Apply(LinkState& state, const LinkMode& mode) {
    if (state.mode == mode) return;
    state.mode = mode;
    ForEach(state, [](ProxiedConnection& connection) { connection.ModeChanged(); });
  }
};

Links::Links(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Links>> Links::Start(std::vector<ProxiedPort> ports, std::uint64_t seed,
                                            NameSource name_source) {
  auto impl = std::make_unique<Impl>(ports, seed, std::move(name_source));
  for (const auto& port : ports) RATCHET_TRY(impl->Listen(port));
  impl->thread = std::thread([&io = impl->io] {
    SetThreadName("links");
    io.run();
  });
  impl->look_thread = std::thread([&looks = impl->looks] {
    SetThreadName("link-names");
    looks.run();
  });
  return std::unique_ptr<Links>(new Links(std::move(impl)));
}

Links::~Links() {
  impl_->Do([this] {
    for (auto& listener : impl_->listeners) {
      asio::error_code ignored;
      listener->acceptor.close(ignored);
      listener->pause.cancel();
      listener->look.close(ignored);
    }
    for (auto& [name, state] : impl_->links) {
      Impl::ForEach(*state, [](ProxiedConnection& connection) { connection.End(/*abrupt=*/true, /*by_fault=*/false); });
    }
  });
  impl_->looking.reset();
  impl_->look_thread.join();
  impl_->work.reset();
  impl_->thread.join();
}

void Links::Set(const LinkName& link, const LinkMode& mode) {
  impl_->Do([&] { Impl::Apply(impl_->State(link), mode); });
}

void Links::ClearAll() {
  impl_->Do([&] {
    for (auto& [name, state] : impl_->links) Impl::Apply(*state, {});
  });
}

std::size_t Links::Reset(const LinkName& link) {
  std::size_t count = 0;
  impl_->Do([&] { count = Impl::ResetAll(impl_->State(link)); });
  return count;
}

std::size_t Links::ResetAndRefuse(const std::string& process) {
  std::size_t count = 0;
  impl_->Do([&] {
    impl_->SetShut(process, true);
    for (auto& [name, state] : impl_->links) {
      if (name.from == process || name.to == process) count += Impl::ResetAll(*state);
    }
  });
  return count;
}

void Links::AcceptAgain(const std::string& process) {
  impl_->Do([&] { impl_->SetShut(process, false); });
}

LinkCounters Links::Counters(const LinkName& link) const {
  LinkCounters counters;
  impl_->Do([&] { counters = impl_->State(link).counters; });
  return counters;
}

std::vector<LinkName> Links::Connected() const {
  std::vector<LinkName> names;
  impl_->Do([&] {
    for (const auto& [name, state] : impl_->links) {
      if (!state->connections.empty()) names.push_back(name);
    }
  });
  return names;
}

}  // namespace ratchet::chaos
