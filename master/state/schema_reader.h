// Reading a table's descriptor into the master's picture (S68). A descriptor that cannot be read, that is another
// table's, or that no table could have been made with, is an error, which is kept beside the table and shown; never a
// default. Thread-safe; blocks for a few file operations of one directory.
#pragma once

#include "common/base/result.h"
#include "common/model/table_name.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

struct MasterEnv;

// Sets schema, or schema_error and schema_awaited.
void ReadSchema(MasterEnv& env, TableNode& table);
// Ok: the table has its schema, or is not there any more. Otherwise why not, and what to do about it.
Status ReadSchemaAgain(MasterEnv& env, const TableName& table);
// Reads the newest descriptor from storage: an operator may have ended a modification that had written it and not shown
// it yet.
[[nodiscard]] Status RefreshSchema(MasterEnv& env, const TableName& table);
// Why a table without a schema cannot be used: to be asked again where the storage refused at this time, final where
// the file is bad.
[[nodiscard]] Error SchemaMissing(const TableNode& table);
// The table with its schema as of descriptor `number`, which is read from storage where the present one is another
// (S48); 0: the present one.
[[nodiscard]] Result<TableNode> TableWithSchema(MasterEnv& env, const TableName& table, std::uint64_t number);

}  // namespace ratchet::master
