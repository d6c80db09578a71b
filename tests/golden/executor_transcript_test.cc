// Golden transcripts of the whole executor in one thread: fixed inputs and all decisions, as text. An input line begins
// with ">". Below it are the batches for the store ("commit"), the effects of steps ("do", "undo"), the answers to
// callers ("answer", "finished"), and at the end of a turn the waits of each procedure ("waits").
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "procedure/api/executor.h"
#include "procedure/api/store.h"
#include "procedure/core/record.h"
#include "tests/golden/golden_file.h"
#include "tests/support/manual_time.h"
#include "tests/support/script_procedure.h"

namespace ratchet::golden {
namespace {

using namespace ratchet::testing;  // NOLINT: test helpers
using procedure::Executor;
using procedure::ProcedureInfo;
using Kind = pb::ScriptOp;
using pb::Script;

std::string LocksText(const std::vector<procedure::LockRequest>& locks) {
  std::string text;
  for (const auto& lock : locks) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", lock.key.ToString(),
                        lock.mode == procedure::LockMode::kExclusive ? " x" : "");
  }
  return text;
}

std::string RecordText(const procedure::ProcedureUpsert& upsert) {
  const auto decoded = procedure::DecodeRecord(upsert.bytes);
  if (!decoded.ok()) return decoded.error().ToString();
  const procedure::Durable& durable = decoded->durable;
  std::string text =
      fmt::format("pid={} v{} {}:{}", upsert.pid, upsert.version, ProcStateName(durable.state), durable.step);
  if (!durable.locks.empty()) text += " locks=[" + LocksText(durable.locks) + "]";
  if (!durable.undo.empty()) {
    text += " undo=[";
    for (const auto& entry : durable.undo) text += fmt::format("{}{}", text.back() == '[' ? "" : " ", entry.step);
    text += "]";
  }
  if (durable.past_no_return) text += " no-return";
  if (!durable.parked.empty()) text += " parked";
  if (durable.error) text += " error=" + durable.error->ToString();
  return text;
}

// Commits wait until the transcript completes them, all or one.
class Store final : public procedure::ProcedureStore {
 public:
  Store(std::map<ProcId, procedure::ProcedureUpsert>& disk, std::uint64_t& sequence, std::string& text)
      : disk_(disk), sequence_(sequence), text_(text) {}
  Result<procedure::LoadedState> Claim() override {
    procedure::LoadedState loaded;
    loaded.epoch = Epoch(1);
    for (const auto& [pid, record] : disk_) {
      loaded.records.push_back(record);
      loaded.max_pid = pid;
    }
    return loaded;
  }
  void Commit(procedure::StoreBatch batch, procedure::CommitDone done) override {
    std::string line;
    for (const auto& upsert : batch.upserts) line += (line.empty() ? "" : "; ") + RecordText(upsert);
    for (const ProcId pid : batch.deletes) line += fmt::format("; delete pid={}", pid);
    for (const auto& put : batch.system_puts) line += fmt::format("; put {}", put.key);
    text_ += "  commit " + line + "\n";
    queue_.emplace_back(std::move(batch), std::move(done));
  }
  Status Check() override { return Ok(); }
  std::uint64_t NextSequence() override { return ++sequence_; }
  Status Admit() override { return Ok(); }
  void Stop() override {}
  [[nodiscard]] procedure::StoreMetrics metrics() const override { return {}; }

  bool Pump() {
    if (queue_.empty()) return false;
    auto [batch, done] = std::move(queue_.front());
    queue_.pop_front();
    for (auto& upsert : batch.upserts) disk_.insert_or_assign(upsert.pid, std::move(upsert));
    for (const ProcId pid : batch.deletes) disk_.erase(pid);
    done(++sequence_);
    return true;
  }

 private:
  std::map<ProcId, procedure::ProcedureUpsert>& disk_;
  std::uint64_t& sequence_;
  std::string& text_;
  std::deque<std::pair<procedure::StoreBatch, procedure::CommitDone>> queue_;
};

class Transcript {
 public:
  Transcript() {
    RegisterScripts(registry_);
    journal_.SetObserver([this](char sign, const std::string& effect, const procedure::Procedure&) {
      if (sign == '+') text_ += "  do " + effect + "\n";
      if (sign == '-') text_ += "  undo " + effect + "\n";
    });
    Begin();
  }
  ~Transcript() { Crash(); }

  void Submit(const Script& script) {
    Input("submit " + script.name());
    life_->executor.SubmitAsync(MakeScript(script), {}, [this](const Result<ProcId>& pid) {
      text_ += "  answer " + (pid.ok() ? fmt::format("pid={}", *pid) : pid.error().ToString()) + "\n";
      if (!pid.ok()) return;
      life_->executor.OnFinished(*pid, [this, which = *pid](const procedure::ProcedureResult& result) {
        text_ += fmt::format("  finished pid={} {}\n", which, result.error ? result.error->ToString() : "success");
      });
    });
  }
  void Step() { Input("step"), Told(life_->workers.RunOne()); }
  void Commit() { Input("commit completes"), Told(life_->store.Pump()); }
  void Wake(const std::string& event) {
    Input("wake " + event);
    journal_.FirstTime("event:" + event);
    life_->executor.Wake({event});
  }
  void Timer() { Input("the next timer"), Told(life_->time.RunNext()); }
  void Report(std::uint64_t pid) {
    Input(fmt::format("report to pid={}", pid));
    life_->executor.Deliver(ProcId(pid), "report", [this](const Result<procedure::Absorbed>& answer) {
      text_ += "  answer " +
               (!answer.ok()      ? answer.error().ToString()
                : answer->taken() ? "taken"
                                  : "stale: " + answer->reason) +
               "\n";
    });
  }
  void Abort(std::uint64_t pid) {
    Input(fmt::format("abort pid={}", pid));
    life_->executor.Abort(ProcId(pid), {"op", "why"}, [this](const Status& status) {
      text_ += "  answer " + (status.ok() ? "ok" : status.error().ToString()) + "\n";
    });
  }
  void Park(std::uint64_t pid) {
    Input(fmt::format("park pid={}", pid));
    life_->executor.Park(ProcId(pid), {"op", "why"}, [this](const Status& status) {
      text_ += "  answer " + (status.ok() ? "ok" : status.error().ToString()) + "\n";
    });
  }
  void CrashAndLoad() {
    Input("the master dies, another one loads");
    Crash();
    Begin();
  }
  // Runs steps and commits until no more work is left.
  void Quiet() {
    Input("until quiet");
    while (life_->workers.RunOne() || life_->store.Pump()) {
    }
    for (const ProcedureInfo& info : life_->executor.List()) {
      if (IsTerminal(info.state)) continue;
      text_ += fmt::format("  waits pid={} {}:{} for {} {}\n", info.pid, ProcStateName(info.state), info.step_name,
                           WaitingKindName(info.waiting.kind), info.waiting.detail);
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  Journal& journal() { return journal_; }

 private:
  struct Life {
    explicit Life(Transcript& t)
        : store(t.disk_, t.sequence_, t.text_),
          executor({store, t.registry_, workers, time, time, procedure::EnvRef::Of(t.journal_)}, Options()) {}
    static Executor::Options Options() {
      Executor::Options options;
      options.evict_interval = Millis{0};
      options.stuck_check_interval = Millis{0};
      options.log_steps = false;
      return options;
    }
    ManualTime time;
    Store store;
    procedure::ManualWorkers workers;
    Executor executor;
  };

  void Begin() {
    life_ = std::make_unique<Life>(*this);
    EXPECT_TRUE(life_->executor.Recover().ok());
    life_->executor.Start();
  }
  void Crash() {
    const std::string kept = text_;
    const auto disk = disk_;
    while (life_->store.Pump()) {  // lets it end; the output is discarded
    }
    life_.reset();
    text_ = kept;
    disk_ = disk;
    journal_.ForgetAsync();
  }
  void Input(const std::string& line) { text_ += "> " + line + "\n"; }
  void Told(bool something) {
    if (!something) text_ += "  nothing to do\n";
  }

  std::string text_;
  std::map<ProcId, procedure::ProcedureUpsert> disk_;
  std::uint64_t sequence_ = 0;
  procedure::ProcedureRegistry registry_;
  Journal journal_;
  std::unique_ptr<Life> life_;
};

TEST(GoldenTranscriptTest, StepsOneByOne) {
  Transcript t;
  t.Submit(WithLock(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT)}), "t:x", true));
  for (int i = 0; i < 4; ++i) t.Commit(), t.Step();
  ExpectTranscript("steps", t.text());
}

TEST(GoldenTranscriptTest, ATreeFailsLate) {
  Transcript t;
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT)}), "r:x/1", true);
  t.Submit(WithLock(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({child, child}), Op(Kind::FAIL, "late")}), "t:x", false));
  t.Quiet();
  ExpectTranscript("tree_fails_late", t.text());
}

TEST(GoldenTranscriptTest, LocksGoInOrder) {
  Transcript t;
  for (const char* name : {"a", "b", "c"}) {
    t.Submit(WithFlavor(
        WithLock(ScriptOf(name, {Op(Kind::AWAIT_EVENT, std::string("go ") + name)}), "t:x", name[0] != 'c', true),
        "ScriptPlain"));
  }
  t.Quiet();
  t.Wake("go b");
  t.Quiet();
  t.Wake("go a");
  t.Quiet();
  t.Wake("go c");
  t.Quiet();
  ExpectTranscript("executor_locks", t.text());
}

TEST(GoldenTranscriptTest, WaitsReportsAndTimeOuts) {
  Transcript t;
  t.Submit(
      ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 50), Op(Kind::AWAIT_REPORT, "report"), Op(Kind::RETRY, "busy", 1)}));
  t.Quiet();
  t.Timer();
  t.Quiet();
  t.Report(1);
  t.Report(1);
  t.Quiet();
  t.Timer();
  t.Quiet();
  ExpectTranscript("waits", t.text());
}

TEST(GoldenTranscriptTest, AReportDuringACommit) {
  Transcript t;
  t.Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::AWAIT_REPORT, "report")}));
  t.Commit();
  t.Step();
  t.Report(1);
  t.Commit();
  t.Commit();
  t.Quiet();
  ExpectTranscript("report_during_commit", t.text());
}

TEST(GoldenTranscriptTest, ACrashWhileUndoing) {
  Transcript t;
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "t:x", true);
  t.Submit(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({child}), Op(Kind::NEXT), Op(Kind::FAIL, "no")}));
  for (int i = 0; i < 12; ++i) t.Commit(), t.Step();
  t.CrashAndLoad();
  t.Quiet();
  ExpectTranscript("crash_while_undoing", t.text());
}

TEST(GoldenTranscriptTest, ACrashWithHoldersAndWaiters) {
  Transcript t;
  t.Submit(WithLock(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)}), "t:x", true, true));
  t.Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true));
  t.Quiet();
  t.CrashAndLoad();
  t.Quiet();
  t.Wake("e");
  t.Quiet();
  ExpectTranscript("crash_with_locks", t.text());
}

TEST(GoldenTranscriptTest, ThePointOfNoReturn) {
  Transcript t;
  t.Submit(WithFlavor(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::FAIL, "too late")}),
                      "ScriptMixed"));
  t.Quiet();
  t.Abort(1);
  t.CrashAndLoad();
  t.Quiet();
  ExpectTranscript("no_return", t.text());
}

// The commit that ends the root removes its members: none of their records may be written after it.
TEST(GoldenTranscriptTest, AVerbWhileAnUndoneTreeEnds) {
  Transcript t;
  const Script child = WithFlavor(ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")}), "ScriptPlain");
  t.Submit(WithFlavor(ScriptOf("p", {SpawnOp({child})}), "ScriptPlain"));
  t.Quiet();
  t.Abort(1);
  t.Commit();
  t.Commit();
  t.Park(2);
  t.Park(1);
  t.Commit();
  t.Quiet();
  ExpectTranscript("verb_at_the_end", t.text());
}

TEST(GoldenTranscriptTest, AnAbortDuringAStepsCommit) {
  Transcript t;
  t.Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT)}));
  t.Commit();
  t.Step();
  t.Abort(1);
  t.Quiet();
  ExpectTranscript("abort", t.text());
}

}  // namespace
}  // namespace ratchet::golden
