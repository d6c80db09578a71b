// PageLogins: who logs in to the page of this process. It follows the file of --info-logins, as CertificateCallers
// follows its files: a file that cannot be used changes nothing and is a problem that `ratchet status` shows.
//
// Thread-safe. One thread of its own, which may hang at the file without an effect on others. Bounds: kMostKnown
// passwords that were right, and kMostAddresses addresses with wrong ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/mutex.h"
#include "common/base/options_watch.h"
#include "common/base/result.h"
#include "common/identity/login_file.h"

namespace ratchet::identity {

struct PageLoginOptions {
  std::string file;  // empty: no logins
};

class PageLogins {
 public:
  static constexpr Millis kLookEvery{30'000};
  static constexpr std::size_t kMostKnown = 256;
  static constexpr std::size_t kMostAddresses = 1'024;
  static constexpr std::uint32_t kMostWrong = 20;  // passwords or tokens of one address in kWrongFor
  static constexpr Millis kWrongFor{60'000};

  // An error (kInvalidArgument) names the file and the remedy.
  [[nodiscard]] static Result<std::shared_ptr<PageLogins>> Open(const PageLoginOptions& options, const Clock& clock,
                                                                Millis look_every = kLookEvery);
  // At the start of a program: opens the object, makes it the one of the process, and lets it follow the setting
  // `info-logins`.
  [[nodiscard]] static Status OpenForProcess(Settings& settings, const PageLoginOptions& options);
  // Null: no process object was opened.
  [[nodiscard]] static std::shared_ptr<PageLogins> OfProcess();
  static void LookAtFilesOfProcess();
  PageLogins(const PageLogins&) = delete;
  PageLogins& operator=(const PageLogins&) = delete;

  // A file is named: every reader of the page must log in.
  [[nodiscard]] bool wanted() const { return wanted_.load(std::memory_order_acquire); }
  // `field`: the value of a field Authorization, from any client. False: Decide compares a password, which is slow.
  [[nodiscard]] bool IsQuick(std::string_view field) const;

  struct Login {
    std::string user;     // empty: refused
    std::string why;      // of a refusal
    std::string claimed;  // the user that the client names, for the audit log; any bytes
    bool is_new = false;  // not one of the passwords that were right before
    bool too_many = false;
  };
  [[nodiscard]] Login Decide(std::string_view field, const std::string& address);

  void Want(const PageLoginOptions& options) { watch_.Want(options); }
  [[nodiscard]] std::vector<std::string> Problems() const;

 private:
  struct Wrong {
    std::uint32_t count = 0;
    TimePoint until{};
  };
  PageLogins(const PageLoginOptions& options, const Clock& clock, Millis look_every);
  [[nodiscard]] static Result<std::shared_ptr<const LoginFile>> Read(const PageLoginOptions& options);
  [[nodiscard]] std::string KeyOf(std::string_view user, std::string_view password) const;
  [[nodiscard]] bool TooMany(const std::string& address) REQUIRES(mutex_);
  void NoteWrong(const std::string& address) REQUIRES(mutex_);
  [[nodiscard]] Login DecidePassword(std::string_view encoded, const std::string& address);
  void Apply(const PageLoginOptions& options, std::shared_ptr<const LoginFile> file);
  void Look(const PageLoginOptions& options, bool asked);

  const Clock& clock_;
  const std::string secret_;  // of this process: the memory has no hash that is quick to compare
  std::atomic<bool> wanted_{false};
  mutable Mutex mutex_;
  std::shared_ptr<const LoginFile> file_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::string> known_ GUARDED_BY(mutex_);  // KeyOf -> user
  std::map<std::string, Wrong> wrong_ GUARDED_BY(mutex_);                  // by address
  std::string problem_ GUARDED_BY(mutex_);
  std::string seen_;  // state of the file at the last check; used by the thread only
  OptionsWatch<PageLoginOptions> watch_;
};

}  // namespace ratchet::identity
