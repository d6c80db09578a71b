#include "common/base/check.h"
#include "common/rpc/digests.h"
#include "common/rpc/frame.h"
#include "common/rpc/member_proof.h"
#include "tests/fuzz/targets.h"

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
  while (bytes.size() >= 4 && rpc::ReadBig32(bytes) <= bytes.size() - 4) {
    const std::size_t size = rpc::ReadBig32(bytes);
    static_cast<void>(server.OnUnit(bytes.substr(4, size)));
    RATCHET_CHECK(!server.peer().has_value(), "a client without the key is believed");
    bytes.remove_prefix(4 + size);
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

}  // namespace

const Target kMembers{"members", FeedMembers, MemberSeeds};

}  // namespace ratchet::fuzz
