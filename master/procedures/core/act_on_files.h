// How a step acts on files, or reads them: on a thread for files, while its worker runs other procedures (S122: actions
// on files end with their step).
//
//   auto made = ActOnFiles(ctx, "making data/t.5", [name](ClusterFiles& files) { return files.Make(name); });
//   if (made.wait) return *std::move(made.wait);
//   if (!made.result->ok()) return Retry{made.result->error(), std::nullopt};
//
// The first call begins the action; the step stays in progress meanwhile and then runs again from its beginning
// (StepContext::StayForAsync). The action makes its CHECK on its thread, right before it touches files (S31: names are
// never reused). Whatever ends the step's attempt (another state, Retry, Yield) forgets the result, and the next
// attempt acts again: actions are idempotent.
//
// `key` describes the action, and is shown as the reason why the procedure waits. It has everything on which the action
// depends and that may change between two runs of the step, so that each result belongs to its action.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

template <class R>
struct Acted {
  std::optional<StepOutcome> wait;  // the outcome that the step must return
  std::optional<R> result;          // has a value if `wait` has none
};

// The end of an action.
template <class R>
struct FileAnswer {
  Status refused = Ok();  // it has not begun
  std::exception_ptr thrown;
  std::optional<R> result;
};

// Queues an action, or runs it at once where the environment has no threads for it.
[[nodiscard]] Status QueueFileAction(StepContext& ctx, std::function<void()> action);

// Null: the action is in progress.
template <class Act, class R = std::invoke_result_t<Act&, ClusterFiles&>>
std::optional<FileAnswer<R>> BeginOnFiles(StepContext& ctx, std::string_view key, Act act) {
  return ctx.AsyncCall<FileAnswer<R>>(key, [&](std::function<void(FileAnswer<R>)> done) {
    auto run = [check = ctx.OwnerCheck(), &files = EnvOf(ctx).files, what = std::string(key), act = std::move(act),
                done]() mutable {
      FileAnswer<R> answer;
      answer.refused = HitFault("master.file_action", what);
      if (answer.refused.ok() && !RATCHET_MUTANT("master.act_unchecked")) answer.refused = check();
      try {
        if (answer.refused.ok()) answer.result.emplace(act(files));
      } catch (...) {
        answer.thrown = std::current_exception();
      }
      done(std::move(answer));
    };
    if (Status queued = QueueFileAction(ctx, std::move(run)); !queued.ok()) done({queued, nullptr, std::nullopt});
  });
}

// For a step. An action that has not begun is tried again later.
template <class Act, class R = std::invoke_result_t<Act&, ClusterFiles&>>
[[nodiscard]] Acted<R> ActOnFiles(StepContext& ctx, std::string_view key, Act act) {
  auto answer = BeginOnFiles(ctx, key, std::move(act));
  if (!answer) return {ctx.StayForAsync(), std::nullopt};
  if (answer->thrown) std::rethrow_exception(answer->thrown);
  if (!answer->refused.ok()) return {Retry{answer->refused.error(), std::nullopt}, std::nullopt};
  return {std::nullopt, std::move(answer->result)};
}

// For a step whose action is repeated until it succeeds. Returns nullopt when it is done; otherwise the outcome that
// the step must return.
template <class Act>
[[nodiscard]] std::optional<StepOutcome> ActUntilDone(StepContext& ctx, std::string_view key, Act act) {
  auto acted = ActOnFiles(ctx, key, std::move(act));
  if (acted.wait) return std::move(acted.wait);
  if (acted.result->ok()) return std::nullopt;
  return Retry{acted.result->error(), std::nullopt};
}

// For an undo function, which must return the result if it is an error.
template <class Act>
[[nodiscard]] Status UndoOnFiles(StepContext& ctx, std::string_view key, Act act) {
  auto answer = BeginOnFiles(ctx, key, std::move(act));
  if (!answer) return ctx.StayForAsyncInUndo();
  if (answer->thrown) std::rethrow_exception(answer->thrown);
  if (!answer->refused.ok()) return answer->refused;
  return *answer->result;
}

// Reads the table's newest descriptor (RefreshSchema). Returns nullopt when memory has it; otherwise the outcome that
// the step must return: AgainUnlessFinal after an error.
[[nodiscard]] std::optional<StepOutcome> ReadNewestSchema(StepContext& ctx, const TableName& table);
// Reads the table's schema if memory has none (ReadSchemaAgain).
[[nodiscard]] Acted<Status> ReadMissingSchema(StepContext& ctx, const TableName& table);
// Returns the table with the schema of a descriptor (TableWithSchema), which is read only if memory does not have it.
[[nodiscard]] Acted<Result<TableNode>> ReadPinnedSchema(StepContext& ctx, const TableName& table, std::uint64_t number);

}  // namespace ratchet::master
