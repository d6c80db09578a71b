// CertificateCallers: users of connections from the certificates of clients, and from their principals of Kerberos.
//
// The files of rules are read at the start, after a reload of the settings, and when a check twice a minute finds them
// changed. A file that cannot be used changes nothing and is a problem that `ratchet status` shows.
//
// Thread-safe. One thread of its own, which may hang at the files without an effect on others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/config.h"
#include "common/base/mutex.h"
#include "common/base/options_watch.h"
#include "common/base/result.h"
#include "common/identity/principal_users.h"
#include "common/identity/proxy_rules.h"
#include "common/identity/user_rules.h"
#include "common/rpc/caller_rules.h"
#include "common/tls/exposure.h"

namespace ratchet::identity {

struct IdentityOptions {
  std::string user_from = "off";
  std::string user_rules;       // file; empty: the name in the certificate is the user
  std::string principal_rules;  // file; empty: only principals NAME@REALM of the own realm are users
  std::string proxy_users;      // file; empty: no user acts for another
  std::string simple_users = "off";
  bool insecure = false;

  // `options` must outlive the parsing; in a program with reloads, the program.
  static void Bind(Settings& settings, IdentityOptions& options);
};

// The name in a certificate that is the user.
enum class UserFrom : std::uint8_t { kOff, kCommonName, kUri, kDnsName, kSubject };

class CertificateCallers final : public rpc::CallerRules {
 public:
  static constexpr Millis kLookEvery{30'000};

  // An error (kInvalidArgument) names the file and the remedy. `clock`: of the hourly line; null: the system's.
  [[nodiscard]] static Result<std::shared_ptr<CertificateCallers>> Open(const IdentityOptions& options,
                                                                        Millis look_every = kLookEvery,
                                                                        std::shared_ptr<tls::Exposure> exposure = {},
                                                                        std::shared_ptr<const Clock> clock = {});
  // At the start of a program: opens the object, makes it the one of the process, and lets it follow the settings.
  [[nodiscard]] static Status OpenForProcess(Settings& settings, const IdentityOptions& options);
  // Null: clients name themselves.
  [[nodiscard]] static std::shared_ptr<const CertificateCallers> OfProcess();
  static void LookAtFilesOfProcess();
  // After the start of a server. `kerberos`: clients may log in with Kerberos. kInvalidArgument: others reach one of
  // its addresses (numeric), it does not refuse clients that prove nothing, and --insecure was not given. With
  // --insecure the process shows the problem as long as it has it.
  [[nodiscard]] static Status CheckAddresses(const std::vector<std::string>& addresses, bool insecure, bool kerberos);
  // False: a client may name its own user at this process's port.
  [[nodiscard]] static bool UsersAreProven();
  CertificateCallers(const CertificateCallers&) = delete;
  CertificateCallers& operator=(const CertificateCallers&) = delete;

  [[nodiscard]] Result<rpc::Caller> Decide(const rpc::CallerClaims& claims) const override;
  [[nodiscard]] std::string Proven(const rpc::CallerClaims& claims) const override;
  [[nodiscard]] std::uint64_t changes() const override { return changes_.load(std::memory_order_acquire); }

  // After a reload of the settings: the thread reads the files, then applies the options as a whole, or not at all.
  void Want(const IdentityOptions& options) { watch_.Want(options); }
  void LookSoon() { watch_.LookSoon(); }
  // Others reach this process, and it does not refuse clients that prove nothing (--insecure).
  [[nodiscard]] bool exposed() const { return !exposure_->Weakness().empty(); }
  [[nodiscard]] std::vector<std::string> Problems() const;

 private:
  struct Rules {
    UserFrom from = UserFrom::kOff;
    bool simple_users = false;
    UserRules users;
    PrincipalUsers principals;
    ProxyRules proxies;
  };
  CertificateCallers(const IdentityOptions& options, Millis look_every, std::shared_ptr<tls::Exposure> exposure,
                     std::shared_ptr<const Clock> clock);
  [[nodiscard]] static Result<std::shared_ptr<const Rules>> Read(const IdentityOptions& options);
  [[nodiscard]] static Result<std::string> UserOfCertificate(const Rules& rules,
                                                             const tls::PeerCertificate& certificate);
  [[nodiscard]] static Result<std::string> UserOfPrincipal(const Rules& rules, const rpc::CallerClaims& claims);
  [[nodiscard]] static Result<rpc::Caller> ByCertificate(const Rules& rules, const rpc::CallerClaims& claims);
  [[nodiscard]] static Result<rpc::Caller> ByPrincipal(const Rules& rules, const rpc::CallerClaims& claims);
  [[nodiscard]] static Result<rpc::Caller> Unproven(const Rules& rules, const rpc::CallerClaims& claims);
  [[nodiscard]] static Status MayActFor(const Rules& rules, const std::string& user, const std::string& other,
                                        std::string_view address);
  [[nodiscard]] std::shared_ptr<const Rules> rules() const {
    const MutexLock lock(mutex_);
    return rules_;
  }
  [[nodiscard]] Status Apply(std::shared_ptr<const Rules> rules);
  void Look(const IdentityOptions& options, bool asked);
  void WarnSometimes();

  const std::shared_ptr<tls::Exposure> exposure_;
  const std::shared_ptr<const Clock> clock_;
  std::atomic<std::uint64_t> changes_{0};
  mutable Mutex mutex_;
  std::shared_ptr<const Rules> rules_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);
  std::string seen_;         // state of the files at the last check; used by the thread only, like the next two
  bool asks_again_ = false;  // the port did not permit the wanted rules yet
  TimePoint next_warning_;
  OptionsWatch<IdentityOptions> watch_;
};

}  // namespace ratchet::identity
