// S123 (only a proof makes a member): the pure part of the proof. Expected bytes come from a second implementation
// (Python's hmac and hashlib).
#include "common/rpc/member_proof.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/rpc/digests.h"
#include "common/rpc/frame.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;

constexpr char kTestKey[] = "proof-0123456789abcdef";
const ServerName kClient{"rs-1.example", 16020, 1'700'000'000'001};
const ServerName kServer{"master.example", 16000, 1'700'000'000'000};
const HostPort kWanted{"master.example", 16000};

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string Rising(int from) {
  std::string out;
  for (int i = 0; i < 32; ++i) out += static_cast<char>(from + i);
  return out;
}

MemberKeys KeysOf(std::initializer_list<const char*> texts) {
  MemberKeys keys;
  for (const char* text : texts) keys.push_back(DeriveMemberKey(text));
  return keys;
}

// One handshake, whose three units a test may change on the way.
struct Handshake {
  MemberKeys client_keys = KeysOf({kTestKey});
  MemberKeys server_keys = KeysOf({kTestKey});
  ServerName server_name = kServer;
  HostPort wanted = kWanted;
  std::string client_nonce = Rising(0);
  std::string server_nonce = Rising(100);
  std::string client_binding;
  std::string server_binding;
  std::function<void(int unit, std::string& bytes)> change = [](int, std::string&) {};

  // Set by Go; empty: not sent.
  std::string hello, answer, mac;
  std::optional<Error> client_error, server_error;
  std::optional<MemberPeer> peer;

  // True when the server takes the client for a member.
  bool Go() {
    MemberClientProof client({kMemberVersion, client_nonce, MemberRole::kRegionServer, kClient}, wanted, client_keys,
                             client_binding);
    MemberServerProof server(server_name, server_nonce, server_keys, server_binding);
    hello = client.hello();
    change(0, hello);
    auto reply = server.OnUnit(hello);
    if (!reply.ok()) return Failed(server_error, reply.error());
    answer = *reply;
    change(1, answer);
    auto proof = client.OnAnswer(answer);
    if (!proof.ok()) return Failed(client_error, proof.error());
    mac = *proof;
    change(2, mac);
    const auto end = server.OnUnit(mac);
    if (!end.ok()) return Failed(server_error, end.error());
    peer = server.peer();
    return peer.has_value();
  }

 private:
  static bool Failed(std::optional<Error>& where, const Error& error) {
    where = error;
    return false;
  }
};

TEST(MemberProofTest, IsTheOneOfTheSecondImplementation) {
  Handshake run;
  ASSERT_TRUE(run.Go());
  EXPECT_EQ(Hex(run.answer.substr(run.answer.size() - kMacBytes)),
            "0319484d984a908793cf16ed016f18620b087aedb8366fff7e1f5e6c2d407e40");
  EXPECT_EQ(Hex(run.mac), "36ceb38269496dcb01cf48b48028b0923f1d82600be0277821f9e89878ac12b9");
  EXPECT_EQ(run.peer->name, kClient);
  EXPECT_EQ(run.peer->role, MemberRole::kRegionServer);
  EXPECT_EQ(run.peer->key_id, DeriveMemberKey(kTestKey).id);
  Handshake bound;
  bound.client_binding = bound.server_binding = "exporter";
  ASSERT_TRUE(bound.Go());
  EXPECT_EQ(Hex(bound.mac), "c64557b9fc4a9d8b06b8b47efa177cfd1ad5057bcb97eee2c27dca5ea79210dc");
}

TEST(MemberProofTest, NothingOfTheKeyIsSent) {
  Handshake run;
  ASSERT_TRUE(run.Go());
  const MemberKey key = DeriveMemberKey(kTestKey);
  for (const std::string& unit : {run.hello, run.answer, run.mac}) {
    EXPECT_EQ(unit.find(kTestKey), std::string::npos);
    EXPECT_EQ(unit.find(key.derived), std::string::npos);
    EXPECT_EQ(unit.find(key.id), std::string::npos);
  }
}

bool EveryChangeIsRefused() {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  Handshake whole;
  if (!whole.Go()) return false;
  bool refused = true;
  const std::string* units[] = {&whole.hello, &whole.answer, &whole.mac};
  for (int unit = 0; unit < 3; ++unit) {
    const std::size_t size = units[unit]->size();
    for (std::size_t at = 0; at < size; ++at) {
      Handshake altered;
      const auto mask = static_cast<char>(1 + prng.Below(255));
      altered.change = [&](int which, std::string& bytes) {
        if (which == unit) bytes[at] = static_cast<char>(bytes[at] ^ mask);
      };
      refused = refused && !altered.Go() && !altered.peer.has_value();
      Handshake cut;
      cut.change = [&](int which, std::string& bytes) {
        if (which == unit) bytes.resize(at);
      };
      refused = refused && !cut.Go();
    }
    Handshake longer;
    longer.change = [&](int which, std::string& bytes) {
      if (which == unit) bytes += static_cast<char>(prng.Below(256));
    };
    refused = refused && !longer.Go();
  }
  return refused;
}

TEST(MemberProofTest, EveryAlteredByteAndEveryCutIsRefused) { EXPECT_TRUE(EveryChangeIsRefused()); }

TEST(MemberProofTest, AClientWithAnAlteredAnswerSendsNoProof) {
  Handshake run;
  run.change = [](int unit, std::string& bytes) {
    if (unit == 1) bytes.back() = static_cast<char>(bytes.back() ^ 1);
  };
  EXPECT_FALSE(run.Go());
  EXPECT_TRUE(run.mac.empty());
  ASSERT_TRUE(run.client_error.has_value());
  EXPECT_TRUE(run.client_error->message().starts_with("wrong proof")) << run.client_error->ToString();
}

TEST(MemberProofTest, ReplaysAreRefused) {
  Handshake recorded;
  ASSERT_TRUE(recorded.Go());
  MemberServerProof server(kServer, Rising(101), KeysOf({kTestKey}));
  ASSERT_TRUE(server.OnUnit(recorded.hello).ok());
  EXPECT_FALSE(server.OnUnit(recorded.mac).ok()) << "of another nonce of the server";
  EXPECT_FALSE(server.OnUnit(recorded.mac).ok()) << "and there is no second attempt";
  EXPECT_FALSE(server.peer().has_value());
  MemberClientProof client({kMemberVersion, Rising(1), MemberRole::kRegionServer, kClient}, kWanted,
                           KeysOf({kTestKey}));
  EXPECT_FALSE(client.OnAnswer(recorded.answer).ok()) << "of another nonce of the client";
}

// A server that sends a client's own bytes back, and a client that sends the server's mac.
TEST(MemberProofTest, TheSidesAreNotInterchangeable) {
  Handshake reflected;
  reflected.change = [&](int unit, std::string& bytes) {
    if (unit == 2) bytes = reflected.answer.substr(reflected.answer.size() - kMacBytes);
  };
  EXPECT_FALSE(reflected.Go());
  EXPECT_TRUE(reflected.server_error.has_value());
}

TEST(MemberProofTest, NamesThatAreNoneAreRefused) {
  for (const std::string& name :
       {""s, ","s, ",16020,5"s, "host"s, "host,16020"s, "host,0,5"s, "host,16020,0"s, "host,16020,"s, "host,16020,5,"s,
        " host,16020,5"s, "host,016020,5"s, "ho st,16020,5"s, "host\0,16020,5"s, "host,16020,5\n"s,
        std::string(600, 'h') + ",16020,5"}) {
    std::string hello(1, '\1');
    hello += Rising(0);
    hello += '\2';
    hello += static_cast<char>(name.size() >> 8);
    hello += static_cast<char>(name.size() & 0xff);
    hello += name;
    MemberServerProof server(kServer, Rising(100), KeysOf({kTestKey}));
    EXPECT_FALSE(server.OnUnit(hello).ok()) << name;
    std::string answer = Rising(100) + hello.substr(1 + kNonceBytes + 1) + Rising(0);
    MemberClientProof client({kMemberVersion, Rising(0), MemberRole::kMaster, kClient}, kWanted, KeysOf({kTestKey}));
    EXPECT_FALSE(client.OnAnswer(answer).ok()) << name;
  }
}

bool AnothersNameIsRefused() {
  bool refused = true;
  for (const ServerName& name : {ServerName{"other.example", 16000, 5}, ServerName{"master.example", 16001, 5}}) {
    Handshake run;
    run.server_name = name;  // a member of the cluster, and not the wanted one
    const bool taken = run.Go();
    refused = refused && !taken && run.mac.empty() && run.client_error.has_value() &&
              run.client_error->message().starts_with("wrong name") &&
              run.client_error->message().find(name.ToString()) != std::string::npos;
  }
  return refused;
}

TEST(MemberProofTest, AnothersNameIsRefusedBeforeItsProof) { EXPECT_TRUE(AnothersNameIsRefused()); }

TEST(MemberProofTest, ALaterProcessOfTheAddressIsTheServerAndLettersHaveNoCase) {
  Handshake run;
  run.server_name.start_code += 5;
  run.wanted.host = "Master.EXAMPLE";
  EXPECT_TRUE(run.Go());
}

TEST(MemberProofTest, AnotherRoleOrVersionIsRefused) {
  for (const char role : {'\0', '\1', '\3', '\xff'}) {
    Handshake run;
    run.change = [role](int unit, std::string& bytes) {
      if (unit == 0) bytes[1 + kNonceBytes] = role;
    };
    EXPECT_FALSE(run.Go()) << static_cast<int>(role);
  }
  Handshake later;
  later.change = [](int unit, std::string& bytes) {
    if (unit == 0) bytes[0] = 2;
  };
  EXPECT_FALSE(later.Go());
  EXPECT_NE(later.server_error->message().find("version 2"), std::string::npos);
}

bool OtherKeysAreRefused() {
  const auto taken = [](MemberKeys client, MemberKeys server) {
    Handshake run;
    run.client_keys = std::move(client);
    run.server_keys = std::move(server);
    return run.Go();
  };
  return !taken(KeysOf({kTestKey}), KeysOf({"proof-another"})) &&
         !taken(KeysOf({"proof-another"}), KeysOf({kTestKey})) && !taken({}, KeysOf({kTestKey})) &&
         !taken(KeysOf({kTestKey}), {}) && !taken({}, {});
}

TEST(MemberProofTest, OtherKeysAreRefusedAndNoKeyMeansNobody) { EXPECT_TRUE(OtherKeysAreRefused()); }

// old -> old,new -> new,old -> new, one process after the other.
TEST(MemberProofTest, ProofsByEitherOfTwoKeysAreTaken) {
  const std::vector<MemberKeys> steps{KeysOf({"old key"}), KeysOf({"old key", "new key"}),
                                      KeysOf({"new key", "old key"}), KeysOf({"new key"})};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = 0; j < steps.size(); ++j) {
      Handshake run;
      run.client_keys = steps[i];
      run.server_keys = steps[j];
      EXPECT_EQ(run.Go(), i > j ? i - j <= 1 : j - i <= 1) << i << " and " << j;
    }
  }
}

TEST(MemberProofTest, AnotherChannelIsRefused) {
  Handshake run;
  run.client_binding = "exporter of one channel";
  run.server_binding = "exporter of another one";
  EXPECT_FALSE(run.Go());
  EXPECT_TRUE(run.mac.empty());
}

TEST(MemberProofTest, UnitsOutOfTurnAreRefused) {
  MemberServerProof server(kServer, Rising(100), KeysOf({kTestKey}));
  EXPECT_FALSE(server.OnUnit(Rising(0)).ok()) << "a mac first";
  Handshake run;
  ASSERT_TRUE(run.Go());
  EXPECT_FALSE(server.OnUnit(run.hello).ok()) << "after a refusal";
  MemberServerProof nameless({}, Rising(100), KeysOf({kTestKey}));
  EXPECT_FALSE(nameless.OnUnit(run.hello).ok());
}

TEST(MemberProofTest, UnitsOfAServerAreReadWithinBounds) {
  using Kind = ServerItem::Kind;
  const std::string unit = ServerUnit("the answer");
  const std::string refusal = ServerRefusal("a.Class", "a text");
  for (const std::string& item : {unit, refusal}) {
    for (std::size_t size = 0; size < item.size(); ++size)
      EXPECT_EQ(ReadServerItem(item.substr(0, size)).kind, Kind::kIncomplete);
  }
  EXPECT_EQ(ReadServerItem(unit + "more").text, "the answer");
  EXPECT_EQ(ReadServerItem(unit + "more").size, unit.size());
  const ServerItem refused = ReadServerItem(refusal + "more");
  EXPECT_EQ(refused.kind, Kind::kRefusal);
  EXPECT_EQ(refused.error_class, "a.Class");
  EXPECT_EQ(refused.text, "a text");
  EXPECT_EQ(refused.size, refusal.size());
  const auto kind_of = [](std::initializer_list<std::uint32_t> numbers) {
    std::string bytes;
    for (const std::uint32_t number : numbers) AppendBig32(number, bytes);
    return ReadServerItem(bytes).kind;
  };
  EXPECT_EQ(kind_of({0, 0x7fffffff}), Kind::kBad);
  EXPECT_EQ(kind_of({0, static_cast<std::uint32_t>(kMostMemberUnit) + 1}), Kind::kBad);
  EXPECT_EQ(kind_of({1, 0x7fffffff}), Kind::kBad);
  EXPECT_EQ(kind_of({1, 0, 0xffffffff}), Kind::kBad);
  EXPECT_EQ(kind_of({200}), Kind::kFrame);
  EXPECT_EQ(kind_of({0x7fffffff}), Kind::kBad);
  EXPECT_EQ(kind_of({0xffffffff}), Kind::kBad);
}

#if defined(RATCHET_MUTANTS)
TEST(MemberProofTest, BelievingAnyProofIsNoticed) {
  const ScopedMutant mutant("member.believe_any_proof");
  EXPECT_FALSE(EveryChangeIsRefused());
}

TEST(MemberProofTest, BelievingAnyServerIsNoticed) {
  const ScopedMutant mutant("member.believe_any_server");
  Handshake run;
  run.server_keys = KeysOf({"proof-another"});
  EXPECT_FALSE(run.Go());
  EXPECT_FALSE(run.mac.empty()) << "a false server gets a proof";
}

TEST(MemberProofTest, TakingAnyNameIsNoticed) {
  const ScopedMutant mutant("member.any_name");
  EXPECT_FALSE(AnothersNameIsRefused());
}
#endif

}  // namespace
}  // namespace ratchet::rpc
