#include "master/state/schema_reader.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/env/cluster_files.h"
#include "master/env/master_env.h"

namespace ratchet::master {
namespace {

Result<TableDescriptor> ReadSound(MasterEnv& env, const TableNode& table) {
  RATCHET_ASSIGN(TableDescriptor schema, env.files.ReadDescriptor(table.directory));
  if (schema.name != table.name) {
    return Error(Code::kCorruption,
                 fmt::format("{} holds the descriptor of table {}", table.directory, schema.name.ToString()));
  }
  if (Status sound = schema.Check(); !sound.ok()) return sound.error().Annotate("descriptor in " + table.directory);
  return schema;
}

}  // namespace

void ReadSchema(MasterEnv& env, TableNode& table) {
  auto schema = ReadSound(env, table);
  if (!schema.ok() && RATCHET_MUTANT("master.empty_schema")) {
    TableDescriptor empty;
    empty.name = table.name;
    schema = std::move(empty);
  }
  if (schema.ok()) {
    table.schema = std::make_shared<const TableDescriptor>(std::move(schema).value());
    table.schema_error.clear();
    return;
  }
  table.schema = nullptr;
  table.schema_error = fmt::format(
      "the descriptor of table {} cannot be read: {}; none of its regions is opened meanwhile. It is read again every "
      "few "
      "seconds: put a sound copy back (data/{}/desc.*), or disable and drop the table",
      table.name.ToString(), schema.error().ToString(), table.directory);
}

Status ReadSchemaAgain(MasterEnv& env, const TableName& table) {
  auto node = env.tables.Get(table);
  if (!node || node->schema != nullptr) return Ok();
  ReadSchema(env, *node);
  if (node->schema == nullptr) return Error(Code::kCorruption, node->schema_error);
  env.tables.SetSchema(table, node->directory, node->schema);
  RATCHET_LOG(kInfo, "The descriptor of table {} can be read again", table.ToString());
  return Ok();
}

}  // namespace ratchet::master
