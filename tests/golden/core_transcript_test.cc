// Golden transcripts of the pure core's parts: the effect of every outcome on a procedure in every situation, the order
// in which waiters get a lock, and the order of turns.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "procedure/core/lock_manager.h"
#include "procedure/core/scheduler.h"
#include "procedure/core/transition.h"
#include "tests/golden/golden_file.h"

namespace ratchet::golden {
namespace {

using namespace ratchet::procedure;  // NOLINT: what is tested

// ---- outcomes ----

const StepRow kUndoRow{1, "UNDO", UndoKind::kCall, {}};
const StepRow kPlainRow{2, "PLAIN", UndoKind::kNothing, {}};
const StepRow kFinalRow{3, "FINAL", UndoKind::kPointOfNoReturn, {}};

// `next`: the state after.
std::string DecisionText(const Durable& next, const TransitionEffects& t) {
  static constexpr std::array kKinds = {"run",   "run again", "children", "event",   "async",
                                        "retry", "operator",  "undo",     "finished"};
  static constexpr std::array kLocks = {"keep", "release", "hand over"};
  std::string text = "no commit";
  if (t.commit) {
    text = fmt::format("commit {}:{} v{} data={}", ProcStateName(next.state), next.step, next.version, next.data);
    for (const UndoEntry& entry : next.undo) text += fmt::format(" undo={}@{}", entry.step, entry.order);
    if (next.children != 0U) text += fmt::format(" children={}", next.children.value_or(99));
    if (next.past_no_return) text += " past";
  }
  text += fmt::format(", locks {}, {}", kLocks.at(static_cast<std::size_t>(t.locks)),
                      kKinds.at(static_cast<std::size_t>(t.next_kind)));
  if (t.passes_no_return) text += ", passes the point of no return";
  if (t.drops_children) text += ", drops children";
  if (t.failed) text += ", fails the tree";
  if (!next.parked.empty()) text += ", parked: " + next.parked;
  return text;
}

struct Situation {
  std::string name;
  TransitionFacts facts;
};

std::vector<Situation> Situations() {
  std::vector<Situation> all;
  for (const bool root : {true, false}) {
    for (const StepRow* row : {&kUndoRow, &kPlainRow, &kFinalRow}) {
      for (const char* extra : {"", " in a failing tree", " holding locks for life", " keeping children's locks"}) {
        Situation one;
        one.name = fmt::format("{} in {}{}", root ? "root" : "child", row->name, extra);
        one.facts.is_root = root;
        one.facts.row = row;
        one.facts.tree_past_no_return = row == &kFinalRow;
        one.facts.tree_failing = one.name.find("failing") != std::string::npos;
        one.facts.hold_locks = one.name.find("for life") != std::string::npos;
        one.facts.keeps_for_children = one.name.find("children") != std::string::npos;
        one.facts.order = row == &kUndoRow ? 70 : 0;
        one.facts.now_ms = 1'000;
        one.facts.history_bound = 2;
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

std::vector<std::pair<std::string, StepOutcome>> Outcomes() {
  Spawn spawn{kPlainRow.number, {}};
  spawn.children.resize(2);  // the core only counts them
  std::vector<std::pair<std::string, StepOutcome>> all;
  all.emplace_back("next PLAIN", Next{kPlainRow.number});
  all.emplace_back("next FINAL", Next{kFinalRow.number});
  all.emplace_back("spawn 2, then PLAIN", std::move(spawn));
  all.emplace_back("spawn none, then FINAL", Spawn{kFinalRow.number, {}});
  all.emplace_back("await", Await{});
  all.emplace_back("await in memory", Await{std::nullopt, std::nullopt, true});
  all.emplace_back("retry", Retry{Error(Code::kUnavailable, "busy")});
  all.emplace_back("yield", Yield{});
  all.emplace_back("done", Done{"result"});
  all.emplace_back("fail", Fail{Error(Code::kInternal, "why")});
  return all;
}

TEST(GoldenCoreTest, EveryOutcomeInEverySituation) {
  Durable now;
  now.version = 4;
  now.data = "old";
  now.locks = {Exclusive(ResourceKey::Table("t"))};
  now.spawn_round = 1;
  now.resumed_round = 1;
  now.children = 1;
  std::string text;
  for (const Situation& situation : Situations()) {
    text += situation.name + "\n";
    now.step = situation.facts.row->number;
    now.past_no_return = situation.facts.is_root && situation.facts.tree_past_no_return;
    TransitionFacts facts = situation.facts;
    for (const auto& [name, outcome] : Outcomes()) {
      // A child cannot pass a point of no return before its tree has; this is refused earlier.
      if (name.ends_with("FINAL") && !facts.is_root && !facts.tree_past_no_return) continue;
      facts.next_row = name.ends_with("FINAL") ? &kFinalRow : name.ends_with("PLAIN") ? &kPlainRow : nullptr;
      Durable next = now;
      const TransitionEffects effects = ApplyOutcome(next, facts, outcome, "new", {});
      text += fmt::format("  {}: {}\n", name, DecisionText(next, effects));
    }
    Durable next = now;
    const TransitionEffects effects = ApplyException(next, facts, Error(Code::kInternal, "thrown"), {});
    text += fmt::format("  exception: {}\n", DecisionText(next, effects));
  }
  ExpectTranscript("outcomes", text);
}

// ---- locks ----

class LockTranscript {
 public:
  void Request(std::uint64_t who, const LockSet& set, std::uint64_t parent = 0) {
    LockHolder& holder = HolderOf(who);
    if (parent != 0) holder.SetParent(&HolderOf(parent));
    const std::vector<LockRequest> wanted = set.Expanded();
    text_ += fmt::format("{} asks for {}", who, ListText(wanted));
    if (parent != 0) text_ += fmt::format(" below {}", parent);
    if (locks_.Request(holder, wanted)) {
      text_ += ": granted\n";
      return;
    }
    const LockManager::Blocked blocked = locks_.BlockedBy(holder);
    text_ += fmt::format(": waits at {} for {} behind {}\n", blocked.key.ToString(), PidsText(blocked.holders),
                         PidsText(blocked.ahead));
  }
  void Release(std::uint64_t who) {
    std::vector<ProcId> granted;
    locks_.Release(HolderOf(who), granted);
    text_ += fmt::format("{} releases: {} may go\n", who, PidsText(granted));
  }
  void Cancel(std::uint64_t who) {
    std::vector<ProcId> granted;
    locks_.Cancel(HolderOf(who), granted);
    text_ += fmt::format("{} leaves its line: {} may go\n", who, PidsText(granted));
  }
  void HandOver(std::uint64_t from, std::uint64_t to) {
    std::vector<ProcId> granted;
    locks_.HandOver(HolderOf(from), HolderOf(to), granted);
    text_ += fmt::format("{} hands over to {}: {} may go\n", from, to, PidsText(granted));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  LockHolder& HolderOf(std::uint64_t who) {
    auto& holder = holders_[who];
    if (holder == nullptr) holder = std::make_unique<LockHolder>(ProcId(who));
    return *holder;
  }
  static std::string ListText(const std::vector<LockRequest>& wanted) {
    std::string text;
    for (const LockRequest& lock : wanted) {
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", lock.key.ToString(),
                          lock.mode == LockMode::kExclusive ? "!" : "");
    }
    return text;
  }
  static std::string PidsText(const std::vector<ProcId>& pids) {
    std::string text;
    for (const ProcId pid : pids) text += fmt::format("{}{}", text.empty() ? "" : " ", pid);
    return text.empty() ? "nobody" : text;
  }

  LockManager locks_;
  std::map<std::uint64_t, std::unique_ptr<LockHolder>> holders_;
  std::string text_;
};

TEST(GoldenCoreTest, LocksAreGrantedAsRecorded) {
  const auto table = [](const char* name) { return LockSet{Exclusive(ResourceKey::Table(name))}; };
  const auto region = [](const char* name) { return LockSet{Exclusive(ResourceKey::Region("n:t", name))}; };
  LockTranscript t;
  t.Request(1, region("a"));
  t.Request(2, region("b"));
  t.Request(3, table("n:t"));
  t.Request(4, region("c"));
  t.Request(5, {Exclusive(ResourceKey::Namespace("n"))});
  t.Request(6, {Shared(ResourceKey::Table("n:u"))});
  t.Request(7, region("d"), 1);
  t.Release(2);
  t.HandOver(7, 1);
  t.Release(1);
  t.Request(8, region("c"), 3);
  t.Cancel(5);
  t.Release(8);
  t.Release(3);
  t.Release(4);
  t.Release(6);
  t.Request(9, {Exclusive(ResourceKey::Server("s")), Exclusive(ResourceKey::Meta())});
  t.Request(10, {Exclusive(ResourceKey::Cluster())});
  t.Request(11, {Shared(ResourceKey::Server("s"))});
  t.Release(9);
  t.Release(10);
  ExpectTranscript("locks", t.text());
}

// ---- turns ----

struct Queued {
  std::string name;
  SchedItem item;
};

TEST(GoldenCoreTest, QueuesAreServedAsRecorded) {
  Scheduler scheduler(RunLimits{2, 0, 0});
  std::vector<std::unique_ptr<Queued>> all;
  const auto add = [&](const std::string& name, Priority priority, const ResourceKey& queue, bool urgent = false,
                       bool exclusive = false) {
    all.push_back(std::make_unique<Queued>());
    all.back()->name = name;
    all.back()->item.owner = all.back().get();
    scheduler.Bind(all.back()->item, priority, queue, urgent, exclusive);
    scheduler.AddBack(all.back()->item);
  };
  for (int i = 0; i < 3; ++i) add(fmt::format("a{}", i), Priority::kTableUser, ResourceKey::Table("a"));
  add("b0", Priority::kTableUser, ResourceKey::Table("b"), false, true);
  add("b1", Priority::kTableUser, ResourceKey::Table("b"));
  add("system", Priority::kTableSystem, ResourceKey::Table("hbase:x"));
  add("peer", Priority::kPeer, ResourceKey::Peer("1"));
  add("server", Priority::kServer, ResourceKey::Server("s"));
  add("crash", Priority::kServer, ResourceKey::Server("s"), true);
  std::string text;
  std::vector<SchedItem*> running;
  while (scheduler.size() > 0 || !running.empty()) {
    while (SchedItem* item = scheduler.Poll(/*urgent_only=*/false)) {
      text += fmt::format("{} runs\n", static_cast<Queued*>(item->owner)->name);
      running.push_back(item);
    }
    SchedItem* const first = running.front();
    running.erase(running.begin());
    text += fmt::format("{} ends: {} may go\n", static_cast<Queued*>(first->owner)->name, scheduler.Done(*first));
  }
  for (const auto& each : all) scheduler.Unbind(each->item);
  ExpectTranscript("turns", text);
}

}  // namespace
}  // namespace ratchet::golden
