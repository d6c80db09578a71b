#include "master/procedures/core/schema_reader.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/env/cluster_files.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {
namespace {

Result<StoredDescriptor> ReadSound(MasterEnv& env, const TableNode& table, std::optional<std::uint64_t> number) {
  RATCHET_ASSIGN(StoredDescriptor stored, env.files.ReadDescriptor(table.directory, number));
  const TableDescriptor& schema = stored.descriptor;
  if (schema.name != table.name) {
    return Error(Code::kCorruption,
                 fmt::format("{} has the descriptor of table {}", table.directory, schema.name.ToString()));
  }
  if (Status sound = schema.Check(); !sound.ok()) return sound.error().Annotate("descriptor in " + table.directory);
  return stored;
}

}  // namespace

void ReadSchema(MasterEnv& env, TableNode& table) {
  auto schema = ReadSound(env, table, std::nullopt);
  if (!schema.ok() && RATCHET_MUTANT("master.empty_schema")) {
    StoredDescriptor empty;
    empty.descriptor.name = table.name;
    schema = std::move(empty);
  }
  if (schema.ok()) {
    table.schema_number = schema->number;
    table.schema = std::make_shared<const TableDescriptor>(std::move(schema->descriptor));
    table.schema_error.clear();
    table.schema_awaited = false;
    return;
  }
  table.schema = nullptr;
  table.schema_awaited = IsOfTheMoment(schema.error());
  if (table.schema_awaited) {
    table.schema_error = fmt::format(
        "the descriptor of table {} cannot be read at this time: {}; none of its regions is opened meanwhile. The "
        "master tries again every few seconds",
        table.name.ToString(), schema.error().ToString());
    return;
  }
  table.schema_error = fmt::format(
      "the descriptor of table {} cannot be read: {}; none of its regions is opened meanwhile. Restore a valid copy "
      "(data/{}/desc.*), which is read within a few seconds, or disable and drop the table",
      table.name.ToString(), schema.error().ToString(), table.directory);
}

Status ReadSchemaAgain(MasterEnv& env, const TableName& table) {
  auto node = env.tables.Get(table);
  if (!node || node->schema != nullptr) return Ok();
  ReadSchema(env, *node);
  if (node->schema == nullptr)
    return Error(node->schema_awaited ? Code::kUnavailable : Code::kCorruption, node->schema_error);
  env.tables.SetSchema(table, node->directory, node->schema, node->schema_number);
  RATCHET_LOG(kInfo, "The descriptor of table {} can be read again", table.ToString());
  return Ok();
}

Status RefreshSchema(MasterEnv& env, const TableName& table) {
  auto node = env.tables.Get(table);
  if (!node) return TableNotFound(table);
  ReadSchema(env, *node);
  if (node->schema == nullptr) return SchemaMissing(*node);
  env.tables.SetSchema(table, node->directory, node->schema, node->schema_number);
  return Ok();
}

Error SchemaMissing(const TableNode& table) {
  return table.schema_awaited ? PleaseHold(table.schema_error) : IllegalRequest(table.schema_error);
}

Result<TableNode> TableWithSchema(MasterEnv& env, const TableName& table, std::uint64_t number) {
  RATCHET_TRY(ReadSchemaAgain(env, table));
  auto node = env.tables.Get(table);
  if (!node || node->schema == nullptr) return TableNotFound(table);
  if (number == 0 || number == node->schema_number) return *std::move(node);
  RATCHET_ASSIGN(StoredDescriptor stored, ReadSound(env, *node, number));
  node->schema = std::make_shared<const TableDescriptor>(std::move(stored.descriptor));
  node->schema_number = number;
  return *std::move(node);
}

}  // namespace ratchet::master
