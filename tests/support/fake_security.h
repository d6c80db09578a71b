// A login without a KDC: the library's part of it as readable bytes. A wrapped text is "w<number>:<text>:<check>" or,
// encrypted, the same with 'e'; it is accepted once, in its order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/rpc/security_context.h"

namespace ratchet {

class FakeSecurity final : public rpc::SecurityContext {
 public:
  static constexpr std::size_t kOverhead = 32;

  // Returns the facts of a client that asks for everything.
  static rpc::LoginFacts GoodFacts(std::string principal = "alice@TEST") {
    rpc::LoginFacts facts;
    facts.principal = std::move(principal);
    facts.mutual = facts.integrity = facts.confidentiality = facts.sequence = facts.own_key = true;
    facts.lives_ms = 3'600'000;
    return facts;
  }
  explicit FakeSecurity(rpc::LoginFacts facts = GoodFacts(), std::string answer = "AP-REP", int steps = 1)
      : facts_(std::move(facts)), answer_(std::move(answer)), steps_(steps) {}

  // The token "AP-REQ" is accepted; "AP-REQ NAME" is accepted for another principal.
  Result<Step> Accept(std::string_view token) override {
    if (!token.starts_with("AP-REQ"))
      return Error(Code::kInvalidArgument, "no ticket", "javax.security.sasl.SaslException");
    if (token.size() > 7) facts_.principal = token.substr(7);
    return Step{answer_, --steps_ <= 0};
  }
  Result<rpc::LoginFacts> Facts() override { return facts_; }
  Result<std::string> Wrap(std::string_view plain, bool encrypt) override { return WrapAs(plain, encrypt, wraps_++); }
  Result<Plain> Unwrap(std::string_view wrapped) override {
    const bool encrypted = wrapped.starts_with('e');
    const std::size_t colon = wrapped.find(':');
    if (colon == std::string_view::npos || wrapped.size() < colon + 3) return Bad();
    const std::string_view text = wrapped.substr(colon + 1, wrapped.size() - colon - 3);
    if (wrapped != WrapAs(text, encrypted, unwraps_)) return Bad();
    ++unwraps_;
    return Plain{std::string(text), encrypted};
  }
  std::size_t PlainLimit(std::size_t most, bool /*encrypt*/) override {
    return most < kOverhead ? 0 : most - kOverhead;
  }

  static std::string WrapAs(std::string_view plain, bool encrypt, int number) {
    unsigned sum = 0;
    for (const char c : plain) sum = sum * 31 + static_cast<unsigned char>(c);
    return fmt::format("{}{}:{}:{}", encrypt ? 'e' : 'w', number, plain, static_cast<char>('a' + sum % 26));
  }

 private:
  static Error Bad() { return {Code::kInvalidArgument, "a changed unit", "javax.security.sasl.SaslException"}; }

  rpc::LoginFacts facts_;
  const std::string answer_;
  int steps_;
  int wraps_ = 0;
  int unwraps_ = 0;
};

class FakeAcceptor final : public rpc::KerberosAcceptor {
 public:
  explicit FakeAcceptor(std::uint8_t protections, rpc::LoginFacts facts = FakeSecurity::GoodFacts())
      : protections_(protections), facts_(std::move(facts)) {}
  [[nodiscard]] std::unique_ptr<rpc::SecurityContext> Begin() const override {
    return std::make_unique<FakeSecurity>(facts_);
  }
  [[nodiscard]] const std::string& principal() const override { return principal_; }
  [[nodiscard]] std::uint8_t protections() const override { return protections_; }

 private:
  const std::string principal_ = "hbase/localhost@TEST";
  const std::uint8_t protections_;
  const rpc::LoginFacts facts_;
};

}  // namespace ratchet
