// Quotas through the wire: which requests are refused, by which exception, and the effects of a refused call.
#include "tests/unit/regionserver_server/service_fixture.h"

#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace {

class ThrottleServiceTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
  }
  // Sets `limit` of the table's throttle to this much an hour, so that the test sees no refill.
  void Limit(pb::TimedQuota* (pb::Throttle::*limit)(), std::uint64_t amount) {
    pb::ThrottleList list;
    list.set_digest(++digest_);
    list.set_enabled(true);
    list.set_may_exceed(false);
    pb::ThrottleOf& of = *list.add_throttle();
    ToProto(region_.table, *of.mutable_table());
    pb::TimedQuota& quota = *(of.mutable_quotas()->mutable_throttle()->*limit)();
    quota.set_soft_limit(amount);
    quota.set_time_unit(pb::HOURS);
    throttles_.Take(list);
  }
  Result<rpc::Reply<pb::MutateResponse>> ClientPut(const std::string& row) {
    pb::MutateRequest request;
    *request.mutable_region() = Specify(region_);
    *request.mutable_mutation() = PutProto(row, "q", "v");
    return Call(methods::kMutate, request, {}, /*cell_blocks=*/false);
  }
  static void ExpectThrottled(const Error& error, const std::string& says) {
    EXPECT_TRUE(rpc::IsClass(error, rpc::exception::kRpcThrottling)) << error.ToString();
    EXPECT_NE(error.message().find(says), std::string::npos) << error.ToString();
    EXPECT_TRUE(rpc::IsTransient(error));
  }

  const RegionInfo region_ = TableRegion();
  std::uint64_t digest_ = 0;
};

TEST_F(ThrottleServiceTest, WritesBeyondTheLimitAreRefusedWithTheTimeToWait) {
  Limit(&pb::Throttle::mutable_write_num, 2);
  EXPECT_EQ(throttles_.digest(), 1U);
  ASSERT_TRUE(ClientPut("a").ok());
  ASSERT_TRUE(ClientPut("b").ok());
  const auto refused = ClientPut("c");
  ASSERT_FALSE(refused.ok());
  ExpectThrottled(refused.error(), "number of write requests exceeded - wait ");
  EXPECT_EQ(throttles_.refused(), 1U);
  EXPECT_TRUE(Get(region_, "a", false).ok()) << "reads have no limit";
  EXPECT_TRUE(Put(region_, "m", "q", "v").ok()) << "the cluster's own processes are not limited";
}

TEST_F(ThrottleServiceTest, BytesThatWereReadCount) {
  ASSERT_TRUE(Put(region_, "a", "q", std::string(5'000, 'x')).ok());
  Limit(&pb::Throttle::mutable_read_size, 4'000);
  ASSERT_TRUE(Get(region_, "a", false).ok());
  const auto refused = Get(region_, "a", false);
  ASSERT_FALSE(refused.ok());
  ExpectThrottled(refused.error(), "read size limit exceeded - wait ");
}

TEST_F(ThrottleServiceTest, AMultiIsCountedByItsActionsAndFailsForItsRegion) {
  Limit(&pb::Throttle::mutable_req_num, 3);
  pb::MultiRequest request;
  auto& here = *request.add_regionaction();
  *here.mutable_region() = Specify(region_);
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto* action = here.add_action();
    action->set_index(i);
    *action->mutable_mutation() = PutProto("r" + std::to_string(i), "q", "v");
  }
  auto reply = Call(methods::kMulti, request, {}, false);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  EXPECT_FALSE(reply->message.regionactionresult(0).has_exception());
  reply = Call(methods::kMulti, request, {}, false);
  ASSERT_TRUE(reply.ok()) << reply.error().ToString();
  EXPECT_EQ(reply->message.regionactionresult(0).exception().name(), rpc::exception::kRpcThrottling);
  EXPECT_TRUE(ClientPut("one").ok()) << "the third request is left";
}

TEST_F(ThrottleServiceTest, AScanThatHasToWaitGoesOnWithTheSameCall) {
  for (const char* row : {"a", "b", "c"}) ASSERT_TRUE(Put(region_, row, "q", "v").ok());
  Limit(&pb::Throttle::mutable_read_num, 1);
  pb::ScanRequest open;
  *open.mutable_region() = Specify(region_);
  open.mutable_scan();
  open.set_number_of_rows(1);
  open.set_next_call_seq(0);
  const auto opened = Call(methods::kScan, open, {}, false);
  ASSERT_TRUE(opened.ok()) << opened.error().ToString();
  const std::size_t scanners = scanners_->open();
  const auto second = Call(methods::kScan, open, {}, false);
  ASSERT_FALSE(second.ok());
  ExpectThrottled(second.error(), "number of read requests exceeded");
  EXPECT_EQ(scanners_->open(), scanners) << "a scan that is refused leaves no scanner";

  pb::ScanRequest next;
  next.set_scanner_id(opened->message.scanner_id());
  next.set_number_of_rows(10);
  next.set_next_call_seq(1);
  const auto refused = Call(methods::kScan, next, {}, false);
  ASSERT_FALSE(refused.ok());
  ExpectThrottled(refused.error(), "number of read requests exceeded");
  Limit(&pb::Throttle::mutable_read_num, 5);
  const auto rest = Call(methods::kScan, next, {}, false);
  ASSERT_TRUE(rest.ok()) << rest.error().ToString();
  EXPECT_EQ(rest->message.results_size(), 2);
}

}  // namespace
}  // namespace ratchet::regionserver
