// Tokens, test 14 of identity. Expected bytes come from a second implementation (Python's hmac and hashlib).
#include "common/identity/token.h"

#include <gtest/gtest.h>

#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/identity/token_check.h"
#include "common/rpc/digests.h"
#include "tests/support/manual_time.h"

namespace ratchet::identity {
namespace {

using namespace std::string_literals;
using rights::TokenKey;
using rights::TokenKeys;

std::string Rising() {
  std::string secret;
  for (int i = 0; i < 32; ++i) secret += static_cast<char>(i);
  return secret;
}

TokenKey KeyOf(std::uint32_t id, std::int64_t made = 0, std::int64_t expires = 10'000'000, bool told = true) {
  return {id, Rising(), made, expires, told};
}

class Keys final : public rights::TokenKeySource {
 public:
  [[nodiscard]] std::shared_ptr<const TokenKeys> token_keys() const override { return keys; }
  [[nodiscard]] std::shared_ptr<const rights::RevokedTokens> revoked_tokens() const override { return revoked; }
  std::shared_ptr<const rights::RevokedTokens> revoked = std::make_shared<const rights::RevokedTokens>();
  std::shared_ptr<const TokenKeys> keys;
};

TEST(TokenTest, IdentifierAndPasswordAreThoseOfHBase) {
  const TokenFacts facts{"alice", 7, 1'000, 2'000, 3};
  const std::string identifier = EncodeTokenIdentifier(facts);
  EXPECT_EQ(rpc::HexText(identifier), "0000001308001205616c696365180720e80728d00f3003");
  EXPECT_EQ(rpc::HexText(TokenPassword(KeyOf(7), identifier)),
            "cd9bb8d61a1fca1bc3e59c9a5fe4f47bb1c75ad1be7ef6bb6b33a4b18c9288b4");
  const auto read = ReadTokenIdentifier(identifier);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, facts);
}

TEST(TokenTest, OtherBytesAreNotAnIdentifier) {
  const std::string identifier = EncodeTokenIdentifier({"alice", 7, 1'000, 2'000, 3});
  for (std::size_t size = 0; size < identifier.size(); ++size)
    EXPECT_FALSE(ReadTokenIdentifier(identifier.substr(0, size)).ok()) << size;
  EXPECT_FALSE(ReadTokenIdentifier(identifier + "x").ok());
  EXPECT_FALSE(ReadTokenIdentifier(EncodeTokenIdentifier({"", 7, 1, 2, 3})).ok());
  EXPECT_FALSE(ReadTokenIdentifier(EncodeTokenIdentifier({"alice", 0, 1, 2, 3})).ok());
  EXPECT_FALSE(ReadTokenIdentifier(EncodeTokenIdentifier({std::string(kMostTokenIdentifier, 'a'), 7, 1, 2, 3})).ok());
}

// The lengths of a file of Hadoop's credentials: one byte up to 127, and two or three for more.
TEST(TokenTest, AFileHasTheFormOfHadoopsCredentials) {
  EXPECT_EQ(TokenFile({std::string(3, 'i'), "pw", 0}, "id"),
            "HDTS\0\x01\x02"s
            "id\x03iii\x02pw\x10HBASE_AUTH_TOKEN\x02id\0"s);
  EXPECT_EQ(TokenFile({std::string(200, 'i'), "pw", 0}, "id").substr(0, 10),
            "HDTS\0\x01\x02"s
            "id\x8f"s);
  EXPECT_EQ(TokenFile({std::string(300, 'i'), "pw", 0}, "id").substr(9, 4), "\x8e\x01\x2ci"s);
}

TEST(TokenTest, TheNewestKeySignsThatEveryServerHas) {
  const TokenKeys keys{KeyOf(1), KeyOf(2), KeyOf(3, 0, 10'000'000, /*told=*/false)};
  const auto token = SignToken(keys, {"alice", 0, 1'000, 20'000'000, 1});
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(ReadTokenIdentifier(token->identifier)->key_id, 2U);
  EXPECT_EQ(token->expires_ms, 10'000'000) << "no token outlives its key";
  EXPECT_FALSE(SignToken({}, {"alice", 0, 1'000, 2'000, 1}).ok());
  EXPECT_FALSE(SignToken({KeyOf(1, 0, 900)}, {"alice", 0, 1'000, 2'000, 1}).ok()) << "the key has expired";
  const ScopedMutant mutant("identity.sign_by_any_key");
  EXPECT_EQ(ReadTokenIdentifier(SignToken(keys, {"alice", 0, 1'000, 2'000, 1})->identifier)->key_id, 3U);
}

class TokenCheckTest : public testing::Test {
 protected:
  TokenCheckTest() { keys_.keys = std::make_shared<const TokenKeys>(TokenKeys{KeyOf(7)}); }
  [[nodiscard]] static std::string Token(std::int64_t issued, std::int64_t expires, std::uint32_t key = 7) {
    return EncodeTokenIdentifier({"alice", key, issued, expires, 1});
  }
  // The class of the refusal; empty: the password.
  [[nodiscard]] std::string Refusal(const std::string& identifier) {
    const auto password = check_.PasswordOf(identifier);
    if (!password.ok()) return password.error().remote_class();
    EXPECT_EQ(*password, TokenPassword(KeyOf(7), identifier));
    return {};
  }

  ManualTime clock_;
  Keys keys_;
  TokenCheck check_{keys_, clock_};
  const std::int64_t now_ = clock_.WallMillis();
  const std::string invalid_{exception::kInvalidToken};
};

TEST_F(TokenCheckTest, ATokenIsValidUntilItsEndWithTheClocksDifference) {
  keys_.keys = std::make_shared<const TokenKeys>(TokenKeys{KeyOf(7, now_ - 1'000, now_ + 1'000'000)});
  EXPECT_EQ(Refusal(Token(now_, now_ + 1'000)), "");
  EXPECT_EQ(Refusal(Token(now_ - 60'000, now_ - 30'000)), "");
  EXPECT_EQ(Refusal(Token(now_ - 60'000, now_ - 30'001)), invalid_);
  EXPECT_EQ(Refusal(Token(now_ + 30'000, now_ + 90'000)), "");
  EXPECT_EQ(Refusal(Token(now_ + 30'001, now_ + 90'000)), invalid_);
  EXPECT_EQ(Refusal(Token(now_ - 25 * 3'600'000, now_ - 3'600'000)), invalid_);
  EXPECT_EQ(Refusal(Token(now_ + 25 * 3'600'000, now_ + 49 * 3'600'000)), invalid_);
  EXPECT_TRUE(check_.Holds({"alice", 7, now_ - 30'000}));
  EXPECT_FALSE(check_.Holds({"alice", 7, now_ - 30'001}));
  const ScopedMutant mutant("identity.expired_tokens");
  EXPECT_EQ(Refusal(Token(now_ - 60'000, now_ - 30'001)), "");
}

TEST_F(TokenCheckTest, ARevokedTokenIsRefused) {
  keys_.keys = std::make_shared<const TokenKeys>(TokenKeys{KeyOf(7, now_ - 1'000, now_ + 1'000'000)});
  const std::string token = Token(now_, now_ + 1'000);
  EXPECT_EQ(Refusal(token), "");
  const auto revoke = [&](rights::RevokedTokens revoked) {
    keys_.revoked = std::make_shared<const rights::RevokedTokens>(std::move(revoked));
  };
  revoke({{1, "alice"}});
  EXPECT_EQ(Refusal(token), invalid_);
  EXPECT_FALSE(check_.Holds({"alice", 7, now_ + 1'000, 1}));
  revoke({{2, "alice"}, {1, "bob"}});
  EXPECT_EQ(Refusal(token), "") << "the number of another token, and of another user";
  EXPECT_TRUE(check_.Holds({"alice", 7, now_ + 1'000, 1}));
  revoke({{1, ""}});
  EXPECT_EQ(Refusal(token), invalid_) << "a record that cannot be read";
  keys_.revoked = nullptr;
  EXPECT_EQ(Refusal(token), invalid_) << "not known yet";
  revoke({{1, "alice"}});
  const ScopedMutant mutant("identity.revoked_tokens");
  EXPECT_EQ(Refusal(token), "");
}

TEST(TokenTest, AKeyThatIsNamedSigns) {
  const TokenKeys keys{KeyOf(1), KeyOf(2), KeyOf(3, 0, 10'000'000, /*told=*/false)};
  const auto token = SignToken(keys, {"alice", 1, 1'000, 2'000, 9});
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(*ReadTokenIdentifier(token->identifier), (TokenFacts{"alice", 1, 1'000, 2'000, 9}));
  EXPECT_FALSE(SignToken(keys, {"alice", 3, 1'000, 2'000, 9}).ok()) << "not every server has it";
  EXPECT_FALSE(SignToken(keys, {"alice", 4, 1'000, 2'000, 9}).ok()) << "it was withdrawn";
}

TEST_F(TokenCheckTest, ATokenNeedsItsKey) {
  keys_.keys = std::make_shared<const TokenKeys>(TokenKeys{KeyOf(7, now_, now_ + 1'000'000)});
  const std::string token = Token(now_, now_ + 1'000);
  EXPECT_EQ(Refusal(token), "");
  EXPECT_EQ(Refusal(Token(now_, now_ + 1'000, 8)), invalid_);
  keys_.keys = std::make_shared<const TokenKeys>();
  EXPECT_EQ(Refusal(token), invalid_) << "the key was withdrawn";
  EXPECT_FALSE(check_.Holds({"alice", 7, now_ + 1'000}));
  keys_.keys = nullptr;
  EXPECT_EQ(Refusal(token), invalid_) << "the process has no keys yet";
  keys_.keys = std::make_shared<const TokenKeys>(TokenKeys{KeyOf(7, now_ - 100'000, now_ - 30'001)});
  EXPECT_EQ(Refusal(token), invalid_) << "the key has expired";
}

TEST_F(TokenCheckTest, NamesThatNoUserHasAreRefused) {
  keys_.keys = std::make_shared<const TokenKeys>(TokenKeys{KeyOf(7, now_, now_ + 1'000'000)});
  for (const std::string& name : {"a,b"s, "a\nb"s, "\0"s})
    EXPECT_EQ(Refusal(EncodeTokenIdentifier({name, 7, now_, now_ + 1'000, 1})), invalid_);
}

}  // namespace
}  // namespace ratchet::identity
