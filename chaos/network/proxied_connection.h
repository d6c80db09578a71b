// One connection through the proxy: two pipes with the mode of their link.
//
// Internal to this folder (it pulls in Asio). Lives on the thread "links" only; kept alive by its own operations.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "chaos/network/link_mode.h"
#include "common/base/prng.h"

namespace ratchet::chaos {

class ProxiedConnection;

// A link as the proxy sees it. Belongs to Links; outlives its connections.
struct LinkState {
  LinkMode mode;
  LinkCounters counters;
  std::set<std::shared_ptr<ProxiedConnection>> connections;
};

class ProxiedConnection : public std::enable_shared_from_this<ProxiedConnection> {
 public:
  using Tcp = asio::ip::tcp;

  // `refused` is called when no process listens at `far_port`.
  ProxiedConnection(LinkState& link, Tcp::socket near, std::uint16_t far_port, Prng prng,
                    std::function<void()> refused);
  void Start();
  // Call when the link's mode has changed.
  void ModeChanged();
  // Ends the connection; `abrupt`: with resets, as after a network failure. Counts as cut when `by_fault`.
  void End(bool abrupt, bool by_fault);

 private:
  struct Piece {
    std::vector<char> data;
    std::size_t written = 0;
    std::chrono::steady_clock::time_point due;
  };
  struct Pipe {
    explicit Pipe(asio::any_io_executor executor) : timer(executor) {}
    bool forward = false;
    Tcp::socket* in = nullptr;
    Tcp::socket* out = nullptr;
    asio::steady_timer timer;
    std::vector<char> buffer;
    std::deque<Piece> pieces;
    std::size_t buffered = 0;
    bool reading = false;
    bool writing = false;
    std::size_t leaving = 0;  // part of `buffered` that is being written and cannot be held
    bool waiting = false;     // waits for the timer
    bool ended = false;       // the sender has closed its side
    bool closed = false;      // the receiver's side was closed, too
    std::chrono::steady_clock::time_point last_due;
    std::chrono::steady_clock::time_point next_drip;
  };

  void Read(Pipe& pipe);
  void Arrived(Pipe& pipe, std::size_t size);
  void Pump(Pipe& pipe);
  void WaitUntilDue(Pipe& pipe, std::chrono::steady_clock::time_point due);
  void Write(Pipe& pipe, std::size_t size);
  void PassOnEnd(Pipe& pipe);
  void BecomeHalfOpen();
  [[nodiscard]] bool Held(const Pipe& pipe) const;

  LinkState& link_;
  Tcp::socket near_;
  Tcp::socket far_;
  const Tcp::endpoint far_end_;
  Prng prng_;
  const std::function<void()> refused_;
  Pipe forward_;
  Pipe back_;
  bool connected_ = false;
  bool half_open_ = false;
  bool over_ = false;
};

}  // namespace ratchet::chaos
