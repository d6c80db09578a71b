// The proof by which two processes of one cluster recognise each other, S123 (only a proof makes a member). Pure: bytes
// in, bytes and verdicts out. Internal.
//
// The client sends the preamble with the authentication byte kAuthMember. Then, each in a unit of a 4-byte length and
// its bytes (docs/wire-compatibility.md, "Members"):
//   client  MemberHello    version, nonce, role, own name
//   server  MemberAnswer   nonce, own name, mac of the server
//   client  mac of the client
//   server  an empty unit
// A mac is HMAC-SHA256(K, side, SHA-256(everything before it), binding), where K is derived from the cluster's key. The
// server proves itself first: a client sends no proof to a server of another name or without the key. Neither the key
// nor anything from which it can be computed is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/host_port.h"
#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::rpc {

// Authentication byte of the preamble.
inline constexpr char kAuthMember = 0x78;
inline constexpr std::uint8_t kMemberVersion = 1;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kMacBytes = 32;
inline constexpr std::size_t kMostMemberName = 512;
// Maximum size of each unit of the proof, in both directions.
inline constexpr std::size_t kMostMemberUnit = 1 + kNonceBytes + 1 + 2 + kMostMemberName + kMacBytes;
inline constexpr std::size_t kMostMemberKeys = 2;  // the second one during a rotation

enum class MemberRole : std::uint8_t { kMaster = 1, kRegionServer = 2 };
[[nodiscard]] std::string_view MemberRoleName(MemberRole role);

// One key of the cluster, as proofs use it.
struct MemberKey {
  std::string derived;  // K
  std::string id;       // identifies the key without revealing it
  bool operator==(const MemberKey&) const = default;
};
[[nodiscard]] MemberKey DeriveMemberKey(std::string_view cluster_key);
// The first key makes proofs; proofs by each of them are accepted. No key: no proof is made or accepted.
using MemberKeys = std::vector<MemberKey>;

struct MemberHello {
  std::uint8_t version = kMemberVersion;
  std::string nonce;
  MemberRole role = MemberRole::kMaster;
  ServerName name;
};
struct MemberAnswer {
  std::string nonce;
  ServerName name;
  std::string mac;
};

[[nodiscard]] std::string EncodeMemberHello(const MemberHello& hello);
// kInvalidArgument: a wrong length, an unknown version or role, or a name that is not host,port,startcode.
[[nodiscard]] Result<MemberHello> ReadMemberHello(std::string_view bytes);
[[nodiscard]] std::string EncodeMemberAnswer(const MemberAnswer& answer);
[[nodiscard]] Result<MemberAnswer> ReadMemberAnswer(std::string_view bytes);

// The process at the other end, once it has proven itself.
struct MemberPeer {
  ServerName name;
  MemberRole role = MemberRole::kMaster;
  std::string key_id;  // of the key by which it did
};

// The client's side of one connection.
class MemberClientProof {
 public:
  // `wanted`: the server that must be at the other end. `binding`: the exporter of the encrypted channel, or empty.
  MemberClientProof(MemberHello own, HostPort wanted, MemberKeys keys, std::string binding = {});

  [[nodiscard]] const std::string& hello() const { return hello_; }
  // `bytes`: the server's MemberAnswer. Returns the client's last unit. Every error: the connection must be closed, and
  // nothing more may be sent. Call it once.
  [[nodiscard]] Result<std::string> OnAnswer(std::string_view bytes);

 private:
  const HostPort wanted_;
  const MemberKeys keys_;
  const std::string binding_;
  const std::string hello_;
};

// The server's side of one connection.
class MemberServerProof {
 public:
  MemberServerProof(ServerName own, std::string nonce, MemberKeys keys, std::string binding = {});

  // `bytes`: the client's next unit. Returns the unit to send; empty at the end. Every error: the client must be
  // refused, and the object takes no further unit.
  [[nodiscard]] Result<std::string> OnUnit(std::string_view bytes);
  // Set at the end.
  [[nodiscard]] const std::optional<MemberPeer>& peer() const { return peer_; }

 private:
  enum class Expects : std::uint8_t { kHello, kMac, kNothing };

  [[nodiscard]] Result<std::string> OnHello(std::string_view bytes);
  [[nodiscard]] Status OnMac(std::string_view bytes);

  const ServerName own_;
  const std::string nonce_;
  const MemberKeys keys_;
  const std::string binding_;
  Expects expects_ = Expects::kHello;
  MemberHello hello_;
  std::string transcript_;  // up to the server's mac, inclusive
  std::optional<MemberPeer> peer_;
};

// The framing of SASL: the server's units begin with a status, the client's do not.
[[nodiscard]] std::string ClientUnit(std::string_view bytes);
[[nodiscard]] std::string ServerUnit(std::string_view bytes);
// `error_class`: an exception class; sent instead of a unit, before the server closes.
[[nodiscard]] std::string ServerRefusal(std::string_view error_class, std::string_view text);

// The next item in the bytes that a server has sent before the proof is complete.
struct ServerItem {
  enum class Kind : std::uint8_t {
    kIncomplete,  // wait for more bytes
    kUnit,        // `text`: its bytes
    kRefusal,     // `error_class` and `text`
    kFrame,       // a response of a server that does not know kAuthMember; not cut
    kBad,         // none of these, or larger than a bound
  };
  Kind kind = Kind::kIncomplete;
  std::string text;
  std::string error_class;
  std::size_t size = 0;  // bytes of the item, for kUnit and kRefusal
};
[[nodiscard]] ServerItem ReadServerItem(std::string_view bytes);

}  // namespace ratchet::rpc
