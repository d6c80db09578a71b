#include "common/tls/process_tls.h"

#include <array>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/process_object.h"

namespace ratchet::tls {
namespace {

constexpr std::array<const char*, 8> kSettingNames{"tls",
                                                   "tls-connect",
                                                   "tls-certificate",
                                                   "tls-password-file",
                                                   "tls-trust",
                                                   "tls-trust-password-file",
                                                   "tls-revoked",
                                                   "tls-client-certificates"};

std::string StateOf(const TlsFiles& files) {
  return StateOfFiles({files.certificate, files.password, files.trust, files.trust_password, files.revoked});
}

TlsMode ModeOf(std::string_view text) {
  if (text == "off") return TlsMode::kOff;
  return text == "accept" ? TlsMode::kAccept : TlsMode::kRequire;
}

ClientCertificates ClientsOf(std::string_view text) {
  if (text == "none") return ClientCertificates::kNone;
  return text == "want" ? ClientCertificates::kWant : ClientCertificates::kNeed;
}

}  // namespace

void TlsOptions::Bind(Settings& settings, TlsOptions& options) {
  settings.AddText(
      {"tls", "Encryption at this process's port: off (plain text only), accept (both), require (TLS only).", {}},
      &options.accept, Presence::kOptional, {"off", "accept", "require"});
  settings.AddBool({"tls-connect",
                    "Connect to other processes of the cluster by TLS only, and verify their host names.",
                    {"hbase.client.netty.tls.enabled"}},
                   &options.connect);
  settings.AddText(
      {"tls-certificate",
       "File with this process's key and certificates, in PEM or PKCS#12; must be readable by its user only.",
       {"hbase.rpc.tls.keystore.location"}},
      &options.files.certificate);
  settings.AddText({"tls-password-file", "File with the password of --tls-certificate; empty: no password.", {}},
                   &options.files.password);
  settings.AddText({"tls-trust",
                    "File with the certificates of the trusted authorities, in PEM or PKCS#12.",
                    {"hbase.rpc.tls.truststore.location"}},
                   &options.files.trust);
  settings.AddText({"tls-trust-password-file", "File with the password of --tls-trust; empty: no password.", {}},
                   &options.files.trust_password);
  settings.AddText({"tls-revoked",
                    "File with the authorities' lists of revoked certificates (CRL), in PEM; empty: none are revoked.",
                    {}},
                   &options.files.revoked);
  settings.AddMillis({"tls-connection-age-ms",
                      "Age at which this process closes a TLS connection of a client, give or take a tenth; 0: never.",
                      {}},
                     &options.connection_age, Millis(0), Millis(30LL * 86'400'000));
  settings.AddText({"tls-client-certificates",
                    "Certificates of clients: none (not asked for), want (verified if shown), need (required).",
                    {}},
                   &options.client_certificates, Presence::kOptional, {"none", "want", "need"});
}

Result<ProcessTls::Made> ProcessTls::Make(const TlsOptions& options, TlsMaterial::Use use) {
  Made made;
  made.accepts = ModeOf(options.accept);
  made.connects = options.connect;
  made.only_certificates =
      made.accepts == TlsMode::kRequire && ClientsOf(options.client_certificates) == ClientCertificates::kNeed;
  const bool named = !options.files.certificate.empty() || !options.files.trust.empty();
  if (made.accepts == TlsMode::kOff && !made.connects && !named) return made;
  RATCHET_ASSIGN(auto material, TlsMaterial::Read(options.files, use));
  RATCHET_ASSIGN(made.context, TlsContext::Make(material, ClientsOf(options.client_certificates)));
  if (use == TlsMaterial::Use::kMember) {
    RATCHET_ASSIGN(made.page_context, TlsContext::Make(std::move(material), ClientCertificates::kWant));
  }
  return made;
}

Result<std::shared_ptr<ProcessTls>> ProcessTls::Open(const TlsOptions& options, TlsMaterial::Use use,
                                                     Millis look_every) {
  const std::string seen = StateOf(options.files);
  RATCHET_ASSIGN(Made made, Make(options, use));
  const std::shared_ptr<ProcessTls> tls(new ProcessTls(options, use, look_every));
  tls->seen_ = seen;
  tls->connection_age_ = options.connection_age;
  RATCHET_TRY(tls->Apply(std::move(made)));
  if (tls->context() != nullptr || use == TlsMaterial::Use::kMember)
    tls->watch_.Start("tls-files", [raw = tls.get()](const auto& each, bool asked) { raw->Look(each, asked); });
  return tls;
}

Status ProcessTls::OpenForProcess(Settings& settings, const TlsOptions& options, TlsMaterial::Use use) {
  RATCHET_ASSIGN(const std::shared_ptr<ProcessTls> tls, Open(options, use));
  for (const char* name : kSettingNames) settings.OnReload(name, [tls, &options] { tls->Want(options); });
  if (const auto context = tls->context(); context != nullptr)
    RATCHET_LOG(kInfo, "TLS: {} at this port, {} to others; certificate {}", options.accept,
                options.connect ? "required" : "off", context->material().description());
  SetOfProcess(tls);
  return Ok();
}

std::shared_ptr<const ProcessTls> ProcessTls::OfProcess() { return ProcessObject<ProcessTls>::Get(); }

void ProcessTls::SetOfProcess(std::shared_ptr<ProcessTls> tls) { ProcessObject<ProcessTls>::Set(std::move(tls)); }

void ProcessTls::LookAtFilesOfProcess() {
  if (const auto tls = ProcessObject<ProcessTls>::Get(); tls != nullptr) tls->watch_.LookSoon();
}

std::shared_ptr<const TlsContext> ProcessTls::context() const {
  const MutexLock lock(mutex_);
  return context_;
}

std::shared_ptr<const TlsContext> ProcessTls::page_context() const {
  const MutexLock lock(mutex_);
  return page_context_;
}

std::vector<std::string> ProcessTls::Problems() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> problems;
  if (!problem_.empty()) problems.push_back(problem_);
  std::string overdue = context_ == nullptr ? std::string() : context_->material().OverdueList();
  if (!overdue.empty()) problems.push_back(std::move(overdue));
  return problems;
}

// A mode that needs a context is set after it, and a context is removed after the mode.
Status ProcessTls::Apply(Made made) {
  return exposure_->ChangePort({made.accepts == TlsMode::kRequire, made.only_certificates}, [&] {
    {
      const MutexLock lock(mutex_);
      problem_.clear();
      if (made.context != nullptr) context_ = made.context;
      if (made.page_context != nullptr) page_context_ = made.page_context;
    }
    changes_.fetch_add(1, std::memory_order_release);
    accepts_.store(made.accepts, std::memory_order_release);
    connects_.store(made.connects, std::memory_order_release);
    only_certificates_.store(made.only_certificates, std::memory_order_release);
  });
}

// Modes that the rules of users do not permit yet are tried again, because the same reload may change those rules too.
void ProcessTls::Look(const TlsOptions& options, bool asked) {
  std::string now = StateOf(options.files);
  if (!asked && !asks_again_ && now == seen_) return;
  seen_ = std::move(now);
  auto made = Make(options, use_);
  Status applied = Ok();
  if (!made.ok()) {
    asks_again_ = false;
    applied = made.error();
  } else {
    const auto context = made->context;
    applied = Apply(std::move(*made));
    asks_again_ = !applied.ok();
    if (applied.ok() && context != nullptr) RATCHET_LOG(kInfo, "{} {}", kTaken, context->material().description());
  }
  if (applied.ok()) return;
  std::string problem = fmt::format("{}: {}", kKept, applied.error().message());
  const MutexLock lock(mutex_);
  if (asked || problem != problem_) RATCHET_LOG(kError, "{}", problem);
  problem_ = std::move(problem);
}

}  // namespace ratchet::tls
