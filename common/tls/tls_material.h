// OpenSSL's objects of a TlsMaterial. Internal.
#pragma once

#include <vector>

#include "common/tls/openssl_types.h"
#include "common/tls/tls_files.h"

namespace ratchet::tls {

struct TlsMaterial::Parts {
  KeyPtr key;                           // null: no certificate
  std::vector<CertificatePtr> chain;    // the key's certificate first
  std::vector<CertificatePtr> trusted;  // at least one
  std::vector<RevocationListPtr> revoked;
};

}  // namespace ratchet::tls
