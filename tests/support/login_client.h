// A client that sends any bytes to a server, in plain text or inside TLS, and logs in by a token or by Kerberos without
// a KDC. For servers with FakeTokens, and a FakeAcceptor (fake_security.h). One thread.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/io/connect_socket.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/acting_for.h"
#include "common/rpc/digest_sasl.h"
#include "common/rpc/digests.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/member_proof.h"
#include "common/rpc/token_rules.h"
#include "common/tls/tls_context.h"
#include "tests/support/fake_security.h"

namespace ratchet {

// Every token is one of the user "etl", with the password "secret".
class FakeTokens final : public rpc::TokenRules {
 public:
  [[nodiscard]] Result<std::string> PasswordOf(std::string_view /*identifier*/) const override {
    return std::string("secret");
  }
  [[nodiscard]] Result<rpc::TokenUser> UserOf(std::string_view /*identifier*/) const override {
    return rpc::TokenUser{"etl", 1, INT64_MAX};
  }
  [[nodiscard]] bool Holds(const rpc::TokenUser& /*token*/) const override { return true; }
};

class LoginClient {
 public:
  // `tls`: null: plain text.
  LoginClient(std::uint16_t port, const tls::TlsContext* tls)
      : socket_(io::ConnectTo("127.0.0.1", port, SystemClock().Now() + kPatience).socket) {
    if (tls == nullptr) return;
    tls_ = tls->Connect("127.0.0.1");
    static_cast<void>(tls_->Begin());
    Flush();
    while (!tls_->established() && Receive()) Flush();
  }
  LoginClient(const LoginClient&) = delete;
  LoginClient& operator=(const LoginClient&) = delete;

  void Send(std::string_view bytes) {
    if (tls_ == nullptr) return Write(bytes);
    const std::array<std::string_view, 1> parts{bytes};
    std::string sealed;
    static_cast<void>(tls_->Seal(parts, sealed));
    Write(sealed);
  }
  // Empty at the end of the connection.
  std::string Read(std::size_t count) {
    while (plain_.size() < count) {
      if (!Receive()) return {};
    }
    std::string bytes = plain_.substr(0, count);
    plain_.erase(0, count);
    return bytes;
  }
  std::string ReadFrame() {
    const std::string length = Read(4);
    return length.empty() ? std::string() : Read(rpc::ReadBig32(length));
  }
  // The next unit of the server's SASL messages.
  std::string ReadUnit() { return Read(4) == std::string(4, '\0') ? ReadFrame() : "refused"; }

  // Each true if the server has taken the login; the connection header follows.
  bool LogInByToken() {
    Send(std::string("HBas\0R", 6) + rpc::ClientUnit({}));
    const auto directives = rpc::ReadDigestDirectives(ReadUnit());
    if (!directives.ok()) return false;
    const std::string user = rpc::ToBase64("identifier");
    const std::string password = rpc::ToBase64("secret");
    const rpc::DigestInput input{user, password, directives->at("nonce"), "Y25vbmNl"};
    Send(rpc::ClientUnit(
        fmt::format(R"(charset=utf-8,username="{}",realm="default",nonce="{}",nc=00000001,cnonce="Y25vbmNl",)"
                    R"(digest-uri="null/default",maxbuf=65536,response={},qop=auth)",
                    user, input.nonce, rpc::DigestValue(input, false))));
    return ReadUnit() == "rspauth=" + rpc::DigestValue(input, true);
  }
  bool LogInByKerberos() {
    Send(std::string("HBas\0Q", 6) + rpc::ClientUnit("AP-REQ"));
    if (ReadUnit() != "AP-REP") return false;
    Send(rpc::ClientUnit({}));
    if (!ReadUnit().starts_with("w0:")) return false;
    Send(rpc::ClientUnit(FakeSecurity::WrapAs(std::string("\x01\0\0\0", 4), false, 0)));
    return true;
  }
  // `attribute`: of the request's header, named kActsForAttribute; empty: none. Returns the class of the refusal,
  // "taken", or "closed".
  std::string Call(const std::string& method, const std::string& attribute) {
    hbase::pb::RequestHeader header;
    header.set_call_id(++calls_);
    header.set_method_name(method);
    header.set_request_param(true);
    if (!attribute.empty()) {
      header.add_attribute()->set_name(std::string(rpc::kActsForAttribute));
      header.mutable_attribute(0)->set_value(attribute);
    }
    Send(rpc::EncodeRequest(header, hbase::pb::RequestHeader(), {}));
    const std::string frame = ReadFrame();
    std::string_view rest = frame;
    std::string_view bytes;
    hbase::pb::ResponseHeader answer;
    if (!rpc::CutDelimited(rest, bytes) || !answer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return "closed";
    return answer.has_exception() ? answer.exception().exception_class_name() : "taken";
  }

 private:
  static constexpr Millis kPatience{10'000};

  // False at the end of the connection.
  bool Receive() {
    std::array<char, 4'096> bytes{};
    if (!io::AwaitSocket(socket_, POLLIN, SystemClock().Now() + kPatience)) return false;
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    const std::string_view read(bytes.data(), static_cast<std::size_t>(got));
    if (tls_ != nullptr) return tls_->Feed(read, plain_).ok();
    plain_ += read;
    return true;
  }
  void Flush() {
    std::string bytes;
    static_cast<void>(tls_->Seal({}, bytes));
    Write(bytes);
  }
  // Small enough for the buffer of the socket.
  void Write(std::string_view bytes) const {
    static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  const io::FileDescriptor socket_;
  std::unique_ptr<tls::TlsSession> tls_;
  std::string plain_;
  std::uint32_t calls_ = 0;
};

}  // namespace ratchet
