#include "common/base/check.h"
#include "common/rpc/digest_sasl.h"
#include "common/rpc/digests.h"
#include "common/rpc/member_proof.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/units.h"

namespace ratchet::fuzz {
namespace {

const rpc::MemberKeys& Keys() {
  static const rpc::MemberKeys keys{rpc::DeriveMemberKey("proof-the key of the fuzz target")};
  return keys;
}

const ServerName kFuzzServer{"host", 16000, 1};
const ServerName kFuzzClient{"host", 16020, 1};

rpc::MemberClientProof NewClient() {
  return {{rpc::kMemberVersion, rpc::RandomBytes(rpc::kNonceBytes), rpc::MemberRole::kRegionServer, kFuzzClient},
          {"host", 16000},
          Keys()};
}

// Each connection has fresh nonces, so no bytes can be a proof.
void FeedMembers(std::string_view bytes) {
  if (const auto hello = rpc::ReadMemberHello(bytes); hello.ok())
    RATCHET_CHECK(rpc::EncodeMemberHello(*hello) == bytes, "a hello is not what was sent");
  if (const auto answer = rpc::ReadMemberAnswer(bytes); answer.ok())
    RATCHET_CHECK(rpc::EncodeMemberAnswer(*answer) == bytes, "an answer is not what was sent");
  const rpc::ServerItem item = rpc::ReadServerItem(bytes);
  RATCHET_CHECK(item.size <= bytes.size() && item.text.size() <= bytes.size(), "an item of {} bytes", item.size);
  RATCHET_CHECK(!NewClient().OnAnswer(bytes).ok(), "a server without the key is believed");
  RATCHET_CHECK(item.kind != rpc::ServerItem::Kind::kUnit || !NewClient().OnAnswer(item.text).ok(),
                "a server without the key is believed");
  // As a server cuts them.
  rpc::MemberServerProof server(kFuzzServer, rpc::RandomBytes(rpc::kNonceBytes), Keys());
  while (const auto unit = CutUnit(bytes)) {
    static_cast<void>(server.OnUnit(*unit));
    RATCHET_CHECK(!server.peer().has_value(), "a client without the key is believed");
  }
}

std::vector<std::string> MemberSeeds() {
  rpc::MemberClientProof client = NewClient();
  rpc::MemberServerProof server(kFuzzServer, rpc::RandomBytes(rpc::kNonceBytes), Keys());
  const std::string answer = server.OnUnit(client.hello()).value();
  const std::string mac = client.OnAnswer(answer).value();
  return {client.hello(), answer, rpc::ClientUnit(client.hello()) + rpc::ClientUnit(mac), rpc::ServerUnit(answer),
          rpc::ServerRefusal("a.Class", "a text")};
}

// As a server cuts a client's messages. Only the response of the one token can be accepted, for its nonce.
void FeedDigests(std::string_view bytes) {
  static_cast<void>(rpc::ReadDigestDirectives(bytes));
  const auto decoded = rpc::FromBase64(bytes);
  RATCHET_CHECK(!decoded.has_value() || rpc::ToBase64(*decoded) == bytes, "a base64 text is not what was sent");
  rpc::DigestServer server("bm9uY2U=", [](const std::string&) -> Result<std::string> { return std::string("secret"); });
  while (const auto unit = CutUnit(bytes)) {
    const auto reply = server.OnMessage(*unit);
    RATCHET_CHECK(!reply.ok() || reply->size() < 2'048, "an answer of {} bytes", reply->size());
    RATCHET_CHECK(!server.identifier().has_value(), "a client without the password is believed");
  }
}

std::vector<std::string> DigestSeeds() {
  const std::string response =
      R"(charset=utf-8,username="aWQ=",realm="default",nonce="bm9uY2U=",nc=00000001,cnonce="Yw==",)"
      R"(digest-uri="null/default",maxbuf=65536,response=82c45caed62be7a0953234ab432883f0,qop=auth)";
  return {response, rpc::ClientUnit({}) + rpc::ClientUnit(response), "a=\"\\\"\",b=c"};
}

}  // namespace

const Target kDigests{"digests", FeedDigests, DigestSeeds};
const Target kMembers{"members", FeedMembers, MemberSeeds};

}  // namespace ratchet::fuzz
