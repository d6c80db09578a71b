// Get and Mutate through the wire, against a real region (docs/wire-compatibility.md).
#include "tests/unit/regionserver_server/service_fixture.h"

#include <limits>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/model/attributes.h"
#include "common/model/meta_row.h"
#include "common/model/replication_peer.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::regionserver {
namespace {

class DataServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
  }
  const RegionInfo region_ = TableRegion();
};

TEST_F(DataServiceTest, PutAndGetInBothForms) {
  auto put = Put(region_, "r", "q", "v");
  ASSERT_TRUE(put.ok()) << put.error().ToString();
  EXPECT_TRUE(put->message.processed());
  auto block = Get(region_, "r", true);
  ASSERT_TRUE(block.ok()) << block.error().ToString();
  EXPECT_EQ(block->message.result().associated_cell_count(), 1);
  EXPECT_EQ(block->message.result().cell_size(), 0);
  EXPECT_EQ(Text(block->message.result(), block->cells), "q=v");
  auto plain = Get(region_, "r", false);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->message.result().cell_size(), 1);
  EXPECT_TRUE(plain->cells.empty());
  EXPECT_EQ(Text(plain->message.result(), plain->cells), "q=v");
}

// S112 (no replication loops): where the sender's peer leads back to a cluster that has had the writes.
class ReturnedWritesTest : public DataServiceTest {
 protected:
  auto Ship(const std::string& passed) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    auto& mutation = *request.mutable_mutation();
    mutation.set_row("r");
    mutation.set_mutate_type(pb::MutationProto::PUT);
    auto& column = *mutation.add_column_value();
    column.set_family("f");
    auto& value = *column.add_qualifier_value();
    value.set_qualifier("q");
    value.set_value("v");
    auto& attribute = *mutation.add_attribute();
    attribute.set_name(std::string(kClusterIdsAttribute));
    attribute.set_value(passed);
    return Call(methods::kMutate, request);
  }
};

TEST_F(ReturnedWritesTest, WhatHasPassedThisClusterIsRefused) {
  EXPECT_TRUE(Ship("another\na-third").ok());
  for (const char* passed : {"this-cluster", "this-cluster\nanother", "another\nthis-cluster"}) {
    const auto refused = Ship(passed);
    ASSERT_FALSE(refused.ok()) << passed;
    EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kDoNotRetryIo)) << refused.error().ToString();
    EXPECT_NE(refused.error().message().find("this-cluster"), std::string::npos) << refused.error().ToString();
  }
}

TEST_F(ReturnedWritesTest, TakingThemIsNoticed) {
  const ScopedMutant mutant("replication.take_returned");
  EXPECT_TRUE(Ship("this-cluster").ok());
}

TEST_F(DataServiceTest, EmptyRowHasAResultAndNoCells) {
  auto get = Get(region_, "nothing");
  ASSERT_TRUE(get.ok());
  EXPECT_TRUE(get->message.has_result());
  EXPECT_FALSE(get->message.result().has_exists());
  EXPECT_TRUE(get->cells.empty());
}

TEST_F(DataServiceTest, ExistenceOnly) {
  ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  pb::GetRequest request;
  *request.mutable_region() = Specify(region_);
  request.mutable_get()->set_row("r");
  request.mutable_get()->set_existence_only(true);
  auto there = Call(methods::kGet, request);
  ASSERT_TRUE(there.ok());
  EXPECT_TRUE(there->message.result().exists());
  EXPECT_TRUE(there->cells.empty());
  request.mutable_get()->set_row("s");
  auto missing = Call(methods::kGet, request);
  ASSERT_TRUE(missing.ok());
  EXPECT_TRUE(missing->message.result().has_exists());
  EXPECT_FALSE(missing->message.result().exists());
}

TEST_F(DataServiceTest, ErrorsCarryTheClassesThatClientsKnow) {
  const auto elsewhere = Get(TableRegion("x"), "r");
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_EQ(elsewhere.error().remote_class(), rpc::exception::kNotServingRegion);
  pb::GetRequest request;
  *request.mutable_region() = Specify(region_);
  request.mutable_get()->set_row("r");
  request.mutable_get()->add_column()->set_family("nope");
  const auto family = Call(methods::kGet, request);
  ASSERT_FALSE(family.ok());
  EXPECT_EQ(family.error().remote_class(), rpc::exception::kNoSuchColumnFamily);
  request.mutable_get()->clear_column();
  request.mutable_get()->mutable_filter()->set_name("org.apache.hadoop.hbase.filter.PageFilter");
  const auto filter = Call(methods::kGet, request);
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(filter.error().remote_class(), rpc::exception::kDoNotRetryIo);
  EXPECT_NE(filter.error().message().find("PageFilter"), std::string::npos);
  request.mutable_get()->clear_filter();
  request.mutable_get()->set_closest_row_before(true);
  const auto closest = Call(methods::kGet, request);
  ASSERT_FALSE(closest.ok());
  EXPECT_EQ(closest.error().remote_class(), rpc::exception::kUnknownProtocol);
}

TEST_F(DataServiceTest, RowOutsideItsRegion) {
  const RegionInfo half = TableRegion("a", "m");
  ASSERT_EQ(OpenRegion(half).outcome, OrderOutcome::kOpened);
  const auto put = Put(half, "z", "q", "v");
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().remote_class(), rpc::exception::kWrongRegion);
}

TEST_F(DataServiceTest, ConditionDecidesAndSaysSo) {
  ASSERT_TRUE(Put(region_, "r", "q", "old").ok());
  pb::MutateRequest request;
  *request.mutable_region() = Specify(region_);
  *request.mutable_mutation() = PutProto("r", "q", "new");
  auto& condition = *request.mutable_condition();
  condition.set_row("r");
  condition.set_family("f");
  condition.set_qualifier("q");
  condition.set_compare_type(pb::EQUAL);
  pb::BinaryComparator comparator;
  comparator.mutable_comparable()->set_value("other");
  condition.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.BinaryComparator");
  condition.mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
  auto failed = Call(methods::kMutate, request);
  ASSERT_TRUE(failed.ok()) << failed.error().ToString();
  EXPECT_TRUE(failed->message.has_processed());
  EXPECT_FALSE(failed->message.processed());
  comparator.mutable_comparable()->set_value("old");
  condition.mutable_comparator()->set_serialized_comparator(comparator.SerializeAsString());
  auto applied = Call(methods::kMutate, request);
  ASSERT_TRUE(applied.ok());
  EXPECT_TRUE(applied->message.processed());
  auto get = Get(region_, "r");
  EXPECT_EQ(Text(get->message.result(), get->cells), "q=new");
}

TEST_F(DataServiceTest, IncrementAnswersTheNewValueUnlessNotWanted) {
  pb::MutateRequest request;
  *request.mutable_region() = Specify(region_);
  *request.mutable_mutation() = PutProto("r", "n", EncodeInt64(5));
  request.mutable_mutation()->set_mutate_type(pb::MutationProto::INCREMENT);
  auto first = Call(methods::kMutate, request);
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  auto second = Call(methods::kMutate, request, {}, false);
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->message.result().cell_size(), 1);
  EXPECT_EQ(second->message.result().cell(0).value(), EncodeInt64(10));
  auto* attribute = request.mutable_mutation()->add_attribute();
  attribute->set_name("_rr_");
  attribute->set_value(std::string(1, '\0'));
  request.mutable_mutation()->set_mutate_type(pb::MutationProto::APPEND);
  auto silent = Call(methods::kMutate, request);
  ASSERT_TRUE(silent.ok());
  EXPECT_TRUE(silent->cells.empty());
  EXPECT_TRUE(silent->message.has_result()) << "an empty result: Java takes an absent one for null";
}

TEST_F(DataServiceTest, MutationCellsComeFromTheBlock) {
  pb::MutateRequest request;
  *request.mutable_region() = Specify(region_);
  request.mutable_mutation()->set_row("r");
  request.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
  request.mutable_mutation()->set_associated_cell_count(2);
  std::string block;
  for (const char* qualifier : {"a", "b"})
    AppendCell(Cell{"r", "f", qualifier, kLatestTimestamp, CellType::kPut, "x"}, block);
  ASSERT_TRUE(Call(methods::kMutate, request, block).ok());
  auto get = Get(region_, "r");
  EXPECT_EQ(Text(get->message.result(), get->cells), "a=x b=x");
  request.mutable_mutation()->set_associated_cell_count(3);
  EXPECT_FALSE(Call(methods::kMutate, request, block).ok()) << "fewer cells than announced";
}

// Java: put.add(deleteCell). It once became a put of an empty value.
TEST_F(DataServiceTest, ADeleteMarkerInsideAPutDeletes) {
  for (const bool in_block : {false, true}) {
    ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    *request.mutable_mutation() = PutProto("r", "other", "w");
    std::string block;
    if (in_block) {
      AppendCell(Cell{"r", "f", "q", kLatestTimestamp, CellType::kDeleteColumn, ""}, block);
      request.mutable_mutation()->set_associated_cell_count(1);
    } else {
      auto* marker = request.mutable_mutation()->mutable_column_value(0)->add_qualifier_value();
      marker->set_qualifier("q");
      marker->set_delete_type(pb::MutationProto::DELETE_MULTIPLE_VERSIONS);
    }
    const auto reply = Call(methods::kMutate, request, block);
    ASSERT_TRUE(reply.ok()) << reply.error().ToString();
    const auto get = Get(region_, "r");
    EXPECT_EQ(Text(get->message.result(), get->cells), "other=w") << (in_block ? "cell block" : "message");
    ASSERT_TRUE(Put(region_, "r", "q", "again").ok());
    const auto again = Get(region_, "r");
    EXPECT_EQ(Text(again->message.result(), again->cells), "other=w q=again") << "a later put is newer than the marker";
  }
}

TEST_F(DataServiceTest, CellsThatAskForProtectionAreNotStoredWithoutIt) {
  for (const char* name : {"VISIBILITY", "acl"}) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    request.mutable_mutation()->set_row("r");
    request.mutable_mutation()->set_mutate_type(pb::MutationProto::PUT);
    auto* column = request.mutable_mutation()->add_column_value();
    column->set_family("f");
    column->add_qualifier_value()->set_value("secret");
    auto* attribute = request.mutable_mutation()->add_attribute();
    attribute->set_name(name);
    attribute->set_value("x");
    const auto put = Call(methods::kMutate, request);
    ASSERT_FALSE(put.ok());
    EXPECT_EQ(put.error().remote_class(), rpc::exception::kDoNotRetryIo);
    EXPECT_NE(put.error().message().find(name), std::string::npos) << put.error().message();
    const auto get = Get(region_, "r");
    EXPECT_TRUE(get.ok() && get->cells.empty());
  }
}

TEST_F(DataServiceTest, SameNonceIsAppliedOnce) {
  pb::MutateRequest request;
  *request.mutable_region() = Specify(region_);
  request.set_nonce_group(3);
  *request.mutable_mutation() = PutProto("r", "n", EncodeInt64(1));
  request.mutable_mutation()->set_mutate_type(pb::MutationProto::INCREMENT);
  request.mutable_mutation()->set_nonce(99);
  ASSERT_TRUE(Call(methods::kMutate, request).ok());
  ASSERT_TRUE(Call(methods::kMutate, request).ok());
  auto get = Get(region_, "r");
  EXPECT_EQ(Text(get->message.result(), get->cells), "n=" + EncodeInt64(1));
}

// S24 (visible after sync): the fence falls between evaluation and reply.
TEST_F(DataServiceTest, ReadIsNotAnsweredWhenTheFenceFellAfterItsEvaluation) {
  ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  FaultSpec fence;
  fence.action = FaultAction::kCall;
  fence.times = 1;
  fence.call = [this](std::string_view) {
    auto wals = *root_->OpenDir("wals");
    EXPECT_TRUE(io::FencedDirectory::Fence(*wals, "host,1,100").ok());
  };
  FaultPoints::Instance().Arm("regionserver.before_read_reply", fence);
  const auto get = Get(region_, "r");
  FaultPoints::Instance().DisarmAll();
  EXPECT_FALSE(get.ok());
#if defined(RATCHET_MUTANTS)
  const ScopedMutant mutant("regionserver.skip_read_check");
  EXPECT_TRUE(Get(region_, "r").ok()) << "without the check the fenced server answers: the test notices";
#endif
}

// S29 (durable nonces): the age that a client sends is converted back to the time at which the operation began.
TEST_F(DataServiceTest, ARetryThatBeganTooLongAgoIsRefused) {
  ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  ASSERT_TRUE((*host_->regions.Find(region_.encoded_name()))->Flush().ok())
      << "from here on older nonces are forgotten";
  std::uint64_t nonce = 0;
  const auto put = [&](const std::string& age) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    *request.mutable_mutation() = PutProto("r", "q", "late");
    request.set_nonce_group(1);
    request.mutable_mutation()->set_nonce(++nonce);
    auto* attribute = request.mutable_mutation()->add_attribute();
    attribute->set_name(std::string(kNonceAgeAttribute));
    attribute->set_value(age);
    return Call(methods::kMutate, request);
  };
  constexpr std::int64_t kMinute = 60'000;
  EXPECT_TRUE(put(EncodeInt64(kMinute)).ok());
  EXPECT_TRUE(put(EncodeInt64(-kMinute)).ok());
  for (const std::int64_t age : {60 * kMinute, INT64_MAX}) {
    const auto old = put(EncodeInt64(age));
    ASSERT_FALSE(old.ok()) << age;
    EXPECT_EQ(old.error().remote_class(), rpc::exception::kDoNotRetryIo);
    EXPECT_NE(old.error().message().find("nonces"), std::string::npos) << old.error().message();
  }
  EXPECT_FALSE(put("abc").ok());
}

class MetaServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(MetaRegionInfo()).outcome, OrderOutcome::kOpened);
  }
  Result<rpc::Reply<pb::MutateResponse>> MetaPut(const std::string& row, std::optional<std::int64_t> epoch) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(MetaRegionInfo());
    *request.mutable_mutation() = PutProto(row, "server", "h:1", "info");
    if (epoch.has_value()) {
      auto* attribute = request.mutable_mutation()->add_attribute();
      attribute->set_name(std::string(meta::kEpochAttribute));
      attribute->set_value(EncodeInt64(*epoch));
    }
    return Call(methods::kMutate, request);
  }
  std::string ClosestBefore(const std::string& row) {
    pb::GetRequest request;
    *request.mutable_region() = Specify(MetaRegionInfo());
    request.mutable_get()->set_row(row);
    request.mutable_get()->set_closest_row_before(true);
    auto reply = Call(methods::kGet, request, {}, false);
    EXPECT_TRUE(reply.ok());
    return reply.ok() && reply->message.result().cell_size() > 0 ? reply->message.result().cell(0).row() : "";
  }
};

TEST_F(MetaServiceTest, WritesCarryAnEpochAndLowerOnesAreRefused) {
  EXPECT_FALSE(MetaPut("t,,1.x.", std::nullopt).ok());
  ASSERT_TRUE(MetaPut("t,,1.x.", 5).ok());
  ASSERT_TRUE(MetaPut("t,,1.x.", 5).ok());
  const auto deposed = MetaPut("t,,1.x.", 4);
  ASSERT_FALSE(deposed.ok());
  EXPECT_NE(deposed.error().message().find("deposed"), std::string::npos) << deposed.error().ToString();
  ASSERT_TRUE(MetaPut("t,,1.x.", 6).ok());
  EXPECT_EQ(epochs_.highest(), Epoch(6));
}

// S59 (epoch proven by a claim). If it were believed, one Get would depose every master permanently.
TEST_F(MetaServiceTest, AnEpochThatNoMasterHasClaimedIsNotBelieved) {
  ASSERT_TRUE(MetaPut("t,,1.x.", 5).ok());
  const std::string enormous = EncodeInt64(std::numeric_limits<std::int64_t>::max());
  pb::GetRequest get;
  *get.mutable_region() = Specify(MetaRegionInfo());
  get.mutable_get()->set_row("t,,1.x.");
  auto* attribute = get.mutable_get()->add_attribute();
  attribute->set_name(std::string(meta::kEpochAttribute));
  attribute->set_value(enormous);
  EXPECT_FALSE(Call(methods::kGet, get).ok());
  pb::ScanRequest scan;
  *scan.mutable_region() = Specify(MetaRegionInfo());
  *scan.mutable_scan()->add_attribute() = *attribute;
  EXPECT_FALSE(Call(methods::kScan, scan).ok());
  EXPECT_FALSE(MetaPut("t,,1.x.", std::numeric_limits<std::int64_t>::max()).ok());
  EXPECT_FALSE(MetaPut("t,,1.x.", -1).ok());
  EXPECT_EQ(epochs_.highest(), Epoch(5));
  EXPECT_TRUE(MetaPut("t,,1.x.", 5).ok()) << "the master continues";
}

// S77 (members only), with an epoch that a master has claimed.
TEST_F(MetaServiceTest, ClientsDoNotWriteIt) {
  ASSERT_TRUE(MetaPut("t,,1.x.", 5).ok());
  pb::MutateRequest put;
  *put.mutable_region() = Specify(MetaRegionInfo());
  *put.mutable_mutation() = PutProto("t,,1.x.", "server", "h:2", "info");
  auto* attribute = put.mutable_mutation()->add_attribute();
  attribute->set_name(std::string(meta::kEpochAttribute));
  attribute->set_value(EncodeInt64(5));
  const auto refused = Call(methods::kMutate, put, {}, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(rpc::IsClass(refused.error(), rpc::exception::kAccessDenied)) << refused.error().ToString();
  pb::MultiRequest multi;
  *multi.add_regionaction()->mutable_region() = Specify(MetaRegionInfo());
  *multi.mutable_regionaction(0)->add_action()->mutable_mutation() = put.mutation();
  for (const bool atomic : {false, true}) {
    multi.mutable_regionaction(0)->set_atomic(atomic);
    const auto answered = Call(methods::kMulti, multi, {}, false);
    ASSERT_TRUE(answered.ok()) << answered.error().ToString();
    const std::string text = answered->message.ShortDebugString();
    EXPECT_NE(text.find("AccessDeniedException"), std::string::npos) << text;
  }
  EXPECT_TRUE(MetaPut("t,,1.x.", 5).ok()) << "the master does";
}

TEST_F(MetaServiceTest, ClosestRowBeforeStaysInItsTable) {
  ASSERT_TRUE(MetaPut("t,,1.a.", 1).ok());
  ASSERT_TRUE(MetaPut("t,m,2.b.", 1).ok());
  EXPECT_EQ(ClosestBefore("t,k,:"), "t,,1.a.");
  EXPECT_EQ(ClosestBefore("t,m,:"), "t,m,2.b.");
  EXPECT_EQ(ClosestBefore("u,a,:"), "") << "the row before is of another table";
}

TEST_F(MetaServiceTest, ProbeOfSeventeenZeroBytes) {
  pb::GetRequest request;
  *request.mutable_region() = Specify(MetaRegionInfo());
  request.mutable_get()->set_row(std::string(17, '\0'));
  request.mutable_get()->set_existence_only(true);
  request.mutable_get()->mutable_time_range();
  auto probe = Call(methods::kGet, request);
  ASSERT_TRUE(probe.ok()) << probe.error().ToString();
  EXPECT_FALSE(probe->message.result().exists());
}

}  // namespace
}  // namespace ratchet::regionserver
