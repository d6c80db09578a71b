#include "common/identity/certificate_callers.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/process_object.h"
#include "common/identity/rule_file.h"
#include "common/tls/process_tls.h"

namespace ratchet::identity {
namespace {

constexpr Millis kBetweenWarnings{3'600'000};

std::string ExposedBy(const std::string& weakness) {
  return fmt::format("others reach this process, and {} (--insecure)", weakness);
}

std::string StateOf(const IdentityOptions& options) {
  return StateOfFiles({options.user_rules, options.principal_rules, options.proxy_users});
}

UserFrom UserFromOf(std::string_view text) {
  if (text == "cn") return UserFrom::kCommonName;
  if (text == "san-uri") return UserFrom::kUri;
  if (text == "san-dns") return UserFrom::kDnsName;
  return text == "subject" ? UserFrom::kSubject : UserFrom::kOff;
}

Error Refusal(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

Error InFile(const std::string& path, const Error& error) {
  return Refusal(fmt::format("{}: {}", path, error.message()));
}

// A certificate with two names has no user, because each side could mean another one.
Result<std::string> OnlyOne(const std::vector<std::string>& names, std::string_view kind) {
  if (names.size() == 1) return names.front();
  return Refusal(fmt::format("the certificate has {} {}; a user needs exactly one", names.size(), kind));
}

Result<std::string> NameIn(const tls::PeerCertificate& certificate, UserFrom from) {
  constexpr std::string_view kCommonNames = "common names (CN)";
  switch (from) {
    case UserFrom::kUri: return OnlyOne(certificate.uris, "alternative names of the kind URI");
    case UserFrom::kDnsName: return OnlyOne(certificate.dns_names, "alternative names of the kind DNS");
    case UserFrom::kSubject:
      if (certificate.common_names.size() > 1) return OnlyOne(certificate.common_names, kCommonNames);
      return certificate.subject;
    case UserFrom::kCommonName:
    case UserFrom::kOff: break;
  }
  return OnlyOne(certificate.common_names, kCommonNames);
}

}  // namespace

void IdentityOptions::Bind(Settings& settings, IdentityOptions& options) {
  settings.AddText({"tls-user-from",
                    "Where the user of a connection comes from: off (the client names it), or the client certificate's "
                    "common name (cn), alternative name (san-uri, san-dns) or subject.",
                    {}},
                   &options.user_from, Presence::kOptional, {"off", "cn", "san-uri", "san-dns", "subject"});
  settings.AddText({"tls-user-rules",
                    "File of rules 'PATTERN REPLACEMENT' (RE2) that make a user from the name in a certificate; a name "
                    "without a rule is refused. Empty: the name is the user.",
                    {}},
                   &options.user_rules);
  settings.AddText({"principal-rules",
                    "File of rules 'PATTERN REPLACEMENT' (RE2) that make a user from a principal of Kerberos. Without "
                    "a matching rule, NAME@REALM of the realm of --kerberos-principal is the user NAME.",
                    {}},
                   &options.principal_rules);
  settings.AddText({"proxy-users",
                    "File of rules 'PROXY USERS [ADDRESSES]': the users for which another one may act. Empty: none.",
                    {}},
                   &options.proxy_users);
  settings.AddText({"simple-users",
                    "on: with --tls-user-from, clients in plain text still name themselves, and with Kerberos, clients "
                    "without it; for a change only.",
                    {}},
                   &options.simple_users, Presence::kOptional, {"off", "on"});
  settings.AddBool({"insecure",
                    "Listen on addresses that others reach, although clients need neither TLS nor proof of their "
                    "user: every process that reaches the port may be an administrator.",
                    {}},
                   &options.insecure);
}

Result<std::shared_ptr<const CertificateCallers::Rules>> CertificateCallers::Read(const IdentityOptions& options) {
  auto rules = std::make_shared<Rules>();
  rules->from = UserFromOf(options.user_from);
  rules->simple_users = options.simple_users == "on";
  if (!options.user_rules.empty()) {
    RATCHET_ASSIGN(const std::string text, ReadRuleFile(options.user_rules));
    auto parsed = UserRules::Parse(text);
    if (!parsed.ok()) return InFile(options.user_rules, parsed.error());
    rules->users = std::move(*parsed);
  }
  if (!options.principal_rules.empty()) {
    RATCHET_ASSIGN(const std::string text, ReadRuleFile(options.principal_rules));
    auto parsed = PrincipalUsers::Parse(text);
    if (!parsed.ok()) return InFile(options.principal_rules, parsed.error());
    rules->principals = std::move(*parsed);
  }
  if (!options.proxy_users.empty()) {
    RATCHET_ASSIGN(const std::string text, ReadRuleFile(options.proxy_users));
    auto parsed = ProxyRules::Parse(text, /*groups_known=*/false);
    if (!parsed.ok()) return InFile(options.proxy_users, parsed.error());
    rules->proxies = std::move(*parsed);
  }
  return std::shared_ptr<const Rules>(std::move(rules));
}

// The first line is that of the start.
CertificateCallers::CertificateCallers(const IdentityOptions& options, Millis look_every,
                                       std::shared_ptr<tls::Exposure> exposure, std::shared_ptr<const Clock> clock)
    : exposure_(std::move(exposure)),
      clock_(std::move(clock)),
      next_warning_(clock_->Now() + kBetweenWarnings),
      watch_(options, look_every) {}

Result<std::shared_ptr<CertificateCallers>> CertificateCallers::Open(const IdentityOptions& options, Millis look_every,
                                                                     std::shared_ptr<tls::Exposure> exposure,
                                                                     std::shared_ptr<const Clock> clock) {
  const std::string seen = StateOf(options);
  RATCHET_ASSIGN(auto rules, Read(options));
  if (exposure == nullptr) exposure = std::make_shared<tls::Exposure>();
  if (clock == nullptr) clock = std::make_shared<const SystemClock>();
  std::shared_ptr<CertificateCallers> callers(
      new CertificateCallers(options, look_every, std::move(exposure), std::move(clock)));
  RATCHET_TRY(callers->Apply(std::move(rules)));
  callers->seen_ = seen;
  callers->watch_.Start("user-rules", [raw = callers.get()](const IdentityOptions& each, bool asked) {
    raw->Look(each, asked);
    raw->WarnSometimes();
  });
  return callers;
}

Status CertificateCallers::OpenForProcess(Settings& settings, const IdentityOptions& options) {
  const auto tls = tls::ProcessTls::OfProcess();
  if (options.user_from != "off" && (tls == nullptr || tls->accepts() == tls::TlsMode::kOff))
    return Refusal("--tls-user-from needs --tls accept or require, because clients show certificates by TLS only");
  RATCHET_ASSIGN(std::shared_ptr<CertificateCallers> callers,
                 Open(options, kLookEvery, tls == nullptr ? nullptr : tls->exposure()));
  for (const char* name : {"tls-user-from", "tls-user-rules", "principal-rules", "proxy-users", "simple-users"})
    settings.OnReload(name, [callers, &options] { callers->Want(options); });
  if (options.user_from != "off") RATCHET_LOG(kInfo, "users: from certificates ({})", options.user_from);
  ProcessObject<CertificateCallers>::Set(std::move(callers));
  return Ok();
}

std::shared_ptr<const CertificateCallers> CertificateCallers::OfProcess() {
  return ProcessObject<CertificateCallers>::Get();
}

void CertificateCallers::LookAtFilesOfProcess() {
  if (const auto callers = ProcessObject<CertificateCallers>::Get(); callers != nullptr) callers->LookSoon();
}

Status CertificateCallers::CheckAddresses(const std::vector<std::string>& addresses, bool insecure, bool kerberos) {
  const bool reached = !std::all_of(addresses.begin(), addresses.end(), IsLoopbackAddress);
  const auto callers = ProcessObject<CertificateCallers>::Get();
  const auto exposure = callers == nullptr ? std::make_shared<tls::Exposure>() : callers->exposure_;
  RATCHET_TRY(exposure->Begin(reached, insecure, kerberos));
  if (const std::string weakness = exposure->Weakness(); !weakness.empty())
    RATCHET_LOG(kWarn, "security: {}", ExposedBy(weakness));
  return Ok();
}

bool CertificateCallers::UsersAreProven() {
  const auto callers = ProcessObject<CertificateCallers>::Get();
  return callers != nullptr && !callers->exposure_->NamesItself();
}

Result<std::string> CertificateCallers::UserOfCertificate(const Rules& rules, const tls::PeerCertificate& certificate) {
  RATCHET_ASSIGN(const std::string name, NameIn(certificate, rules.from));
  return rules.users.UserOf(name);
}

Result<std::string> CertificateCallers::UserOfPrincipal(const Rules& rules, const rpc::CallerClaims& claims) {
  return rules.principals.UserOf(claims.principal, RealmOf(claims.own_principal));
}

std::string CertificateCallers::Proven(const rpc::CallerClaims& claims) const {
  const std::shared_ptr<const Rules> rules = this->rules();
  Result<std::string> user = std::string();
  if (!claims.principal.empty()) {
    user = UserOfPrincipal(*rules, claims);
  } else if (rules->from != UserFrom::kOff && claims.certificate != nullptr) {
    user = UserOfCertificate(*rules, *claims.certificate);
  }
  return user.ok() ? *user : std::string();
}

Result<rpc::Caller> CertificateCallers::Decide(const rpc::CallerClaims& claims) const {
  const std::shared_ptr<const Rules> rules = this->rules();
  if (!claims.principal.empty()) return ByPrincipal(*rules, claims);
  if (rules->from != UserFrom::kOff && claims.certificate != nullptr) return ByCertificate(*rules, claims);
  return Unproven(*rules, claims);
}

// The client has shown nothing. It names itself if this process asks for no login, or during a change.
Result<rpc::Caller> CertificateCallers::Unproven(const Rules& rules, const rpc::CallerClaims& claims) {
  const rpc::Caller named{std::string(claims.effective_user), rpc::Authentication::kSimple, {}, {}};
  if (rules.from == UserFrom::kOff) {
    if (claims.own_principal.empty() || rules.simple_users || RATCHET_MUTANT("identity.kerberos_is_optional"))
      return named;
    return Refusal(
        "users log in with Kerberos here (--kerberos-keytab), and this client has not: set "
        "hbase.security.authentication to kerberos, and run kinit");
  }
  if (claims.encrypted)
    return Refusal("users come from certificates here (--tls-user-from), and this client has shown none");
  if (rules.simple_users) return named;
  return Refusal(
      "users come from certificates here (--tls-user-from), and this client speaks plain text: it needs TLS and a "
      "certificate");
}

// The certificate's user is not asked whether the claim is true: the claimed user of a client that acts for itself has
// no effect. A client that names a real user wants to act for another one.
Result<rpc::Caller> CertificateCallers::ByCertificate(const Rules& rules, const rpc::CallerClaims& claims) {
  RATCHET_ASSIGN(std::string user, UserOfCertificate(rules, *claims.certificate));
  const std::string claimed(claims.effective_user);
  rpc::Caller caller{user, rpc::Authentication::kCertificate, {}, claimed == user ? std::string() : claimed};
  if (claims.real_user.empty() || (claims.real_user == user && claimed == user)) return caller;
  if (claims.real_user != user)
    return Refusal(fmt::format("the client claims to be the real user {}, and its certificate is that of {}",
                               ShownName(claims.real_user), user));
  RATCHET_TRY(MayActFor(rules, user, claimed, claims.address));
  caller.real_user = std::move(user);
  caller.user = claimed;
  caller.claimed_user.clear();
  return caller;
}

Status CertificateCallers::MayActFor(const Rules& rules, const std::string& user, const std::string& other,
                                     std::string_view address) {
  if (rules.proxies.Allows(user, other, address, {}) || RATCHET_MUTANT("identity.any_proxy")) return Ok();
  return Refusal(fmt::format("user {} may not act for user {} from {}: no rule of --proxy-users allows it", user,
                             ShownName(other), ShownName(address)));
}

// HBase's clients name their whole principal as the effective user; a proxy names the user for whom it acts.
Result<rpc::Caller> CertificateCallers::ByPrincipal(const Rules& rules, const rpc::CallerClaims& claims) {
  const std::string_view realm = RealmOf(claims.own_principal);
  RATCHET_ASSIGN(std::string user, UserOfPrincipal(rules, claims));
  const auto named = [&](std::string_view text) -> Result<std::string> {
    if (text.empty() || text == claims.principal) return user;
    if (text.find('@') == std::string_view::npos) return std::string(text);
    return rules.principals.UserOf(text, realm);
  };
  RATCHET_ASSIGN(const std::string real, named(claims.real_user));
  if (real != user)
    return Refusal(fmt::format("the client claims to be the real user {}, and its principal is that of {}",
                               ShownName(claims.real_user), user));
  RATCHET_ASSIGN(std::string effective, named(claims.effective_user));
  if (effective == user) return rpc::Caller{std::move(user), rpc::Authentication::kKerberos, {}, {}};
  RATCHET_TRY(MayActFor(rules, user, effective, claims.address));
  return rpc::Caller{std::move(effective), rpc::Authentication::kKerberos, std::move(user), {}};
}

std::vector<std::string> CertificateCallers::Problems() const {
  const std::string weakness = exposure_->Weakness();
  const MutexLock lock(mutex_);
  std::vector<std::string> problems;
  if (!problem_.empty()) problems.push_back(problem_);
  if (rules_->from != UserFrom::kOff && rules_->simple_users)
    problems.emplace_back("clients in plain text name their own user here (--simple-users on)");
  if (!weakness.empty()) problems.push_back(ExposedBy(weakness));
  return problems;
}

void CertificateCallers::WarnSometimes() {
  const TimePoint now = clock_->Now();
  const std::string weakness = exposure_->Weakness();
  if (weakness.empty() || now < next_warning_) return;
  RATCHET_LOG(kWarn, "security: {}", ExposedBy(weakness));
  next_warning_ = now + kBetweenWarnings;
}

Status CertificateCallers::Apply(std::shared_ptr<const Rules> rules) {
  return exposure_->ChangeUsers({rules->from != UserFrom::kOff, rules->simple_users}, [&] {
    const MutexLock lock(mutex_);
    problem_.clear();
    rules_ = std::move(rules);
    changes_.fetch_add(1, std::memory_order_release);  // after the rules
  });
}

// Rules that the port does not permit yet are tried again, because the same reload may change the port too.
void CertificateCallers::Look(const IdentityOptions& options, bool asked) {
  std::string now = StateOf(options);
  if (!asked && !asks_again_ && now == seen_) return;
  seen_ = std::move(now);
  auto read = Read(options);
  const Status applied = read.ok() ? Apply(std::move(*read)) : Status(read.error());
  asks_again_ = read.ok() && !applied.ok();
  if (applied.ok()) return;
  std::string problem =
      fmt::format("users: a reload was refused, the previous rules remain in use: {}", applied.error().message());
  const MutexLock lock(mutex_);
  if (asked || problem != problem_) RATCHET_LOG(kError, "{}", problem);
  problem_ = std::move(problem);
}

}  // namespace ratchet::identity
