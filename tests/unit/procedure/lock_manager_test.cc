// The lock manager alone: modes, hierarchy, lines, trees, and random histories against a plain model.
#include "procedure/core/lock_manager.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "common/base/prng.h"

namespace ratchet::procedure {
namespace {

std::vector<LockRequest> Wanted(LockSet set) { return set.Expanded(); }
std::vector<LockRequest> TableX(const std::string& name) { return Wanted({Exclusive(ResourceKey::Table(name))}); }
std::vector<LockRequest> RegionX(const std::string& table, const std::string& region) {
  return Wanted({Exclusive(ResourceKey::Region(table, region))});
}

class LockManagerTest : public ::testing::Test {
 protected:
  bool Request(std::uint64_t who, const std::vector<LockRequest>& wanted, std::vector<std::uint64_t> ancestors = {}) {
    LockHolder* const parent = ancestors.empty() ? nullptr : &Holder(ancestors.front());
    Holder(who).SetParent(parent);
    return locks_.Request(Holder(who), wanted);
  }
  LockHolder& Holder(std::uint64_t who) {
    std::unique_ptr<LockHolder>& holder = holders_[who];
    if (holder == nullptr) holder = std::make_unique<LockHolder>(ProcId(who));
    return *holder;
  }
  std::vector<std::uint64_t> Release(std::uint64_t who) {
    std::vector<ProcId> granted;
    locks_.Release(Holder(who), granted);
    return Numbers(granted);
  }
  static std::vector<std::uint64_t> Numbers(const std::vector<ProcId>& pids) {
    std::vector<std::uint64_t> numbers;
    for (const ProcId pid : pids) numbers.push_back(pid.value());
    return numbers;
  }
  LockManager locks_;
  std::map<std::uint64_t, std::unique_ptr<LockHolder>> holders_;
};

using Pids = std::vector<std::uint64_t>;

TEST_F(LockManagerTest, ARegionImpliesItsTableAndNamespace) {
  const auto wanted = RegionX("ns:t", "r");
  ASSERT_EQ(wanted.size(), 3U);
  EXPECT_EQ(wanted[0], Shared(ResourceKey::Namespace("ns")));
  EXPECT_EQ(wanted[1], Shared(ResourceKey::Table("ns:t")));
  EXPECT_EQ(wanted[2], Exclusive(ResourceKey::Region("ns:t", "r")));
}

TEST_F(LockManagerTest, ExclusiveTableKeepsRegionsOut) {
  EXPECT_TRUE(Request(1, TableX("t")));
  EXPECT_FALSE(Request(2, RegionX("t", "r")));
  EXPECT_TRUE(Request(3, RegionX("u", "r")));
  EXPECT_EQ(Release(1), Pids{2});
}

TEST_F(LockManagerTest, RegionsOfOneTableGoTogetherAndTheTableWaitsForAll) {
  EXPECT_TRUE(Request(1, RegionX("t", "a")));
  EXPECT_TRUE(Request(2, RegionX("t", "b")));
  EXPECT_FALSE(Request(3, TableX("t")));
  EXPECT_EQ(Release(1), Pids{});
  EXPECT_EQ(Release(2), Pids{3});
}

TEST_F(LockManagerTest, ExclusiveRequestsAreNotStarvedByShared) {
  EXPECT_TRUE(Request(1, RegionX("t", "a")));
  EXPECT_FALSE(Request(2, TableX("t")));
  EXPECT_FALSE(Request(3, RegionX("t", "b"))) << "it came after the exclusive request";
  EXPECT_EQ(Release(1), Pids{2});
  EXPECT_EQ(Release(2), Pids{3});
}

TEST_F(LockManagerTest, SharedRunsTogetherAfterExclusive) {
  EXPECT_TRUE(Request(1, TableX("t")));
  for (std::uint64_t pid = 2; pid <= 5; ++pid) EXPECT_FALSE(Request(pid, RegionX("t", std::to_string(pid))));
  EXPECT_EQ(Release(1), (Pids{2, 3, 4, 5}));
}

TEST_F(LockManagerTest, WaiterReservesNothingBeyondItsMissingKey) {
  // 2 waits at server s; no procedure at table t has to wait for it.
  EXPECT_TRUE(Request(1, Wanted({Exclusive(ResourceKey::Server("s"))})));
  EXPECT_FALSE(Request(2, Wanted({Exclusive(ResourceKey::Server("s")), Exclusive(ResourceKey::Table("t"))})));
  EXPECT_TRUE(Request(3, TableX("t")));
  EXPECT_EQ(Release(1), Pids{}) << "now it waits at table t";
  EXPECT_FALSE(Request(4, Wanted({Exclusive(ResourceKey::Server("s"))}))) << "its place at server s is kept";
  EXPECT_EQ(Release(3), Pids{2});
  EXPECT_EQ(Release(2), Pids{4});
}

TEST_F(LockManagerTest, ADescendantPassesStrangersWhoWaitForItsAncestor) {
  EXPECT_TRUE(Request(1, Wanted({Shared(ResourceKey::Table("t"))})));
  EXPECT_FALSE(Request(2, TableX("t")));
  EXPECT_TRUE(Request(3, RegionX("t", "r"), {1})) << "else 3 waits for 2, 2 for 1, 1 for 3";
  EXPECT_FALSE(Request(4, RegionX("t", "r2")));
}

TEST_F(LockManagerTest, SiblingsExcludeEachOtherUnderTheirAncestorsLock) {
  EXPECT_TRUE(Request(1, RegionX("t", "r")));
  EXPECT_TRUE(Request(2, RegionX("t", "r"), {1}));
  EXPECT_FALSE(Request(3, RegionX("t", "r"), {1}));
  EXPECT_FALSE(Request(4, RegionX("t", "r")));
  EXPECT_EQ(Release(2), Pids{3});
  EXPECT_EQ(Release(3), Pids{});
  EXPECT_EQ(Release(1), Pids{4});
}

TEST_F(LockManagerTest, HandedOverLocksStayWithTheTree) {
  EXPECT_TRUE(Request(2, RegionX("t", "r"), {1}));
  EXPECT_FALSE(Request(3, RegionX("t", "r"), {1}));
  EXPECT_FALSE(Request(4, TableX("t")));
  std::vector<ProcId> granted;
  locks_.HandOver(Holder(2), Holder(1), granted);
  EXPECT_EQ(Numbers(granted), Pids{3}) << "the sibling may use it, the stranger may not";
  locks_.HandOver(Holder(3), Holder(1), granted);
  EXPECT_EQ(LockManager::Held(Holder(1)).size(), 6U);
  EXPECT_EQ(Release(1), Pids{4});
}

TEST_F(LockManagerTest, RetainKeepsOnlyTheOwn) {
  const auto own = Wanted({Shared(ResourceKey::Table("t"))});
  EXPECT_TRUE(Request(1, own));
  EXPECT_TRUE(Request(2, RegionX("t", "r"), {1}));
  std::vector<ProcId> granted;
  locks_.HandOver(Holder(2), Holder(1), granted);
  EXPECT_FALSE(Request(3, RegionX("t", "r")));
  locks_.Retain(Holder(1), own, granted);
  EXPECT_EQ(Numbers(granted), Pids{3});
  EXPECT_FALSE(Request(4, TableX("t")));
}

TEST_F(LockManagerTest, LeavingTheQueueUnblocksOthers) {
  EXPECT_TRUE(Request(1, RegionX("t", "a")));
  EXPECT_FALSE(Request(2, TableX("t")));
  EXPECT_FALSE(Request(3, RegionX("t", "b")));
  std::vector<ProcId> granted;
  locks_.Cancel(Holder(2), granted);
  EXPECT_EQ(Numbers(granted), Pids{3});
}

TEST_F(LockManagerTest, OrderRule) {
  EXPECT_TRUE(Request(1, TableX("t")));
  EXPECT_TRUE(LockManager::CheckOrder(&Holder(1), RegionX("t", "r")).ok());
  EXPECT_TRUE(LockManager::CheckOrder(&Holder(1), TableX("t")).ok());
  EXPECT_TRUE(LockManager::CheckOrder(&Holder(1), TableX("u")).ok()) << "same namespace, later name";
  EXPECT_FALSE(LockManager::CheckOrder(&Holder(1), TableX("s")).ok());
  EXPECT_FALSE(LockManager::CheckOrder(&Holder(1), Wanted({Exclusive(ResourceKey::Server("x"))})).ok());
  EXPECT_FALSE(LockManager::CheckOrder(&Holder(1), Wanted({Exclusive(ResourceKey::Namespace("default"))})).ok());
}

TEST_F(LockManagerTest, BlockedByNamesHoldersAndThoseAhead) {
  EXPECT_TRUE(Request(1, RegionX("t", "a")));
  EXPECT_FALSE(Request(2, TableX("t")));
  EXPECT_FALSE(Request(3, RegionX("t", "b")));
  const auto blocked = locks_.BlockedBy(Holder(3));
  EXPECT_EQ(blocked.key, ResourceKey::Table("t"));
  EXPECT_TRUE(blocked.holders.empty());
  EXPECT_EQ(Numbers(blocked.ahead), Pids{2});
  EXPECT_EQ(Numbers(locks_.BlockedBy(Holder(2)).holders), Pids{1});
}

// All conflicting requests ahead can be reached through the named ones; a queue of exclusive requests is a chain.
TEST_F(LockManagerTest, BlockedByLeadsToEveryWaiterAhead) {
  Prng prng(7);
  ASSERT_TRUE(Request(1, TableX("t")));
  constexpr std::uint64_t kLast = 60;
  std::vector<bool> exclusive(kLast + 1, true);
  std::vector<std::set<std::uint64_t>> reached(kLast + 1);
  std::size_t named = 0;
  for (std::uint64_t who = 2; who <= kLast; ++who) {
    exclusive[who] = prng.Below(3) != 0;
    ASSERT_FALSE(Request(who, exclusive[who] ? TableX("t") : RegionX("t", std::to_string(who))));
    for (const std::uint64_t other : Numbers(locks_.BlockedBy(Holder(who)).ahead)) {
      ++named;
      reached[who].insert(other);
      reached[who].insert(reached[other].begin(), reached[other].end());
    }
    std::set<std::uint64_t> ahead;
    for (std::uint64_t other = 2; other < who; ++other) {
      if (!exclusive[who] && !exclusive[other]) continue;
      ahead.insert(other);
      ahead.insert(reached[other].begin(), reached[other].end());
    }
    EXPECT_EQ(reached[who], ahead) << who;
  }
  EXPECT_LT(named, 2 * kLast);
}

// Random requests and releases of strangers: exclusion holds at every moment, all are served, none is delayed by more
// than those that came before, and nothing is left behind.
TEST_F(LockManagerTest, RandomHistories) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Prng prng(seed);
    LockManager locks;
    std::map<ProcId, std::vector<LockRequest>> holders;
    std::map<ProcId, std::vector<LockRequest>> waiting;
    std::map<ProcId, LockHolder> all;
    std::uint64_t next = 1;
    const auto check = [&holders] {
      std::map<ResourceKey, std::pair<int, int>> counts;
      for (const auto& [pid, held] : holders) {
        for (const LockRequest& request : held) {
          auto& [shared, exclusive] = counts[request.key];
          ++(request.mode == LockMode::kExclusive ? exclusive : shared);
        }
      }
      for (const auto& [key, count] : counts) {
        ASSERT_TRUE(count.second == 0 || (count.second == 1 && count.first == 0)) << key.ToString();
      }
    };
    const auto random_set = [&prng] {
      LockSet set;
      for (std::uint64_t i = prng.Below(3) + 1; i > 0; --i) {
        const std::string table(1, static_cast<char>('a' + prng.Below(3)));
        const LockMode mode = prng.Chance(1, 2) ? LockMode::kExclusive : LockMode::kShared;
        switch (prng.Below(4)) {
          case 0: set.Add({ResourceKey::Server(table), mode}); break;
          case 1: set.Add({ResourceKey::Table(table), mode}); break;
          case 2: set.Add({ResourceKey::Namespace("default"), mode}); break;
          default: set.Add({ResourceKey::Region(table, std::to_string(prng.Below(3))), mode});
        }
      }
      return set.Expanded();
    };
    const auto served = [&](const std::vector<ProcId>& granted) {
      for (const ProcId pid : granted) holders.insert(waiting.extract(pid));
    };
    for (int step = 0; step < 300; ++step) {
      std::vector<ProcId> granted;
      if (step < 200 && prng.Chance(1, 2)) {
        const ProcId pid(next++);
        const auto wanted = random_set();
        (locks.Request(all.try_emplace(pid, pid).first->second, wanted) ? holders : waiting).emplace(pid, wanted);
      } else if (!waiting.empty() && prng.Chance(1, 8)) {
        const ProcId pid = waiting.begin()->first;
        waiting.erase(pid);
        locks.Cancel(all.at(pid), granted);
      } else if (!holders.empty()) {
        auto chosen = std::next(holders.begin(), static_cast<std::ptrdiff_t>(prng.Below(holders.size())));
        const ProcId pid = chosen->first;
        holders.erase(chosen);
        locks.Release(all.at(pid), granted);
      }
      served(granted);
      check();
      // The oldest waiter waits for holders only.
      if (!waiting.empty()) {
        ASSERT_FALSE(locks.BlockedBy(all.at(waiting.begin()->first)).holders.empty());
      }
    }
    while (!holders.empty()) {
      std::vector<ProcId> granted;
      const ProcId pid = holders.begin()->first;
      holders.erase(pid);
      locks.Release(all.at(pid), granted);
      served(granted);
    }
    ASSERT_TRUE(waiting.empty()) << waiting.size() << " were never served";
    ASSERT_TRUE(locks.List().empty());
  }
}

}  // namespace
}  // namespace ratchet::procedure
