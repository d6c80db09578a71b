// One client of the HTTP server: the bytes received, the bytes to send, and the deadline. No socket and no thread; the
// server's thread feeds and polls it.
//
//   reading -> waiting (a handler runs) -> writing -> reading ... -> closing
//                                              \-> streaming: writes what the source gives, until one side ends it
//
// Time-outs count from the first byte of a request, from the start of an answer, and from the last moment at which a
// stream had no unsent data. They do not count from one byte to the next, so a slow client cannot stay without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/http/http_request.h"
#include "common/http/http_response.h"

namespace ratchet::http {

struct HttpConnectionLimits {
  std::size_t head_bytes = 8u << 10;  // maximum size of a request's head
  Millis idle{30'000};                // between two requests of a client
  Millis request{5'000};              // from its first byte to its last
  Millis answer{30'000};              // until the client has received all of it; for a stream: each piece
};

class HttpConnection {
 public:
  enum class State : std::uint8_t { kReading, kWaiting, kWriting, kStreaming, kClosed };

  HttpConnection(const HttpConnectionLimits& limits, TimePoint now)
      : limits_(limits), deadline_(now + limits.idle), since_(now) {}

  [[nodiscard]] State state() const { return state_; }
  // The client has sent part of a request, or none: a full server closes such clients first.
  [[nodiscard]] bool expendable() const { return state_ == State::kReading; }
  // Bytes that the client has not received.
  [[nodiscard]] std::size_t unsent_bytes() const;
  [[nodiscard]] TimePoint since() const { return since_; }  // the last time a whole request or answer was completed
  [[nodiscard]] TimePoint deadline() const { return deadline_; }
  [[nodiscard]] bool wants_read() const { return state_ == State::kReading || state_ == State::kStreaming; }
  [[nodiscard]] bool wants_write() const { return !Unsent().empty(); }

  // Takes bytes that were read. Returns a whole request, if there is one: the caller runs its handler and calls Answer.
  // A bad request is answered here.
  [[nodiscard]] std::optional<HttpRequest> Took(std::string_view bytes, TimePoint now);
  // The client will send no more bytes.
  void Ended();
  void Answer(HttpResponse response, TimePoint now);
  // Answers without having read a request, and closes.
  void Refuse(HttpResponse response, TimePoint now);
  // The bytes to write next; empty: none.
  [[nodiscard]] std::string_view Unsent() const;
  // This number of bytes was sent. A request that came after the last one is returned, as by Took.
  [[nodiscard]] std::optional<HttpRequest> Sent(std::size_t bytes, TimePoint now);

  // A stream without unsent data asks its source again; the caller runs the source on a worker.
  [[nodiscard]] StreamSource DetachSource();
  void AddToStream(std::optional<std::string> text, StreamSource source, TimePoint now);

  // The deadline has passed. A request that is not whole is answered with 408 first.
  void Expire(TimePoint now);
  void Close() { state_ = State::kClosed; }

 private:
  [[nodiscard]] std::optional<HttpRequest> NextRequest(TimePoint now);
  [[nodiscard]] std::optional<HttpRequest> Finished(TimePoint now);

  const HttpConnectionLimits& limits_;
  State state_ = State::kReading;
  TimePoint deadline_;
  TimePoint since_;
  std::string input_;
  bool head_only_ = false;
  bool keep_alive_ = true;
  bool client_ended_ = false;
  std::string head_;                         // of the answer; for a stream: head, then the data of the source
  std::shared_ptr<const std::string> body_;  // behind it
  std::size_t sent_ = 0;                     // of head and body together
  StreamSource source_;
  bool source_away_ = false;  // a worker runs it
};

}  // namespace ratchet::http
