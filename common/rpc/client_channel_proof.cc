// A member's new connection: the server proves that it is the wanted member of the cluster, then this process proves
// itself, S123 (only a proof makes a member). Calls wait until both are done. I/O thread only.
#include <utility>

#include "common/model/message_limits.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/client_channel.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_identity.h"

namespace ratchet::rpc {

void ClientChannel::BeginProof() {
  const auto proof = options_.member->BeginClient({endpoint_.host, endpoint_.port});
  if (!proof.has_value()) return NotConnected("this process does not have its name yet");
  proof_.emplace(*proof);
  state_ = State::kProving;
  outbox_hello_ = MemberPreamble() + ClientUnit(proof_->hello());
  Read();
  Write();
}

void ClientChannel::ConsumeProof() {
  using Kind = ServerItem::Kind;
  const std::uint64_t number = connection_;
  while (connection_ == number && state_ == State::kProving) {
    const ServerItem item = ReadServerItem(input_->Peek());
    std::string cut;
    switch (item.kind) {
      case Kind::kIncomplete: return;
      case Kind::kFrame: return OnServerFrame();
      case Kind::kBad: return NotProven("its response is not one of the member proof");
      case Kind::kRefusal: return NotProven(fmt::format("it refuses this process: {}", item.text));
      case Kind::kUnit: break;
    }
    static_cast<void>(input_->CutBytes(item.size, cut));
    OnServerUnit(item.text);
  }
}

void ClientChannel::OnServerUnit(const std::string& unit) {
  if (!proof_sent_) {
    const auto mac = proof_->OnAnswer(unit);
    if (!mac.ok()) return NotProven(mac.error().message());
    proof_sent_ = true;
    outbox_hello_ += ClientUnit(*mac);
    return Write();
  }
  if (!unit.empty()) return NotProven("its last unit of the member proof is not empty");
  proof_.reset();
  options_.member->Proven(endpoint_.ToString());
  outbox_hello_ += ConnectionHeaderUnit(options_.user, service_, options_.cell_blocks);
  Ready();
}

// A server of a version before 0.3 refuses the authentication. A false server that wants to see the key does so too;
// therefore the policy decides.
void ClientChannel::OnServerFrame() {
  std::string frame;
  if (input_->Next(frame) == FrameBuffer::Cut::kNothing) return;
  std::string_view rest = frame;
  std::string_view bytes;
  hbase::pb::ResponseHeader header;
  const bool parsed = CutDelimited(rest, bytes) && ParseMessage(bytes, header).ok() && header.has_exception();
  if (!parsed || header.exception().exception_class_name() != exception::kBadAuth)
    return NotProven("its response is not one of the member proof");
  std::string key = proof_sent_ ? std::string() : options_.member->KeyInClear();
  if (key.empty()) return NotProven("no such authentication: its version is before 0.3, or it is another program");
  options_.member->ShownInClear(endpoint_.ToString());
  key_in_clear_ = std::move(key);
  ShowKeyInClear();
}

// Connects again; calls that wait are kept.
void ClientChannel::ShowKeyInClear() {
  auto waiting = std::exchange(outbox_, {});
  CloseSocket();
  outbox_ = std::move(waiting);
  Connect();
}

void ClientChannel::NotProven(const std::string& why) {
  options_.member->NotProven(endpoint_.ToString(), why);
  NotConnected(why);
}

}  // namespace ratchet::rpc
