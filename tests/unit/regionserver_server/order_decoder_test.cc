#include "regionserver/orders/order_decoder.h"

#include <string>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/region_info.h"
#include "tests/support/expect_killed.h"

namespace ratchet::regionserver {
namespace {

class RecordingExecutor final : public OrderExecutor {
 public:
  OrderAnswer Open(const OpenOrder& order) override {
    opened.push_back(order);
    return {};
  }
  std::optional<OrderAnswer> Close(const CloseOrder& order) override {
    closed.push_back(order);
    return OrderAnswer{};
  }
  OrderAnswer SplitLog(const SplitLogOrder& order) override {
    split.push_back(order);
    return {};
  }
  OrderAnswer Flush(const FlushOrder& order) override {
    flushed.push_back(order);
    return {};
  }
  OrderAnswer Compact(const CompactOrder& order) override {
    compacted.push_back(order);
    return {};
  }
  OrderAnswer Build(const BuildOrder& order) override {
    built.push_back(order);
    return {};
  }
  OrderAnswer Copy(const CopyOrder& order) override {
    copied.push_back(order);
    return {};
  }
  OrderAnswer RefreshPeers(const RefreshPeersOrder& order) override {
    refreshed.push_back(order);
    return {};
  }
  OrderAnswer TakeRights(const TakeRightsOrder& order) override {
    rights.push_back(order);
    return {};
  }
  std::vector<TakeRightsOrder> rights;
  std::vector<RefreshPeersOrder> refreshed;
  std::vector<CopyOrder> copied;
  std::vector<BuildOrder> built;
  std::vector<FlushOrder> flushed;
  std::vector<CompactOrder> compacted;
  std::vector<OpenOrder> opened;
  std::vector<CloseOrder> closed;
  std::vector<SplitLogOrder> split;
};

RegionInfo SomeRegion() {
  RegionInfo region;
  region.table = TableName("default", "t");
  region.region_id = 5;
  return region;
}

pb::OpenRegionRequest::RegionOpenInfo& AddOpen(pb::ExecuteProceduresRequest& request, const RegionInfo& region) {
  auto& info = *request.add_open_region()->add_open_info();
  ToProto(region, *info.mutable_region());
  info.set_open_proc_id(40);
  info.set_open_number(3);
  info.set_opened_before(true);
  info.set_attempt(2);
  info.set_table_dir("default/t.7");
  ToProto(MetaTableDescriptor(), *info.mutable_schema());
  return info;
}

// A flush is ordered without the region's lock, and may have a higher number than the close that comes after it. Empty:
// the close is accepted.
std::string AFlushComesBeforeACloseWithALowerNumber() {
  pb::ExecuteProceduresRequest first;
  auto& flush = *first.add_proc();
  flush.set_proc_id(50);
  flush.set_proc_class(kFlushRegionClass);
  pb::FlushRegionParameter parameter;
  ToProto(SomeRegion(), *parameter.mutable_region());
  flush.set_proc_data(parameter.SerializeAsString());
  pb::ExecuteProceduresRequest second;
  auto& close = *second.add_close_region();
  SpecifyRegion(SomeRegion(), *close.mutable_region());
  close.set_close_proc_id(40);
  RecordingExecutor executor;
  OrderLedger ledger;
  for (const auto* request : {&first, &second}) {
    const auto batch = DecodeOrders(*request, 100, executor);
    if (!batch.ok()) return batch.error().ToString();
    for (const Order& order : batch->orders) {
      if (ledger.Admit(order.key, order.pid, order.address) != OrderAdmission::kExecute)
        return "order " + std::to_string(order.pid.value()) + " is refused";
      (void)order.execute();
      (void)ledger.Executed(order.key, order.pid, OrderAnswer{});
    }
  }
  return executor.flushed.size() == 1 && executor.flushed[0].encoded_name == SomeRegion().encoded_name()
             ? ""
             : "not flushed";
}

TEST(OrderDecoder, AFlushIsNoneOfTheRegionsOrders) { EXPECT_EQ(AFlushComesBeforeACloseWithALowerNumber(), ""); }

TEST(OrderDecoder, ACompactionWaitsBehindNoOpeningOrFlush) {
  for (const bool major : {false, true}) {
    pb::ExecuteProceduresRequest request;
    auto& compact = *request.add_proc();
    compact.set_proc_id(50);
    compact.set_proc_class(kCompactRegionClass);
    pb::CompactRegionParameter parameter;
    ToProto(SomeRegion(), *parameter.mutable_region());
    parameter.set_major(major);
    compact.set_proc_data(parameter.SerializeAsString());
    RecordingExecutor executor;
    const auto batch = DecodeOrders(request, 100, executor);
    ASSERT_TRUE(batch.ok()) << batch.error().ToString();
    ASSERT_EQ(batch->orders.size(), 1U);
    EXPECT_EQ(batch->orders[0].lane, major ? Lane::kLargeCompact : Lane::kSmallCompact);
    (void)batch->orders[0].execute();
    ASSERT_EQ(executor.compacted.size(), 1U);
    EXPECT_EQ(executor.compacted[0].encoded_name, SomeRegion().encoded_name());
    EXPECT_EQ(executor.compacted[0].major, major);
    compact.set_proc_data("\xff");
    EXPECT_FALSE(DecodeOrders(request, 100, executor).ok());
  }
}

TEST(OrderDecoder, TakingItForOneIsNoticed) {
  ExpectKilled(
      "orders.flush_is_the_regions", [] { return AFlushComesBeforeACloseWithALowerNumber(); }, "order 40 is refused");
}

TEST(OrderDecoder, OpeningsThatNoProcedureCouldHaveAreRefused) {
  for (const std::uint64_t opening : {std::uint64_t{0}, std::uint64_t{1} << 63, UINT64_MAX}) {
    pb::ExecuteProceduresRequest request;
    AddOpen(request, SomeRegion()).set_open_number(opening);
    RecordingExecutor executor;
    const auto batch = DecodeOrders(request, 100, executor);
    ASSERT_FALSE(batch.ok()) << opening;
    EXPECT_EQ(batch.error().code(), Code::kInvalidArgument);
    EXPECT_NE(batch.error().message().find("opening"), std::string::npos) << batch.error().ToString();
  }
}

TEST(OrderDecoder, OpenCarriesEverythingThatItNeeds) {
  pb::ExecuteProceduresRequest request;
  request.set_epoch(9);
  request.set_lowest_live_pid(30);
  AddOpen(request, SomeRegion());
  RecordingExecutor executor;
  auto batch = DecodeOrders(request, 100, executor);
  ASSERT_TRUE(batch.ok()) << batch.error().ToString();
  EXPECT_EQ(batch->epoch, Epoch(9));
  EXPECT_EQ(batch->lowest_live, ProcId(30));
  ASSERT_EQ(batch->orders.size(), 1u);
  const Order& order = batch->orders.front();
  EXPECT_EQ(order.key, OrderKey::ForRegion(SomeRegion().encoded_name()));
  EXPECT_EQ(order.pid, ProcId(40));
  EXPECT_EQ(order.address, (OrderAddress{Epoch(9), 2}));
  EXPECT_EQ(order.lane, Lane::kRegions);
  const auto answer = order.execute();
  ASSERT_EQ(executor.opened.size(), 1u);
  EXPECT_EQ(executor.opened.front().open_number, 3u);
  EXPECT_TRUE(executor.opened.front().opened_before);
  EXPECT_EQ(executor.opened.front().table_dir, "default/t.7");
  EXPECT_FALSE(answer->region_info.empty());
}

TEST(OrderDecoder, MetaHasItsOwnLane) {
  pb::ExecuteProceduresRequest request;
  AddOpen(request, MetaRegionInfo());
  RecordingExecutor executor;
  EXPECT_EQ(DecodeOrders(request, 100, executor)->orders.front().lane, Lane::kMeta);
}

pb::RemoteProcedureRequest& AddProc(pb::ExecuteProceduresRequest& request, std::uint64_t pid, std::string_view type,
                                    const google::protobuf::MessageLite& parameter) {
  auto& proc = *request.add_proc();
  proc.set_proc_id(pid);
  proc.set_proc_class(std::string(type));
  proc.set_attempt(1);
  proc.set_proc_data(parameter.SerializePartialAsString());
  return proc;
}

// Lanes of an opening, a flush, a copy of each kind, and a build.
std::vector<Lane> LanesOfBulk() {
  pb::ExecuteProceduresRequest request;
  AddOpen(request, SomeRegion());
  pb::FlushRegionParameter flush;
  ToProto(SomeRegion(), *flush.mutable_region());
  AddProc(request, 50, kFlushRegionClass, flush);
  pb::CopyRegionParameter copy;
  ToProto(SomeRegion(), *copy.mutable_source());
  AddProc(request, 51, kCopyRegionClass, copy);
  copy.set_kind(pb::CopyRegionParameter::PART);
  AddProc(request, 52, kCopyRegionClass, copy);
  AddProc(request, 53, kBuildRegionsClass, pb::BuildRegionsParameter());
  RecordingExecutor executor;
  const auto batch = DecodeOrders(request, 100, executor);
  EXPECT_TRUE(batch.ok()) << batch.error().ToString();
  std::vector<Lane> lanes;
  if (batch.ok())
    for (const Order& order : batch->orders) lanes.push_back(order.lane);
  return lanes;
}

TEST(OrderDecoder, CopiesAndBuildsKeepNoThreadFromOpeningsAndFlushes) {
  EXPECT_EQ(LanesOfBulk(), (std::vector{Lane::kRegions, Lane::kFlush, Lane::kCopy, Lane::kCopy, Lane::kBuild}));
}

TEST(OrderDecoder, CopiesAmongOpeningsAreNoticed) {
  const ScopedMutant mutant("orders.copies_beside_openings");
  const std::vector<Lane> lanes = LanesOfBulk();
  ASSERT_EQ(lanes.size(), 5u);
  EXPECT_EQ(lanes[2], lanes[0]);
}

TEST(OrderDecoder, OpenWithoutItsNumberIsRefused) {
  pb::ExecuteProceduresRequest request;
  AddOpen(request, SomeRegion()).clear_open_number();
  RecordingExecutor executor;
  const auto batch = DecodeOrders(request, 100, executor);
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code(), Code::kInvalidArgument);
}

TEST(OrderDecoder, OrderForAnotherRunOfThisServerIsRefused) {
  pb::ExecuteProceduresRequest request;
  AddOpen(request, SomeRegion());
  request.mutable_open_region(0)->set_serverstartcode(99);
  RecordingExecutor executor;
  const auto batch = DecodeOrders(request, 100, executor);
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code(), Code::kStale);
  request.mutable_open_region(0)->set_serverstartcode(100);
  EXPECT_TRUE(DecodeOrders(request, 100, executor).ok());
}

TEST(OrderDecoder, CloseNamesTheSameRegionAsItsOpenWhicheverNameIsUsed) {
  pb::ExecuteProceduresRequest request;
  const RegionInfo region = SomeRegion();
  auto& full = *request.add_close_region();
  SpecifyRegion(region, *full.mutable_region());
  full.set_close_proc_id(41);
  full.set_epoch(8);
  full.set_attempt(4);
  ToProto(ServerName{"h", 1, 2}, *full.mutable_destination_server());
  auto& encoded = *request.add_close_region();
  SpecifyEncoded(region.encoded_name(), *encoded.mutable_region());
  encoded.set_close_proc_id(42);
  RecordingExecutor executor;
  auto batch = DecodeOrders(request, 100, executor);
  ASSERT_TRUE(batch.ok()) << batch.error().ToString();
  EXPECT_EQ(batch->orders[0].key, OrderKey::ForRegion(region.encoded_name()));
  EXPECT_EQ(batch->orders[1].key, batch->orders[0].key);
  EXPECT_EQ(batch->orders[0].address, (OrderAddress{Epoch(8), 4}));
  const auto answer = batch->orders[0].execute();
  pb::RegionInfo reported;
  ASSERT_TRUE(reported.ParseFromString(answer->region_info));
  EXPECT_EQ(FromProto(reported)->encoded_name(), region.encoded_name());
  EXPECT_EQ(executor.closed.front().destination, (ServerName{"h", 1, 2}));
}

TEST(OrderDecoder, SplitLogIsServerWide) {
  pb::ExecuteProceduresRequest request;
  auto& proc = *request.add_proc();
  proc.set_proc_id(50);
  proc.set_proc_class(kSplitLogClass);
  proc.set_attempt(3);
  pb::SplitWALParameter parameter;
  parameter.set_wal_path("wals/h,1,2-splitting/log.0000000001");
  proc.set_proc_data(parameter.SerializeAsString());
  RecordingExecutor executor;
  auto batch = DecodeOrders(request, 100, executor);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->orders.front().key, OrderKey::ForProcedure(ProcId(50)));
  EXPECT_EQ(batch->orders.front().lane, Lane::kSplitLog);
  (void)batch->orders.front().execute();
  EXPECT_EQ(executor.split.front().attempt, 3u);
}

TEST(OrderDecoder, UnknownProcedureIsAnsweredAsFailed) {
  pb::ExecuteProceduresRequest request;
  auto& proc = *request.add_proc();
  proc.set_proc_id(50);
  proc.set_proc_class("org.example.Unknown");
  RecordingExecutor executor;
  auto batch = DecodeOrders(request, 100, executor);
  ASSERT_TRUE(batch.ok());
  const auto answer = batch->orders.front().execute();
  EXPECT_EQ(answer->outcome, OrderOutcome::kFailed);
  EXPECT_NE(answer->error_message.find("org.example.Unknown"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::regionserver
