// Exposure: what a process requires of clients that reach its port, and whether it must keep that: S154 (no silent
// exposure).
//
// Two objects change it, each on a thread of its own: ProcessTls the port, and the rules of users the users. Each
// applies its change below the mutex of this object, so that neither weakens the process while it relies on the other.
//
// Owned by ProcessTls and shared with the rules of users. Thread-safe.
#pragma once

#include <functional>
#include <string>

#include "common/base/mutex.h"
#include "common/base/result.h"

namespace ratchet::tls {

struct PortFacts {
  bool only_tls = false;
  bool only_certificates = false;  // TLS, and every client must show a certificate
};

struct UserFacts {
  bool from_certificates = false;  // --tls-user-from: a client by TLS without a certificate has no user
  bool simple_users = false;       // --simple-users: clients in plain text, or without Kerberos, name their own user
};

class Exposure {
 public:
  // At the start of a server, when its addresses are known. `reached`: other machines reach one of the addresses.
  // `kerberos`: clients may log in with Kerberos. kInvalidArgument: other machines reach the server, it does not refuse
  // strangers, and `insecure` is false.
  [[nodiscard]] Status Begin(bool reached, bool insecure, bool kerberos);

  // Runs `apply` unless the process must refuse strangers and would not do so any longer (kInvalidArgument).
  [[nodiscard]] Status ChangePort(const PortFacts& port, const std::function<void()>& apply);
  [[nodiscard]] Status ChangeUsers(const UserFacts& users, const std::function<void()>& apply);

  // A client names its own user: no certificate and no login decides who it is.
  [[nodiscard]] bool NamesItself() const;
  // Empty, or what lets others in, as a clause: "it accepts plain text". Empty if only this machine reaches the port.
  [[nodiscard]] std::string Weakness() const;

 private:
  struct Facts {
    PortFacts port;
    UserFacts users;
    bool kerberos = false;
    [[nodiscard]] bool NamesItself() const;
    [[nodiscard]] bool RefusesStrangers() const;
    [[nodiscard]] std::string Weakness() const;
  };
  [[nodiscard]] Status Permit(const Facts& next, bool mutant) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  Facts facts_ GUARDED_BY(mutex_);
  bool reached_ GUARDED_BY(mutex_) = false;
  bool must_refuse_ GUARDED_BY(mutex_) = false;
};

}  // namespace ratchet::tls
