// One master after another on one "disk", single-threaded.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/crash_sweep.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {

using namespace ratchet::testing;  // NOLINT: test helpers

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() { RegisterScripts(registry_); }

  // Ends the current master, if any, as a crash would, and starts the next one.
  MasterLife& NewMaster(CrashPlan plan = {}) {
    if (life_) life_->store().Die();
    life_.reset();
    journal_.ForgetAsync();
    life_ = std::make_unique<MasterLife>(disk_, plan, registry_, EnvRef::Of(journal_), time_, options_);
    EXPECT_TRUE(life_->Begin() || plan.before != 0 || plan.after != 0);
    return *life_;
  }
  MasterLife& master() { return life_ ? *life_ : NewMaster(); }
  Executor& executor() { return master().executor(); }

  ProcId Submit(const testing::pb::Script& script, Nonce nonce = {}) {
    SubmitOptions options;
    options.owner = "tester";
    options.nonce = nonce;
    const Result<ProcId> pid = executor().Submit(MakeScript(script), options);
    EXPECT_TRUE(pid.ok()) << (pid.ok() ? "" : pid.error().ToString());
    return pid.ok() ? *pid : ProcId();
  }
  void Run() { master().RunUntilIdle(); }
  // Runs, with timers, until all have finished or nothing is left to happen.
  void RunAll() {
    for (int i = 0; i < 10'000; ++i) {
      Run();
      if (master().AllFinished() || !time_.RunNext()) return;
    }
  }
  ProcedureInfo Info(ProcId pid) {
    const std::optional<ProcedureInfo> info = executor().Get(pid);
    EXPECT_TRUE(info.has_value()) << "pid " << pid.value();
    return info.value_or(ProcedureInfo{});
  }
  // "success: x", "failed: ...", "running", "not found"
  std::string Outcome(ProcId pid) {
    const ProcedureResult result = executor().GetResult(pid);
    switch (result.status) {
      case ProcedureResult::Status::kNotFound: return "not found";
      case ProcedureResult::Status::kRunning: return "running";
      case ProcedureResult::Status::kSuccess: return "success: " + result.result;
      case ProcedureResult::Status::kFailed: return "failed: " + result.error->ToString();
    }
    return "?";
  }
  // Returns the immediate answer.
  Status Abort(ProcId pid, std::string who, std::string why) {
    auto answer = std::make_shared<Status>(Error(Code::kInternal, "unanswered"));
    executor().Abort(pid, {std::move(who), std::move(why)}, [answer](const Status& status) { *answer = status; });
    return *answer;
  }
  std::string Deliver(ProcId pid, const std::string& message) {
    std::string answer = "unanswered";
    executor().Deliver(pid, message, [&answer](const Result<Absorbed>& absorbed) {
      answer = !absorbed.ok()      ? absorbed.error().ToString()
               : absorbed->taken() ? "taken"
                                   : "stale: " + absorbed->reason;
    });
    return answer;
  }

  ProcedureRegistry registry_;
  Journal journal_;
  StoredState disk_;
  ManualTime time_;
  Executor::Options options_ = MasterLife::DefaultOptions();
  std::unique_ptr<MasterLife> life_;
};

using Kind = testing::pb::ScriptOp;

}  // namespace ratchet::procedure
