#include "common/ops/page/page_gate.h"

#include <utility>

#include "common/audit/audit_log.h"
#include "common/base/json_writer.h"
#include "common/base/mutant.h"
#include "common/identity/certificate_callers.h"
#include "common/rpc/exceptions.h"
#include "common/tls/process_tls.h"

namespace ratchet::page {
namespace {

constexpr std::string_view kService = "page";
constexpr std::string_view kViews = "/api/";
constexpr std::string_view kMetrics = "/metrics";

std::string FieldOf(const http::HttpRequest& request, const std::string& name) {
  const auto found = request.fields.find(name);
  return found == request.fields.end() ? std::string() : found->second;
}

// The files of the page are the same in every cluster.
bool ShowsCluster(const http::HttpRequest& request) {
  return request.path == kMetrics || request.path.starts_with(kViews);
}

http::HttpResponse Refusal(const http::HttpRequest& request, int status, std::string_view word, std::string_view why) {
  if (!request.path.starts_with(kViews)) return http::HttpResponse::Text(status, std::string(why));
  JsonWriter json;
  json.BeginObject().Add("error", word).Add("message", why).EndObject();
  return http::HttpResponse::Json(status, json.text() + "\n");
}

// Another site's page makes a browser send this request, perhaps with the browser's login. It could not read the
// answer; it has no reason to cause the work either.
bool IsForeign(const http::HttpRequest& request) {
  if (FieldOf(request, "sec-fetch-site") == "cross-site") return true;
  const std::string origin = FieldOf(request, "origin");
  if (origin.empty()) return false;
  const auto end = origin.find("://");
  return end == std::string::npos || origin.substr(end + 3) != FieldOf(request, "host");
}

rpc::AuditedConnection Audited(const http::HttpRequest& request, const std::string& user, const std::string& claimed) {
  rpc::AuditedConnection connection;
  connection.peer = request.peer.address;
  connection.user = user;
  connection.claimed_user = claimed;
  connection.tls = request.peer.tls;
  if (request.peer.certificate != nullptr) connection.serial = request.peer.certificate->serial;
  return connection;
}

void RecordLogin(const rpc::AuditedConnection& connection, const std::string& why_refused) {
  if (const auto audit = audit::AuditLog::OfProcess(); audit != nullptr) audit->Authenticated(connection, why_refused);
}

// One line for each connection, although each of its requests is judged.
void RecordUser(const http::HttpRequest& request, const rpc::AuditedConnection& connection) {
  if (request.peer.known != nullptr && !request.peer.known->exchange(true)) RecordLogin(connection, {});
}

void RecordDenied(const http::HttpRequest& request, const std::string& user, const std::string& why) {
  const auto audit = audit::AuditLog::OfProcess();
  if (audit == nullptr) return;
  rpc::CallContext context;
  context.user = user;
  context.peer = request.peer.address;
  context.service = kService;
  context.method = request.path;
  audit->Denied(context, std::make_shared<const rpc::AuditedConnection>(Audited(request, user, {})), why);
}

}  // namespace

void PageAccess::Bind(Settings& settings, PageAccess& access) {
  settings.AddText({"info-tls",
                    "Encryption of the page and of /metrics by --tls-certificate: off (HTTP), accept (both), require "
                    "(HTTPS only).",
                    {}},
                   &access.tls, Presence::kOptional, {"off", "accept", "require"});
  settings.AddText({"info-logins",
                    "File with hashes of the passwords and tokens by which readers log in to the page and /metrics, "
                    "made by `ratchet page-login`. Empty: readers need no login unless --rights is enforce.",
                    {}},
                   &access.logins.file);
}

Status PageAccess::Begin(Settings& settings, const PageAccess& access) {
  const auto tls = tls::ProcessTls::OfProcess();
  if (access.tls != "off" &&
      (tls == nullptr || tls->page_context() == nullptr || !tls->page_context()->material().has_certificate()))
    return Error(Code::kInvalidArgument, "--info-tls needs a certificate: give --tls-certificate and --tls-trust");
  return identity::PageLogins::OpenForProcess(settings, access.logins);
}

bool PageGate::IsQuick(const http::HttpRequest& request) const {
  if (!asks() || logins_ == nullptr) return true;
  const std::string field = FieldOf(request, "authorization");
  return field.empty() || logins_->IsQuick(field);
}

std::optional<http::HttpResponse> PageGate::Admit(const http::HttpRequest& request) {
  const bool shows = ShowsCluster(request);
  if (shows && IsForeign(request) && !RATCHET_MUTANT("page.any_origin"))
    return Refusal(request, 403, "FOREIGN_ORIGIN", "this request comes from a page of another site");
  std::string user;
  if (asks() && !RATCHET_MUTANT("page.any_reader")) {
    const std::string field = FieldOf(request, "authorization");
    Reader reader = field.empty() ? ByCertificate(request) : ByLogin(request, field);
    if (reader.refusal.has_value()) return std::move(reader.refusal);
    user = std::move(reader.user);
  }
  if (!shows || !judge_.judges()) return std::nullopt;
  const Status may =
      judge_.Check({user}, rights::Demand::Of(rights::Scope::Global(), rights::Action::kRead | rights::Action::kAdmin),
                   request.path);
  if (may.ok()) return std::nullopt;
  const bool denied = may.error().remote_class() == exception::kAccessDenied;
  if (denied) RecordDenied(request, user, may.error().message());
  return Refusal(request, denied ? 403 : 503, denied ? "ACCESS_DENIED" : "NO_RIGHTS_YET", may.error().message());
}

PageGate::Reader PageGate::ByLogin(const http::HttpRequest& request, const std::string& field) {
  // A password in clear on a network is no longer a secret.
  if (!request.peer.encrypted && !request.peer.local && !RATCHET_MUTANT("page.login_in_clear"))
    return {{}, Refusal(request, 403, "NEEDS_HTTPS", "logins are accepted by HTTPS only (--info-tls), or locally")};
  if (logins_ == nullptr || !logins_->wanted())
    return {{}, Refusal(request, 401, "NO_LOGINS", "this process has no logins (--info-logins); use a certificate")};
  const identity::PageLogins::Login login = logins_->Decide(field, request.peer.address);
  const rpc::AuditedConnection connection = Audited(request, login.user, login.claimed);
  if (!login.user.empty()) {
    RecordUser(request, connection);
    return {login.user, std::nullopt};
  }
  RecordLogin(connection, login.why);
  if (login.too_many)
    return {{}, Refusal(request, 429, "TOO_MANY_LOGINS", "too many wrong logins come from this address")};
  return {{}, Refusal(request, 401, "WRONG_LOGIN", login.why)};
}

// A certificate without users (--tls-user-from off) shows that the reader belongs to the cluster, and gives no rights.
PageGate::Reader PageGate::ByCertificate(const http::HttpRequest& request) const {
  const auto callers = identity::CertificateCallers::OfProcess();
  if (request.peer.certificate == nullptr || callers == nullptr)
    return {{}, Refusal(request, 401, "NEEDS_LOGIN", "the page needs a login or a certificate")};
  const auto caller = callers->Decide({request.peer.certificate.get(), true, {}, {}, request.peer.address});
  if (!caller.ok()) {
    RecordLogin(Audited(request, {}, {}), caller.error().message());
    return {{}, Refusal(request, 403, "NO_USER", caller.error().message())};
  }
  rpc::AuditedConnection connection = Audited(request, caller->user, {});
  connection.authentication = caller->authentication;
  RecordUser(request, connection);
  return {caller->user, std::nullopt};
}

}  // namespace ratchet::page
