// The names in a peer's certificate, as they are in it: any bytes.
#pragma once

#include <string>
#include <vector>

namespace ratchet::tls {

struct PeerCertificate {
  std::string subject;                    // as RFC 2253 writes it, with control characters escaped
  std::vector<std::string> common_names;  // UTF-8
  std::vector<std::string> uris;          // alternative names
  std::vector<std::string> dns_names;     // alternative names
  std::string serial;                     // hexadecimal
};

}  // namespace ratchet::tls
