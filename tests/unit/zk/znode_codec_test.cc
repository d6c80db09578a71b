#include "common/zk/znode_codec.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/model/name_rules.h"

namespace ratchet::zk {
namespace {

using namespace std::string_literals;

TEST(ZnodeCodecTest, TheBytesAreThoseThatHBaseClientsExpect) {
  const std::string bytes = EncodeMasterNode({{"h", 16000, 5}, 0});
  // FF, length of the id, id, PBUF, Master{1: ServerName{1: "h", 2: 16000, 3: 5}, 2: 0, 3: 0}
  EXPECT_EQ(bytes, "\xff\0\0\0\7ratchetPBUF"s + "\x0a\x08\x0a\x01h\x10\x80\x7d\x18\x05"s + "\x10\0\x18\0"s);
}

TEST(ZnodeCodecTest, ReadsWhatItWritesAndWhatHBaseWrites) {
  const MasterNode node{{"host.example", 16000, 1700000000123}, 16010};
  const auto again = DecodeMasterNode(EncodeMasterNode(node));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->server, node.server);
  EXPECT_EQ(again->info_port, 16010u);
  // Another writer's id is longer and holds arbitrary bytes.
  const std::string foreign = "\xff\0\0\0\x14master:16000\1\2\3\4\5\6\7\0"s + EncodeMasterNode(node).substr(12);
  ASSERT_TRUE(DecodeMasterNode(foreign).ok());
  EXPECT_EQ(DecodeMasterNode(foreign)->server, node.server);
}

TEST(ZnodeCodecTest, DamageIsRefusedAtEveryLength) {
  const std::string bytes = EncodeMasterNode({{"host", 1, 2}, 3});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto node = DecodeMasterNode(std::string_view(bytes).substr(0, length));
    if (!node.ok()) {
      EXPECT_EQ(node.error().code(), Code::kCorruption);
    } else {
      // Only the optional fields after the server's name may be missing.
      EXPECT_EQ(node->server.host, "host");
      EXPECT_GE(length + 4, bytes.size());
    }
  }
  EXPECT_FALSE(DecodeMasterNode("\xfe"s + bytes.substr(1)).ok());
  EXPECT_FALSE(DecodeMasterNode("\xff\xff\xff\xff\xff"s + bytes.substr(5)).ok());
}

// Whatever another client writes below the parent: an error, never an end, and never a name that no file could hold.
TEST(ZnodeCodecTest, AnyBytesAreSurvived) {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  const std::string sound = EncodeMasterNode({{"host", 16000, 5}, 3});
  constexpr int kNodes = 20'000;
  for (int i = 0; i < kNodes; ++i) {
    std::string bytes = sound.substr(0, prng.Below(sound.size() + 1));
    for (std::uint64_t n = prng.Below(6); n > 0; --n) bytes += static_cast<char>(prng.Below(256));
    for (std::uint64_t n = prng.Below(4); n > 0 && !bytes.empty(); --n) {
      bytes[prng.Below(bytes.size())] = static_cast<char>(prng.Below(256));
    }
    const auto node = DecodeMasterNode(bytes);
    if (node.ok()) {
      EXPECT_TRUE(CheckHost(node->server.host).ok());
      EXPECT_NE(node->server.port, 0);
    } else {
      EXPECT_EQ(node.error().code(), Code::kCorruption);
    }
    static_cast<void>(DecodeClusterIdNode(bytes).ok());
  }
  EXPECT_EQ(DecodeMasterNode(EncodeMasterNode({{"a,b", 1, 1}, 0})).error().code(), Code::kCorruption);
}

TEST(ZnodeCodecTest, TheClustersIdIsWhatHBaseClientsExpect) {
  EXPECT_EQ(EncodeClusterIdNode("abc"), "\xff\0\0\0\7ratchetPBUF\x0a\3abc"s);
  EXPECT_EQ(*DecodeClusterIdNode(EncodeClusterIdNode("abc")), "abc");
  for (const std::string& bytes : {""s, "abc"s, "\xff\0\0\0\7ratchetPBUF"s, "\xff\0\0\0\7ratchetPBUF\x0a\0"s}) {
    EXPECT_EQ(DecodeClusterIdNode(bytes).error().code(), Code::kCorruption);
  }
}

}  // namespace
}  // namespace ratchet::zk
