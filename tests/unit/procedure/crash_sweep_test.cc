// Crash before and after every commit, in recovery and in undo too, every step twice: same end.
#include <gtest/gtest.h>

#include "procedure/api/lock_procedure.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

using namespace ratchet::testing;  // NOLINT: test helpers
using ::ratchet::testing::pb::Script;
using Kind = ratchet::testing::pb::ScriptOp;

SweepSubject SubjectOf(const Script& script) {
  SweepSubject subject;
  subject.register_types = RegisterScripts;
  subject.make_world = [] { return std::make_shared<Journal>(); };
  subject.env = [](void* world) { return EnvRef::Of(*static_cast<Journal*>(world)); };
  subject.make_root = [script](void*) { return MakeScript(script); };
  subject.drive = [](void* world, MasterLife& life) {
    if (static_cast<Journal*>(world)->FinishAsync()) return true;
    bool taken = false;
    for (const ProcedureInfo& info : life.executor().List()) {
      if (info.waiting.kind != WaitingOn::Kind::kEvent) continue;
      life.executor().Deliver(info.pid, "report", [&taken](const Result<Absorbed>& answer) {
        if (answer.ok() && answer->taken()) taken = true;
      });
    }
    return taken;
  };
  subject.on_crash = [](void* world) { static_cast<Journal*>(world)->ForgetAsync(); };
  subject.fingerprint = [](void* world) { return static_cast<Journal*>(world)->InForce(); };
  return subject;
}

void ExpectSweep(const Script& script, const std::string& end) {
  const SweepReport report = RunCrashSweep(SubjectOf(script));
  EXPECT_EQ(report.undisturbed, end);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  EXPECT_GT(report.crashes, report.commits) << "the sweep has crashed less often than there are commits";
}

const std::vector<ratchet::testing::pb::ScriptOp> kThree = {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)};

TEST(CrashSweepTest, Steps) { ExpectSweep(ScriptOf("a", kThree), "a1,a2,a3 | success: a"); }

TEST(CrashSweepTest, Failure) {
  ExpectSweep(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "no")}),
              " | failed: FAILED_PRECONDITION: no");
}

TEST(CrashSweepTest, Exception) {
  ExpectSweep(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::THROW, "no")}), " | failed: INTERNAL: uncaught exception: no");
}

TEST(CrashSweepTest, EveryWayOfWaiting) {
  ExpectSweep(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 100), Op(Kind::AWAIT_REPORT, "report"), Op(Kind::RETRY, "r", 2),
                             Op(Kind::ONCE), Op(Kind::YIELD), Op(Kind::SYSTEM_PUT, "k=v")}),
              "a1,a2,a3,a4,a5,a6 | success: a");
}

TEST(CrashSweepTest, OwnWorkThatIsUndoneByOwnWork) {
  ExpectSweep(ScriptOf("a", {Op(Kind::STAY), Op(Kind::NEXT), Op(Kind::STAY)}), "a1,a2,a3 | success: a");
  ExpectSweep(ScriptOf("a", {Op(Kind::STAY), Op(Kind::NEXT), Op(Kind::STAY, "early"), Op(Kind::FAIL, "no")}),
              " | failed: FAILED_PRECONDITION: no");
}

TEST(CrashSweepTest, TreeWithLocks) {
  const Script leaf = WithLock(ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT)}), "r:x/1", true, true);
  const Script middle = ScriptOf("", {Op(Kind::NEXT), SpawnOp({leaf, leaf}), Op(Kind::NEXT)});
  ExpectSweep(WithLock(ScriptOf("p", {SpawnOp({middle, leaf}), Op(Kind::NEXT)}), "t:x", false),
              "p.a.a1,p.a.a2,p.a.b1,p.a.b2,p.a1,p.a2,p.a3,p.b1,p.b2,p1,p2 | success: p");
}

TEST(CrashSweepTest, TreeThatFailsLate) {
  const Script leaf = WithLock(ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT)}), "r:x/1", true);
  const Script middle = ScriptOf("", {Op(Kind::NEXT), SpawnOp({leaf}), Op(Kind::NEXT)});
  ExpectSweep(WithLock(ScriptOf("p", {SpawnOp({middle, leaf}), Op(Kind::FAIL, "late")}), "t:x", true),
              " | failed: FAILED_PRECONDITION: late");
}

TEST(CrashSweepTest, TreeWithAFailingChild) {
  const Script good = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "e", 50), Op(Kind::NEXT)});
  const Script bad = ScriptOf("", {Op(Kind::NEXT), Op(Kind::RETRY, "r", 3), Op(Kind::FAIL, "child")});
  ExpectSweep(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({good, bad}), Op(Kind::NEXT)}),
              " | failed: FAILED_PRECONDITION: child");
}

TEST(CrashSweepTest, PointOfNoReturn) {
  const Script undoable = ScriptOf("", {Op(Kind::NEXT)});
  const Script final_child = WithFlavor(ScriptOf("", {Op(Kind::ONCE), Op(Kind::NEXT)}), "ScriptNoReturn");
  ExpectSweep(WithFlavor(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({undoable}), Op(Kind::NEXT),
                                        SpawnOp({final_child, final_child}), Op(Kind::NEXT)}),
                         "ScriptMixed"),
              "p.a1,p.a2,p.b1,p.b2,p1,p2,p3,p4,p5 | success: p");
}

// ---- a lock for an outsider ----

SweepSubject LockSubject(bool holder_releases) {
  SweepSubject subject;
  subject.register_types = [](ProcedureRegistry& registry) { registry.Register<LockProcedure>(); };
  subject.make_world = [] { return std::make_shared<Journal>(); };
  subject.env = [](void* world) { return EnvRef::Of(*static_cast<Journal*>(world)); };
  subject.make_root = [](void*) {
    return LockProcedure::Make({Shared(ResourceKey::Namespace("n")), Exclusive(ResourceKey::Table("n:t"))}, "backup",
                               Millis{1'000});
  };
  subject.drive = [holder_releases](void* world, MasterLife& life) {
    bool let_go = false;
    for (const ProcId pid : life.executor().FindUnfinished(LockProcedure::kTypeName)) {
      if (life.executor().Locks().empty()) continue;
      static_cast<Journal*>(world)->FirstTime("held");
      if (holder_releases) ReleaseLock(life.executor(), pid, [&let_go](const Status& status) { let_go = status.ok(); });
    }
    return let_go;
  };
  subject.fingerprint = [](void* world) { return static_cast<Journal*>(world)->Seen("held") ? "held" : "never held"; };
  return subject;
}

void ExpectLockSweep(bool holder_releases, const std::string& end) {
  const SweepReport report = RunCrashSweep(LockSubject(holder_releases));
  EXPECT_EQ(report.undisturbed, end);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  EXPECT_GT(report.crashes, report.commits);
}

TEST(CrashSweepTest, LockOfSomebodyOutsideThatIsReleased) { ExpectLockSweep(true, "held | success: released"); }

TEST(CrashSweepTest, LockOfSomebodyOutsideThatIsForgotten) {
  ExpectLockSweep(false, "held | success: no heartbeat for 1000 ms");
}

}  // namespace
}  // namespace ratchet::procedure
