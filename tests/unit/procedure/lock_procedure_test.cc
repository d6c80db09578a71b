// LockProcedure: a lock for an outside holder, kept while heartbeats come.
#include "procedure/api/lock_procedure.h"

#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;
constexpr Millis kTimeout{30'000};

class LockProcedureTest : public ExecutorTest {
 protected:
  LockProcedureTest() { registry_.Register<LockProcedure>(); }

  ProcId Lock(const std::string& table, LockMode mode = LockMode::kExclusive, Nonce nonce = {}) {
    SubmitOptions options;
    options.owner = "backup";
    options.nonce = nonce;
    const auto pid =
        executor().Submit(LockProcedure::Make({{ResourceKey::Table(table), mode}}, "nightly", kTimeout), options);
    EXPECT_TRUE(pid.ok());
    return pid.ok() ? *pid : ProcId();
  }
  bool Held(ProcId pid) { return BeatLock(executor(), pid).held; }
  ProcId Writer(const std::string& table) {
    return Submit(WithLock(ScriptOf("w", {Op(Kind::NEXT)}), "t:" + table, true));
  }
};

TEST_F(LockProcedureTest, HoldsWhileHeartbeatsComeAndGoesWithoutThem) {
  const ProcId lock = Lock("x");
  Run();
  EXPECT_TRUE(Held(lock));
  EXPECT_EQ(BeatLock(executor(), lock).timeout, kTimeout);
  const ProcId writer = Writer("x");
  const std::uint64_t before = disk_.CommitCount();
  for (int i = 0; i < 5; ++i) {
    Run();
    EXPECT_EQ(Outcome(writer), "running");
    time_.Advance(kTimeout - Millis{1});
    EXPECT_TRUE(Held(lock));
    EXPECT_TRUE(Held(lock)) << "two heartbeats in a row";
  }
  Run();
  EXPECT_EQ(disk_.CommitCount(), before) << "heartbeats are not stored";
  time_.Advance(kTimeout);
  Run();
  EXPECT_EQ(Outcome(lock), "success: no heartbeat for 30000 ms");
  EXPECT_FALSE(Held(lock));
  EXPECT_EQ(Outcome(writer), "success: w");
}

TEST_F(LockProcedureTest, WaitsInTheLockQueue) {
  const ProcId first = Lock("x", LockMode::kShared);
  const ProcId second = Lock("x", LockMode::kShared);
  const ProcId third = Lock("x");
  Run();
  EXPECT_TRUE(Held(first));
  EXPECT_TRUE(Held(second));
  EXPECT_FALSE(Held(third));
  EXPECT_EQ(executor().WaitFor().Chain(third).substr(0, 18), "3 -lock table x-> ");
  ReleaseLock(executor(), first, [](const Status& status) { EXPECT_TRUE(status.ok()); });
  Run();
  EXPECT_FALSE(Held(third));
  ReleaseLock(executor(), second, [](const Status& status) { EXPECT_TRUE(status.ok()); });
  Run();
  EXPECT_TRUE(Held(third));
}

TEST_F(LockProcedureTest, AReleaseIsOnRecordBeforeItIsAnswered) {
  const ProcId lock = Lock("x");
  Run();
  master().store().HoldBack(true);
  bool answered = false;
  ReleaseLock(executor(), lock, [&answered](const Status& status) { answered = status.ok(); });
  EXPECT_FALSE(answered);
  NewMaster();  // durable, but no caller was notified
  Run();
  EXPECT_EQ(Outcome(lock), "success: released");
  answered = false;
  ReleaseLock(executor(), lock, [&answered](const Status& status) { answered = status.ok(); });
  EXPECT_TRUE(answered) << "asked again";
}

TEST_F(LockProcedureTest, SurvivesTheMasterAndTheHolderHasTimeToFindTheNextOne) {
  const ProcId lock = Lock("x", LockMode::kExclusive, {3, 4});
  Run();
  const ProcId writer = Writer("x");
  time_.Advance(kTimeout - Millis{1});
  NewMaster();
  EXPECT_EQ(Lock("x", LockMode::kExclusive, {3, 4}), lock) << "the request's repetition finds it";
  Run();
  EXPECT_EQ(Outcome(writer), "running");
  time_.Advance(kTimeout - Millis{1});
  EXPECT_TRUE(Held(lock));
  Run();
  time_.Advance(kTimeout - Millis{1});
  Run();
  EXPECT_TRUE(Held(lock));
  EXPECT_EQ(Outcome(writer), "running");
}

TEST_F(LockProcedureTest, DeadWaiterKeepsTheLockForOneTimeOutAtMost) {
  const ProcId first = Lock("x");
  Run();
  const ProcId second = Lock("x");
  Run();
  ReleaseLock(executor(), first, [](const Status&) {});
  Run();
  EXPECT_EQ(Info(second).locks.size(), 2U);
  time_.Advance(kTimeout);
  Run();
  EXPECT_EQ(Outcome(second), "success: no heartbeat for 30000 ms");
  EXPECT_TRUE(executor().Locks().empty());
}

TEST_F(LockProcedureTest, BadRequestsAreRefused) {
  EXPECT_EQ(executor().Submit(LockProcedure::Make({}, "", kTimeout)).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(executor()
                .Submit(LockProcedure::Make({{ResourceKey::Table("x"), LockMode::kShared}}, "", Millis{0}))
                .error()
                .code(),
            Code::kInvalidArgument);
  const ProcId other = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}));
  Run();
  EXPECT_FALSE(Held(other)) << "not a lock";
  EXPECT_FALSE(Held(ProcId(99)));
}

TEST_F(LockProcedureTest, CrashSweep) {
  SweepSubject subject;
  subject.register_types = [](ProcedureRegistry& registry) { registry.Register<LockProcedure>(); };
  subject.make_world = [] { return std::make_shared<Journal>(); };
  subject.env = [](void* world) { return EnvRef::Of(*static_cast<Journal*>(world)); };
  subject.make_root = [](void*) {
    return LockProcedure::Make({{ResourceKey::Table("x"), LockMode::kExclusive}}, "", kTimeout);
  };
  // The holder asks until it has the lock, and releases it.
  subject.drive = [](void*, MasterLife& life) {
    bool acted = false;
    for (const ProcedureInfo& info : life.executor().List()) {
      if (IsTerminal(info.state) || !BeatLock(life.executor(), info.pid).held) continue;
      ReleaseLock(life.executor(), info.pid, [](const Status&) {});
      acted = true;
    }
    return acted;
  };
  subject.fingerprint = [](void*) { return std::string("done"); };
  const SweepReport report = RunCrashSweep(subject);
  EXPECT_EQ(report.undisturbed, "done | success: released");
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  EXPECT_GT(report.crashes, 5U);
}

}  // namespace
}  // namespace ratchet::procedure
