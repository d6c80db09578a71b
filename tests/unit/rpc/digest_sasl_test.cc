// The server's side of DIGEST-MD5, tests 13 and 15 of identity. Expected digests come from a second implementation
// (Python's hashlib).
#include "common/rpc/digest_sasl.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/rpc/digests.h"

namespace ratchet::rpc {
namespace {

constexpr char kNonce[] = "bm9uY2U=";
constexpr char kClientNonce[] = "Y25vbmNl";
constexpr char kIdentifier[] = "the identifier";
constexpr char kPassword[] = "the password";
constexpr char kOtherIdentifier[] = "the identifier of another user";

// A response as Java's client makes it, whose parts a test may change.
struct Response {
  std::string identifier = kIdentifier;
  std::string password = kPassword;
  std::string nonce = kNonce;
  std::string client_nonce = kClientNonce;
  std::map<std::string, std::string> others = {{"charset", "utf-8"}, {"realm", R"("default")"},
                                               {"nc", "00000001"},   {"digest-uri", R"("null/default")"},
                                               {"maxbuf", "65536"},  {"qop", "auth"}};

  [[nodiscard]] std::string Value() const {
    return DigestValue({ToBase64(identifier), ToBase64(password), nonce, client_nonce}, /*of_server=*/false);
  }
  [[nodiscard]] std::string Text() const {
    std::string text = fmt::format(R"(username="{}",nonce="{}",cnonce="{}",response={})", ToBase64(identifier), nonce,
                                   client_nonce, Value());
    for (const auto& [name, value] : others) text += fmt::format(",{}={}", name, value);
    return text;
  }
};

Result<std::string> Known(const std::string& identifier) {
  if (identifier == kIdentifier) return std::string(kPassword);
  if (identifier == kOtherIdentifier) return std::string("the other user's password");
  return Error(Code::kNotFound, "no such token");
}

// The server's answer to this response on a connection of its own.
Result<std::string> Answer(const std::string& response, const std::string& nonce = kNonce) {
  DigestServer server(nonce, Known);
  const auto challenge = server.OnMessage({});
  EXPECT_TRUE(challenge.ok());
  auto answer = server.OnMessage(response);
  EXPECT_EQ(answer.ok(), server.identifier().has_value());
  return answer;
}

TEST(DigestSaslTest, TheDigestsAreThoseOfRfc2831) {
  const DigestInput input{"dGhlIGlkZW50aWZpZXI=", "dGhlIHBhc3N3b3Jk", kNonce, kClientNonce};
  EXPECT_EQ(DigestValue(input, false), "82c45caed62be7a0953234ab432883f0");
  EXPECT_EQ(DigestValue(input, true), "261cb8026ad0250beb831e7beb36c3e7");
}

TEST(DigestSaslTest, AnExchangeEndsWithTheProofOfTheServer) {
  DigestServer server(kNonce, Known);
  const auto challenge = server.OnMessage({});
  ASSERT_TRUE(challenge.ok());
  EXPECT_EQ(*challenge, R"(realm="default",nonce="bm9uY2U=",qop="auth",charset=utf-8,algorithm=md5-sess)");
  EXPECT_FALSE(server.identifier().has_value());
  const auto proof = server.OnMessage(Response().Text());
  ASSERT_TRUE(proof.ok()) << proof.error().ToString();
  EXPECT_EQ(*proof, "rspauth=261cb8026ad0250beb831e7beb36c3e7");
  EXPECT_EQ(server.identifier(), kIdentifier);
  EXPECT_FALSE(server.OnMessage(Response().Text()).ok());
}

TEST(DigestSaslTest, ResponsesWithAnotherPartAreRefused) {
  Response wrong_password;
  wrong_password.password = "another";
  EXPECT_FALSE(Answer(wrong_password.Text()).ok());
  Response no_password;
  no_password.password = "";
  EXPECT_FALSE(Answer(no_password.Text()).ok());
  Response unknown;
  unknown.identifier = "another identifier";
  EXPECT_FALSE(Answer(unknown.Text()).ok());
  for (const auto& [name, value] : std::map<std::string, std::string>{{"realm", "other"},
                                                                      {"nc", "00000002"},
                                                                      {"qop", "auth-conf"},
                                                                      {"digest-uri", "null/other"},
                                                                      {"charset", "latin1"},
                                                                      {"authzid", "root"}}) {
    Response other;
    other.others[name] = value;
    EXPECT_FALSE(Answer(other.Text()).ok()) << name;
  }
  const std::string text = Response().Text();
  EXPECT_FALSE(Answer(text.substr(0, text.size() - 1) + ",").ok());
  EXPECT_FALSE(Answer(text + ",nc=00000001").ok());
  EXPECT_FALSE(Answer(text + std::string(kMostDigestResponse, ' ')).ok());
  EXPECT_FALSE(Answer("").ok());
}

TEST(DigestSaslTest, ARecordedResponseIsWorthlessOnAnotherConnection) {
  const std::string recorded = Response().Text();
  EXPECT_TRUE(Answer(recorded).ok());
  EXPECT_FALSE(Answer(recorded, "YW5vdGhlcg==").ok());
  // The nonce alone is not enough, because it is in the digest too.
  const ScopedMutant any_response("rpc.any_digest_response");
  EXPECT_FALSE(Answer(recorded, "YW5vdGhlcg==").ok());
}

// Everything that another client has sent, with the same nonces: the user's name is in the digest too.
TEST(DigestSaslTest, AResponseOfAnotherUserProvesNoUser) {
  const Response recorded;
  Response replayed;
  replayed.identifier = kOtherIdentifier;
  std::string text = replayed.Text();
  const std::size_t value = text.find(replayed.Value());
  ASSERT_NE(value, std::string::npos);
  text.replace(value, recorded.Value().size(), recorded.Value());
  const auto answer = Answer(text);
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message().find("another password"), std::string::npos) << answer.error().message();
  replayed.password = "the other user's password";
  EXPECT_TRUE(Answer(replayed.Text()).ok());
}

TEST(DigestSaslTest, AWrongPasswordIsNoticed) {
  Response wrong;
  wrong.password = "another";
  const ScopedMutant any_response("rpc.any_digest_response");
  EXPECT_TRUE(Answer(wrong.Text()).ok());
}

TEST(DigestSaslTest, AnotherNonceIsNoticed) {
  Response replayed;
  replayed.nonce = "b2xk";
  EXPECT_FALSE(Answer(replayed.Text()).ok());
  const ScopedMutant any_nonce("rpc.any_digest_nonce");
  const ScopedMutant any_response("rpc.any_digest_response");
  EXPECT_TRUE(Answer(replayed.Text()).ok());
}

TEST(DigestSaslTest, TenThousandRandomResponsesAreRefused) {
  const std::uint64_t seed = RandomSeed();
  RecordProperty("seed", std::to_string(seed));
  Prng prng(seed);
  const std::string right = Response().Text();
  for (int i = 0; i < 10'000; ++i) {
    std::string text = right;
    const std::size_t from = text.find("response=") + 9;
    if (i % 2 == 0) {
      for (std::size_t at = 0; at < 32; ++at) text[from + at] = "0123456789abcdef"[prng.Below(16)];
      if (text == right) continue;
    } else {
      text[prng.Below(text.size())] = static_cast<char>(prng.Next());
      text.resize(prng.Below(text.size() + 1));
      if (text.size() >= right.size() - 40) continue;  // a part that has no meaning may be cut
    }
    EXPECT_FALSE(Answer(text).ok()) << "seed " << seed << ": " << text;
  }
}

TEST(DigestSaslTest, DirectivesAreReadAsRfc2831SaysWithinBounds) {
  const auto read = ReadDigestDirectives(" A=\"x \\\"y\\\\\" ,\tb = token");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(*read, (std::map<std::string, std::string>{{"a", "x \"y\\"}, {"b", "token"}}));
  for (const char* bad : {"", "a", "a=", "a=\"x", "a=\"x\\", "=x", "a=x b=y", "a=x,", "a=x,,b=y", "a=x,A=y"})
    EXPECT_FALSE(ReadDigestDirectives(bad).ok()) << bad;
  std::string many = "a=x";
  for (char name = 'b'; name <= 'z'; ++name) many += fmt::format(",{}=x,{}{}=x", name, name, name);
  EXPECT_FALSE(ReadDigestDirectives(many).ok());
}

TEST(DigestSaslTest, OnlyWholeBase64TextsAreDecoded) {
  EXPECT_EQ(FromBase64("dGhl"), "the");
  EXPECT_EQ(FromBase64("dGg="), "th");
  EXPECT_EQ(FromBase64("dA=="), "t");
  EXPECT_EQ(FromBase64(""), "");
  for (const char* bad :
       {"d", "dG", "dGh", "dGg", "dGh=", "dB==", "d===", "====", " dGhl", "dGhl\n", "dG=l", "dGh\xff"})
    EXPECT_EQ(FromBase64(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace ratchet::rpc
