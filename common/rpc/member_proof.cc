#include "common/rpc/member_proof.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/printable.h"
#include "common/model/name_rules.h"
#include "common/rpc/digests.h"
#include "common/rpc/frame.h"

namespace ratchet::rpc {
namespace {

constexpr char kServerSide = 'S';
constexpr char kClientSide = 'C';
constexpr std::size_t kKeyIdBytes = 8;
constexpr std::uint32_t kSuccess = 0;
constexpr std::uint32_t kFailure = 1;
constexpr std::uint32_t kMostRefusal = 8 << 10;         // of its class, and of its text
constexpr std::uint32_t kMostFirstResponse = 64 << 10;  // of a server that does not know kAuthMember

Error Malformed(std::string_view what) { return {Code::kInvalidArgument, fmt::format("malformed {}", what)}; }

// Cuts fixed parts off the front of a message.
class Cutter {
 public:
  explicit Cutter(std::string_view bytes) : rest_(bytes) {}

  bool Take(std::size_t count, std::string_view& out) {
    if (rest_.size() < count) return false;
    out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }
  bool TakeByte(std::uint8_t& out) {
    std::string_view byte;
    if (!Take(1, byte)) return false;
    out = static_cast<std::uint8_t>(byte.front());
    return true;
  }
  bool TakeBig32(std::uint32_t& out) {
    std::string_view bytes;
    if (!Take(4, bytes)) return false;
    out = ReadBig32(bytes);
    return true;
  }
  bool TakeName(std::string_view& out) {
    std::uint8_t high = 0;
    std::uint8_t low = 0;
    if (!TakeByte(high) || !TakeByte(low)) return false;
    const std::size_t size = (std::size_t{high} << 8) | low;
    return size <= kMostMemberName && Take(size, out);
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

void AppendName(const ServerName& name, std::string& out) {
  const std::string text = name.ToString();
  RATCHET_CHECK(text.size() <= kMostMemberName, "a server's name of {} bytes", text.size());
  out += static_cast<char>(text.size() >> 8);
  out += static_cast<char>(text.size() & 0xff);
  out += text;
}

Result<ServerName> ReadName(std::string_view text) {
  auto name = ServerName::Parse(text);
  if (!name.ok() || name->host.empty() || name->port == 0 || name->ToString() != text)
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is not a server's name, host,port,startcode", PrintableText(text)));
  RATCHET_TRY(CheckHost(name->host));
  return name;
}

// The parts have their lengths in front, so that no other parts have the same bytes.
void AppendPart(std::string_view part, std::string& transcript) {
  AppendBig32(static_cast<std::uint32_t>(part.size()), transcript);
  transcript += part;
}

std::string MacOf(const MemberKey& key, char side, std::string_view transcript, std::string_view binding) {
  std::string text(1, side);
  text += Sha256(transcript);
  text += binding;
  return HmacSha256(key.derived, text);
}

// Returns the key by which the mac was made, or nullptr.
const MemberKey* MakerOf(std::string_view mac, const MemberKeys& keys, char side, std::string_view transcript,
                         std::string_view binding) {
  const MemberKey* maker = nullptr;
  for (const MemberKey& key : keys) {
    const bool same = SameSecret(mac, MacOf(key, side, transcript, binding)) ||
                      (side == kClientSide && RATCHET_MUTANT("member.believe_any_proof"));
    if (same && maker == nullptr) maker = &key;
  }
  return maker;
}

std::string AnswerWithoutMac(const MemberAnswer& answer) {
  std::string out = answer.nonce;
  AppendName(answer.name, out);
  return out;
}

std::string ServerTranscript(std::string_view hello, const MemberAnswer& answer) {
  std::string transcript;
  AppendPart(hello, transcript);
  AppendPart(AnswerWithoutMac(answer), transcript);
  return transcript;
}

}  // namespace

std::string_view MemberRoleName(MemberRole role) { return role == MemberRole::kMaster ? "master" : "region server"; }

MemberKey DeriveMemberKey(std::string_view cluster_key) {
  MemberKey key;
  key.derived = DeriveKey(cluster_key, "member 1");
  key.id = Sha256(key.derived).substr(0, kKeyIdBytes);
  return key;
}

std::string EncodeMemberHello(const MemberHello& hello) {
  std::string out(1, static_cast<char>(hello.version));
  out += hello.nonce;
  out += static_cast<char>(hello.role);
  AppendName(hello.name, out);
  return out;
}

Result<MemberHello> ReadMemberHello(std::string_view bytes) {
  Cutter cutter(bytes);
  MemberHello hello;
  std::string_view nonce;
  std::string_view name;
  std::uint8_t role = 0;
  if (!cutter.TakeByte(hello.version)) return Malformed("member hello");
  if (hello.version != kMemberVersion)
    return Error(Code::kInvalidArgument,
                 fmt::format("version {} of the member proof; only {} is offered", hello.version, kMemberVersion));
  if (!cutter.Take(kNonceBytes, nonce) || !cutter.TakeByte(role) || !cutter.TakeName(name) || !cutter.at_end())
    return Malformed("member hello");
  if (role != static_cast<std::uint8_t>(MemberRole::kMaster) &&
      role != static_cast<std::uint8_t>(MemberRole::kRegionServer))
    return Error(Code::kInvalidArgument, fmt::format("role {} is not one of a member", role));
  RATCHET_ASSIGN(hello.name, ReadName(name));
  hello.nonce = nonce;
  hello.role = static_cast<MemberRole>(role);
  return hello;
}

std::string EncodeMemberAnswer(const MemberAnswer& answer) { return AnswerWithoutMac(answer) + answer.mac; }

Result<MemberAnswer> ReadMemberAnswer(std::string_view bytes) {
  Cutter cutter(bytes);
  MemberAnswer answer;
  std::string_view nonce;
  std::string_view name;
  std::string_view mac;
  if (!cutter.Take(kNonceBytes, nonce) || !cutter.TakeName(name) || !cutter.Take(kMacBytes, mac) || !cutter.at_end())
    return Malformed("member answer");
  RATCHET_ASSIGN(answer.name, ReadName(name));
  answer.nonce = nonce;
  answer.mac = mac;
  return answer;
}

MemberClientProof::MemberClientProof(MemberHello own, HostPort wanted, MemberKeys keys, std::string binding)
    : wanted_(std::move(wanted)),
      keys_(std::move(keys)),
      binding_(std::move(binding)),
      hello_(EncodeMemberHello(own)) {}

Result<std::string> MemberClientProof::OnAnswer(std::string_view bytes) {
  RATCHET_ASSIGN(const MemberAnswer answer, ReadMemberAnswer(bytes));
  // A relay to another member has that member's name.
  const bool same_name =
      LowerCaseHost(answer.name.host) == LowerCaseHost(wanted_.host) && answer.name.port == wanted_.port;
  if (!same_name && !RATCHET_MUTANT("member.any_name"))
    return Error(Code::kFailedPrecondition,
                 fmt::format("wrong name: the process there is {}, not {}", answer.name.ToString(),
                             JoinHostPort(wanted_.host, wanted_.port)));
  std::string transcript = ServerTranscript(hello_, answer);
  const bool proven = MakerOf(answer.mac, keys_, kServerSide, transcript, binding_) != nullptr;
  if (keys_.empty() || (!proven && !RATCHET_MUTANT("member.believe_any_server")))
    return Error(Code::kFailedPrecondition,
                 fmt::format("wrong proof: {} has not proven that it has this cluster's key", answer.name.ToString()));
  AppendPart(answer.mac, transcript);
  return MacOf(keys_.front(), kClientSide, transcript, binding_);
}

MemberServerProof::MemberServerProof(ServerName own, std::string nonce, MemberKeys keys, std::string binding)
    : own_(std::move(own)), nonce_(std::move(nonce)), keys_(std::move(keys)), binding_(std::move(binding)) {}

Result<std::string> MemberServerProof::OnUnit(std::string_view bytes) {
  const Expects expected = std::exchange(expects_, Expects::kNothing);
  if (expected == Expects::kHello) {
    auto answer = OnHello(bytes);
    if (answer.ok()) expects_ = Expects::kMac;
    return answer;
  }
  if (expected == Expects::kNothing) return Error(Code::kInvalidArgument, "a unit after the end of the member proof");
  RATCHET_TRY(OnMac(bytes));
  return std::string();
}

Result<std::string> MemberServerProof::OnHello(std::string_view bytes) {
  if (keys_.empty()) return Error(Code::kFailedPrecondition, "this process has no cluster key, so it has no members");
  if (own_.empty()) return Error(Code::kFailedPrecondition, "this process does not have its name yet; try again");
  RATCHET_ASSIGN(hello_, ReadMemberHello(bytes));
  MemberAnswer answer{nonce_, own_, {}};
  transcript_ = ServerTranscript(bytes, answer);
  answer.mac = MacOf(keys_.front(), kServerSide, transcript_, binding_);
  AppendPart(answer.mac, transcript_);
  return EncodeMemberAnswer(answer);
}

Status MemberServerProof::OnMac(std::string_view bytes) {
  const MemberKey* maker = MakerOf(bytes, keys_, kClientSide, transcript_, binding_);
  if (maker == nullptr)
    return Error(Code::kFailedPrecondition, fmt::format("{} {} has not proven that it has this cluster's key",
                                                        MemberRoleName(hello_.role), hello_.name.ToString()));
  peer_ = MemberPeer{hello_.name, hello_.role, maker->id};
  return Ok();
}

std::string ClientUnit(std::string_view bytes) {
  std::string out;
  AppendBig32(static_cast<std::uint32_t>(bytes.size()), out);
  out += bytes;
  return out;
}

std::string ServerUnit(std::string_view bytes) {
  std::string out;
  AppendBig32(kSuccess, out);
  return out + ClientUnit(bytes);
}

std::string ServerRefusal(std::string_view error_class, std::string_view text) {
  std::string out;
  AppendBig32(kFailure, out);
  return out + ClientUnit(error_class.substr(0, kMostRefusal)) + ClientUnit(text.substr(0, kMostRefusal));
}

ServerItem ReadServerItem(std::string_view bytes) {
  using Kind = ServerItem::Kind;
  Cutter cutter(bytes);
  ServerItem item;
  std::uint32_t status = 0;
  std::uint32_t size = 0;
  std::string_view text;
  if (!cutter.TakeBig32(status)) return item;
  if (status != kSuccess && status != kFailure) {
    item.kind = status <= kMostFirstResponse ? Kind::kFrame : Kind::kBad;
    return item;
  }
  const std::size_t most = status == kSuccess ? kMostMemberUnit : kMostRefusal;
  if (!cutter.TakeBig32(size)) return item;
  if (size > most) {
    item.kind = Kind::kBad;
    return item;
  }
  if (!cutter.Take(size, text)) return item;
  if (status == kFailure) {
    item.error_class = text;
    if (!cutter.TakeBig32(size)) return item;
    if (size > most) {
      item.kind = Kind::kBad;
      return item;
    }
    if (!cutter.Take(size, text)) return item;
  }
  item.text = text;
  item.kind = status == kSuccess ? Kind::kUnit : Kind::kRefusal;
  item.size = bytes.size() - cutter.left();
  return item;
}

}  // namespace ratchet::rpc
