// Addresses, threads and bounds of an RPC server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/rpc/call_watch.h"
#include "common/rpc/service.h"

namespace ratchet::tls {
class ProcessTls;  // common/tls/process_tls.h
}  // namespace ratchet::tls

namespace ratchet::rpc {

class CallAudit;         // call_audit.h
class CallerRules;       // caller_rules.h
class KerberosAcceptor;  // security_context.h
class MemberIdentity;    // member_identity.h
class TokenRules;        // token_rules.h

// In the order of QueueClass: for names of threads and metrics.
inline constexpr std::array<const char*, kQueueClasses> kQueueClassNames{"data", "admin", "transition", "meta",
                                                                         "member-meta"};

struct QueueOptions {
  int threads = 4;               // at least 1
  std::size_t max_calls = 1000;  // waiting; one more is answered with CallQueueTooBigException
};

struct ServerOptions {
  std::string name = "rpc";        // prefix of thread names
  std::string host = "127.0.0.1";  // addresses or names to listen on, split by commas; every address of a name
  std::uint16_t port = 0;          // 0: any free one
  int io_threads = 1;              // at least 1
  std::array<QueueOptions, kQueueClasses> queues{QueueOptions{8, 1000}, QueueOptions{4, 1000}, QueueOptions{4, 1000},
                                                 QueueOptions{2, 1000}, QueueOptions{2, 1000}};
  // Calls that an I/O thread answers itself before it reads other connections (Service::AtOnce); 0: none.
  Live<std::int64_t> at_once_per_turn{0};
  std::size_t max_frame_bytes = 256u << 20;  // a larger request: RequestTooBigException, then closed
  // Maximum size of all unanswered requests together; further ones are answered with CallQueueTooBigException. A
  // quarter more for requests that are not of kData, and another quarter for requests that only members send, S78
  // (members' own queues).
  std::size_t max_call_bytes = 1u << 30;
  // Protobuf messages in one request of a client, including nested ones. A request with more is answered with
  // RequestTooBigException and is not parsed. Parsed messages count in max_call_bytes, for members as well.
  std::size_t max_request_messages = 500'000;
  std::size_t max_input_bytes = 1u << 30;  // of all unfinished frames together; a connection that exceeds it is closed
  std::size_t max_calls_per_connection = 10'000;  // in flight; above it the connection is not read
  std::size_t max_unsent_bytes = 256u << 20;      // answers of one connection; above it the connection is closed
  std::size_t pause_unsent_bytes = 16u << 20;     // above it the connection is not read
  // Answers of all connections; above it the connection that holds the most is closed.
  std::size_t max_unsent_total_bytes = 1u << 30;
  std::size_t max_connections = 20'000;  // one more is closed at once
  Millis setup_timeout{10'000};          // from the first byte to the whole connection header
  CallWatch watch{};                     // reports slow and large calls
  // This process's identity, to which members prove theirs (S77: members only; S123: only a proof makes a member).
  // Null: no connection counts as one of a cluster member.
  std::shared_ptr<const MemberIdentity> member{};
  // This process's certificate and modes. Null: plain text only.
  std::shared_ptr<const tls::ProcessTls> tls{};
  // Judges every call before its handler. Outlives the server. Null: every caller may do everything.
  const rights::Judge* judge = nullptr;
  // Who the users of connections are. Null: a client names itself.
  std::shared_ptr<const CallerRules> callers{};
  // Which tokens are accepted. Null: none.
  std::shared_ptr<const TokenRules> tokens{};
  // Accepts logins with Kerberos. Null: none.
  std::shared_ptr<const KerberosAcceptor> kerberos{};
  // Record of what clients did. Null: none.
  std::shared_ptr<CallAudit> audit{};
  // Called when a connection has ended; its number is the one of CallContext. Called on an I/O thread: must not wait.
  std::function<void(std::uint64_t connection)> connection_ended{};
  // Answer to the "Regist" preamble; empty function or nullopt: answered like an old server.
  std::function<std::optional<std::string>()> cluster_id{};
};

}  // namespace ratchet::rpc
