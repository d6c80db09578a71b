// The lock manager with random trees: relatives, hand-over, retain and cancel against the rules themselves.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "procedure/core/lock_manager.h"

namespace ratchet::procedure {
namespace {

class Forest {
 public:
  explicit Forest(std::uint64_t seed) : prng_(seed) {}

  void Step() {
    switch (prng_.Below(8)) {
      case 0:
      case 1:
      case 2: Ask(/*child=*/false); break;
      case 3: Ask(/*child=*/true); break;
      case 4: HandOver(); break;
      case 5: Retain(); break;
      case 6: Cancel(); break;
      default: Release();
    }
    CheckExclusion();
    CheckNobodyWaitsForNothing();
  }
  // Releases everything, one after the other.
  void Drain() {
    while (!held_.empty()) {
      Release();
      CheckExclusion();
    }
    EXPECT_TRUE(waiting_.empty()) << waiting_.size() << " were never served";
    EXPECT_TRUE(locks_.List().empty()) << "something is left behind";
  }

 private:
  struct Member {
    Member(ProcId pid, Member* up) : holder(pid, up == nullptr ? nullptr : &up->holder), parent(up) {}
    LockHolder holder;
    Member* parent;
  };
  using Wants = std::vector<LockRequest>;

  Wants RandomWants() {
    LockSet set;
    for (std::uint64_t i = prng_.Below(3) + 1; i > 0; --i) {
      const std::string name(1, static_cast<char>('a' + prng_.Below(3)));
      const LockMode mode = prng_.Chance(1, 2) ? LockMode::kExclusive : LockMode::kShared;
      switch (prng_.Below(3)) {
        case 0: set.Add({ResourceKey::Server(name), mode}); break;
        case 1: set.Add({ResourceKey::Table(name), mode}); break;
        default: set.Add({ResourceKey::Region(name, std::to_string(prng_.Below(3))), mode});
      }
    }
    return set.Expanded();
  }
  static Wants Sorted(Wants wants) {
    std::sort(wants.begin(), wants.end(), [](const LockRequest& a, const LockRequest& b) {
      return a.key == b.key ? a.mode < b.mode : a.key < b.key;
    });
    return wants;
  }
  Member* RandomOf(const std::map<Member*, Wants>& members) {
    if (members.empty()) return nullptr;
    // Ordered by pid, so that a seed repeats its run.
    std::vector<Member*> all;
    for (const auto& [member, wants] : members) all.push_back(member);
    std::sort(all.begin(), all.end(),
              [](const Member* a, const Member* b) { return a->holder.who() < b->holder.who(); });
    return all[prng_.Below(all.size())];
  }

  void Ask(bool child) {
    Member* parent = child ? RandomOf(held_) : nullptr;
    const Wants wants = RandomWants();
    if (parent != nullptr && !LockManager::CheckOrder(&parent->holder, wants).ok()) return;
    Member& member = *all_.emplace_back(std::make_unique<Member>(ProcId(all_.size() + 1), parent));
    const bool granted =
        prng_.Chance(1, 4) ? locks_.TryNow(member.holder, wants) : locks_.Request(member.holder, wants);
    if (granted) {
      held_[&member] = wants;
    } else if (member.holder.waits()) {
      waiting_[&member] = wants;
    }
  }
  void HandOver() {
    Member* member = RandomOf(held_);
    if (member == nullptr || member->parent == nullptr || !held_.contains(member->parent)) return;
    Wants& target = held_[member->parent];
    target.insert(target.end(), held_[member].begin(), held_[member].end());
    held_.erase(member);
    std::vector<ProcId> granted;
    locks_.HandOver(member->holder, member->parent->holder, granted);
    Served(granted);
  }
  void Retain() {
    Member* member = RandomOf(held_);
    if (member == nullptr) return;
    Wants keep;
    for (const LockRequest& request : held_[member]) {
      if (prng_.Chance(1, 2)) keep.push_back(request);
    }
    std::vector<ProcId> granted;
    locks_.Retain(member->holder, keep, granted);
    EXPECT_EQ(Sorted(LockManager::Held(member->holder)), Sorted(keep));
    if (keep.empty()) {
      held_.erase(member);
    } else {
      held_[member] = keep;
    }
    Served(granted);
  }
  void Cancel() {
    Member* member = RandomOf(waiting_);
    if (member == nullptr) return;
    waiting_.erase(member);
    std::vector<ProcId> granted;
    locks_.Cancel(member->holder, granted);
    Served(granted);
  }
  void Release() {
    Member* member = RandomOf(held_);
    if (member == nullptr) return;
    held_.erase(member);
    std::vector<ProcId> granted;
    locks_.Release(member->holder, granted);
    Served(granted);
  }
  void Served(const std::vector<ProcId>& granted) {
    for (const ProcId pid : granted) {
      Member* member = all_[pid.value() - 1].get();
      ASSERT_TRUE(waiting_.contains(member)) << "granted twice or without asking";
      held_[member] = waiting_[member];
      waiting_.erase(member);
      EXPECT_EQ(Sorted(LockManager::Held(member->holder)), Sorted(held_[member]));
    }
  }

  static bool Related(const Member* a, const Member* b) {
    for (const Member* up = a; up != nullptr; up = up->parent) {
      if (up == b) return true;
    }
    for (const Member* up = b; up != nullptr; up = up->parent) {
      if (up == a) return true;
    }
    return false;
  }
  // A holder of an exclusive lock shares it with relatives in the direct line only.
  void CheckExclusion() {
    std::map<ResourceKey, std::vector<std::pair<Member*, LockMode>>> holders;
    for (const auto& [member, wants] : held_) {
      for (const LockRequest& request : wants) holders[request.key].emplace_back(member, request.mode);
    }
    for (const auto& [key, grants] : holders) {
      for (const auto& [a, mode_a] : grants) {
        for (const auto& [b, mode_b] : grants) {
          if (mode_a == LockMode::kShared && mode_b == LockMode::kShared) continue;
          ASSERT_TRUE(Related(a, b)) << key.ToString() << " is held by " << a->holder.who().value() << " and "
                                     << b->holder.who().value();
        }
      }
    }
  }
  // Otherwise a wake-up was lost.
  void CheckNobodyWaitsForNothing() {
    for (const auto& [member, wants] : waiting_) {
      const LockManager::Blocked blocked = locks_.BlockedBy(member->holder);
      ASSERT_FALSE(blocked.holders.empty() && blocked.ahead.empty()) << member->holder.who().value();
    }
  }

  Prng prng_;
  LockManager locks_;
  std::vector<std::unique_ptr<Member>> all_;
  std::map<Member*, Wants> held_;
  std::map<Member*, Wants> waiting_;
};

TEST(LockTreesTest, RandomForests) {
  for (std::uint64_t seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Forest forest(seed);
    for (int step = 0; step < 250 && !::testing::Test::HasFailure(); ++step) forest.Step();
    forest.Drain();
  }
}

// A release visits only those that can proceed, not all that wait: otherwise this test takes minutes.
TEST(LockTreesTest, ManyWaitersOfOneTableAreServedInOrder) {
  constexpr std::uint64_t kMany = 20'000;
  LockManager locks;
  const auto table = LockSet{Exclusive(ResourceKey::Table("t"))}.Expanded();
  std::vector<std::unique_ptr<LockHolder>> holders;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    holders.push_back(std::make_unique<LockHolder>(ProcId(i)));
    EXPECT_EQ(locks.Request(*holders.back(), table), i == 1);
  }
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    std::vector<ProcId> granted;
    locks.Release(*holders[i - 1], granted);
    ASSERT_EQ(granted, i == kMany ? std::vector<ProcId>{} : std::vector<ProcId>{ProcId(i + 1)});
  }
  EXPECT_TRUE(locks.List().empty());
}

}  // namespace
}  // namespace ratchet::procedure
