// The scheduler alone: classes, round robin, which procedures may run at the same time.
#include "procedure/core/scheduler.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "procedure/api/scheduling_class.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

struct Item {
  explicit Item(std::string n) : name(std::move(n)) { sched.owner = this; }
  std::string name;
  SchedItem sched;
};

class SchedulerTest : public ::testing::Test {
 protected:
  Item& Add(const std::string& name, Priority priority, const ResourceKey& resource, bool front = false,
            bool urgent = false, bool exclusive = false) {
    items_.push_back(std::make_unique<Item>(name));
    scheduler_.Bind(items_.back()->sched, priority, resource, urgent, exclusive);
    if (front) {
      scheduler_.AddFront(items_.back()->sched);
    } else {
      scheduler_.AddBack(items_.back()->sched);
    }
    return *items_.back();
  }
  std::string PollAll(bool urgent_only = false) {
    std::string order;
    while (SchedItem* item = scheduler_.Poll(urgent_only)) {
      order += (order.empty() ? "" : " ") + static_cast<Item*>(item->owner)->name;
      scheduler_.Done(*item);
    }
    return order;
  }
  // Returns the items that may run at the same time, until Finish.
  std::string StartAll() {
    std::string order;
    while (SchedItem* item = scheduler_.Poll(/*urgent_only=*/false)) {
      running_.push_back(item);
      order += (order.empty() ? "" : " ") + static_cast<Item*>(item->owner)->name;
    }
    return order;
  }
  std::size_t Finish() {
    SchedItem* item = running_.front();
    running_.pop_front();
    return scheduler_.Done(*item);
  }
  Scheduler scheduler_{RunLimits{2, 1, 0}};
  std::deque<SchedItem*> running_;
  std::vector<std::unique_ptr<Item>> items_;
};

TEST_F(SchedulerTest, ClassesAreStrict) {
  Add("user", Priority::kTableUser, ResourceKey::Table("t"));
  Add("system", Priority::kTableSystem, ResourceKey::Table("hbase:x"));
  Add("metatable", Priority::kTableMeta, ResourceKey::Table("hbase:meta"));
  Add("peer", Priority::kPeer, ResourceKey::Peer("1"));
  Add("server", Priority::kServer, ResourceKey::Server("s"));
  Add("meta", Priority::kMeta, ResourceKey::Meta());
  Add("cluster", Priority::kCluster, ResourceKey::Cluster());
  EXPECT_EQ(PollAll(), "cluster meta server peer metatable system user");
}

TEST_F(SchedulerTest, EqualResourcesTakeTurns) {
  for (int i = 0; i < 3; ++i) Add("a" + std::to_string(i), Priority::kTableUser, ResourceKey::Table("a"));
  Add("b0", Priority::kTableUser, ResourceKey::Table("b"));
  for (int i = 0; i < 2; ++i) Add("c" + std::to_string(i), Priority::kTableUser, ResourceKey::Table("c"));
  EXPECT_EQ(PollAll(), "a0 b0 c0 a1 c1 a2");
}

TEST_F(SchedulerTest, FrontGoesBeforeBackWithinItsResource) {
  Add("late", Priority::kTableUser, ResourceKey::Table("a"));
  Add("early", Priority::kTableUser, ResourceKey::Table("a"), /*front=*/true);
  EXPECT_EQ(PollAll(), "early late");
}

TEST_F(SchedulerTest, ReservedCapacityTakesOnlyUrgentWork) {
  Add("user", Priority::kTableUser, ResourceKey::Table("t"));
  Add("crash", Priority::kServer, ResourceKey::Server("s"), false, true);
  EXPECT_EQ(PollAll(/*urgent_only=*/true), "crash");
  EXPECT_EQ(scheduler_.size(), 1U);
  EXPECT_EQ(PollAll(), "user");
}

TEST_F(SchedulerTest, RemovedItemsAreNotPolled) {
  Item& gone = Add("gone", Priority::kTableUser, ResourceKey::Table("t"));
  Add("here", Priority::kTableUser, ResourceKey::Table("t"));
  scheduler_.Remove(gone.sched);
  scheduler_.Unbind(gone.sched);
  EXPECT_EQ(PollAll(), "here");
}

TEST_F(SchedulerTest, AnExclusivelyUsedResourceLeavesTheRunQueue) {
  const auto add = [this](const std::string& name, const std::string& peer, bool exclusive) {
    Add(name, Priority::kPeer, ResourceKey::Peer(peer), false, false, exclusive);
  };
  add("s1", "a", false);
  add("s2", "a", false);
  add("x", "a", true);
  add("s3", "a", false);
  add("other", "b", true);
  EXPECT_EQ(StartAll(), "s1 other s2") << "x waits for both, s3 behind it";
  EXPECT_FALSE(scheduler_.has_ready());
  EXPECT_EQ(scheduler_.size(), 2U);
  EXPECT_EQ(Finish(), 0U);
  EXPECT_EQ(Finish(), 0U) << "of b: nobody waits";
  EXPECT_EQ(StartAll(), "");
  EXPECT_EQ(Finish(), 2U);
  EXPECT_EQ(StartAll(), "x");
  add("front", "a", false);
  EXPECT_EQ(StartAll(), "");
  EXPECT_EQ(Finish(), 2U);
  EXPECT_EQ(StartAll(), "s3 front");
}

TEST_F(SchedulerTest, AResourceRunsNoMoreThanItsLimit) {
  for (int i = 0; i < 4; ++i) Add("t" + std::to_string(i), Priority::kTableUser, ResourceKey::Table("t"));
  for (int i = 0; i < 2; ++i) Add("u" + std::to_string(i), Priority::kTableUser, ResourceKey::Table("u"));
  for (int i = 0; i < 2; ++i) Add("s" + std::to_string(i), Priority::kServer, ResourceKey::Server("s"));
  Add("crash", Priority::kServer, ResourceKey::Server("s"), false, /*urgent=*/true);
  EXPECT_EQ(Scheduler::HeldBack(items_[3]->sched), "") << "nothing runs yet";
  EXPECT_EQ(StartAll(), "crash s0 t0 u0 t1 u1") << "two of a table, one of a server, and the urgent ones";
  EXPECT_EQ(Scheduler::HeldBack(items_[3]->sched), "2 steps of table t run, which is its limit");
  EXPECT_EQ(Scheduler::HeldBack(items_[0]->sched), "") << "it runs";
  EXPECT_EQ(Finish(), 0U) << "the crash handler's end frees nobody";
  EXPECT_EQ(Finish(), 1U);
  EXPECT_EQ(Finish(), 2U) << "t2 and t3 wait, and one may run";
  EXPECT_EQ(StartAll(), "s1 t2");
  while (!running_.empty()) Finish();
  EXPECT_EQ(StartAll(), "t3");
}

TEST_F(SchedulerTest, RemovingTheExclusiveOneInFrontLetsTheRestGo) {
  Add("s1", Priority::kPeer, ResourceKey::Peer("a"));
  Item& x = Add("x", Priority::kPeer, ResourceKey::Peer("a"), false, false, /*exclusive=*/true);
  Add("s2", Priority::kPeer, ResourceKey::Peer("a"));
  EXPECT_EQ(StartAll(), "s1");
  scheduler_.Remove(x.sched);
  EXPECT_EQ(StartAll(), "s2");
}

// The host names its own tables; the framework knows none.
TEST(SchedulingClassTest, ClassOfATableComesFromTheHost) {
  const SystemTables system{"sys:first", "sys"};
  const auto place = [](const std::string& table, const SystemTables& tables) {
    const auto script = testing::WithLock({}, "t:" + table, true);
    return PlaceOf(*testing::MakeScript(script), tables);
  };
  EXPECT_EQ(place("sys:first", system).priority, Priority::kTableMeta);
  EXPECT_TRUE(place("sys:first", system).urgent);
  EXPECT_EQ(place("sys:x", system).priority, Priority::kTableSystem);
  EXPECT_FALSE(place("sys:x", system).urgent);
  EXPECT_EQ(place("t", system).priority, Priority::kTableUser);
  EXPECT_EQ(place("hbase:meta", {}).priority, Priority::kTableUser);
}

}  // namespace
}  // namespace ratchet::procedure
