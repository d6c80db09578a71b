// Parses and makes the introduction of a client before its first request: preamble and connection header. Pure: bytes
// in, verdicts out. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/rpc/cell_compression.h"

namespace ratchet::rpc {

struct ConnectionFacts {
  std::string user;       // claimed, like the next one
  std::string real_user;  // empty: not claimed
  std::string service;
  bool has_codec = false;
  bool codec_has_tags = false;
  CellCompression compression = CellCompression::kNone;
  bool has_version_info = false;
  std::string version;      // of the client, as it names it; empty: not named
  std::string cluster_key;  // empty: not shown
};

inline constexpr std::size_t kPreambleBytes = 6;
inline constexpr std::size_t kMaxConnectionHeaderBytes = 64u << 10;
// Attribute of the connection header in which versions before 0.3 of the cluster's own processes show its key (S77:
// members only).
inline constexpr std::string_view kClusterKeyAttribute = "ratchet.cluster.key";
// SIMPLE authentication.
inline constexpr char kAuthSimple = 80;
// Kerberos, by SASL's GSSAPI.
inline constexpr char kAuthKerberos = 81;
// A token, by SASL's DIGEST-MD5.
inline constexpr char kAuthDigest = 82;

enum class Preamble : std::uint8_t {
  kHBase,     // "HBas", version 0, simple authentication: the connection header follows
  kMember,    // "HBas", version 0, the proof of a member (member_proof.h); after it the connection header
  kDigest,    // "HBas", version 0, the messages of DIGEST-MD5 (digest_sasl.h); after them the connection header
  kKerberos,  // "HBas", version 0, the messages of GSSAPI (gssapi_sasl.h); after them the connection header
  kRegistry,  // "Regist": asks for the cluster's id
  kSecurity,  // "Securi": asks for a Kerberos principal
};

// `bytes`: exactly kPreambleBytes. The error has the exception class for the client.
[[nodiscard]] Result<Preamble> ReadPreamble(std::string_view bytes);
// `bytes`: the ConnectionHeader message. Service names are not looked up here.
[[nodiscard]] Result<ConnectionFacts> ReadConnectionHeader(std::string_view bytes);

// Frames about the connection itself (call id -1).
[[nodiscard]] std::string ConnectionExceptionFrame(const Error& error);
[[nodiscard]] std::string ClusterIdFrame(const std::string& cluster_id);
[[nodiscard]] std::string PrincipalFrame(const std::string& principal);
// The preamble of a member, after which it proves itself.
[[nodiscard]] std::string MemberPreamble();
// Length and header, which follow the preamble or the proof.
[[nodiscard]] std::string ConnectionHeaderUnit(const std::string& user, const std::string& service, bool cell_blocks,
                                               const std::string& cluster_key = {});
// The introduction of our own clients: preamble, length and header. `cluster_key`: shown in clear; empty for clients.
[[nodiscard]] std::string ClientHello(const std::string& user, const std::string& service, bool cell_blocks,
                                      const std::string& cluster_key = {});

}  // namespace ratchet::rpc
