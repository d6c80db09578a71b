#include "chaos/network/proxied_connection.h"

#include <algorithm>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/write.hpp>

namespace ratchet::chaos {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kReadSize = 16'384;
constexpr std::size_t kMostBuffered = 4u << 20;  // per pipe; above it the sender's own buffers fill up
constexpr Millis kDripEvery{50};

void Reset(asio::ip::tcp::socket& socket, bool abrupt) {
  asio::error_code ignored;
  if (abrupt) socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace

ProxiedConnection::ProxiedConnection(LinkState& link, Tcp::socket near, std::uint16_t far_port, Prng prng,
                                     std::function<void()> refused)
    : link_(link),
      near_(std::move(near)),
      far_(near_.get_executor()),
      far_end_(asio::ip::address_v4::loopback(), far_port),
      prng_(prng),
      refused_(std::move(refused)),
      forward_(near_.get_executor()),
      back_(near_.get_executor()) {
  forward_.forward = true;
  forward_.in = &near_;
  forward_.out = &far_;
  back_.in = &far_;
  back_.out = &near_;
}

void ProxiedConnection::Start() {
  ++link_.counters.opened;
  ++link_.counters.open_now;
  link_.connections.insert(shared_from_this());
  asio::error_code ignored;
  near_.set_option(Tcp::no_delay(true), ignored);
  if (link_.mode.half_open) {
    half_open_ = true;
    Read(forward_);
    return;
  }
  far_.async_connect(far_end_, [self = shared_from_this()](const asio::error_code& error) {
    if (self->over_) return;
    if (error == asio::error::connection_refused) self->refused_();
    if (error) return self->End(/*abrupt=*/true, /*by_fault=*/false);
    asio::error_code unimportant;
    self->far_.set_option(Tcp::no_delay(true), unimportant);
    self->connected_ = true;
    self->Read(self->forward_);
    self->Read(self->back_);
  });
}

bool ProxiedConnection::Held(const Pipe& pipe) const {
  return pipe.forward ? link_.mode.hold_forward : link_.mode.hold_back;
}

void ProxiedConnection::Read(Pipe& pipe) {
  if (over_ || pipe.reading || pipe.ended || pipe.buffered >= kMostBuffered) return;
  pipe.reading = true;
  pipe.buffer.resize(kReadSize);
  pipe.in->async_read_some(asio::buffer(pipe.buffer),
                           [self = shared_from_this(), &pipe](const asio::error_code& error, std::size_t size) {
                             pipe.reading = false;
                             if (self->over_ || (self->half_open_ && !pipe.forward)) return;
                             if (error == asio::error::eof) {
                               pipe.ended = true;
                               return self->Pump(pipe);
                             }
                             if (error) return self->End(/*abrupt=*/true, /*by_fault=*/false);
                             self->Arrived(pipe, size);
                           });
}

void ProxiedConnection::Arrived(Pipe& pipe, std::size_t size) {
  const LinkMode& mode = link_.mode;
  if (half_open_) {
    link_.counters.vanished += size;
    return Read(pipe);
  }
  if (mode.lose_one_in != 0 && prng_.Chance(1, mode.lose_one_in)) {
    link_.counters.vanished += size;
    return End(/*abrupt=*/prng_.Chance(1, 2), /*by_fault=*/true);
  }
  if (Held(pipe)) link_.counters.held += size;
  auto due = SteadyClock::now();
  if (mode.delay > Millis(0) || mode.jitter > Millis(0)) {
    due += mode.delay + Millis(prng_.Between(0, mode.jitter.count()));
    link_.counters.delayed += size;
  } else if (mode.bytes_per_second != 0) {
    link_.counters.delayed += size;
  }
  due = std::max(due, pipe.last_due);
  pipe.last_due = due;
  pipe.buffered += size;
  pipe.pieces.push_back({{pipe.buffer.data(), pipe.buffer.data() + size}, 0, due});
  Pump(pipe);
  Read(pipe);
}

void ProxiedConnection::Pump(Pipe& pipe) {
  if (over_ || half_open_ || pipe.writing || pipe.waiting || Held(pipe)) return;
  if (pipe.pieces.empty()) {
    if (pipe.ended && !pipe.closed) PassOnEnd(pipe);
    return;
  }
  const auto now = SteadyClock::now();
  const Piece& first = pipe.pieces.front();
  if (first.due > now) return WaitUntilDue(pipe, first.due);
  std::size_t size = first.data.size() - first.written;
  if (const auto rate = link_.mode.bytes_per_second; rate != 0) {
    if (pipe.next_drip > now) return WaitUntilDue(pipe, pipe.next_drip);
    const auto drop = std::max<std::size_t>(1, rate * static_cast<std::uint64_t>(kDripEvery.count()) / 1'000);
    size = std::min(size, drop);
    pipe.next_drip = now + kDripEvery;
  }
  Write(pipe, size);
}

void ProxiedConnection::WaitUntilDue(Pipe& pipe, SteadyClock::time_point due) {
  pipe.waiting = true;
  pipe.timer.expires_at(due);
  pipe.timer.async_wait([self = shared_from_this(), &pipe](const asio::error_code&) {
    pipe.waiting = false;
    self->Pump(pipe);
  });
}

void ProxiedConnection::Write(Pipe& pipe, std::size_t size) {
  pipe.writing = true;
  pipe.leaving = size;
  Piece& first = pipe.pieces.front();
  asio::async_write(*pipe.out, asio::buffer(first.data.data() + first.written, size),
                    [self = shared_from_this(), &pipe](const asio::error_code& error, std::size_t written) {
                      pipe.writing = false;
                      pipe.leaving = 0;
                      if (self->over_ || self->half_open_) return;
                      if (error) return self->End(/*abrupt=*/true, /*by_fault=*/false);
                      self->link_.counters.passed += written;
                      pipe.buffered -= written;
                      Piece& piece = pipe.pieces.front();
                      piece.written += written;
                      if (piece.written == piece.data.size()) pipe.pieces.pop_front();
                      self->Pump(pipe);
                      self->Read(pipe);
                    });
}

void ProxiedConnection::PassOnEnd(Pipe& pipe) {
  pipe.closed = true;
  asio::error_code ignored;
  pipe.out->shutdown(Tcp::socket::shutdown_send, ignored);
  if (forward_.closed && back_.closed) End(/*abrupt=*/false, /*by_fault=*/false);
}

void ProxiedConnection::BecomeHalfOpen() {
  half_open_ = true;
  ++link_.counters.cut;
  for (Pipe* pipe : {&forward_, &back_}) {
    link_.counters.vanished += pipe->buffered;
    pipe->timer.cancel();
  }
  Reset(far_, /*abrupt=*/true);
}

void ProxiedConnection::ModeChanged() {
  if (over_) return;
  if (half_open_ && !link_.mode.half_open) return End(/*abrupt=*/true, /*by_fault=*/true);
  if (link_.mode.half_open) {
    if (!half_open_) BecomeHalfOpen();
    return;
  }
  for (Pipe* pipe : {&forward_, &back_}) {
    if (Held(*pipe)) link_.counters.held += pipe->buffered - pipe->leaving;
    const bool slow = link_.mode.delay > Millis(0) || link_.mode.jitter > Millis(0);
    if (!slow) {
      // Sends data whose delay was removed.
      const auto now = SteadyClock::now();
      for (auto& piece : pipe->pieces) piece.due = std::min(piece.due, now);
      pipe->last_due = std::min(pipe->last_due, now);
    }
    pipe->next_drip = {};
    if (pipe->waiting) {
      pipe->timer.cancel();  // its handler continues the pipe
    } else {
      Pump(*pipe);
    }
  }
}

void ProxiedConnection::End(bool abrupt, bool by_fault) {
  if (over_) return;
  over_ = true;
  --link_.counters.open_now;
  if (by_fault) ++link_.counters.cut;
  forward_.timer.cancel();
  back_.timer.cancel();
  Reset(near_, abrupt);
  Reset(far_, abrupt);
  link_.connections.erase(shared_from_this());
}

}  // namespace ratchet::chaos
