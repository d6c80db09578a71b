#include "master/process/listen_options.h"

#include <utility>

#include "common/base/setting_value.h"
#include "common/kerberos/process_kerberos.h"
#include "common/tls/process_tls.h"

namespace ratchet::master {

rpc::ServerOptions ListenOptions(const MasterConfig& config, std::uint16_t port,
                                 std::shared_ptr<const rpc::MemberIdentity> member) {
  rpc::ServerOptions options = config.rpc;
  options.host = config.bind.empty() ? config.host : config.bind;
  options.port = config.listen_port == 0 ? port : static_cast<std::uint16_t>(config.listen_port);
  options.member = std::move(member);
  options.tls = tls::ProcessTls::OfProcess();
  options.audit = audit::AuditLog::OfProcess();
  options.callers = identity::CertificateCallers::OfProcess();
  options.kerberos = kerberos::OfProcess();
  return options;
}

page::InfoPageOptions PageOptions(const MasterConfig& config, const rights::Judge& judge) {
  return {.host = config.info_host,
          .port = config.info_port,
          .names = Join({config.host, config.bind, config.info_names}, ","),
          .tls = config.page_access.tls,
          .gate = std::make_shared<page::PageGate>(judge, identity::PageLogins::OfProcess())};
}

}  // namespace ratchet::master
