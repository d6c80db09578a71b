// The name of a table: namespace and qualifier.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet {

inline constexpr std::string_view kDefaultNamespace = "default";
inline constexpr std::string_view kSystemNamespace = "hbase";

struct TableName {
  std::string ns;  // never empty in a valid name
  std::string qualifier;

  TableName() = default;
  // Does not check; see Check and Parse.
  TableName(std::string name_space, std::string q) : ns(std::move(name_space)), qualifier(std::move(q)) {}

  // "q" (namespace default) or "ns:q"; kInvalidArgument for an illegal name.
  [[nodiscard]] static Result<TableName> Parse(std::string_view text);
  // HBase's rule: letters, digits, '_', '-', '.'; a qualifier starts neither with '.' nor with '-'; namespaces have
  // letters, digits and '_' only.
  [[nodiscard]] Status Check() const;
  // The text that Parse accepts; region names and meta rows begin with it.
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] bool IsSystem() const { return ns == kSystemNamespace; }
  [[nodiscard]] bool IsMeta() const { return IsSystem() && qualifier == "meta"; }
  auto operator<=>(const TableName&) const = default;
};

// "hbase:meta"
[[nodiscard]] const TableName& MetaTableName();

}  // namespace ratchet

template <>
struct std::hash<ratchet::TableName> {
  std::size_t operator()(const ratchet::TableName& name) const noexcept;
};
