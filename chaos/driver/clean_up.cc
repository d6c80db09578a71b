#include "chaos/driver/clean_up.h"

#include <algorithm>

#include "common/client/admin.h"

namespace ratchet::chaos {

std::vector<std::string> RemoveNewTables(client::Connection& connection, const std::vector<TableName>& before) {
  client::Admin admin(connection);
  const auto now = admin.ListTables();
  if (!now.ok()) return {"the list of tables: " + now.error().ToString()};
  std::vector<std::string> left;
  for (const TableName& table : *now) {
    if (std::find(before.begin(), before.end(), table) != before.end()) continue;
    const auto state = admin.State(table);
    if (!state.ok() || *state != TableState::kDisabled) {
      const Status disabled = admin.WaitOk(admin.DisableTable(table));
      if (!disabled.ok()) {
        left.push_back(table.ToString() + ": " + disabled.error().ToString());
        continue;
      }
    }
    const Status dropped = admin.WaitOk(admin.DeleteTable(table));
    if (!dropped.ok()) left.push_back(table.ToString() + ": " + dropped.error().ToString());
  }
  return left;
}

}  // namespace ratchet::chaos
