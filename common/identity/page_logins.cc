#include "common/identity/page_logins.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/process_object.h"
#include "common/base/small_file.h"
#include "common/identity/rule_file.h"
#include "common/rpc/digests.h"

namespace ratchet::identity {
namespace {

constexpr std::string_view kBasic = "basic ";
constexpr std::string_view kBearer = "bearer ";
constexpr const char* kWrongSecret = "the password or token is wrong";

std::string StateOf(const PageLoginOptions& options) { return StateOfFiles({options.file}); }

// The words that name a kind of login are written in any case.
bool HasScheme(std::string_view field, std::string_view scheme) {
  return field.size() >= scheme.size() && std::equal(scheme.begin(), scheme.end(), field.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

struct NamedPassword {
  std::string user;
  std::string password;
};

std::optional<NamedPassword> PasswordIn(std::string_view encoded) {
  const auto text = rpc::FromBase64(encoded);
  const std::size_t colon = text.has_value() ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return NamedPassword{text->substr(0, colon), text->substr(colon + 1)};
}

}  // namespace

PageLogins::PageLogins(const PageLoginOptions& options, const Clock& clock, Millis look_every)
    : clock_(clock), secret_(rpc::RandomBytes(rpc::kDigestBytes)), watch_(options, look_every) {}

Result<std::shared_ptr<const LoginFile>> PageLogins::Read(const PageLoginOptions& options) {
  if (options.file.empty()) return std::make_shared<const LoginFile>();
  const FileGuard hashes{SecretFile().forbidden,
                         "it holds hashes of secrets, and other users may read or change it; chmod 600"};
  RATCHET_ASSIGN(const std::string text, ReadSmallFile(options.file, kMostRuleFileBytes, hashes));
  auto parsed = LoginFile::Parse(text);
  if (parsed.ok() && parsed->empty())
    parsed = Error(Code::kInvalidArgument, "it has no login; `ratchet page-login` makes one");
  if (!parsed.ok()) return Error(Code::kInvalidArgument, fmt::format("{}: {}", options.file, parsed.error().message()));
  return std::make_shared<const LoginFile>(std::move(*parsed));
}

Result<std::shared_ptr<PageLogins>> PageLogins::Open(const PageLoginOptions& options, const Clock& clock,
                                                     Millis look_every) {
  const std::string seen = StateOf(options);
  RATCHET_ASSIGN(auto file, Read(options));
  std::shared_ptr<PageLogins> logins(new PageLogins(options, clock, look_every));
  logins->seen_ = seen;
  logins->Apply(options, std::move(file));
  logins->watch_.Start("page-logins", [raw = logins.get()](const auto& each, bool asked) { raw->Look(each, asked); });
  return logins;
}

Status PageLogins::OpenForProcess(Settings& settings, const PageLoginOptions& options) {
  static const SystemClock clock;
  RATCHET_ASSIGN(std::shared_ptr<PageLogins> logins, Open(options, clock));
  settings.OnReload("info-logins", [logins, &options] { logins->Want(options); });
  ProcessObject<PageLogins>::Set(std::move(logins));
  return Ok();
}

std::shared_ptr<PageLogins> PageLogins::OfProcess() { return ProcessObject<PageLogins>::Get(); }

void PageLogins::LookAtFilesOfProcess() {
  if (const auto logins = OfProcess(); logins != nullptr) logins->watch_.LookSoon();
}

std::string PageLogins::KeyOf(std::string_view user, std::string_view password) const {
  return rpc::HmacSha256(secret_, fmt::format("{}:{}", user, password));
}

bool PageLogins::IsQuick(std::string_view field) const {
  if (!HasScheme(field, kBasic)) return true;
  const auto shown = PasswordIn(field.substr(kBasic.size()));
  if (!shown.has_value()) return true;
  const std::string key = KeyOf(shown->user, shown->password);
  const MutexLock lock(mutex_);
  return known_.contains(key);
}

PageLogins::Login PageLogins::Decide(std::string_view field, const std::string& address) {
  if (HasScheme(field, kBasic)) return DecidePassword(field.substr(kBasic.size()), address);
  Login login;
  if (!HasScheme(field, kBearer)) {
    login.why = "the kind of login is neither Basic nor Bearer";
    return login;
  }
  const MutexLock lock(mutex_);
  if (auto user = file_->UserOfToken(field.substr(kBearer.size())); user.has_value()) {
    login.user = std::move(*user);
    return login;
  }
  login.why = kWrongSecret;
  login.too_many = TooMany(address);
  NoteWrong(address);
  return login;
}

PageLogins::Login PageLogins::DecidePassword(std::string_view encoded, const std::string& address) {
  Login login;
  const auto shown = PasswordIn(encoded);
  if (!shown.has_value()) {
    login.why = "the field Authorization cannot be read";
    return login;
  }
  login.claimed = shown->user;
  const std::string key = KeyOf(shown->user, shown->password);
  std::shared_ptr<const LoginFile> file;
  {
    const MutexLock lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) {
      login.user = known->second;
      return login;
    }
    login.too_many = TooMany(address);
    file = file_;
  }
  login.is_new = true;
  login.why = kWrongSecret;
  if (login.too_many && !RATCHET_MUTANT("page.endless_guesses")) return login;
  login.too_many = false;
  const bool right = file->HasPassword(shown->user, shown->password) || RATCHET_MUTANT("page.any_password");
  const MutexLock lock(mutex_);
  if (!right) {
    NoteWrong(address);
    return login;
  }
  login.user = shown->user;
  login.why.clear();
  if (file != file_) return login;  // the file was replaced meanwhile: the next request is judged by the new one
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(key, login.user);
  return login;
}

bool PageLogins::TooMany(const std::string& address) {
  const auto found = wrong_.find(address);
  return found != wrong_.end() && clock_.Now() < found->second.until && found->second.count >= kMostWrong;
}

void PageLogins::NoteWrong(const std::string& address) {
  const TimePoint now = clock_.Now();
  if (!wrong_.contains(address) && wrong_.size() >= kMostAddresses) {
    std::erase_if(wrong_, [now](const auto& each) { return now >= each.second.until; });
    if (wrong_.size() >= kMostAddresses) wrong_.erase(wrong_.begin());
  }
  Wrong& wrong = wrong_[address];
  if (now >= wrong.until) wrong = {0, now + kWrongFor};
  ++wrong.count;
}

std::vector<std::string> PageLogins::Problems() const {
  const MutexLock lock(mutex_);
  return problem_.empty() ? std::vector<std::string>() : std::vector<std::string>{problem_};
}

void PageLogins::Apply(const PageLoginOptions& options, std::shared_ptr<const LoginFile> file) {
  const MutexLock lock(mutex_);
  file_ = std::move(file);
  known_.clear();  // a password that is no longer in the file is asked for again
  problem_.clear();
  wanted_.store(!options.file.empty(), std::memory_order_release);
}

void PageLogins::Look(const PageLoginOptions& options, bool asked) {
  std::string now = StateOf(options);
  if (!asked && now == seen_) return;
  seen_ = std::move(now);
  auto read = Read(options);
  if (read.ok()) return Apply(options, std::move(*read));
  RATCHET_LOG(kError, "page: the previous logins remain in use: {}", read.error().message());
  const MutexLock lock(mutex_);
  problem_ = fmt::format("page: a reload was refused, the previous logins remain in use: {}", read.error().message());
}

}  // namespace ratchet::identity
