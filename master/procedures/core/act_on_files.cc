#include "master/procedures/core/act_on_files.h"

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/env/file_actions.h"
#include "master/procedures/core/schema_reader.h"

namespace ratchet::master {

Status QueueFileAction(StepContext& ctx, std::function<void()> action) {
  FileActions* const threads = EnvOf(ctx).file_actions;
  if (threads == nullptr || RATCHET_MUTANT("master.files_on_workers")) {
    action();
    return Ok();
  }
  if (threads->Run(std::move(action), ctx.urgent())) return Ok();
  return Error(Code::kUnavailable, "too many actions on files wait for the storage, or this master is stopping");
}

std::optional<StepOutcome> ReadNewestSchema(StepContext& ctx, const TableName& table) {
  auto read = ActOnFiles(ctx, fmt::format("reading the descriptor of {}", table.ToString()),
                         [&env = EnvOf(ctx), table](ClusterFiles&) { return RefreshSchema(env, table); });
  RATCHET_STEP(read.wait);
  if (read.result->ok()) return std::nullopt;
  return AgainUnlessFinal(read.result->error());
}

Acted<Status> ReadMissingSchema(StepContext& ctx, const TableName& table) {
  const auto node = EnvOf(ctx).tables.Get(table);
  if (!node || node->schema != nullptr) return {std::nullopt, Ok()};
  return ActOnFiles(ctx, fmt::format("reading the missing descriptor of {}", table.ToString()),
                    [&env = EnvOf(ctx), table](ClusterFiles&) { return ReadSchemaAgain(env, table); });
}

Acted<Result<TableNode>> ReadPinnedSchema(StepContext& ctx, const TableName& table, std::uint64_t number) {
  auto node = EnvOf(ctx).tables.Get(table);
  if (node && node->schema != nullptr && (number == 0 || number == node->schema_number))
    return {std::nullopt, *std::move(node)};
  return ActOnFiles(ctx, fmt::format("reading descriptor {} of {}", number, table.ToString()),
                    [&env = EnvOf(ctx), table, number](ClusterFiles&) { return TableWithSchema(env, table, number); });
}

}  // namespace ratchet::master
