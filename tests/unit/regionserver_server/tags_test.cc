// Tags of cells through the wire: stored, sent to connections whose codec has them, and times to live in them.
#include "tests/unit/regionserver_server/service_fixture.h"

#include "common/model/attributes.h"
#include "common/model/cell_tags.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/cell_compression.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/frame.h"
#include "tests/unit/regionserver_server/wire_client.h"

namespace ratchet::regionserver {
namespace {

using namespace std::string_literals;

const std::string kTagA = "\0\x03\x41xy"s;
const std::string kTagB = "\0\x02\x42z"s;

std::string TtlTag(std::int64_t ttl_ms) {
  std::string tag;
  AppendTtlTag(ttl_ms, tag);
  return tag;
}

class TagsTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
  }

  pb::MutateRequest Request(pb::MutationProto::MutationType type, const std::string& value, const std::string& tags,
                            std::optional<std::int64_t> ttl_ms = std::nullopt) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    *request.mutable_mutation() = PutProto("r", "q", value);
    request.mutable_mutation()->set_mutate_type(type);
    if (!tags.empty()) request.mutable_mutation()->mutable_column_value(0)->mutable_qualifier_value(0)->set_tags(tags);
    if (ttl_ms) {
      auto* attribute = request.mutable_mutation()->add_attribute();
      attribute->set_name("_ttl");
      attribute->set_value(EncodeInt64(*ttl_ms));
    }
    return request;
  }
  // The tags of the row's cell, as a connection with this codec gets them.
  std::string TagsOf(std::string_view codec = kKeyValueCodecWithTagsClass, std::string_view compressor = {}) {
    WireClient client(server_->port(), "ClientService", codec, compressor);
    pb::GetRequest request;
    *request.mutable_region() = Specify(region_);
    request.mutable_get()->set_row("r");
    pb::GetResponse response;
    std::string block;
    const std::string failed = client.Call("Get", request, {}, &response, &block);
    if (!failed.empty()) return failed;
    CellBlockReader reader(block);
    const auto cells = ReadResult(response.result(), reader);
    if (!cells.ok()) return cells.error().message();
    return cells->size() == 1 ? cells->front().tags : std::to_string(cells->size()) + " cells";
  }

  const RegionInfo region_ = TableRegion();
};

TEST_F(TagsTest, AreStoredAndGivenToThoseWhoseCodecHasThem) {
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", kTagA)).ok());
  EXPECT_EQ(TagsOf(), kTagA);
  EXPECT_EQ(TagsOf(kKeyValueCodecClass), "");
  ASSERT_TRUE(host_->regions.Find(region_.encoded_name()).value()->Flush().ok());
  EXPECT_EQ(TagsOf(), kTagA) << "from a file";
}

TEST_F(TagsTest, ComeInCellBlocksToo) {
  for (const std::string_view compressor :
       {"", "org.apache.hadoop.io.compress.GzipCodec", "org.apache.hadoop.io.compress.SnappyCodec"}) {
    WireClient client(server_->port(), "ClientService", kKeyValueCodecWithTagsClass, compressor);
    Cell cell{"r", "f", "q", kLatestTimestamp, CellType::kPut, std::string(100'000, 'v')};
    cell.tags = kTagA + kTagB;
    std::string block;
    AppendCell(cell, block, true);
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    request.mutable_mutation()->set_row("r");
    request.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
    request.mutable_mutation()->set_associated_cell_count(1);
    pb::MutateResponse response;
    EXPECT_EQ(client.Call("Mutate", request, block, &response, nullptr), "");
    EXPECT_EQ(TagsOf(kKeyValueCodecWithTagsClass, compressor), kTagA + kTagB) << compressor;
  }
}

TEST_F(TagsTest, ATimeToLiveIsATag) {
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", kTagA, 3'600'000)).ok());
  EXPECT_EQ(TagsOf(), kTagA + TtlTag(3'600'000));
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", TtlTag(5'000'000) + kTagB)).ok());
  EXPECT_EQ(TagsOf(), kTagB + TtlTag(5'000'000));
  auto old = Request(pb::MutationProto::PUT, "v", TtlTag(1));
  old.mutable_mutation()->set_timestamp(1);
  old.mutable_mutation()->set_row("old");
  ASSERT_TRUE(Call(methods::kMutate, old).ok());
  EXPECT_EQ(Get(region_, "old")->message.result().associated_cell_count(), 0) << "it is over";
}

// As in HBase, a time to live of 0 or less is over; it does not mean "none". This holds for the attribute and for a
// tag. A put with a past timestamp is over at once, so the test waits for no clock.
TEST_F(TagsTest, ATimeToLiveOfZeroOrLessIsOver) {
  for (const std::int64_t ttl_ms : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    for (const bool as_tag : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", ttl_ms, as_tag ? "as a tag" : "as an attribute"));
      auto put = Request(pb::MutationProto::PUT, "v", as_tag ? TtlTag(ttl_ms) : "",
                         as_tag ? std::optional<std::int64_t>() : ttl_ms);
      put.mutable_mutation()->set_timestamp(5);
      put.mutable_mutation()->mutable_column_value(0)->mutable_qualifier_value(0)->set_timestamp(5);
      ASSERT_TRUE(Call(methods::kMutate, put).ok());
      EXPECT_EQ(TagsOf(), "0 cells");
      ASSERT_TRUE(host_->regions.Find(region_.encoded_name()).value()->Flush().ok());
      EXPECT_EQ(TagsOf(), "0 cells") << "from a file";
    }
  }
}

// The new value has the increment's time to live, which is over; the old one does not lose its own.
TEST_F(TagsTest, AnIncrementWithATimeToLiveOfZeroKeepsTheOldOne) {
  const std::string one = EncodeInt64(1);
  auto put = Request(pb::MutationProto::PUT, one, "", 3'600'000);
  const std::int64_t written = clock_.WallMillis() - 1'000;
  put.mutable_mutation()->mutable_column_value(0)->mutable_qualifier_value(0)->set_timestamp(written);
  ASSERT_TRUE(Call(methods::kMutate, put).ok());
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::INCREMENT, one, "", -3'600'000)).ok());
  EXPECT_EQ(TagsOf(), TtlTag(3'600'000));
}

// HBase reads the first eight bytes of the attribute.
TEST_F(TagsTest, ALongerAttributeCountsByItsFirstEightBytes) {
  auto put = Request(pb::MutationProto::PUT, "v", "", 3'600'000);
  put.mutable_mutation()->mutable_attribute(0)->mutable_value()->push_back('x');
  ASSERT_TRUE(Call(methods::kMutate, put).ok());
  EXPECT_EQ(TagsOf(), TtlTag(3'600'000));
  put.mutable_mutation()->mutable_attribute(0)->set_value("short");
  EXPECT_FALSE(Call(methods::kMutate, put).ok());
}

// As in HBase: the change's tags, then the old cell's, and one time to live.
TEST_F(TagsTest, IncrementsAndAppendsCarryThemForward) {
  const std::string one = EncodeInt64(1);
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::INCREMENT, one, kTagA, 3'600'000)).ok());
  EXPECT_EQ(TagsOf(), kTagA + TtlTag(3'600'000));
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::INCREMENT, one, "", 3'600'001)).ok());
  EXPECT_EQ(TagsOf(), kTagA + TtlTag(3'600'001)) << "only one, the newer";
  ASSERT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::INCREMENT, one, kTagB)).ok());
  EXPECT_EQ(TagsOf(), kTagB + kTagA + TtlTag(3'600'001)) << "it stays where the change brings none";
  std::string large = "\x7f\x00\x41"s;
  large.resize(2 + 0x7f00, 'x');
  EXPECT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::APPEND, "v", large)).ok());
  const auto beyond = Call(methods::kMutate, Request(pb::MutationProto::APPEND, "v", large));
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(rpc::ClassOf(beyond.error()), rpc::exception::kDoNotRetryIo);
}

TEST_F(TagsTest, TheLongestLeaveNoRoomForATimeToLive) {
  std::string longest = "\x7f\xfd\x41"s;
  longest.resize(kMaxTagsLength, 'x');
  EXPECT_TRUE(Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", longest)).ok());
  EXPECT_EQ(TagsOf(), longest);
  const auto refused = Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", longest, 5'000'000));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(rpc::ClassOf(refused.error()), rpc::exception::kDoNotRetryIo);
}

TEST_F(TagsTest, ThoseOfLabelsAndAccessListsAreRefused) {
  const auto refused = Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", "\0\x02\x02x"s));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(rpc::ClassOf(refused.error()), rpc::exception::kDoNotRetryIo);
  EXPECT_NE(refused.error().message().find("type 2"), std::string::npos) << refused.error().message();
  EXPECT_FALSE(Call(methods::kMutate, Request(pb::MutationProto::PUT, "v", "no tags")).ok());
  EXPECT_EQ(TagsOf(), "0 cells");
}

TEST_F(TagsTest, ACompressedBlockThatIsNoneIsRefusedAndTheConnectionStays) {
  WireClient client(server_->port(), "ClientService", kKeyValueCodecClass, "org.apache.hadoop.io.compress.Lz4Codec",
                    /*compresses=*/false);
  pb::MutateRequest request;
  *request.mutable_region() = Specify(region_);
  request.mutable_mutation()->set_row("r");
  request.mutable_mutation()->set_associated_cell_count(1);
  request.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
  pb::MutateResponse response;
  EXPECT_EQ(client.Call("Mutate", request, "\0\0\0\x05nonsense"s, &response, nullptr), rpc::exception::kDoNotRetryIo);
  EXPECT_EQ(client.Call("Mutate", request, "\x7f\xff\xff\xffnonsense"s, &response, nullptr),
            rpc::exception::kRequestTooBig);
}

}  // namespace
}  // namespace ratchet::regionserver
