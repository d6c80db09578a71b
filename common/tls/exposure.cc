#include "common/tls/exposure.h"

#include <fmt/core.h>

#include "common/base/mutant.h"

namespace ratchet::tls {
namespace {

constexpr const char* kNeeds =
    "--tls require, and --tls-client-certificates need or users that are proven (--tls-user-from, or "
    "--kerberos-keytab with --simple-users off)";

}  // namespace

// With users from certificates, a client by TLS never names its own user, whatever --simple-users is.
bool Exposure::Facts::NamesItself() const {
  if (users.from_certificates) return users.simple_users && !port.only_tls;
  return !kerberos || users.simple_users;
}

// A client with a certificate of a trusted authority is not a stranger, even if the certificate decides no user.
bool Exposure::Facts::RefusesStrangers() const { return port.only_tls && (port.only_certificates || !NamesItself()); }

std::string Exposure::Facts::Weakness() const {
  if (RefusesStrangers()) return {};
  if (port.only_tls) return "clients without a certificate name their own user";
  return NamesItself() ? "it accepts plain text, in which clients name their own user" : "it accepts plain text";
}

Status Exposure::Begin(bool reached, bool insecure, bool kerberos) {
  const MutexLock lock(mutex_);
  facts_.kerberos = kerberos;
  reached_ = reached;
  must_refuse_ = reached && !insecure;
  if (!must_refuse_ || facts_.RefusesStrangers()) return Ok();
  return Error(Code::kInvalidArgument, fmt::format("--host is reached by others, and {}: give {}; or give --insecure",
                                                   facts_.Weakness(), kNeeds));
}

Status Exposure::Permit(const Facts& next, bool mutant) const {
  if (!must_refuse_ || next.RefusesStrangers() || mutant) return Ok();
  return Error(Code::kInvalidArgument,
               fmt::format("others reach this process, and after the change {}: it needs {}; to serve without them, "
                           "restart it with --insecure",
                           next.Weakness(), kNeeds));
}

Status Exposure::ChangePort(const PortFacts& port, const std::function<void()>& apply) {
  const MutexLock lock(mutex_);
  Facts next = facts_;
  next.port = port;
  RATCHET_TRY(Permit(next, RATCHET_MUTANT("tls.reload_exposes")));
  facts_ = next;
  apply();
  return Ok();
}

Status Exposure::ChangeUsers(const UserFacts& users, const std::function<void()>& apply) {
  const MutexLock lock(mutex_);
  Facts next = facts_;
  next.users = users;
  RATCHET_TRY(Permit(next, RATCHET_MUTANT("identity.reload_exposes")));
  facts_ = next;
  apply();
  return Ok();
}

bool Exposure::NamesItself() const {
  const MutexLock lock(mutex_);
  return facts_.NamesItself();
}

std::string Exposure::Weakness() const {
  const MutexLock lock(mutex_);
  return reached_ ? facts_.Weakness() : std::string();
}

}  // namespace ratchet::tls
