// S60 (own procedures ignore low space): on a nearly full disk clients are refused, and the host's own procedures are
// not.
#include <optional>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/memory_store.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

using ratchet::testing::Journal;
using ratchet::testing::MakeScript;
using ratchet::testing::MasterLife;
using ratchet::testing::Op;
using ratchet::testing::RegisterScripts;
using ratchet::testing::ScriptOf;

class OwnWorkTest : public ::testing::Test {
 protected:
  OwnWorkTest() {
    RegisterScripts(registry_);
    executor_ = std::make_unique<Executor>(
        Executor::Deps{store_, registry_, workers_, time_, time_, EnvRef::Of(journal_)}, MasterLife::DefaultOptions());
    EXPECT_TRUE(executor_->Recover().ok());
    executor_->Start();
  }
  ~OwnWorkTest() override { executor_->Stop(); }
  // Returns the answer to a submission by `owner`; empty: by the host itself.
  Status Ask(const std::string& owner) {
    std::optional<Result<ProcId>> answer;
    SubmitOptions options;
    options.owner = owner;
    executor_->SubmitAsync(MakeScript(ScriptOf("p", {Op(ratchet::testing::pb::ScriptOp::DONE)})), options,
                           [&](Result<ProcId> pid) { answer = std::move(pid); });
    while (store_.Pump()) {
    }
    if (!answer) return Error(Code::kInternal, "unanswered");
    return answer->ok() ? Ok() : Status(answer->error());
  }

  ProcedureRegistry registry_;
  Journal journal_;
  ManualTime time_;
  MemoryStore store_;
  ManualWorkers workers_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(OwnWorkTest, PassesAFullStore) {
  EXPECT_TRUE(Ask("tester").ok());
  store_.SetFull(true);
  EXPECT_EQ(Ask("tester").error().code(), Code::kNoSpace);
  EXPECT_TRUE(Ask("").ok()) << "a crash must be handled all the same";
  store_.SetFull(false);
  EXPECT_TRUE(Ask("tester").ok());
}

#if defined(RATCHET_MUTANTS)
TEST_F(OwnWorkTest, RefusingItOnAFullStoreIsCaught) {
  const ScopedMutant mutant("procedure.refuse_own_work");
  store_.SetFull(true);
  EXPECT_EQ(Ask("").error().code(), Code::kNoSpace);
}
#endif

}  // namespace
}  // namespace ratchet::procedure
