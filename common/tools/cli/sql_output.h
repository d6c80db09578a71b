// Prints the rows of a query as they come: a table, JSON, or CSV (RFC 4180, lines end with LF).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/ops/sql/sql_table.h"
#include "common/tools/cli/printer.h"

namespace ratchet::cli {

class SqlOutput {
 public:
  SqlOutput(const Printer& printer, bool csv) : printer_(printer), csv_(csv) {}
  void Begin(std::vector<std::string> names);
  // Returns false if the reader of standard output has gone.
  [[nodiscard]] bool Add(sql::SqlRow row);
  // `failed`: an error follows.
  void End(bool failed);

 private:
  const Printer& printer_;
  const bool csv_;
  std::unique_ptr<RowStream> stream_;
};

}  // namespace ratchet::cli
