// GssAcceptor: accepts logins by MIT's GSSAPI. A thin shell without decisions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/rpc/security_context.h"

namespace ratchet::kerberos {

// Thread-safe. Contexts keep what they need of it.
class GssAcceptor final : public rpc::KerberosAcceptor {
 public:
  // Reads the keytab. kInvalidArgument: it cannot be used, or has no key of the principal; the text has the remedy.
  // The library reads the keytab again for each login, so a replaced file counts at once.
  [[nodiscard]] static Result<std::shared_ptr<GssAcceptor>> Open(const std::string& keytab, std::string principal,
                                                                 std::uint8_t protections);

  [[nodiscard]] std::unique_ptr<rpc::SecurityContext> Begin() const override;
  [[nodiscard]] const std::string& principal() const override { return principal_; }
  [[nodiscard]] std::uint8_t protections() const override { return protections_; }

  struct Credentials;

 private:
  GssAcceptor(std::shared_ptr<const Credentials> credentials, std::string principal, std::uint8_t protections)
      : credentials_(std::move(credentials)), principal_(std::move(principal)), protections_(protections) {}

  const std::shared_ptr<const Credentials> credentials_;
  const std::string principal_;
  const std::uint8_t protections_;
};

}  // namespace ratchet::kerberos
