#include "chaos/hostile/storm.h"

#include <gtest/gtest.h>

#include "common/model/proto/rpc.pb.h"
#include "common/rpc/cell_compression.h"
#include "common/rpc/frame.h"

namespace ratchet::chaos {
namespace {

// The parts of a whole frame: header, parameter, cells.
struct Parts {
  hbase::pb::RequestHeader header;
  std::string parameter;
  std::string cells;
};
Parts Cut(const std::string& frame) {
  std::string_view rest = frame;
  EXPECT_EQ(rpc::ReadBig32(rest.substr(0, 4)), frame.size() - 4);
  rest.remove_prefix(4);
  Parts parts;
  std::string_view header;
  std::string_view parameter;
  EXPECT_TRUE(rpc::CutDelimited(rest, header));
  EXPECT_TRUE(parts.header.ParseFromArray(header.data(), static_cast<int>(header.size())));
  EXPECT_TRUE(rpc::CutDelimited(rest, parameter));
  parts.parameter = parameter;
  parts.cells = rest;
  return parts;
}

TEST(StormTest, EmptyMessagesAreTwoBytesEach) {
  const Parts parts = Cut(ManyEmptyMessages(7, "Multi", 3));
  EXPECT_EQ(parts.header.call_id(), 7U);
  EXPECT_EQ(parts.header.method_name(), "Multi");
  EXPECT_EQ(parts.parameter, std::string("\x0a\x00\x0a\x00\x0a\x00", 6));
}

TEST(StormTest, ABombIsSmallAndBecomesLarge) {
  constexpr std::size_t kBytes = 1U << 20U;
  const Parts parts = Cut(CompressedBomb(8, "Multi", kBytes));
  EXPECT_EQ(parts.header.cell_block_meta().length(), parts.cells.size());
  EXPECT_LT(parts.cells.size(), kBytes / 100);
  const auto all = rpc::Decompress(rpc::CellCompression::kGzip, parts.cells, kBytes);
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  EXPECT_EQ(all->size(), kBytes);
}

TEST(StormTest, TheHelloNamesTheCodec) {
  const std::string hello = GzipHello("ClientService");
  hbase::pb::ConnectionHeader header;
  ASSERT_TRUE(header.ParseFromString(hello.substr(10)));
  EXPECT_EQ(rpc::CompressionOf(header.cell_block_compressor_class()), rpc::CellCompression::kGzip);
}

}  // namespace
}  // namespace ratchet::chaos
