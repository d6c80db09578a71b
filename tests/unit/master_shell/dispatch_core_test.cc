#include "master/dispatch/dispatch_core.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/model/region_info.h"
#include "master/dispatch/remote_dispatcher.h"

namespace ratchet::master {
namespace {

const ServerName kA{"a", 1, 100};
const ServerName kB{"b", 1, 100};

OrderPtr Close(std::uint64_t pid, std::uint32_t attempt = 1) {
  CloseOrder order;
  order.id = {ProcId(pid), attempt};
  return std::make_shared<const Order>(order);
}

std::vector<std::uint64_t> Pids(const SendNow& send) {
  std::vector<std::uint64_t> pids;
  for (const OrderPtr& order : send.batch) pids.push_back(IdOf(*order).pid.value());
  return pids;
}

using Numbers = std::vector<std::uint64_t>;

class DispatchCoreTest : public ::testing::Test {
 protected:
  DispatchCore Make(DispatchOptions options = {}) { return DispatchCore(options, 42); }
  TimePoint now_{};
  void Pass(Millis step) { now_ += step; }
};

TEST_F(DispatchCoreTest, AnIdleServerGetsItsOrderAtOnce) {
  DispatchCore core = Make();
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions actions = core.Take(now_);
  ASSERT_EQ(actions.sends.size(), 1u);
  EXPECT_EQ(actions.sends[0].server, kA);
  EXPECT_EQ(Pids(actions.sends[0]), (Numbers{1}));
  EXPECT_FALSE(core.NextWake().has_value());
}

TEST_F(DispatchCoreTest, OrdersGatherWhileARequestIsInFlight) {
  DispatchCore core = Make();
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  for (std::uint64_t pid = 2; pid <= 5; ++pid) core.Add(kA, Close(pid), OrderRank::kNormal, now_);
  EXPECT_TRUE(core.Take(now_).sends.empty());
  core.OnReply(first.sends[0].ticket, SendOutcome::kAccepted, "", now_);
  const DispatchActions second = core.Take(now_);
  ASSERT_EQ(second.sends.size(), 1u);
  EXPECT_EQ(Pids(second.sends[0]), (Numbers{2, 3, 4, 5}));
}

TEST_F(DispatchCoreTest, AFailedRequestIsRepeatedWithWhatCameSinceAfterABackoff) {
  DispatchCore core = Make();
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.Add(kA, Close(2), OrderRank::kNormal, now_);
  core.OnReply(first.sends[0].ticket, SendOutcome::kFailed, "no route", now_);
  EXPECT_TRUE(core.Take(now_).sends.empty()) << "the backoff is not over";
  ASSERT_TRUE(core.NextWake().has_value());
  EXPECT_GT(*core.NextWake(), now_);
  now_ = *core.NextWake();
  const DispatchActions second = core.Take(now_);
  ASSERT_EQ(second.sends.size(), 1u);
  EXPECT_EQ(Pids(second.sends[0]), (Numbers{1, 2}));
  EXPECT_EQ(second.sends[0].attempt, 2u);
}

TEST_F(DispatchCoreTest, BackoffGrowsAndTheServerIsExpiredOnceItIsUnreachableForLongEnough) {
  DispatchOptions options;
  options.expire_after = Millis{5'000};
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const TimePoint start = now_;
  std::vector<ExpireNow> expiries;
  int sends = 0;
  while (expiries.empty() && sends < 1000) {
    DispatchActions actions = core.Take(now_);
    expiries = std::move(actions.expiries);
    for (const SendNow& send : actions.sends) {
      ++sends;
      core.OnReply(send.ticket, SendOutcome::kFailed, "refused", now_);
    }
    if (const auto wake = core.NextWake()) now_ = *wake;
  }
  ASSERT_EQ(expiries.size(), 1u);
  EXPECT_EQ(expiries[0].server, kA);
  EXPECT_NE(expiries[0].why.find("refused"), std::string::npos);
  EXPECT_GE(now_ - start, Millis{5'000});
  EXPECT_LT(now_ - start, Millis{10'000});
  EXPECT_LT(sends, 20) << "the backoff does not grow";
  // Expired: no order is sent from then on, and the expiry is reported once.
  core.Add(kA, Close(2), OrderRank::kUrgent, now_);
  Pass(Millis{100'000});
  const DispatchActions after = core.Take(now_);
  EXPECT_TRUE(after.sends.empty());
  EXPECT_TRUE(after.expiries.empty());
}

#if defined(RATCHET_MUTANTS)
TEST_F(DispatchCoreTest, NeverGivingUpIsCaught) {
  const ScopedMutant mutant("master.never_expire");
  DispatchOptions options;
  options.expire_after = Millis{5'000};
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  std::size_t expiries = 0;
  for (const TimePoint start = now_; now_ - start < Millis{100'000};
       now_ = core.NextWake().value_or(now_ + Millis{1'000})) {
    const DispatchActions actions = core.Take(now_);
    expiries += actions.expiries.size();
    for (const SendNow& send : actions.sends) core.OnReply(send.ticket, SendOutcome::kFailed, "refused", now_);
  }
  EXPECT_EQ(expiries, 0U);  // the mutant that the test above would notice
}
#endif

TEST_F(DispatchCoreTest, AnAcceptedRequestEndsTheStreakOfFailures) {
  DispatchOptions options;
  options.expire_after = Millis{1'000};
  DispatchCore core = Make(options);
  for (int i = 0; i < 50; ++i) {
    core.Add(kA, Close(static_cast<std::uint64_t>(i) + 1), OrderRank::kNormal, now_);
    DispatchActions actions = core.Take(now_);
    ASSERT_EQ(actions.sends.size(), 1u);
    core.OnReply(actions.sends[0].ticket, SendOutcome::kFailed, "x", now_);
    now_ = core.NextWake().value();
    actions = core.Take(now_);
    ASSERT_EQ(actions.sends.size(), 1u);
    core.OnReply(actions.sends[0].ticket, SendOutcome::kAccepted, "", now_);
    EXPECT_TRUE(core.Take(now_).expiries.empty());
  }
}

TEST_F(DispatchCoreTest, AStartingServerIsPolledForAsLongAsTheSettingSays) {
  DispatchOptions options;
  options.startup_wait = Millis{60'000};
  options.expire_after = Millis{1'000};
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const TimePoint start = now_;
  std::vector<ExpireNow> expiries;
  while (expiries.empty()) {
    DispatchActions actions = core.Take(now_);
    expiries = std::move(actions.expiries);
    for (const SendNow& send : actions.sends) core.OnReply(send.ticket, SendOutcome::kNotRunningYet, "starting", now_);
    if (const auto wake = core.NextWake()) {
      EXPECT_EQ(*wake - now_, Millis{100});
      now_ = *wake;
    }
  }
  EXPECT_GE(now_ - start, Millis{60'000});
  EXPECT_LT(now_ - start, Millis{61'000});
}

TEST_F(DispatchCoreTest, AnotherIncarnationAtTheAddressExpiresTheServerAtOnce) {
  DispatchCore core = Make();
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.OnReply(first.sends[0].ticket, SendOutcome::kGone, "start code 200", now_);
  EXPECT_EQ(core.Take(now_).expiries.size(), 1u);
}

TEST_F(DispatchCoreTest, RepeatedOrdersAreFolded) {
  DispatchCore core = Make();
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);  // in flight already
  core.Add(kA, Close(2, 1), OrderRank::kNormal, now_);
  core.Add(kA, Close(2, 2), OrderRank::kNormal, now_);  // a newer attempt replaces it
  core.Add(kA, Close(2, 1), OrderRank::kNormal, now_);  // an older one does not
  core.OnReply(first.sends[0].ticket, SendOutcome::kAccepted, "", now_);
  const DispatchActions second = core.Take(now_);
  ASSERT_EQ(second.sends.size(), 1u);
  ASSERT_EQ(Pids(second.sends[0]), (Numbers{2}));
  EXPECT_EQ(IdOf(*second.sends[0].batch[0]).attempt, 2u);
}

TEST_F(DispatchCoreTest, ANewerAttemptSupersedesTheOneOfAFailedRequest) {
  DispatchCore core = Make();
  core.Add(kA, Close(1, 1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.Add(kA, Close(1, 2), OrderRank::kNormal, now_);
  core.OnReply(first.sends[0].ticket, SendOutcome::kFailed, "x", now_);
  now_ = core.NextWake().value();
  const DispatchActions second = core.Take(now_);
  ASSERT_EQ(second.sends.size(), 1u);
  ASSERT_EQ(second.sends[0].batch.size(), 1u);
  EXPECT_EQ(IdOf(*second.sends[0].batch[0]).attempt, 2u);
}

TEST_F(DispatchCoreTest, TheDelayGathersAndAFullQueueCutsItShort) {
  DispatchOptions options;
  options.delay = Millis{150};
  options.max_queue_size = 4;
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  EXPECT_TRUE(core.Take(now_).sends.empty());
  Pass(Millis{100});
  core.Add(kA, Close(2), OrderRank::kNormal, now_);
  EXPECT_TRUE(core.Take(now_).sends.empty()) << "the first order arms the delay, a later one does not prolong it";
  Pass(Millis{50});
  const DispatchActions due = core.Take(now_);
  ASSERT_EQ(due.sends.size(), 1u);
  EXPECT_EQ(Pids(due.sends[0]), (Numbers{1, 2}));

  for (std::uint64_t pid = 1; pid <= 4; ++pid) core.Add(kB, Close(pid), OrderRank::kNormal, now_);
  EXPECT_TRUE(core.Take(now_).sends.empty());
  core.Add(kB, Close(5), OrderRank::kNormal, now_);
  EXPECT_EQ(core.Take(now_).sends.size(), 1u);
}

TEST_F(DispatchCoreTest, OneSlotIsReservedForUrgentOrders) {
  DispatchOptions options;
  options.max_in_flight = 2;
  DispatchCore core = Make(options);
  for (std::uint16_t i = 0; i < 4; ++i) core.Add(ServerName{"s", i, 1}, Close(i + 1u), OrderRank::kNormal, now_);
  EXPECT_EQ(core.Take(now_).sends.size(), 2u) << "the bound";
  core.Add(kA, Close(50), OrderRank::kUrgent, now_);
  const DispatchActions urgent = core.Take(now_);
  ASSERT_EQ(urgent.sends.size(), 1u);
  EXPECT_EQ(urgent.sends[0].server, kA);
  core.Add(kB, Close(51), OrderRank::kUrgent, now_);
  EXPECT_TRUE(core.Take(now_).sends.empty()) << "one reserved slot, not two";
  core.OnReply(urgent.sends[0].ticket, SendOutcome::kAccepted, "", now_);
  const DispatchActions next = core.Take(now_);
  ASSERT_EQ(next.sends.size(), 1u);
  EXPECT_EQ(next.sends[0].server, kB);
}

TEST_F(DispatchCoreTest, UrgentOrdersGoFirstWhenASlotBecomesFree) {
  DispatchOptions options;
  options.max_in_flight = 1;
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.Add(kA, Close(2), OrderRank::kNormal, now_);
  core.Add(kA, Close(3), OrderRank::kUrgent, now_);
  core.OnReply(first.sends[0].ticket, SendOutcome::kAccepted, "", now_);
  const DispatchActions second = core.Take(now_);
  ASSERT_EQ(second.sends.size(), 1u);
  EXPECT_EQ(Pids(second.sends[0]), (Numbers{3, 2}));
}

TEST_F(DispatchCoreTest, WhenSlotsAreShortServersTakeTurns) {
  DispatchOptions options;
  options.max_in_flight = 1;
  DispatchCore core = Make(options);
  std::map<ServerName, int> served;
  for (std::uint64_t round = 0; round < 30; ++round) {
    for (std::uint16_t s = 0; s < 3; ++s)
      core.Add(ServerName{"s", s, 1}, Close(round * 3 + s + 1), OrderRank::kNormal, now_);
    const DispatchActions actions = core.Take(now_);
    ASSERT_EQ(actions.sends.size(), 1u);
    ++served[actions.sends[0].server];
    core.OnReply(actions.sends[0].ticket, SendOutcome::kAccepted, "", now_);
  }
  for (const auto& [server, count] : served) EXPECT_EQ(count, 10) << server.host << server.port;
}

TEST_F(DispatchCoreTest, AForgottenServerLosesItsQueueAndFreesItsSlot) {
  DispatchOptions options;
  options.max_in_flight = 1;
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.Add(kA, Close(2), OrderRank::kNormal, now_);
  core.Forget(kA);
  EXPECT_EQ(core.in_flight(), 0u);
  core.OnReply(first.sends[0].ticket, SendOutcome::kFailed, "late", now_);
  EXPECT_FALSE(core.NextWake().has_value());
  core.Add(kB, Close(3), OrderRank::kNormal, now_);
  EXPECT_EQ(core.Take(now_).sends.size(), 1u);
  EXPECT_EQ(core.View().size(), 1u);
}

TEST_F(DispatchCoreTest, ABatchIsBoundedInOrdersAndTheRestFollows) {
  DispatchOptions options;
  options.max_batch_orders = 3;
  DispatchCore core = Make(options);
  for (std::uint64_t pid = 1; pid <= 7; ++pid) core.Add(kA, Close(pid), OrderRank::kNormal, now_);
  core.Add(kA, Close(8), OrderRank::kUrgent, now_);
  std::vector<Numbers> batches;
  std::vector<std::size_t> left;
  for (int round = 0; round < 4; ++round) {
    for (const SendNow& send : core.Take(now_).sends) {
      batches.push_back(Pids(send));
      left.push_back(send.left);
      core.OnReply(send.ticket, SendOutcome::kAccepted, "", now_);
    }
  }
  EXPECT_EQ(batches, (std::vector<Numbers>{{8, 1, 2}, {3, 4, 5}, {6, 7}}));
  EXPECT_EQ(left, (std::vector<std::size_t>{5, 2, 0}));
}

TEST_F(DispatchCoreTest, AnUrgentOrderThatComesDuringALongQueueIsInTheNextRequest) {
  DispatchOptions options;
  options.max_batch_orders = 2;
  DispatchCore core = Make(options);
  for (std::uint64_t pid = 1; pid <= 9; ++pid) core.Add(kA, Close(pid), OrderRank::kNormal, now_);
  const DispatchActions first = core.Take(now_);
  core.Add(kA, Close(8), OrderRank::kUrgent, now_);  // it waits already, and is urgent from now on
  core.OnReply(first.sends[0].ticket, SendOutcome::kAccepted, "", now_);
  EXPECT_EQ(Pids(core.Take(now_).sends.at(0)), (Numbers{8, 3}));
}

TEST_F(DispatchCoreTest, ABatchIsBoundedInBytesAndOneOrderAlwaysGoes) {
  const auto split = [](std::uint64_t pid, std::size_t regions) {
    SplitLogOrder order;
    order.id = {ProcId(pid), 1};
    order.regions.resize(regions, {std::string(32, 'a'), "default/t.7/" + std::string(32, 'a'), 5});
    return std::make_shared<const Order>(order);
  };
  DispatchOptions options;
  options.max_batch_bytes = 10'000;
  DispatchCore core = Make(options);
  core.Add(kA, split(1, 50), OrderRank::kNormal, now_);
  core.Add(kA, split(2, 50), OrderRank::kNormal, now_);
  core.Add(kA, split(3, 50), OrderRank::kNormal, now_);
  core.Add(kA, split(4, 100'000), OrderRank::kNormal, now_);
  core.Add(kA, split(5, 1), OrderRank::kNormal, now_);
  std::vector<Numbers> batches;
  for (int round = 0; round < 5; ++round) {
    for (const SendNow& send : core.Take(now_).sends) {
      batches.push_back(Pids(send));
      core.OnReply(send.ticket, SendOutcome::kAccepted, "", now_);
    }
  }
  EXPECT_EQ(batches, (std::vector<Numbers>{{1, 2}, {3}, {4}, {5}}));
}

OrderPtr CopyOf(std::uint64_t pid) {
  CopyOrder order;
  order.id = {ProcId(pid), 1};
  return std::make_shared<const Order>(order);
}

OrderPtr OpenOf(std::uint64_t pid, const RegionInfo& region) {
  OpenOrder order;
  order.id = {ProcId(pid), 1};
  order.region = region;
  return std::make_shared<const Order>(order);
}

RegionInfo UserRegion() {
  RegionInfo region;
  region.table = TableName("default", "t");
  region.region_id = 5;
  return region;
}

// Pids of the next request, after 1,000 copies and then an opening of hbase:meta and one of a user's region were
// queued.
Numbers AfterAThousandCopies(TimePoint now) {
  DispatchOptions options;
  options.max_batch_orders = 3;
  DispatchCore core(options, 42);
  const auto add = [&](const OrderPtr& order) { core.Add(kA, order, RankOf(*order), now); };
  add(Close(9'999));
  const DispatchActions first = core.Take(now);
  for (std::uint64_t pid = 1; pid <= 1'000; ++pid) add(CopyOf(pid));
  add(OpenOf(2'000, UserRegion()));
  add(OpenOf(2'001, MetaRegionInfo()));
  core.OnReply(first.sends[0].ticket, SendOutcome::kAccepted, "", now);
  return Pids(core.Take(now).sends.at(0));
}

TEST_F(DispatchCoreTest, OpeningsPassAThousandCopiesMetaFirst) {
  EXPECT_EQ(AfterAThousandCopies(now_), (Numbers{2'001, 2'000, 1}));
}

TEST_F(DispatchCoreTest, UrgentCopiesAreNoticed) {
  const ScopedMutant mutant("dispatch.bulk_is_urgent");
  EXPECT_NE(AfterAThousandCopies(now_), (Numbers{2'001, 2'000, 1}));
}

// Flushes and copies do not use the slot that is reserved for hbase:meta and dead servers' logs.
TEST_F(DispatchCoreTest, BulkOrdersLeaveTheReservedSlotFree) {
  DispatchOptions options;
  options.max_in_flight = 1;
  DispatchCore core = Make(options);
  core.Add(kA, Close(1), OrderRank::kNormal, now_);
  ASSERT_EQ(core.Take(now_).sends.size(), 1u);
  for (const Order& order : {Order(FlushOrder{}), Order(CompactOrder{}), Order(BuildOrder{}), Order(CopyOrder{})}) {
    EXPECT_EQ(RankOf(order), OrderRank::kBulk) << order.index();
    core.Add(kB, std::make_shared<const Order>(order), RankOf(order), now_);
  }
  EXPECT_EQ(RankOf(Order(RefreshPeersOrder{})), OrderRank::kNormal);
  EXPECT_TRUE(core.Take(now_).sends.empty());
  SplitLogOrder split;
  split.id = {ProcId(2), 1};
  core.Add(kB, std::make_shared<const Order>(split), RankOf(split), now_);
  EXPECT_EQ(core.Take(now_).sends.size(), 1u);
}

// The queue is not searched, neither for a new order nor for one that is sent again.
TEST_F(DispatchCoreTest, AnOrderCostsTheSameBesideManyOthers) {
  const auto cost_beside = [this](std::uint64_t others) {
    DispatchCore core = Make();
    core.Add(kA, Close(1), OrderRank::kNormal, now_);
    static_cast<void>(core.Take(now_));
    for (std::uint64_t pid = 2; pid <= others + 1; ++pid) core.Add(kA, Close(pid), OrderRank::kNormal, now_);
    const std::uint64_t before = core.looked_at();
    core.Add(kA, Close(others + 2), OrderRank::kNormal, now_);
    core.Add(kA, Close(2, 2), OrderRank::kNormal, now_);
    core.Add(kA, Close(1), OrderRank::kNormal, now_);
    return core.looked_at() - before;
  };
  EXPECT_EQ(cost_beside(10), cost_beside(1'000));
}

// Servers with nothing to send, with a request in flight and with a delay are not looked at.
TEST_F(DispatchCoreTest, AnOrderCostsTheSameBesideManyServers) {
  const auto cost_beside = [this](std::uint16_t others) {
    DispatchOptions options;
    options.max_in_flight = 10'000;
    DispatchCore core = Make(options);
    std::vector<std::uint64_t> tickets;
    for (std::uint16_t port = 1; port <= others; ++port) {
      core.Add({"idle", port, 1}, Close(3U * port), OrderRank::kNormal, now_);
      core.Add({"busy", port, 1}, Close(3U * port + 1), OrderRank::kNormal, now_);
    }
    for (const SendNow& send : core.Take(now_).sends)
      if (send.server.host == "idle") tickets.push_back(send.ticket);
    for (const std::uint64_t ticket : tickets) core.OnReply(ticket, SendOutcome::kAccepted, "", now_);
    for (std::uint16_t port = 1; port <= others; ++port) {
      core.Add({"failed", port, 1}, Close(100'000U + port), OrderRank::kNormal, now_);
      const DispatchActions actions = core.Take(now_);
      core.OnReply(actions.sends.at(0).ticket, SendOutcome::kFailed, "refused", now_);
    }
    const std::uint64_t before = core.looked_at();
    core.Add(kA, Close(1), OrderRank::kNormal, now_);
    const DispatchActions actions = core.Take(now_);
    EXPECT_EQ(actions.sends.size(), 1U);
    EXPECT_TRUE(core.NextWake().has_value());
    core.OnReply(actions.sends.at(0).ticket, SendOutcome::kAccepted, "", now_);
    return core.looked_at() - before;
  };
  EXPECT_EQ(cost_beside(3), cost_beside(300));
}

}  // namespace
}  // namespace ratchet::master
