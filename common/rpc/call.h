// A service's view of one call, and the object that answers it.
//
// Owner: the server keeps a call alive until its last responder is gone; context, request and cell block stay valid
// exactly that long. Threads: a responder may be copied, kept and used from any thread; the first answer counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/rpc/cell_compression.h"

namespace google::protobuf {
class MessageLite;
}

namespace ratchet::rpc {

// Calls of different classes wait in different bounded queues and run on different threads, so that a flood of data
// requests delays neither an operator nor a region's recovery.
enum class QueueClass : std::uint8_t {
  kData,        // reads and writes of user tables
  kAdmin,       // operators' requests
  kTransition,  // orders, and reports of regions and procedures: from members only (S77: members only)
  kMeta,        // clients' requests for hbase:meta and its location
  kMemberMeta,  // masters' requests for hbase:meta: from members only
};
inline constexpr std::size_t kQueueClasses = 5;

// How a connection has shown who its user is.
enum class Authentication : std::uint8_t {
  kSimple,       // not at all: the client names itself
  kCertificate,  // by a client certificate of TLS
  kMember,       // by the cluster's key: one of the cluster's own processes, and no user
  kToken,        // by a token that the cluster has issued
  kKerberos,     // by a ticket of Kerberos
};

// In lists, and in the audit log.
[[nodiscard]] constexpr std::string_view AuthenticationName(Authentication authentication) {
  switch (authentication) {
    case Authentication::kCertificate: return "certificate";
    case Authentication::kMember: return "member";
    case Authentication::kToken: return "token";
    case Authentication::kKerberos: return "kerberos";
    case Authentication::kSimple: break;
  }
  return "simple";
}

struct CallContext {
  // The user for whom the call is judged and in whose name it acts. It belongs to the connection and is never a field
  // of a request. Without authentication it is what the client names itself; empty if it does not.
  std::string user;
  Authentication authentication = Authentication::kSimple;
  std::string real_user;     // authenticated user that acts for `user` (a proxy); empty: `user` acts for itself
  std::string claimed_user;  // effective user of the connection header, if it is another one than `user`
  std::string peer;          // "address:port" of the client
  std::string service;
  std::string method;
  std::uint32_t call_id = 0;
  std::uint32_t priority = 0;             // as sent; advisory (0 normal, 100 admin, 200 meta, 300 transitions)
  Millis timeout{0};                      // as sent; zero: none
  TimePoint deadline = TimePoint::max();  // when the client stops waiting; monotonic, of this process
  TimePoint received;
  bool has_codec = false;       // the connection named a codec: answer with cell blocks, otherwise with protobuf cells
  bool codec_has_tags = false;  // cells of the answer are written with their tags
  CellCompression compression = CellCompression::kNone;  // of cell blocks in both directions; services do not see it
  bool has_version_info = false;
  bool member = false;           // the peer is one of the cluster's own processes: it has shown the cluster's key (S77)
  std::uint64_t connection = 0;  // unique in this process
};

class CallState;

// Answers one call, once. Dropping the last copy unanswered answers with an error.
class RawResponder {
 public:
  RawResponder() = default;
  explicit RawResponder(std::shared_ptr<CallState> call) : call_(std::move(call)) {}

  // `cells`: an encoded cell block, sent after the message; must be empty unless context().has_codec. True when this
  // was the answer; false when the call had been answered before (nothing is sent then).
  bool ReplyMessage(const google::protobuf::MessageLite& message, std::string cells = {}) const;
  // The error's remote_class is sent as the exception class; without one, a class is chosen by its code (exceptions.h).
  bool Fail(const Error& error) const;
  // For a part of the call that its caller may not make, while the call as a whole is answered: the error is audited,
  // if it is an AccessDeniedException.
  void NoteDenied(const Error& error) const;
  [[nodiscard]] const CallContext& context() const;
  [[nodiscard]] bool valid() const { return call_ != nullptr; }

 private:
  std::shared_ptr<CallState> call_;
};

// RawResponder with the type of the answer.
template <class Response>
class Responder : public RawResponder {
 public:
  Responder() = default;
  explicit Responder(const RawResponder& raw) : RawResponder(raw) {}
  bool Reply(const Response& message, std::string cells = {}) const { return ReplyMessage(message, std::move(cells)); }
  // Replies with a value, or fails with its error.
  bool ReplyOrFail(const Result<Response>& result) const { return result.ok() ? Reply(*result) : Fail(result.error()); }
};

}  // namespace ratchet::rpc
