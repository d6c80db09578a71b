#include "chaos/demo/checks.h"

#include "common/client/table.h"
#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {
namespace {

using Columns = std::map<std::string, std::string>;

std::map<std::string, Columns> Expected(const std::vector<UnicodeRow>& imported, const Writer::Account& written) {
  std::map<std::string, Columns> rows;
  for (const auto& row : imported) {
    for (const auto& [field, value] : row.fields) rows[row.key][field] = value;
  }
  for (const auto& [row, value] : written.acknowledged) rows[row]["written"] = value;
  return rows;
}

Columns ColumnsOf(const client::Row& row) {
  Columns columns;
  for (const auto& cell : row.cells) columns[cell.qualifier] = cell.value;
  return columns;
}

}  // namespace

std::vector<Finding> CheckRows(client::Connection& connection, const TableName& table,
                               const std::vector<UnicodeRow>& imported, const Writer::Account& written) {
  auto expected = Expected(imported, written);
  const std::size_t all = expected.size();
  client::Table reader(connection, table);
  auto scanner = reader.Scan({});
  std::size_t rows = 0;
  std::size_t differing = 0;
  std::size_t unknown = 0;
  std::vector<std::string> strange;
  for (;;) {
    auto next = scanner.Next();
    if (!next.ok()) return {{false, "the table cannot be read: " + next.error().ToString()}};
    if (!*next) break;
    ++rows;
    const auto found = expected.find((*next)->key);
    if (found != expected.end()) {
      if (ColumnsOf(**next) != found->second) ++differing;
      expected.erase(found);
    } else if (written.unknown.count((*next)->key) != 0) {
      ++unknown;
    } else {
      strange.push_back((*next)->key);
    }
  }
  return {{expected.empty(), fmt::format("{} acknowledged rows, {} missing{}", all, expected.size(),
                                         expected.empty() ? "" : ", the first is " + expected.begin()->first)},
          {differing == 0, fmt::format("{} of them differ in a value", differing)},
          {strange.empty(),
           fmt::format("{} rows in the table, {} of unknown outcome, {} that no client wrote{}", rows, unknown,
                       strange.size(), strange.empty() ? "" : ", the first is " + strange.front())}};
}

Finding CheckResumed(const pb::ProcedureInfo& procedure) {
  for (int i = 0; i + 1 < procedure.history_size(); ++i) {
    const auto& before = procedure.history(i);
    const auto& after = procedure.history(i + 1);
    if (before.epoch() == after.epoch()) continue;
    return {after.epoch() > before.epoch(),
            fmt::format("pid {} committed {} in epoch {} and {} in epoch {}", procedure.pid(), before.step(),
                        before.epoch(), after.step(), after.epoch())};
  }
  return {false, fmt::format("pid {} ran in a single epoch: the kill did not interrupt it", procedure.pid())};
}

}  // namespace ratchet::chaos
