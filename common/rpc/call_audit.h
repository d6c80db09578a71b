// CallAudit: the record of what clients did, which a process installs in its RPC server.
//
// A call that changes something runs only after its line is durable, S138 (audited before it runs). The server does not
// wait: the call leaves the I/O thread with the question, and continues when the answer comes, on any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_function.h"
#include "common/rpc/call.h"

namespace google::protobuf {
class MessageLite;
}

namespace ratchet::rpc {

// Facts of a connection for its lines.
struct AuditedConnection {
  std::string peer;  // "address:port"
  std::string user;
  std::string real_user;  // authenticated user of a proxy, also of one that was refused
  std::string claimed_user;
  Authentication authentication = Authentication::kSimple;
  std::string tls;     // "TLSv1.3, TLS_AES_128_GCM_SHA256"; empty: plain text
  std::string serial;  // of the client's certificate
};

// Thread-safe; no function waits.
class CallAudit {
 public:
  using Connection = std::shared_ptr<const AuditedConnection>;
  using Done = UniqueFunction<void(Status)>;

  virtual ~CallAudit() = default;
  // A connection has got its user, or was refused with `why`.
  virtual void Authenticated(const AuditedConnection& connection, std::string_view why_refused) = 0;
  // A connection has proven that it is one of a member, or has failed to (`why_refused`).
  virtual void Member(const AuditedConnection& connection, std::string_view name, std::string_view why_refused) = 0;
  // True if the call needs a durable line before it runs.
  [[nodiscard]] virtual bool Wants(const CallContext& context, bool changes) const = 0;
  // `done` gets Ok once the line is durable; an error refuses the call.
  virtual void Admit(const CallContext& context, const Connection& connection,
                     const google::protobuf::MessageLite& request, Done done) = 0;
  // A call whose line is durable has succeeded: `answer` may name the procedures that it began.
  virtual void Answered(const CallContext& context, const Connection& connection,
                        const google::protobuf::MessageLite& request, const google::protobuf::MessageLite& answer) = 0;
  // A call was refused because its caller may not make it.
  virtual void Denied(const CallContext& context, const Connection& connection, std::string_view why) = 0;
};

}  // namespace ratchet::rpc
