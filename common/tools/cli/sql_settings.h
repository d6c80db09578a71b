// The tables of `ratchet sql` that show what administrators have set or keep: peers, replication, snapshots,
// namespaces, quotas, switches, drains, and what the reconciler has found.
//
// Each query that reads a table requests the table's contents from the master again. Used by the command's thread only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/model/proto/replication.pb.h"
#include "common/ops/sql/sql_table.h"
#include "common/tools/cli/session.h"

namespace ratchet::cli {

// Fields of the master's answers as values of a table.
inline sql::SqlValue WholeOf(std::uint64_t number) { return static_cast<std::int64_t>(number); }
inline sql::SqlValue Flag(bool flag) { return std::int64_t{flag ? 1 : 0}; }
// NULL for an empty text.
inline sql::SqlValue TextOf(const std::string& text) { return text.empty() ? sql::SqlValue() : sql::SqlValue(text); }

// Columns and meanings, as SqlTables() has them for the others.
[[nodiscard]] std::vector<sql::SqlTable> SettingsTables();
// kNotFound: no table of these has this name.
[[nodiscard]] Status FillSettings(Session& session, const std::string& table, const sql::SqlSink& sink);

// switches.cc: name and state of each switch of the cluster.
[[nodiscard]] Result<std::vector<std::pair<std::string, bool>>> ReadSwitches(client::Admin& admin);
// peers.cc: what holds a source up; empty: nothing.
[[nodiscard]] std::string TroubleOf(const hbase::pb::ReplicationProgress& progress);

}  // namespace ratchet::cli
