// S141 (no waiting on I/O threads): gets that an I/O thread answers itself, and those that it leaves to the handlers.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/rpc/methods/client_service.h"
#include "tests/support/sim_client.h"
#include "tests/unit/regionserver_server/service_fixture.h"
#include "tests/unit/regionserver_server/wire_client.h"

namespace ratchet::regionserver {
namespace {

class GetsAtOnceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  }
  [[nodiscard]] std::uint64_t AtOnce() const { return server_->stats().calls_at_once; }
  [[nodiscard]] std::string Read(bool cell_blocks = true) {
    const auto get = Get(region_, "r", cell_blocks);
    EXPECT_TRUE(get.ok()) << get.error().ToString();
    return get.ok() ? Text(get->message.result(), get->cells) : std::string();
  }
  void Flush() { ASSERT_TRUE((*host_->regions.Find(region_.encoded_name()))->Flush().ok()); }

  const RegionInfo region_ = TableRegion();
};

TEST_F(GetsAtOnceTest, RowsOfTheMemstoreAreAnsweredByTheIoThread) {
  EXPECT_EQ(Read(true), "q=v");
  EXPECT_EQ(Read(false), "q=v");
  EXPECT_EQ(AtOnce(), 2U);
  pb::GetRequest exists;
  *exists.mutable_region() = Specify(region_);
  exists.mutable_get()->set_row("r");
  exists.mutable_get()->set_existence_only(true);
  for (const bool cell_blocks : {true, false}) {
    const auto found = Call(methods::kGet, exists, {}, cell_blocks);
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->message.result().exists());
    EXPECT_EQ(found->message.result().cell_size(), 0);
    EXPECT_TRUE(found->cells.empty());
  }
  EXPECT_EQ(AtOnce(), 4U);
}

TEST_F(GetsAtOnceTest, NoneIsWhereTheSettingIsZero) {
  gets_at_once_.Set(0);
  EXPECT_EQ(Read(), "q=v");
  EXPECT_EQ(AtOnce(), 0U);
}

TEST_F(GetsAtOnceTest, OneTurnAnswersALimitedNumber) {
  gets_at_once_.Set(3);
  WireClient client(server_->port(), "ClientService", "org.apache.hadoop.hbase.codec.KeyValueCodec", "");
  pb::GetRequest get;
  *get.mutable_region() = Specify(region_);
  get.mutable_get()->set_row("r");
  EXPECT_GT(client.CallMany(10, "Get", get), 10U);
  EXPECT_GE(AtOnce(), 3U);
  EXPECT_LE(AtOnce(), 6U) << "the connection's header and the calls may arrive in two turns";
}

TEST_F(GetsAtOnceTest, BlocksOutsideOfTheCacheAreReadByAHandler) {
  Flush();
  EXPECT_EQ(Read(), "q=v");
  EXPECT_EQ(AtOnce(), 0U) << "the block was not in the cache";
  EXPECT_EQ(Read(), "q=v");
  EXPECT_EQ(AtOnce(), 0U) << "after a failure one call is not tried";
  EXPECT_EQ(Read(), "q=v");
  EXPECT_EQ(AtOnce(), 1U);
}

TEST_F(GetsAtOnceTest, ReadingTheDiskOnAnIoThreadIsNoticed) {
  const ScopedMutant mutant("regionserver.read_disk_on_io_thread");
  Flush();
  EXPECT_EQ(Read(), "q=v");
  EXPECT_EQ(AtOnce(), 1U) << "the test above would not notice";
}

TEST_F(GetsAtOnceTest, LongRowsAreReadByAHandler) {
  pb::MutateRequest request;
  *request.mutable_region() = Specify(region_);
  *request.mutable_mutation() = PutProto("r", "q", "v");
  constexpr int kColumns = 1'000;
  for (int i = 0; i < kColumns; ++i) {
    auto* cell = request.mutable_mutation()->mutable_column_value(0)->add_qualifier_value();
    cell->set_qualifier("q" + std::to_string(i));
    cell->set_value("v");
  }
  ASSERT_TRUE(Call(methods::kMutate, request).ok());
  const auto get = Get(region_, "r");
  ASSERT_TRUE(get.ok());
  EXPECT_EQ(get->message.result().associated_cell_count(), kColumns + 1);
  EXPECT_EQ(AtOnce(), 0U);
}

TEST_F(GetsAtOnceTest, LargeCellsAreReadByAHandler) {
  const std::string large(1'000'000, 'v');
  ASSERT_TRUE(Put(region_, "r", "q", large).ok());
  EXPECT_EQ(Read(), "q=" + large);
  EXPECT_EQ(AtOnce(), 0U);
}

TEST_F(GetsAtOnceTest, ErrorsComeFromAHandler) {
  pb::GetRequest get;
  *get.mutable_region() = Specify(region_);
  get.mutable_get()->set_row("r");
  get.mutable_get()->add_column()->set_family("no such family");
  const auto refused = Call(methods::kGet, get);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().ToString().find("no such family"), std::string::npos);
  EXPECT_EQ(AtOnce(), 0U);
}

// A storage whose clients cache names: the CHECK makes a round trip, S101 (cached names need a proof).
class ProvenGetsTest : public GetsAtOnceTest {
 protected:
  io::Disk& Storage() override { return client_; }
  io::SimClient client_{*disk_};
};

TEST_F(ProvenGetsTest, RoundTripsToTheStorageAreMadeByHandlers) {
  const std::uint64_t before = client_.round_trips();
  EXPECT_EQ(Read(), "q=v");
  EXPECT_GT(client_.round_trips(), before);
  EXPECT_EQ(AtOnce(), 0U);
}

TEST_F(ProvenGetsTest, ARoundTripOnAnIoThreadIsNoticed) {
  const ScopedMutant mutant("regionserver.prove_on_io_thread");
  EXPECT_EQ(Read(), "q=v");
  EXPECT_EQ(AtOnce(), 1U) << "the test above would not notice";
}

}  // namespace
}  // namespace ratchet::regionserver
