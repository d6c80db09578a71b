// A namespace: its name and its properties, kept verbatim, known or not.
//
// Two properties limit the number of tables and regions: `hbase.namespace.quota.maxtables` and
// `hbase.namespace.quota.maxregions` (HBase's names). Values come from users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/table_descriptor.h"

namespace hbase::pb {
class NamespaceDescriptor;
}  // namespace hbase::pb

namespace ratchet {

inline constexpr std::string_view kMaxTablesProperty = "hbase.namespace.quota.maxtables";
inline constexpr std::string_view kMaxRegionsProperty = "hbase.namespace.quota.maxregions";

struct NamespaceDescriptor {
  std::string name;
  Attributes properties;

  // Checks that the name is legal (as the first part of a table's name), limits are whole numbers above 0, and the size
  // is at most kMaxNamespaceBytes. kInvalidArgument gives the reason.
  [[nodiscard]] Status Check() const;
  // nullopt: unlimited. A stored value that is not a number sets no limit.
  [[nodiscard]] std::optional<std::uint64_t> max_tables() const;
  [[nodiscard]] std::optional<std::uint64_t> max_regions() const;
  [[nodiscard]] bool operator==(const NamespaceDescriptor&) const = default;
};

// Each namespace is a record that the master keeps in memory and sometimes rewrites.
inline constexpr std::size_t kMaxNamespaceBytes = 16u << 10;

// Letters, digits and '_' only.
[[nodiscard]] Status CheckNamespaceName(std::string_view name);
// Reserved namespaces exist in every cluster and cannot be removed.
[[nodiscard]] bool IsReservedNamespace(std::string_view name);

void ToProto(const NamespaceDescriptor& descriptor, hbase::pb::NamespaceDescriptor& out);
// Does not check.
[[nodiscard]] NamespaceDescriptor FromProto(const hbase::pb::NamespaceDescriptor& message);
// The stored form. kCorruption: the bytes are not such a message.
[[nodiscard]] std::string EncodeNamespace(const NamespaceDescriptor& descriptor);
[[nodiscard]] Result<NamespaceDescriptor> DecodeNamespace(const std::string& bytes);

}  // namespace ratchet
