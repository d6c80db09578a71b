// Scope: what a right is for. Everything, a namespace, a table, a family of a table, or a column of a family. A right
// in one scope holds in every scope inside it. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/model/table_name.h"

namespace ratchet::rights {

// "hbase:acl": a copy of the rights, for clients. No decision is made from it.
[[nodiscard]] inline const TableName& AclTableName() {
  static const TableName kName{std::string(kSystemNamespace), "acl"};
  return kName;
}

struct Scope {
  enum class Level : std::uint8_t { kGlobal, kNamespace, kTable, kFamily, kColumn };

  [[nodiscard]] static Scope Global() { return {}; }
  [[nodiscard]] static Scope Namespace(std::string_view ns) {
    return {Level::kNamespace, TableName(std::string(ns), {}), {}, {}};
  }
  [[nodiscard]] static Scope Table(TableName table) { return {Level::kTable, std::move(table), {}, {}}; }
  [[nodiscard]] static Scope Family(TableName table, std::string_view family) {
    return {Level::kFamily, std::move(table), std::string(family), {}};
  }
  [[nodiscard]] static Scope Column(TableName table, std::string_view family, std::string_view qualifier) {
    return {Level::kColumn, std::move(table), std::string(family), std::string(qualifier)};
  }

  // True if `inner` is this scope or lies in it.
  [[nodiscard]] bool Covers(const Scope& inner) const {
    if (level > inner.level) return false;
    if (level >= Level::kNamespace && table.ns != inner.table.ns) return false;
    if (level >= Level::kTable && table.qualifier != inner.table.qualifier) return false;
    if (level >= Level::kFamily && family != inner.family) return false;
    return level < Level::kColumn || qualifier == inner.qualifier;
  }
  auto operator<=>(const Scope&) const = default;

  Level level = Level::kGlobal;
  TableName table;  // of a namespace: its `ns` only
  std::string family;
  std::string qualifier;  // may be empty in a column: the column without a name
};

}  // namespace ratchet::rights
