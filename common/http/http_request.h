// Parses the bytes of a request's head. Pure; the bytes may come from any client.
//
// Source of the rules: RFC 9112 (messages), RFC 3986 (targets). Features that a page and a scraper do not need are
// refused: bodies, other methods than GET and HEAD, absolute targets, folded lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tls/peer_certificate.h"

namespace ratchet::http {

// The connection of a request, as the server knows it. No field of the request changes it.
struct HttpPeer {
  std::string address;  // numeric, without the port
  bool local = false;   // a loopback address
  bool encrypted = false;
  std::shared_ptr<const tls::PeerCertificate> certificate;  // verified; null: none
  std::int64_t expires_ms = 0;                              // of this certificate
  std::string tls;                                          // "TLSv1.3, TLS_AES_128_GCM_SHA256"; empty: plain text
  std::shared_ptr<std::atomic<bool>> known;                 // the user of this connection was recorded
};

struct HttpRequest {
  bool head = false;                          // HEAD: the answer has no body
  std::string path;                           // decoded, begins with '/'
  std::map<std::string, std::string> query;   // decoded; for a name that occurs twice the last value
  std::map<std::string, std::string> fields;  // names in lower case
  bool keep_alive = true;
  HttpPeer peer;  // set by the server

  // Empty when it is missing.
  [[nodiscard]] std::string Parameter(const std::string& name) const;
  // A whole number in [low, high]; `otherwise` when it is missing. kInvalidArgument names the parameter.
  [[nodiscard]] Result<std::uint64_t> Number(const std::string& name, std::uint64_t otherwise, std::uint64_t low,
                                             std::uint64_t high) const;
};

// A refusal: the status to answer with, and the reason.
struct HttpRefusal {
  int status = 400;
  std::string why;
};

// The length of the head at the beginning of `bytes`, its empty line included; nullopt when it is incomplete.
[[nodiscard]] std::optional<std::size_t> HeadLength(std::string_view bytes);
// `head`: as HeadLength measured it. If it returns false, `refusal` gives the reason, and the connection must be
// closed.
[[nodiscard]] bool ParseHead(std::string_view head, HttpRequest* request, HttpRefusal* refusal);
// "%41+b" -> "A b" with `plus_is_space`, else "A+b"; nullopt when a '%' has no two hex digits.
[[nodiscard]] std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_space);

}  // namespace ratchet::http
