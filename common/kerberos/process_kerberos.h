// The one object of a program that accepts logins with Kerberos.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/kerberos/kerberos_options.h"
#include "common/rpc/security_context.h"

namespace ratchet::kerberos {

// At the start of a program. `host`: its own name for clients. kInvalidArgument: names the setting and the remedy.
[[nodiscard]] Status OpenForProcess(const KerberosOptions& options, const std::string& host);
// Null: this program accepts no Kerberos.
[[nodiscard]] std::shared_ptr<const rpc::KerberosAcceptor> OfProcess();

}  // namespace ratchet::kerberos
