// The settings of Kerberos, and what follows from them without the library. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/config.h"
#include "common/base/result.h"

namespace ratchet::kerberos {

struct KerberosOptions {
  std::string keytab;     // file; empty: no Kerberos
  std::string principal;  // NAME/_HOST@REALM
  std::string protection = "auth";

  // `options` must outlive the parsing.
  static void Bind(Settings& settings, KerberosOptions& options);
};

// The bits of rpc::Protection in a list such as "auth-conf,auth-int". An error names the wrong word.
[[nodiscard]] Result<std::uint8_t> ProtectionsOf(std::string_view list);
// The principal with `host` instead of _HOST. kInvalidArgument: not of the form NAME/HOST@REALM.
[[nodiscard]] Result<std::string> PrincipalFor(std::string_view principal, std::string_view host);

}  // namespace ratchet::kerberos
