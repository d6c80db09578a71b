// Wait table, transitions and stored records, each alone.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "procedure/api/record.pb.h"
#include "procedure/core/record.h"
#include "procedure/core/transition.h"
#include "procedure/core/wait_table.h"
#include "procedure/engine/observe.h"

namespace ratchet::procedure {
namespace {

// ---- wait table ----

TEST(WaitTableTest, WakeBetweenTicketAndParkIsSeen) {
  WaitTable waits;
  const WaitTicket ticket = waits.Take({"e"});
  std::vector<ProcId> woken;
  waits.Wake({"e"}, woken);
  EXPECT_TRUE(woken.empty());
  EXPECT_FALSE(waits.Wait(ProcId(1), ticket));
  EXPECT_EQ(waits.size(), 0U) << "nothing is remembered that nobody cares about";
}

TEST(WaitTableTest, WakeOfAnotherEventOrBeforeTheTicketDoesNotCount) {
  WaitTable waits;
  std::vector<ProcId> woken;
  waits.Wake({"e"}, woken);
  const WaitTicket ticket = waits.Take({"e"});
  waits.Wake({"f"}, woken);
  EXPECT_TRUE(waits.Wait(ProcId(1), ticket));
  waits.Wake({"e"}, woken);
  EXPECT_EQ(woken, std::vector<ProcId>{ProcId(1)});
  EXPECT_EQ(waits.size(), 0U);
}

TEST(WaitTableTest, LeavingAndDroppingForget) {
  WaitTable waits;
  const WaitTicket first = waits.Take({"e"});
  const WaitTicket second = waits.Take({"e"});
  waits.Drop(first);
  EXPECT_TRUE(waits.Wait(ProcId(1), second));
  waits.Leave(ProcId(1));
  EXPECT_EQ(waits.size(), 0U);
}

// ---- transitions: golden transcripts ----

std::string Show(const Durable& next, const TransitionEffects& t) {
  static constexpr std::array kKinds = {"run",   "run again", "children", "event",   "async",
                                        "retry", "operator",  "undo",     "finished"};
  static constexpr std::array kLocks = {"keep", "release", "hand over"};
  std::string undo;
  for (const UndoEntry& entry : next.undo) undo += fmt::format(" {}@{}", entry.step, entry.order);
  return fmt::format("{} {}:{} v{} data={} undo=[{}] locks={} next={}{}{}{}{}", t.commit ? "commit" : "no commit",
                     ProcStateName(next.state), next.step, next.version, next.data, undo.empty() ? "" : undo.substr(1),
                     kLocks.at(static_cast<std::size_t>(t.locks)), kKinds.at(static_cast<std::size_t>(t.next_kind)),
                     t.passes_no_return ? " passes-no-return" : "", t.drops_children ? " drops-children" : "",
                     t.failed ? " failed" : "", next.parked.empty() ? "" : " parked");
}

class TransitionTest : public ::testing::Test {
 protected:
  TransitionTest() {
    now_.step = 1;
    now_.version = 1;
    now_.data = "old";
    now_.locks = {Exclusive(ResourceKey::Table("t"))};
    facts_.row = &undo_row_;
    facts_.next_row = &undo_row_;
    facts_.order = 7;
    facts_.history_bound = 4;
  }
  std::string Apply(const StepOutcome& outcome) {
    Durable next = now_;
    const TransitionEffects effects = ApplyOutcome(next, facts_, outcome, "new", {});
    return Show(next, effects);
  }

  const StepRow undo_row_{1, "ONE", UndoKind::kCall, {}};
  const StepRow plain_row_{1, "ONE", UndoKind::kNothing, {}};
  const StepRow final_row_{2, "TWO", UndoKind::kPointOfNoReturn, {}};
  Durable now_;
  TransitionFacts facts_;
};

TEST_F(TransitionTest, BeforeThePointOfNoReturnWithUndo) {
  EXPECT_EQ(Apply(Next{2}), "commit RUNNABLE:2 v2 data=new undo=[1@7] locks=keep next=run");
  EXPECT_EQ(Apply(Done{"r"}), "commit SUCCESS:1 v2 data=new undo=[1@7] locks=release next=finished drops-children");
  EXPECT_EQ(Apply(Fail{Error(Code::kInternal, "x")}),
            "commit FAILED:1 v2 data=new undo=[1@7] locks=keep next=undo failed");
}

TEST_F(TransitionTest, AStepWithNothingToUndoLetsGoWhenItWaits) {
  facts_.row = &plain_row_;
  EXPECT_EQ(Apply(Await{}), "commit WAITING_TIMEOUT:1 v2 data=new undo=[] locks=release next=event");
  EXPECT_EQ(Apply(Retry{Error(Code::kUnavailable, "x"), {}}),
            "commit RUNNABLE:1 v2 data=old undo=[] locks=release next=retry")
      << "only the release is stored";
  EXPECT_EQ(Apply(Yield{}), "commit RUNNABLE:1 v2 data=old undo=[] locks=release next=run again");
}

// S16 (parent keeps child locks): it may have acted in an earlier run that is not recorded.
TEST_F(TransitionTest, AStepThatMayHaveToBeUndoneKeepsItsLocksWhenItWaits) {
  const auto check = [this] {
    return Apply(Await{}) + "|" + Apply(Retry{Error(Code::kUnavailable, "x"), {}}) + "|" + Apply(Yield{});
  };
  EXPECT_EQ(check(),
            "commit WAITING_TIMEOUT:1 v2 data=new undo=[] locks=keep next=event|"
            "no commit RUNNABLE:1 v1 data=old undo=[] locks=keep next=retry|"
            "no commit RUNNABLE:1 v1 data=old undo=[] locks=keep next=run again");
  const ScopedMutant mutant("procedure.waiting_step_releases");
  EXPECT_NE(check().find("locks=release"), std::string::npos);
}

TEST_F(TransitionTest, LocksAreKeptWhileThereIsSomethingToUndo) {
  now_.undo = {{1, 3}};
  EXPECT_EQ(Apply(Await{}), "commit WAITING_TIMEOUT:1 v2 data=new undo=[1@3] locks=keep next=event");
  EXPECT_EQ(Apply(Yield{}), "no commit RUNNABLE:1 v1 data=old undo=[1@3] locks=keep next=run again");
}

TEST_F(TransitionTest, HoldLocksKeepsThemThroughWaits) {
  facts_.hold_locks = true;
  facts_.row = &plain_row_;
  EXPECT_EQ(Apply(Await{}), "commit WAITING_TIMEOUT:1 v2 data=new undo=[] locks=keep next=event");
  EXPECT_EQ(Apply(Retry{Error(Code::kUnavailable, "x"), {}}),
            "no commit RUNNABLE:1 v1 data=old undo=[] locks=keep next=retry");
}

TEST_F(TransitionTest, ARowMayReleaseHeldLocksWhileItsChildrenRun) {
  facts_.hold_locks = true;
  facts_.next_row = &plain_row_;
  const auto spawn = [this](const StepRow& row) {
    facts_.row = &row;
    return Apply(StepOutcome(Spawn{1, std::vector<ProcedurePtr>(1)}));
  };
  EXPECT_EQ(spawn(plain_row_), "commit WAITING:1 v2 data=new undo=[] locks=keep next=children");
  const StepRow releasing{1, "ONE", UndoKind::kNothing, {}, LockPolicy::kReleasesWhileChildrenRun};
  EXPECT_EQ(spawn(releasing), "commit WAITING:1 v2 data=new undo=[] locks=release next=children");
  EXPECT_EQ(Apply(Await{}), "commit WAITING_TIMEOUT:1 v2 data=new undo=[] locks=keep next=event")
      << "only for children";
  const StepRow undoable{1, "ONE", UndoKind::kCall, {}, LockPolicy::kReleasesWhileChildrenRun};
  EXPECT_EQ(spawn(undoable), "commit WAITING:1 v2 data=new undo=[1@7] locks=keep next=children") << "S16";
}

TEST_F(TransitionTest, ARowMayReleaseHeldLocksBetweenTries) {
  facts_.hold_locks = true;
  const StepRow releasing{1, "ONE", UndoKind::kNothing, {}, LockPolicy::kReleasesBetweenTries};
  facts_.row = &releasing;
  const Retry retry{Error(Code::kUnavailable, "x"), {}};
  EXPECT_EQ(Apply(retry), "commit RUNNABLE:1 v2 data=old undo=[] locks=release next=retry");
  EXPECT_EQ(Apply(Yield{}), "no commit RUNNABLE:1 v1 data=old undo=[] locks=keep next=run again") << "only for Retry";
  const StepRow undoable{1, "ONE", UndoKind::kCall, {}, LockPolicy::kReleasesBetweenTries};
  facts_.row = &undoable;
  EXPECT_EQ(Apply(retry), "no commit RUNNABLE:1 v1 data=old undo=[] locks=keep next=retry") << "S16";
}

TEST_F(TransitionTest, ChildWithUndoHandsItsLocksOver) {
  facts_.is_root = false;
  EXPECT_EQ(Apply(Done{}), "commit SUCCESS:1 v2 data=new undo=[1@7] locks=hand over next=finished");
  facts_.row = &plain_row_;
  EXPECT_EQ(Apply(Done{}), "commit SUCCESS:1 v2 data=new undo=[] locks=release next=finished");
}

TEST_F(TransitionTest, PointOfNoReturn) {
  now_.undo = {{1, 3}};
  facts_.next_row = &final_row_;
  EXPECT_EQ(Apply(Next{2}),
            "commit RUNNABLE:2 v2 data=new undo=[] locks=keep next=run passes-no-return drops-children");
  facts_.tree_past_no_return = true;
  facts_.row = &final_row_;
  EXPECT_EQ(Apply(Fail{Error(Code::kInternal, "x")}),
            "commit RUNNABLE:1 v2 data=new undo=[1@3] locks=keep next=operator parked");
}

TEST_F(TransitionTest, SpawnWaitsAndPassesNothingYet) {
  facts_.next_row = &final_row_;
  Spawn spawn;
  spawn.resume_at = 2;
  spawn.children.resize(1);
  EXPECT_EQ(Apply(StepOutcome(std::move(spawn))), "commit WAITING:2 v2 data=new undo=[1@7] locks=keep next=children");
}

TEST_F(TransitionTest, InMemoryWaitStoresNothing) {
  EXPECT_EQ(Apply(Await{{}, {}, true}), "no commit RUNNABLE:1 v1 data=old undo=[] locks=keep next=async");
}

TEST_F(TransitionTest, OutcomesWhileTheTreeFailsAreStoredButStartNothing) {
  facts_.tree_failing = true;
  facts_.next_row = &final_row_;
  EXPECT_EQ(Apply(Next{2}), "commit RUNNABLE:2 v2 data=new undo=[1@7] locks=keep next=run");
}

// ---- stored records ----

Identity FullIdentity() {
  Identity id;
  id.pid = ProcId(7);
  id.parent = ProcId(3);
  id.root = ProcId(3);
  id.type = "T";
  id.data_version = 2;
  id.owner = "me";
  id.nonce_group = 5;
  id.nonce = 6;
  id.submitted_ms = 1000;
  id.child_round = 1;
  return id;
}

Durable FullDurable() {
  Durable durable;
  durable.state = ProcState::kWaiting;
  durable.step = 4;
  durable.data = "data";
  durable.locks = {Shared(ResourceKey::Namespace("ns")), Exclusive(ResourceKey::Table("ns:t"))};
  durable.undo = {{1, 10}, {2, 20}};
  durable.error = Error(Code::kTimeout, "late", "Remote");
  durable.result = "res";
  durable.version = 9;
  durable.updated_ms = 2000;
  StepHistoryEntry entry;
  entry.step = 1;
  entry.epoch = Epoch(2);
  entry.worker = 3;
  entry.begin_ms = 1500;
  entry.duration_us = 12;
  entry.outcome = OutcomeKind::kSpawn;
  entry.error = "e";
  entry.attempts = 4;
  durable.history.Add(entry, 1);
  durable.history_dropped = 1;
  durable.past_no_return = true;
  durable.parked = "why";
  durable.bypassed = true;
  durable.verbs = {{"abort", "who", "why", 77}};
  durable.spawn_round = 2;
  durable.resumed_round = 2;
  durable.children = 3;
  return durable;
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const unsigned char c : bytes) hex += fmt::format("{:02x}", c);
  return hex;
}

// A change here breaks every existing store: old bytes must stay readable, so only new fields are allowed.
TEST(DurableRecordTest, GoldenBytes) {
  EXPECT_EQ(Hex(EncodeRecord(FullIdentity(), FullDurable())),
            "0807100318032201542802300338044204646174614a06080512026e734a0a080612046e733a74180152040801100a52"
            "0408021014580560066a026d6570e80778d00f820110080612046c6174651a0652656d6f74658a01037265739001099a"
            "011208011002180320dc0b280c30023a01654004a00101a80101b20103776879b80101ca01130a0561626f7274"
            "120377686f1a03776879204dd00102d80102e00101e80103");
}

TEST(DurableRecordTest, AParentOfAVersionThatDidNotCountItsChildrenHasAnUnknownNumber) {
  Durable durable = FullDurable();
  durable.children.reset();
  const std::string old = EncodeRecord(FullIdentity(), durable);
  const Result<DecodedRecord> decoded = DecodeRecord(old);
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->durable.children.has_value());
  EXPECT_EQ(EncodeRecord(decoded->identity, decoded->durable), old);
}

TEST(DurableRecordTest, RoundTrip) {
  const std::string bytes = EncodeRecord(FullIdentity(), FullDurable());
  const Result<DecodedRecord> decoded = DecodeRecord(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(EncodeRecord(decoded->identity, decoded->durable), bytes);
  EXPECT_EQ(decoded->durable.locks, FullDurable().locks);
  EXPECT_EQ(decoded->durable.error->remote_class(), "Remote");
}

// Lengths of parts around those at which their encoding takes one byte more.
TEST(DurableRecordTest, IsWrittenAsAGeneratedMessageWritesIt) {
  for (const std::size_t length : {0, 1, 90, 110, 126, 127, 128, 129, 300, 16'383, 16'384, 200'000}) {
    const std::string text(length, 'x');
    Durable durable = FullDurable();
    StepHistoryEntry entry;
    entry.begin_ms = -1;
    entry.error = text;
    AddHistory(durable, entry, 3);
    durable.error = Error(Code::kInternal, text);
    durable.locks.push_back(Exclusive(ResourceKey::Server(text)));
    durable.verbs.push_back({"park", text, "", 5});
    durable.result = text;
    const std::string bytes = EncodeRecord(FullIdentity(), durable);
    pb::ProcedureRecord message;
    ASSERT_TRUE(message.ParseFromString(bytes)) << length;
    EXPECT_EQ(message.SerializeAsString(), bytes) << length;
    EXPECT_EQ(message.locks_size(), static_cast<int>(durable.locks.size())) << length;
    EXPECT_EQ(message.error().message(), text) << length;
    EXPECT_EQ(message.history(1).error(), text) << length;
    EXPECT_EQ(durable.history.Entries().back().error, text) << length;
    EXPECT_EQ(durable.history.Entries().back().begin_ms, -1) << length;
  }
}

TEST(DurableRecordTest, DamageIsNamed) {
  EXPECT_EQ(DecodeRecord("garbage").error().code(), Code::kCorruption);
  EXPECT_EQ(DecodeRecord("").error().code(), Code::kCorruption);
}

TEST(DurableRecordTest, HistoryIsBounded) {
  Durable durable;
  for (std::uint32_t i = 1; i <= 10; ++i) {
    StepHistoryEntry entry;
    entry.step = i;
    AddHistory(durable, entry, 3);
  }
  const auto steps = [&durable] {
    std::vector<StepNo> kept;
    for (const StepHistoryEntry& entry : durable.history.Entries()) kept.push_back(entry.step);
    return kept;
  };
  EXPECT_EQ(steps(), (std::vector<StepNo>{1, 9, 10})) << "the first and the newest";
  EXPECT_EQ(durable.history_dropped, 7U);
  EXPECT_EQ(durable.history_first, 1U);
}

// A record of an earlier version has dropped the first entries: what follows keeps the newest.
TEST(DurableRecordTest, AHistoryWithoutItsBeginningKeepsTheNewest) {
  Durable durable;
  durable.history_dropped = 5;
  for (std::uint32_t i = 6; i <= 12; ++i) {
    StepHistoryEntry entry;
    entry.step = i;
    AddHistory(durable, entry, 4);
  }
  EXPECT_EQ(durable.history.Entries().front().step, 9U);
  EXPECT_EQ(durable.history_dropped, 8U);
  EXPECT_EQ(durable.history_first, 0U);
}

TEST(WaitForGraphTest, ChainsAndCycles) {
  WaitForGraph graph;
  graph.edges = {{ProcId(3), ProcId(9), "child"}, {ProcId(7), ProcId(3), "lock table t"}};
  EXPECT_EQ(graph.Chain(ProcId(7)), "7 -lock table t-> 3 -child-> 9");
  EXPECT_EQ(graph.Chain(ProcId(9)), "") << "it waits for nobody";
  graph.ends[ProcId(9)] = "operator parked by op: look";
  EXPECT_EQ(graph.Chain(ProcId(7)), "7 -lock table t-> 3 -child-> 9 (operator parked by op: look)");
  EXPECT_EQ(graph.Chain(ProcId(9)), "");
  EXPECT_EQ(FindCycles(graph.edges).size(), 0U);
  graph.edges.push_back({ProcId(9), ProcId(7), "lock region r"});
  const auto cycles = FindCycles(graph.edges);
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_EQ(cycles[0], (std::vector<ProcId>{ProcId(3), ProcId(9), ProcId(7)}));
  std::sort(graph.edges.begin(), graph.edges.end(),
            [](const WaitEdge& a, const WaitEdge& b) { return a.from < b.from; });
  EXPECT_EQ(graph.Chain(ProcId(9)), "9 -lock region r-> 7 -lock table t-> 3 -child-> 9 (a cycle)");
}

}  // namespace
}  // namespace ratchet::procedure
