#include "common/tls/process_tls.h"

#include <sys/stat.h>

#include <array>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/thread_name.h"

namespace ratchet::tls {
namespace {

constexpr std::array<const char*, 7> kSettingNames{"tls",
                                                   "tls-connect",
                                                   "tls-certificate",
                                                   "tls-password-file",
                                                   "tls-trust",
                                                   "tls-trust-password-file",
                                                   "tls-client-certificates"};

// Changes whenever a file is replaced or written.
std::string StateOf(const TlsFiles& files) {
  std::string state;
  for (const std::string& path : {files.certificate, files.password, files.trust, files.trust_password}) {
    struct stat facts {};
    if (path.empty() || ::stat(path.c_str(), &facts) != 0)
      state += "none;";
    else
      state += fmt::format("{}:{}:{}.{};", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  }
  return state;
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
  settings.AddText({"tls-client-certificates",
                    "Certificates of clients: none (not asked for), want (verified if shown), need (required).",
                    {}},
                   &options.client_certificates, Presence::kOptional, {"none", "want", "need"});
}

Result<ProcessTls::Made> ProcessTls::Make(const TlsOptions& options, TlsMaterial::Use use) {
  Made made;
  made.accepts = ModeOf(options.accept);
  made.connects = options.connect;
  const bool named = !options.files.certificate.empty() || !options.files.trust.empty();
  if (made.accepts == TlsMode::kOff && !made.connects && !named) return made;
  RATCHET_ASSIGN(auto material, TlsMaterial::Read(options.files, use));
  RATCHET_ASSIGN(made.context, TlsContext::Make(std::move(material), ClientsOf(options.client_certificates)));
  return made;
}

Result<std::shared_ptr<ProcessTls>> ProcessTls::Open(const TlsOptions& options, TlsMaterial::Use use,
                                                     Millis look_every) {
  const std::string seen = StateOf(options.files);
  RATCHET_ASSIGN(Made made, Make(options, use));
  const std::shared_ptr<ProcessTls> tls(new ProcessTls(use, look_every));
  {
    const MutexLock lock(tls->mutex_);
    tls->wanted_ = options;
  }
  tls->seen_ = seen;
  tls->Apply(std::move(made));
  if (use == TlsMaterial::Use::kMember) tls->thread_ = std::thread([raw = tls.get()] { raw->Run(); });
  return tls;
}

namespace {

struct Holder {
  Mutex mutex;
  std::shared_ptr<ProcessTls> tls GUARDED_BY(mutex);
};

// Never destroyed, because threads may use it until the process ends.
Holder& TheHolder() {
  static Holder& holder = *new Holder;
  return holder;
}

}  // namespace

Status ProcessTls::OpenForProcess(Settings& settings, const TlsOptions& options, TlsMaterial::Use use) {
  RATCHET_ASSIGN(const std::shared_ptr<ProcessTls> tls, Open(options, use));
  for (const char* name : kSettingNames) settings.OnReload(name, [tls, &options] { tls->Want(options); });
  if (const auto context = tls->context(); context != nullptr)
    RATCHET_LOG(kInfo, "TLS: {} at this port, {} to others; certificate {}", options.accept,
                options.connect ? "required" : "off", context->material().description());
  SetOfProcess(tls);
  return Ok();
}

std::shared_ptr<const ProcessTls> ProcessTls::OfProcess() {
  Holder& holder = TheHolder();
  const MutexLock lock(holder.mutex);
  return holder.tls;
}

void ProcessTls::SetOfProcess(std::shared_ptr<ProcessTls> tls) {
  Holder& holder = TheHolder();
  const MutexLock lock(holder.mutex);
  holder.tls = std::move(tls);
}

void ProcessTls::LookAtFilesOfProcess() {
  std::shared_ptr<ProcessTls> tls;
  {
    Holder& holder = TheHolder();
    const MutexLock lock(holder.mutex);
    tls = holder.tls;
  }
  if (tls == nullptr) return;
  const MutexLock lock(tls->mutex_);
  tls->asked_ = true;
  tls->changed_.NotifyAll();
}

ProcessTls::~ProcessTls() {
  {
    const MutexLock lock(mutex_);
    ends_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const TlsContext> ProcessTls::context() const {
  const MutexLock lock(mutex_);
  return context_;
}

std::vector<std::string> ProcessTls::Problems() const {
  const MutexLock lock(mutex_);
  return problem_.empty() ? std::vector<std::string>() : std::vector<std::string>{problem_};
}

void ProcessTls::Want(const TlsOptions& options) {
  const MutexLock lock(mutex_);
  wanted_ = options;
  asked_ = true;
  changed_.NotifyAll();
}

// A mode that needs a context is set after it, and a context is removed after the mode.
void ProcessTls::Apply(Made made) {
  {
    const MutexLock lock(mutex_);
    problem_.clear();
    if (made.context != nullptr) context_ = made.context;
  }
  accepts_.store(made.accepts, std::memory_order_release);
  connects_.store(made.connects, std::memory_order_release);
}

bool ProcessTls::Await(TlsOptions& options, bool& asked) {
  const SystemClock clock;
  const TimePoint until = clock.Now() + look_every_;
  const MutexLock lock(mutex_);
  for (TimePoint now = clock.Now(); !ends_ && !asked_ && now < until; now = clock.Now())
    changed_.WaitFor(mutex_, until - now);
  options = wanted_;
  asked = std::exchange(asked_, false);
  return !ends_;
}

void ProcessTls::Run() {
  SetThreadName("tls-files");
  TlsOptions options;
  bool asked = false;
  while (Await(options, asked)) Look(options, asked);
}

void ProcessTls::Look(const TlsOptions& options, bool asked) {
  std::string now = StateOf(options.files);
  if (!asked && now == seen_) return;
  seen_ = std::move(now);
  auto made = Make(options, use_);
  if (made.ok()) {
    if (made->context != nullptr)
      RATCHET_LOG(kInfo, "TLS: new connections use the certificate {}", made->context->material().description());
    return Apply(std::move(*made));
  }
  RATCHET_LOG(kError, "TLS: the previous certificate and modes remain in use: {}", made.error().message());
  const MutexLock lock(mutex_);
  problem_ = fmt::format("TLS: a reload was refused, the previous certificate and modes remain in use: {}",
                         made.error().message());
}

}  // namespace ratchet::tls
