// The server's side of a login with Kerberos, S156 (the protection is one that both want) and S157 (a recorded login is
// worthless), test 18 of identity.
#include "common/rpc/gssapi_sasl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/rpc/protected_stream.h"
#include "tests/support/fake_security.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

constexpr std::uint8_t kAllOffered = 7;
constexpr std::uint8_t kPrivate = 4;

std::string Choice(std::uint8_t protection, std::size_t most = 65'536, std::string_view acts_for = {}) {
  std::string plain(1, static_cast<char>(protection));
  for (const int shift : {16, 8, 0}) plain += static_cast<char>((most >> shift) & 0xFF);
  return FakeSecurity::WrapAs(plain + std::string(acts_for), false, 0);
}

// The outcome of a whole login: the name of the protection, or the reason of the refusal.
std::string LogIn(std::uint8_t offered, const std::string& choice, LoginFacts facts = FakeSecurity::GoodFacts()) {
  GssapiServer server(std::make_unique<FakeSecurity>(std::move(facts)), offered);
  for (const std::string& message : {"AP-REQ"s, ""s, choice}) {
    const auto reply = server.OnMessage(message);
    if (!reply.ok()) {
      EXPECT_FALSE(server.login().has_value());
      EXPECT_FALSE(server.OnMessage(message).ok()) << "the object takes a message after an error";
      return reply.error().message();
    }
    EXPECT_EQ(reply->has_value(), !server.login().has_value());
  }
  return server.login().has_value() ? std::string(ProtectionName(server.login()->protection)) : "no end";
}

TEST(GssapiSaslTest, AnExchangeEndsWithTheChoiceOfTheClient) {
  GssapiServer server(std::make_unique<FakeSecurity>(), kAllOffered);
  const auto answer = server.OnMessage("AP-REQ");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(*answer, "AP-REP");
  const auto offer = server.OnMessage({});
  ASSERT_TRUE(offer.ok());
  EXPECT_EQ(*offer, FakeSecurity::WrapAs("\x07\xFF\xFF\xFF", false, 0));
  const auto end = server.OnMessage(Choice(4));
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
  ASSERT_TRUE(server.login().has_value());
  EXPECT_EQ(server.login()->facts.principal, "alice@TEST");
  EXPECT_EQ(server.login()->protection, Protection::kPrivacy);
  EXPECT_EQ(server.login()->most_unit, 65'536U);
  EXPECT_FALSE(server.OnMessage({}).ok());
}

TEST(GssapiSaslTest, AServerWithoutAProtectionOffersNoUnits) {
  GssapiServer server(std::make_unique<FakeSecurity>(), 1);
  ASSERT_TRUE(server.OnMessage("AP-REQ").ok());
  const auto offer = server.OnMessage({});
  ASSERT_TRUE(offer.ok());
  EXPECT_EQ(*offer, FakeSecurity::WrapAs("\x01\0\0\0"s, false, 0));
}

TEST(GssapiSaslTest, ALibraryWithoutAnAnswerIsFollowedByTheOffer) {
  GssapiServer server(std::make_unique<FakeSecurity>(FakeSecurity::GoodFacts(), ""), kAllOffered);
  const auto offer = server.OnMessage("AP-REQ");
  ASSERT_TRUE(offer.ok());
  EXPECT_EQ(*offer, FakeSecurity::WrapAs("\x07\xFF\xFF\xFF", false, 0));
}

TEST(GssapiSaslTest, OnlyAnOfferedProtectionCanBeChosen) {
  EXPECT_EQ(LogIn(kAllOffered, Choice(1)), "auth");
  EXPECT_EQ(LogIn(kAllOffered, Choice(2)), "auth-int");
  EXPECT_EQ(LogIn(kPrivate, Choice(4)), "auth-conf");
  EXPECT_THAT(LogIn(kPrivate, Choice(1)), HasSubstr("has chosen the protection auth and this process wants auth-conf"));
  EXPECT_THAT(LogIn(kPrivate, Choice(2)), HasSubstr("wants auth-conf"));
  for (const int several : {0, 3, 5, 6, 7, 8, 255})
    EXPECT_THAT(LogIn(kAllOffered, Choice(static_cast<std::uint8_t>(several))),
                HasSubstr("has chosen the protection 0x"));
  const ScopedMutant mutant("rpc.any_protection");
  EXPECT_EQ(LogIn(kPrivate, Choice(1)), "auth");
}

TEST(GssapiSaslTest, AChangedOfferOrChoiceIsNoticed) {
  std::string changed = Choice(4);
  changed[3] = 1;
  EXPECT_EQ(LogIn(kAllOffered, changed), "a changed unit");
}

TEST(GssapiSaslTest, AChoiceIsWholeAndActsForItsPrincipalOnly) {
  EXPECT_THAT(LogIn(kAllOffered, FakeSecurity::WrapAs("\x01", false, 0)), HasSubstr("too short"));
  EXPECT_THAT(LogIn(kAllOffered, FakeSecurity::WrapAs("", false, 0)), HasSubstr("too short"));
  EXPECT_EQ(LogIn(kAllOffered, Choice(1, 0, "alice@TEST")), "auth");
  EXPECT_THAT(LogIn(kAllOffered, Choice(1, 0, "root")), HasSubstr("names another user"));
  EXPECT_THAT(LogIn(kAllOffered, Choice(4, kLeastUnit - 1)), HasSubstr("units of 1023 bytes only"));
}

TEST(GssapiSaslTest, AWeakLoginIsRefused) {
  const auto with = [](bool LoginFacts::*missing) {
    LoginFacts facts = FakeSecurity::GoodFacts();
    facts.*missing = false;
    return facts;
  };
  EXPECT_THAT(LogIn(kAllOffered, Choice(1), with(&LoginFacts::mutual)), HasSubstr("mutual"));
  EXPECT_THAT(LogIn(kAllOffered, Choice(1), with(&LoginFacts::integrity)), HasSubstr("without integrity"));
  LoginFacts anonymous = FakeSecurity::GoodFacts();
  anonymous.anonymous = true;
  EXPECT_THAT(LogIn(kAllOffered, Choice(1), anonymous), HasSubstr("anonymous"));
  EXPECT_THAT(LogIn(kAllOffered, Choice(1), with(&LoginFacts::own_key)), HasSubstr("not AES"));
  const ScopedMutant mutant("rpc.any_session_key");
  EXPECT_EQ(LogIn(kAllOffered, Choice(1), with(&LoginFacts::own_key)), "auth");
}

TEST(GssapiSaslTest, ALoginCarriesOnlyWhatTheClientAskedFor) {
  LoginFacts facts = FakeSecurity::GoodFacts();
  facts.confidentiality = false;
  EXPECT_EQ(LogIn(kAllOffered, Choice(2), facts), "auth-int");
  EXPECT_THAT(LogIn(kAllOffered, Choice(4), facts), HasSubstr("wants auth, auth-int"));
  EXPECT_THAT(LogIn(kPrivate, Choice(4), facts), HasSubstr("this process wants auth-conf"));
  facts.sequence = false;
  EXPECT_THAT(LogIn(kAllOffered, Choice(2), facts), HasSubstr("wants auth"));
}

TEST(GssapiSaslTest, TokensAreBounded) {
  GssapiServer server(std::make_unique<FakeSecurity>(FakeSecurity::GoodFacts(), "more", 4), kAllOffered);
  for (int i = 0; i < kMostGssapiSteps; ++i) EXPECT_TRUE(server.OnMessage("AP-REQ").ok());
  const auto more = server.OnMessage("AP-REQ");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().message(), "too many tokens");
  GssapiServer large(std::make_unique<FakeSecurity>(), kAllOffered);
  EXPECT_FALSE(large.OnMessage(std::string(kMostGssapiMessage + 1, 'A')).ok());
}

class ProtectedStreamTest : public ::testing::Test {
 protected:
  static std::unique_ptr<ProtectedStream> MakeStream(Protection protection = Protection::kPrivacy,
                                                     std::size_t most_unit = 1'024) {
    KerberosLogin login{FakeSecurity::GoodFacts(), protection, most_unit};
    auto made = ProtectedStream::Make(std::make_unique<FakeSecurity>(), login);
    EXPECT_TRUE(made.ok());
    return made.ok() ? std::move(*made) : nullptr;
  }
  static std::string Unit(std::string_view plain, int number, bool encrypt = true) {
    const std::string wrapped = FakeSecurity::WrapAs(plain, encrypt, number);
    std::string unit;
    AppendBig32(static_cast<std::uint32_t>(wrapped.size()), unit);
    return unit + wrapped;
  }
  static constexpr std::size_t kMost = 4'096;
};

TEST_F(ProtectedStreamTest, BytesComeInAnyPieces) {
  const std::string all = Unit("hello ", 0) + Unit("", 1) + Unit("world", 2);
  for (std::size_t piece = 1; piece <= all.size(); ++piece) {
    const auto stream = MakeStream();
    std::string plain;
    for (std::size_t at = 0; at < all.size(); at += piece)
      ASSERT_TRUE(stream->Open(std::string_view(all).substr(at, piece), kMost, plain).ok());
    EXPECT_EQ(plain, "hello world");
    EXPECT_EQ(stream->pending(), 0U);
  }
}

TEST_F(ProtectedStreamTest, ChangedRepeatedAndReorderedUnitsAreRefused) {
  std::string plain;
  std::string changed = Unit("hello", 0);
  changed[8] ^= 1;
  EXPECT_FALSE(MakeStream()->Open(changed, kMost, plain).ok());
  EXPECT_FALSE(MakeStream()->Open(Unit("a", 0) + Unit("a", 0), kMost, plain).ok());
  EXPECT_FALSE(MakeStream()->Open(Unit("b", 1), kMost, plain).ok());
}

TEST_F(ProtectedStreamTest, UnitsThatAreNotEncryptedAreRefused) {
  std::string plain;
  EXPECT_FALSE(MakeStream()->Open(Unit("a", 0, false), kMost, plain).ok());
  EXPECT_EQ(plain, "");
  EXPECT_TRUE(MakeStream(Protection::kIntegrity)->Open(Unit("a", 0, false), kMost, plain).ok());
  const ScopedMutant mutant("rpc.open_what_is_not_encrypted");
  EXPECT_TRUE(MakeStream()->Open(Unit("a", 0, false), kMost, plain).ok());
}

TEST_F(ProtectedStreamTest, LargeUnitsAreRefusedBeforeTheyArrive) {
  std::string length;
  AppendBig32(kMost + 1, length);
  std::string plain;
  EXPECT_FALSE(MakeStream()->Open(length, kMost, plain).ok());
  AppendBig32(0xFFFF'FFFF, length = {});
  EXPECT_FALSE(MakeStream()->Open(length, kMost, plain).ok());
}

TEST_F(ProtectedStreamTest, SealedUnitsAreAsLargeAsTheClientTakes) {
  const std::string large(5'000, 'x');
  for (const Protection protection : {Protection::kIntegrity, Protection::kPrivacy}) {
    const auto stream = MakeStream(protection);
    const auto sealed = stream->Seal({"head", "", large, "tail"});
    ASSERT_TRUE(sealed.ok());
    for (std::string_view rest = *sealed; !rest.empty(); rest.remove_prefix(4 + ReadBig32(rest)))
      EXPECT_LE(ReadBig32(rest), 1'024U);
    std::string plain;
    ASSERT_TRUE(MakeStream(protection)->Open(*sealed, kMost, plain).ok());
    EXPECT_EQ(plain, "head" + large + "tail");
  }
  const auto nothing = MakeStream()->Seal({});
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(*nothing, "");
}

TEST_F(ProtectedStreamTest, RandomBytesAreRefusedOrIncomplete) {
  Prng random(20'261'129);
  for (int round = 0; round < 10'000; ++round) {
    std::string bytes;
    const std::uint64_t size = random.Below(64);
    for (std::uint64_t i = 0; i < size; ++i) bytes += static_cast<char>(random.Below(256));
    std::string plain;
    static_cast<void>(MakeStream()->Open(bytes, kMost, plain));
    EXPECT_EQ(plain, "");
  }
}

}  // namespace
}  // namespace ratchet::rpc
