// One client connection to one service of one server: pipelined calls, a deadline on each, automatic reconnection.
//
// Threads: thread-safe. `done` runs exactly once, on the channel's I/O thread (or on the caller's when the call is
// refused at once): it must not block and must not wait for another call. Blocking calls must not be made from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/base/clock.h"
#include "common/base/host_port.h"
#include "common/base/result.h"
#include "common/rpc/method.h"

namespace google::protobuf {
class MessageLite;
}

namespace ratchet::rpc {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  auto operator<=>(const Endpoint&) const = default;
  // "host:port", with brackets around an IPv6 address.
  [[nodiscard]] std::string ToString() const { return JoinHostPort(host, port); }
};

struct CallOptions {
  Millis timeout{60'000};      // from now to the answer, connecting included; at least 1
  std::uint32_t priority = 0;  // 0 normal, 100 admin, 200 meta, 300 region transitions
  std::string cells{};         // cell block of the request
  std::string acts_for{};      // the user for whom a member calls (acting_for.h); empty: for itself
};

template <class Response>
struct Reply {
  Response message;
  std::string cells;  // cell block of the answer
};

// Errors of a call, distinguished by the helpers of exceptions.h:
//   remote exception   code by class, remote_class = the class
//                      (also of the connection: UnknownServiceException and similar; nothing was executed)
//   kUnavailable       remote_class kNotSent: certainly not executed; kConnectionLost: the outcome is unknown
//   kTimeout           remote_class kCallTimeout: the outcome is unknown
//   kAborted           the channel was stopped; the outcome is unknown
class Channel {
 public:
  using RawDone = std::function<void(Result<std::string /*cells*/>)>;
  virtual ~Channel() = default;

  // Fills *response before done(cells). The request is serialised before CallRaw returns.
  virtual void CallRaw(std::string_view method, const google::protobuf::MessageLite& request,
                       std::shared_ptr<google::protobuf::MessageLite> response, CallOptions options, RawDone done) = 0;
  [[nodiscard]] virtual const Endpoint& endpoint() const = 0;
  // Fails all pending calls (kAborted) and waits until no callback runs. Not from a callback.
  virtual void Stop() = 0;

  // `method`: of the service that this channel is connected to.
  template <class Request, class Response>
  void Call(const Method<Request, Response>& method, const std::type_identity_t<Request>& request, CallOptions options,
            std::type_identity_t<std::function<void(Result<Reply<Response>>)>> done) {
    auto response = std::make_shared<Response>();
    CallRaw(method.name, request, response, std::move(options),
            [response, done = std::move(done)](Result<std::string> cells) {
              if (!cells.ok()) return done(std::move(cells).error());
              done(Reply<Response>{std::move(*response), std::move(cells).value()});
            });
  }

  // Blocks until answer or deadline.
  template <class Request, class Response>
  [[nodiscard]] Result<Reply<Response>> CallSync(const Method<Request, Response>& method,
                                                 const std::type_identity_t<Request>& request,
                                                 CallOptions options = {}) {
    auto response = std::make_shared<Response>();
    RATCHET_ASSIGN(std::string cells, CallRawSync(method.name, request, response, std::move(options)));
    return Reply<Response>{std::move(*response), std::move(cells)};
  }

  [[nodiscard]] Result<std::string> CallRawSync(std::string_view method, const google::protobuf::MessageLite& request,
                                                std::shared_ptr<google::protobuf::MessageLite> response,
                                                CallOptions options);
};

}  // namespace ratchet::rpc
