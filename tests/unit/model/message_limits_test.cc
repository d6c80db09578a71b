// Counting of messages on the wire, and errors whose text has a bound.
#include "common/model/message_limits.h"

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/master.pb.h"

namespace ratchet {
namespace {

namespace pb = ::hbase::pb;

std::string Repeated(std::string_view piece, std::size_t times) {
  std::string bytes;
  bytes.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) bytes += piece;
  return bytes;
}

MessageCount CountOf(const google::protobuf::Message& message) {
  return CountMessages(ShapeOf(*message.GetDescriptor()), message.SerializePartialAsString(), SIZE_MAX);
}

TEST(MessageLimitsTest, NestedMessagesAreCounted) {
  pb::MultiRequest multi;
  for (int i = 0; i < 10; ++i) {
    auto& region = *multi.add_regionaction();
    region.mutable_region()->set_type(pb::RegionSpecifier::ENCODED_REGION_NAME);
    region.mutable_region()->set_value("r");
    for (int k = 0; k < 5; ++k) region.add_action()->mutable_get()->set_row("row");
  }
  EXPECT_EQ(CountOf(multi).messages, 1u + 10u * (1 + 1 + 5 * 2));
}

// The charged size is at least half of the size that protobuf reports for the message, whatever it consists of.
TEST(MessageLimitsTest, TheEstimateFollowsTheMemory) {
  std::vector<std::pair<std::unique_ptr<google::protobuf::Message>, std::string>> inputs;
  const auto add = [&inputs](std::unique_ptr<google::protobuf::Message> message, std::string bytes) {
    inputs.emplace_back(std::move(message), std::move(bytes));
  };
  constexpr std::size_t kTimes = 20'000;
  add(std::make_unique<pb::MultiRequest>(), Repeated(std::string("\x0a\x00", 2), kTimes));      // regions
  add(std::make_unique<pb::MultiRequest>(), Repeated(std::string("\xfa\x3f\x00", 3), kTimes));  // unknown strings
  add(std::make_unique<pb::MultiRequest>(), Repeated(std::string("\xf8\x3f\x00", 3), kTimes));  // unknown numbers
  add(std::make_unique<pb::MultiRequest>(), Repeated("\xfb\x3f\xfc\x3f", kTimes));              // unknown groups
  add(std::make_unique<pb::MultiRequest>(), Repeated("\xfb\x3f\xf8\x3f\x01\xfc\x3f", kTimes));  // and inside them
  add(std::make_unique<pb::GetTableDescriptorsRequest>(), Repeated(std::string("\x0a\x00", 2), kTimes));
  add(std::make_unique<pb::FilterList>(), "\x08\x01" + Repeated(std::string("\x12\x00", 2), kTimes));
  pb::TimestampsFilter packed;
  for (std::size_t i = 0; i < kTimes; ++i) packed.add_timestamps(static_cast<std::int64_t>(i));
  add(std::make_unique<pb::TimestampsFilter>(), packed.SerializeAsString());
  pb::Column column;
  for (std::size_t i = 0; i < kTimes; ++i) column.add_qualifier(std::string(i % 40, 'q'));
  add(std::make_unique<pb::Column>(), column.SerializePartialAsString());
  for (auto& [message, bytes] : inputs) {
    const MessageCount count = CountMessages(ShapeOf(*message->GetDescriptor()), bytes, SIZE_MAX);
    ASSERT_TRUE(message->ParsePartialFromString(bytes)) << message->GetTypeName();
    EXPECT_GE(count.bytes * 2, message->SpaceUsedLong()) << message->GetTypeName() << " of " << bytes.size();
    EXPECT_LE(count.bytes, message->SpaceUsedLong() * 4) << message->GetTypeName() << " of " << bytes.size();
  }
}

// Two bytes make a string of a list, which a handler copies like a message.
TEST(MessageLimitsTest, StringsOfListsCountLikeMessages) {
  const std::string keys = Repeated(std::string("\x12\x00", 2), 1'000);
  EXPECT_EQ(CountMessages(ShapeOf(*pb::CreateTableRequest::descriptor()), keys, SIZE_MAX).messages, 1'001u);
}

TEST(MessageLimitsTest, CountingStopsAtTheLimit) {
  const std::string bytes = Repeated(std::string("\x0a\x00", 2), 1'000'000);
  EXPECT_EQ(CountMessages(ShapeOf(*pb::MultiRequest::descriptor()), bytes, 100).messages, 101u);
}

TEST(MessageLimitsTest, MissingFieldsAreNamedUpToAFew) {
  pb::MultiRequest multi;
  EXPECT_TRUE(multi.ParsePartialFromString(Repeated(std::string("\x0a\x00", 2), 100'000)));
  EXPECT_EQ(MissingFields(multi),
            "hbase.pb.MultiRequest: missing required fields: regionAction[0].region, regionAction[1].region, "
            "regionAction[2].region and more");
  EXPECT_EQ(MissingFields(pb::Get()), "hbase.pb.Get: missing required fields: row");
}

TEST(MessageLimitsTest, ParsingRefusesWhatIsTooMuchMalformedOrIncomplete) {
  pb::Get get;
  get.set_row("r");
  pb::Get read;
  EXPECT_TRUE(ParseMessage(get.SerializeAsString(), read).ok());
  EXPECT_EQ(read.row(), "r");
  EXPECT_EQ(ParseMessage("\x0a\x05x", read).error().code(), Code::kCorruption);
  EXPECT_EQ(ParseMessage("", read).error().code(), Code::kCorruption);
  pb::MultiRequest multi;
  EXPECT_EQ(ParseMessage(Repeated(std::string("\x0a\x00", 2), 1'000), multi, 500).error().code(),
            Code::kInvalidArgument);
}

// A message inside itself, deeper than a parser follows.
TEST(MessageLimitsTest, DepthIsBounded) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += '\xfb';  // begins groups without an end
  static_cast<void>(CountMessages(ShapeOf(*pb::MultiRequest::descriptor()), bytes, SIZE_MAX));
  bytes.clear();
  for (int i = 0; i < 1'000; ++i) bytes += "\xfb\x3f";
  EXPECT_LE(CountMessages(ShapeOf(*pb::MultiRequest::descriptor()), bytes, SIZE_MAX).messages, 110u);
}

TEST(MessageLimitsTest, AnyBytesAreCounted) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (std::uint64_t n = prng.Below(60); n > 0; --n)
      bytes += static_cast<char>(prng.Below(prng.Chance(1, 2) ? 32 : 256));
    pb::MultiRequest multi;
    const MessageCount count = CountMessages(ShapeOf(*pb::MultiRequest::descriptor()), bytes, SIZE_MAX);
    if (multi.ParsePartialFromString(bytes)) {
      EXPECT_GE(count.bytes * 2, multi.SpaceUsedLong());
    }
  }
}

}  // namespace
}  // namespace ratchet
