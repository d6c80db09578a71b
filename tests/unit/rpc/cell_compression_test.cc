#include "common/rpc/cell_compression.h"

#include <array>

#include <gtest/gtest.h>

#include "common/rpc/exceptions.h"

namespace ratchet::rpc {
namespace {

constexpr std::array kAll{CellCompression::kNone,   CellCompression::kGzip, CellCompression::kZlib,
                          CellCompression::kSnappy, CellCompression::kLz4,  CellCompression::kZstd};

std::string Sample(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes += "row" + std::to_string(bytes.size() * 7919 % 104'729) + ";";
  bytes.resize(size);
  return bytes;
}

TEST(CellCompressionTest, WhatWasCompressedComesBack) {
  for (const CellCompression each : kAll) {
    for (const std::size_t size : {1u, 100u, 65'536u, 131'072u, 131'073u, 1'000'000u}) {
      const std::string bytes = Sample(size);
      const auto compressed = Compress(each, bytes);
      ASSERT_TRUE(compressed.ok()) << static_cast<int>(each);
      const auto back = Decompress(each, *compressed, size);
      ASSERT_TRUE(back.ok()) << static_cast<int>(each) << " " << size << " " << back.error().message();
      EXPECT_EQ(*back, bytes);
    }
  }
}

// A few bytes that announce a large size cost at most the bound.
TEST(CellCompressionTest, MoreThanTheBoundIsRefused) {
  std::string large;
  large.resize(10'000'000, 'x');
  for (const CellCompression each : kAll) {
    const auto bomb = Compress(each, large);
    ASSERT_TRUE(bomb.ok());
    const auto back = Decompress(each, *bomb, 1'000'000);
    ASSERT_FALSE(back.ok()) << static_cast<int>(each);
    EXPECT_EQ(back.error().remote_class(), exception::kRequestTooBig) << back.error().message();
  }
}

TEST(CellCompressionTest, DamagedBytesAreRefusedOrGiveSomethingWithinTheBound) {
  for (const CellCompression each : kAll) {
    if (each == CellCompression::kNone) continue;
    const std::string bytes = Sample(5'000);
    const std::string compressed = Compress(each, bytes).value();
    for (std::size_t cut = 1; cut < compressed.size(); cut += 7)
      EXPECT_FALSE(Decompress(each, std::string_view(compressed).substr(0, cut), 10'000).ok())
          << static_cast<int>(each) << " cut at " << cut;
    for (std::size_t at = 0; at < compressed.size(); ++at) {
      std::string damaged = compressed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      const auto back = Decompress(each, damaged, 10'000);
      if (back.ok()) {
        EXPECT_LE(back->size(), 10'000U);
      } else {
        EXPECT_TRUE(back.error().remote_class() == exception::kDoNotRetryIo ||
                    back.error().remote_class() == exception::kRequestTooBig);
      }
    }
  }
}

// Makes one block of several chunks, as Hadoop's writers do.
TEST(CellCompressionTest, ABlockMayHaveSeveralChunks) {
  for (const CellCompression each : {CellCompression::kSnappy, CellCompression::kLz4}) {
    const std::string one = Compress(each, "hello ").value();
    const std::string two = Compress(each, "world").value();
    std::string block = std::string("\0\0\0\x0b", 4) + one.substr(4) + two.substr(4);
    EXPECT_EQ(Decompress(each, block, 100).value(), "hello world");
    block[3] = 12;
    EXPECT_FALSE(Decompress(each, block, 100).ok()) << "a byte is missing";
    block[3] = 10;
    EXPECT_FALSE(Decompress(each, block, 100).ok()) << "the last chunk is longer than the block";
  }
}

TEST(CellCompressionTest, ClassesAreHadoops) {
  EXPECT_EQ(CompressionOf(""), CellCompression::kNone);
  EXPECT_EQ(CompressionOf("org.apache.hadoop.io.compress.SnappyCodec"), CellCompression::kSnappy);
  EXPECT_EQ(CompressionOf("org.apache.hadoop.io.compress.BZip2Codec"), std::nullopt);
}

}  // namespace
}  // namespace ratchet::rpc
