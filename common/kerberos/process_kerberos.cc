#include "common/kerberos/process_kerberos.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/process_object.h"
#include "common/kerberos/gss_acceptor.h"

namespace ratchet::kerberos {

Status OpenForProcess(const KerberosOptions& options, const std::string& host) {
  if (options.keytab.empty() && options.principal.empty()) return Ok();
  if (options.keytab.empty() || options.principal.empty())
    return Error(Code::kInvalidArgument, "--kerberos-keytab and --kerberos-principal need each other");
  RATCHET_ASSIGN(std::string principal, PrincipalFor(options.principal, host));
  RATCHET_ASSIGN(const std::uint8_t protections, ProtectionsOf(options.protection));
  RATCHET_ASSIGN(auto acceptor, GssAcceptor::Open(options.keytab, std::move(principal), protections));
  RATCHET_LOG(kInfo, "Kerberos: clients may log in; this process is {} ({})", acceptor->principal(),
              options.protection);
  ProcessObject<GssAcceptor>::Set(std::move(acceptor));
  return Ok();
}

std::shared_ptr<const rpc::KerberosAcceptor> OfProcess() { return ProcessObject<GssAcceptor>::Get(); }

}  // namespace ratchet::kerberos
