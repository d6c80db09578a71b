// Input from strangers: the sender gets an error or loses its connection, others are not affected, memory stays
// bounded.
#include <sys/resource.h>

#include <fstream>

#include "common/base/descriptors.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "common/rpc/methods/client_service.h"
#include "tests/support/sanitized.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;

constexpr std::size_t kShadow = testing::kSanitized ? 10 : 1;  // sanitizers keep shadow memory for every byte

// Resident memory of this process in bytes.
std::size_t Resident() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

class BadInputTest : public RpcTest {
 protected:
  // A well-behaved neighbour still gets its answers, on its original connection.
  void ExpectOthersAreWell() {
    const auto reply = channel()->CallSync(methods::kGet, MakeGet("fine"));
    EXPECT_TRUE(reply.ok()) << reply.error().ToString();
  }
  // The exception that the server sends about the connection, before it closes it.
  std::string RefusalOf(std::string_view bytes) {
    RawClient client(server_->port());
    client.Send(bytes);
    const std::string frame = client.ReadFrame();
    EXPECT_FALSE(frame.empty());
    if (frame.empty()) return {};
    const ParsedAnswer answer = ParseAnswer(frame);
    EXPECT_TRUE(client.WaitClosed());
    EXPECT_EQ(answer.header.call_id(), kConnectionCallId);
    EXPECT_TRUE(answer.header.exception().has_stack_trace());
    return answer.header.exception().exception_class_name();
  }
};

TEST_F(BadInputTest, SetUpErrorsAreNamed) {
  ExpectOthersAreWell();
  EXPECT_EQ(RefusalOf("GET / HTTP/1.1\r\n\r\n"), exception::kFatalConnection);
  EXPECT_EQ(RefusalOf("HBas\x07\x50"), exception::kWrongVersion);
  EXPECT_EQ(RefusalOf("HBas\0\x4f"s), exception::kBadAuth);
  EXPECT_EQ(RefusalOf("HBas\0\x50\x7f\xff\xff\xff"s), exception::kFatalConnection);
  EXPECT_EQ(RefusalOf("HBas\0\x50\0\0\0\x03\xff\xff\xff"s), exception::kFatalConnection);
  EXPECT_EQ(RefusalOf("HBas\0\x50\0\0\0\0"s), exception::kEmptyServiceName);
  ExpectOthersAreWell();
  EXPECT_EQ(server_->stats().bad_connections, 6u);
}

// Test 32 of identity: a connection is introduced once.
TEST_F(BadInputTest, ASecondIntroductionEndsTheConnection) {
  ExpectOthersAreWell();
  const std::string header = Hello().substr(kPreambleBytes);
  for (const std::string& again : {header, Hello(), "HBas\0R\0\0\0\0"s, "Regist"s, "Securi"s}) {
    RawClient client(server_->port());
    client.Send(Hello() + RequestFrame(1, "Get", MakeGet("r")));
    EXPECT_FALSE(ParseAnswer(client.ReadFrame()).header.has_exception());
    client.Send(again + RequestFrame(2, "Mutate", MakePut(std::string(200, 'r'))));
    EXPECT_EQ(ParseAnswer(client.ReadFrame()).header.call_id(), kConnectionCallId);
    EXPECT_TRUE(client.WaitClosed());
    ExpectOthersAreWell();
  }
  EXPECT_EQ(mutations_.load(), 0);
}

TEST_F(BadInputTest, RegistryPreamble) {
  RawClient old(server_->port());
  old.Send("Regist");
  const auto refusal = ParseAnswer(old.ReadFrame());
  EXPECT_TRUE(refusal.header.exception().stack_trace().starts_with("Expected HEADER="));
  EXPECT_TRUE(old.WaitClosed());

  ServerOptions options;
  options.cluster_id = [] { return std::optional<std::string>("the-cluster"); };
  Restart(options);
  RawClient client(server_->port());
  client.Send("Regist");
  const auto answer = ParseAnswer(client.ReadFrame());
  EXPECT_EQ(answer.header.call_id(), kConnectionCallId);
  EXPECT_EQ(answer.body, "\x0d\x0a\x0bthe-cluster");
  EXPECT_TRUE(client.WaitClosed());
}

TEST_F(BadInputTest, SecurityPreambleIsAnsweredAndTheClientGoesOn) {
  RawClient client(server_->port());
  client.Send("Securi");
  EXPECT_EQ(ParseAnswer(client.ReadFrame()).header.exception().exception_class_name(), exception::kSecurityNotEnabled);
  client.Send(Hello() + RequestFrame(0, "Get", MakeGet("r")));
  EXPECT_FALSE(ParseAnswer(client.ReadFrame()).header.has_exception());
}

TEST_F(BadInputTest, EverythingInOneSegmentOrByteByByte) {
  const std::string all =
      Hello() + RequestFrame(0, "Get", MakeGet("a")) + RequestFrame(1, "Scan", hbase::pb::ScanRequest());
  RawClient together(server_->port());
  together.Send(all);
  RawClient slow(server_->port());
  for (const char byte : all) slow.Send(std::string_view(&byte, 1));
  for (RawClient* client : {&together, &slow}) {
    std::set<std::uint32_t> ids;
    for (int i = 0; i < 2; ++i) {
      const ParsedAnswer answer = ParseAnswer(client->ReadFrame());
      EXPECT_TRUE(answer.header.has_call_id());
      EXPECT_FALSE(answer.header.has_exception());
      if (answer.header.call_id() == 1) {
        EXPECT_EQ(answer.body, "\0"s);  // an empty result is the varint 0
      }
      ids.insert(answer.header.call_id());
    }
    EXPECT_EQ(ids, (std::set<std::uint32_t>{0, 1}));
  }
}

TEST_F(BadInputTest, MissingFieldsAndUnknownMethodsOnlyFailTheirCall) {
  RawClient client(server_->port());
  client.Send(Hello());
  const auto failure = [&](const std::string& frame) {
    client.Send(frame);
    const ParsedAnswer answer = ParseAnswer(client.ReadFrame());
    return answer.header.exception().exception_class_name() + "|" + answer.header.exception().stack_trace();
  };
  const std::string missing = failure(RequestFrame(5, "Get", hbase::pb::ScanRequest()));
  EXPECT_TRUE(missing.starts_with(exception::kDoNotRetryIo));
  EXPECT_NE(missing.find("region"), std::string::npos) << missing;
  EXPECT_NE(failure(RequestFrame(6, "get", MakeGet("r"))).find("UnsupportedOperationException: get"),
            std::string::npos);
  hbase::pb::RequestHeader header;
  header.set_call_id(7);
  header.set_method_name("Get");
  const std::string head = header.SerializeAsString();
  std::string frame;
  AppendBig32(static_cast<std::uint32_t>(1 + head.size()), frame);
  frame += static_cast<char>(head.size());
  EXPECT_TRUE(failure(frame + head).starts_with(exception::kDoNotRetryIo));  // no parameter at all
  client.Send(RequestFrame(8, "Get", MakeGet("r")));
  EXPECT_FALSE(ParseAnswer(client.ReadFrame()).header.has_exception());
}

TEST_F(BadInputTest, AbsentCallIdOrNegativeLengthCostTheConnection) {
  for (const std::string& bytes : {"\0\0\0\x02\x01\x08"s, "\0\0\0\x01\x00"s, "\xff\xff\xff\xff"s, "\0\0\0\x00"s}) {
    RawClient client(server_->port());
    client.Send(Hello() + bytes);
    EXPECT_TRUE(client.WaitClosed());
  }
  ExpectOthersAreWell();
}

TEST_F(BadInputTest, TooBigRequestIsRefusedFromItsHeader) {
  ServerOptions options;
  options.max_frame_bytes = 100'000;
  Restart(options);
  RawClient client(server_->port());
  std::string frame = RequestFrame(9, "Mutate", MakePut(std::string(200'000, 'x')));
  client.Send(Hello() + frame.substr(0, 1000));
  const ParsedAnswer answer = ParseAnswer(client.ReadFrame());
  EXPECT_EQ(answer.header.call_id(), 9u);
  EXPECT_EQ(answer.header.exception().exception_class_name(), exception::kRequestTooBig);
  EXPECT_TRUE(client.WaitClosed());
  ExpectOthersAreWell();
}

TEST_F(BadInputTest, AnnouncedBytesCostNothingUntilTheyArrive) {
  const std::size_t before = Resident();
  std::vector<RawClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back(server_->port());
    clients.back().Send(Hello() + "\x0f\xff\xff\xff"s + std::string(1000, '\x00'));
  }
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open >= 50; }));
  ExpectOthersAreWell();
  EXPECT_LT(Resident(), before + kShadow * (64u << 20));  // 50 frames of 256 MiB were announced
}

TEST_F(BadInputTest, UnfinishedFramesAreBoundedTogether) {
  ServerOptions options;
  options.max_input_bytes = 1 << 20;
  Restart(options);
  ExpectOthersAreWell();
  const std::string part = Hello() + "\x0f\xff\xff\xff"s + std::string(600'000, '\x00');
  RawClient first(server_->port());
  first.Send(part);
  RawClient second(server_->port());
  second.Send(part);
  // A connection over the bound gets an error and is closed; closing frees its memory.
  ASSERT_TRUE(Eventually([&] { return server_->stats().bad_connections == 1; }));
  ExpectOthersAreWell();
  RawClient third(server_->port());
  third.Send(Hello() + RequestFrame(1, "Get", MakeGet("r")));
  EXPECT_FALSE(ParseAnswer(third.ReadFrame()).header.has_exception());
}

TEST_F(BadInputTest, ClientThatDoesNotReadIsCutOff) {
  ServerOptions options;
  options.max_unsent_bytes = 4 << 20;
  options.pause_unsent_bytes = 64 << 20;  // so that only the hard bound helps
  Restart(options);
  RawClient client(server_->port());
  client.Send(Hello());
  const std::string row(30'000, 'x');
  const std::string request = RequestFrame(1, "Get", MakeGet(row));
  bool open = true;
  for (int i = 0; i < 2'000 && open; ++i) open = client.Send(request);  // answers of twice the size are never read
  EXPECT_TRUE(Eventually([&] { return server_->stats().bad_connections == 1; }));
  ExpectOthersAreWell();
}

hbase::pb::GetRequest MakeLargeHold() {
  hbase::pb::GetRequest held = MakeGet("hold");
  held.mutable_get()->add_attribute()->set_name("filler");
  held.mutable_get()->mutable_attribute(0)->set_value(std::string(300'000, 'x'));
  return held;
}

TEST_F(BadInputTest, AnswersOfAllConnectionsAreBoundedTogether) {
  ServerOptions options;
  options.max_unsent_total_bytes = 8 << 20;
  options.pause_unsent_bytes = options.max_unsent_bytes = 64 << 20;  // so that only the common bound helps
  Restart(options);
  RawClient small(server_->port());
  small.Send(Hello());
  RawClient large(server_->port());
  large.Send(Hello());
  const std::string row(30'000, 'x');
  const std::string request = RequestFrame(1, "Get", MakeGet(row));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(small.Send(request));  // not read for a while, but no more than a client may
  bool open = true;
  for (int i = 0; i < 4'000 && open; ++i) open = large.Send(request);
  ASSERT_TRUE(Eventually([&] { return server_->stats().bad_connections == 1; }));
  ASSERT_TRUE(Eventually([&] { return server_->stats().unsent_bytes < (8u << 20); }));
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(ParseAnswer(small.ReadFrame()).header.has_exception()) << "the wrong one was closed";
  ExpectOthersAreWell();
  EXPECT_TRUE(Eventually([&] { return server_->stats().unsent_bytes == 0; }));
}

TEST_F(BadInputTest, RequestsWithoutAnswerAreBoundedTogether) {
  ServerOptions options;
  options.max_call_bytes = 2 << 20;  // of frames and their parsed messages
  Restart(options);
  RawClient client(server_->port());
  client.Send(Hello());
  const hbase::pb::GetRequest held = MakeLargeHold();
  for (std::uint32_t i = 1; i <= 3; ++i) client.Send(RequestFrame(i, "Get", held));
  WaitHeld(3);  // they no longer wait, but their bytes still exist
  client.Send(RequestFrame(4, "Get", held));
  const ParsedAnswer refused = ParseAnswer(client.ReadFrame());
  EXPECT_EQ(refused.header.call_id(), 4u);
  EXPECT_EQ(refused.header.exception().exception_class_name(), exception::kCallQueueTooBig);
  ExpectOthersAreWell();  // small ones still fit
  Release();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ParseAnswer(client.ReadFrame()).header.has_exception());
  EXPECT_TRUE(Eventually([&] { return server_->stats().call_bytes == 0; }));
  client.Send(RequestFrame(5, "Get", held));
  WaitHeld(1);
  Release();
}

TEST_F(BadInputTest, WithoutACommonBoundAnswersPileUp) {
  const ScopedMutant mutant("rpc.bound_each_connection_only");
  ServerOptions options;
  options.max_unsent_total_bytes = 1 << 20;
  options.pause_unsent_bytes = options.max_unsent_bytes = 64 << 20;
  Restart(options);
  RawClient client(server_->port());
  client.Send(Hello());
  const std::string request = RequestFrame(1, "Get", MakeGet(std::string(30'000, 'x')));
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(client.Send(request));
  EXPECT_TRUE(Eventually([&] { return server_->stats().unsent_bytes > (4u << 20); }));
}

TEST_F(BadInputTest, WithoutCountingThemToTheirEndRequestsPileUp) {
  const ScopedMutant mutant("rpc.count_waiting_calls_only");
  ServerOptions options;
  options.max_call_bytes = 2 << 20;
  Restart(options);
  RawClient client(server_->port());
  client.Send(Hello());
  for (std::uint32_t i = 1; i <= 6; ++i) {
    client.Send(RequestFrame(i, "Get", MakeLargeHold()));
    WaitHeld(i);
  }
  Release();
}

TEST_F(BadInputTest, CallsInFlightAreBoundedPerConnection) {
  ServerOptions options;
  options.max_calls_per_connection = 10;
  Restart(options);
  RawClient client(server_->port());
  client.Send(Hello());
  for (std::uint32_t i = 0; i < 30; ++i) client.Send(RequestFrame(i, "Get", MakeGet("hold")));
  WaitHeld(10);
  ExpectOthersAreWell();
  EXPECT_EQ(server_->stats().calls_received, 11u);  // the neighbour's included: the other 20 are not read
  std::set<std::uint32_t> answered;
  for (int batch = 0; batch < 3; ++batch) {
    WaitHeld(10);
    Release();
    for (int i = 0; i < 10; ++i) {
      const std::string frame = client.ReadFrame();
      ASSERT_FALSE(frame.empty());
      answered.insert(ParseAnswer(frame).header.call_id());
    }
  }
  EXPECT_EQ(answered.size(), 30u);
}

TEST_F(BadInputTest, FuzzedStreams) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  const std::string good = Hello(true) + RequestFrame(1, "Get", MakeGet("row")) +
                           RequestFrame(2, "Mutate", MakePut("row")) +
                           RequestFrame(3, "Scan", hbase::pb::ScanRequest());
  ExpectOthersAreWell();
  const std::size_t before = Resident();
  for (int i = 0; i < 1'500; ++i) {
    std::string bytes = prng.Chance(1, 10) ? std::string() : good.substr(0, prng.Below(good.size() + 1));
    for (std::uint64_t flips = prng.Below(6); flips > 0 && !bytes.empty(); --flips) {
      bytes[prng.Below(bytes.size())] = static_cast<char>(prng.Below(256));
    }
    for (std::uint64_t more = prng.Below(40); more > 0; --more) bytes += static_cast<char>(prng.Below(256));
    RawClient client(server_->port());
    ASSERT_TRUE(client.ok());
    client.Send(bytes);
    if (i % 100 == 0) ExpectOthersAreWell();
  }
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open <= 1; }));
  ExpectOthersAreWell();
  // The neighbour never had to reconnect. The last ones may still be in the kernel's queue.
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_accepted == 1'501u; }))
      << server_->stats().connections_accepted;
  EXPECT_LT(Resident(), before + kShadow * (64u << 20));
}

TEST_F(BadInputTest, UnfinishedIntroductionsTimeOut) {
  ServerOptions options;
  options.setup_timeout = Millis(50);
  Restart(options);
  RawClient silent(server_->port());
  RawClient half(server_->port());
  half.Send("HBas");
  EXPECT_TRUE(half.WaitClosed());
  silent.Send(Hello() + RequestFrame(0, "Get", MakeGet("r")));  // it had sent nothing yet, so it was left alone
  EXPECT_FALSE(silent.ReadFrame().empty());
}

TEST_F(BadInputTest, ConnectionsAreBounded) {
  ServerOptions options;
  options.max_connections = 5;
  Restart(options);
  std::vector<RawClient> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(server_->port());
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open == 5; }));
  EXPECT_TRUE(RawClient(server_->port()).WaitClosed());
  clients.pop_back();
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open == 4; }));
  ExpectOthersAreWell();
}

TEST_F(BadInputTest, TenThousandIdleConnections) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  // Both ends are in this process.
  const std::size_t wanted =
      std::min<std::size_t>(10'000, (limit.rlim_cur - ReservedDescriptors(limit.rlim_cur) - 200) / 2);
  std::vector<RawClient> clients;
  clients.reserve(wanted);
  const std::string hello = Hello(true) + RequestFrame(1, "Scan", hbase::pb::ScanRequest());
  clients.emplace_back(server_->port());
  clients.back().Send(hello);
  ASSERT_FALSE(clients.back().ReadFrame().empty());
  const std::size_t before = Resident();
  for (std::size_t i = 1; i < wanted; ++i) {
    clients.emplace_back(server_->port());
    ASSERT_TRUE(clients.back().ok()) << i;
    ASSERT_TRUE(clients.back().Send(hello));
    ASSERT_FALSE(clients.back().ReadFrame().empty());  // each connection has answered once, then idles
  }
  EXPECT_EQ(server_->stats().connections_open, wanted);
  const std::size_t per_connection = (Resident() - std::min(before, Resident())) / wanted;
  RecordProperty("bytes_per_idle_connection", static_cast<int>(per_connection));
  EXPECT_LT(per_connection, 6'000u * kShadow);
  ExpectOthersAreWell();
  clients.clear();
  EXPECT_TRUE(Eventually([&] { return server_->stats().connections_open <= 1; }));
}

}  // namespace
}  // namespace ratchet::rpc
