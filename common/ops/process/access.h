// How a master and a region server begin, and look again at, what decides who may do what, and how it is recorded.
#pragma once

#include <optional>
#include <string>

#include "common/audit/audit_log.h"
#include "common/base/config.h"
#include "common/identity/certificate_callers.h"
#include "common/identity/page_logins.h"
#include "common/kerberos/process_kerberos.h"
#include "common/ops/page/page_gate.h"
#include "common/rights/users.h"
#include "common/rpc/capture.h"
#include "common/tls/process_tls.h"

namespace ratchet::page {

// At the start, on the main thread. `options`: of the process, with its parts `rights`, `tls`, `identity`, `kerberos`,
// `page_access`, `audit`, and with `root` and `host`. Returns why the start is refused; nullopt: it is not.
template <class Options>
[[nodiscard]] std::optional<std::string> BeginAccess(Settings& settings, Options& options, const char* program) {
  if (const Status begun = rpc::Capture::BeginProcess(settings); !begun.ok()) return begun.error().message();
  if (const Status begun = rights::RightsOptions::Begin(settings, options.rights); !begun.ok())
    return begun.error().message();
  if (const Status opened = tls::ProcessTls::OpenForProcess(settings, options.tls, tls::TlsMaterial::Use::kMember);
      !opened.ok())
    return "TLS: " + opened.error().message();
  if (const Status opened = identity::CertificateCallers::OpenForProcess(settings, options.identity); !opened.ok())
    return "users: " + opened.error().message();
  if (const Status opened = kerberos::OpenForProcess(options.kerberos, options.host); !opened.ok())
    return "Kerberos: " + opened.error().message();
  if (const Status begun = PageAccess::Begin(settings, options.page_access); !begun.ok())
    return "page: " + begun.error().message();
  if (const Status opened = audit::AuditLog::OpenForProcess(options.audit, options.root, options.host, program);
      !opened.ok())
    return "--audit-dir: " + opened.error().message();
  return std::nullopt;
}

// At SIGHUP: files that may have been replaced.
inline void LookAtAccessFiles() {
  tls::ProcessTls::LookAtFilesOfProcess();
  identity::CertificateCallers::LookAtFilesOfProcess();
  identity::PageLogins::LookAtFilesOfProcess();
  audit::AuditLog::RollOfProcess();
}

}  // namespace ratchet::page
