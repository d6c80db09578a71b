// Reads a table's descriptor into the master's in-memory state (S68: unreadable schema is an error). A descriptor that
// cannot be read, belongs to another table or is invalid gives an error, which is stored with the table and shown;
// never a default. Thread-safe; blocks for a few file operations of one directory.
#pragma once

#include "common/base/result.h"
#include "common/model/table_name.h"
#include "master/cluster/table_directory.h"

namespace ratchet::master {

struct MasterEnv;

// Sets the node's schema, or TableNode::schema_error and TableNode::schema_awaited.
void ReadSchema(MasterEnv& env, TableNode& table);
// Returns Ok if the table has its schema or no longer exists; otherwise the cause and the remedy.
Status ReadSchemaAgain(MasterEnv& env, const TableName& table);
// Reads the newest descriptor from storage: an operator may have ended a modification between its write and its change
// of memory.
[[nodiscard]] Status RefreshSchema(MasterEnv& env, const TableName& table);
// Error for a table without a schema: retryable after a transient storage error, final if the file is invalid.
[[nodiscard]] Error SchemaMissing(const TableNode& table);
// Returns the table with the schema of descriptor `number`, read from storage if it is not the current one (S48: schema
// pinned in the order); 0 means the current one.
[[nodiscard]] Result<TableNode> TableWithSchema(MasterEnv& env, const TableName& table, std::uint64_t number);

}  // namespace ratchet::master
