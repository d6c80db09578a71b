// The tables that `ratchet sql` reads, and the requests to the master that fill each.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/model/proto/operator.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/ops/sql/sql_table.h"
#include "common/tools/cli/session.h"

namespace ratchet::cli {

// In the order of `.schema`.
[[nodiscard]] std::vector<sql::SqlTable> SqlTables();

// Fills the tables of one query. Each of the master's answers is asked for once, so tables that show the same answer
// (procedures, steps, waits, recoveries) agree with each other. One thread.
class SqlSource {
 public:
  // `tables`: all that the query reads.
  SqlSource(Session& session, const std::set<std::string>& tables);
  ~SqlSource();
  [[nodiscard]] Status Fill(const std::string& table, const sql::SqlSink& sink);

 private:
  class Answers;
  const std::unique_ptr<Answers> answers_;
};

}  // namespace ratchet::cli
