// Namespaces, through the active master. The answers of the first three are pids of procedures, for Admin::WaitOk.
// Each carries one nonce through all its retries. Errors have HBase's classes (NamespaceExistException, ...).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/client/admin.h"
#include "common/model/namespace_descriptor.h"

namespace ratchet::client {

[[nodiscard]] Result<std::uint64_t> CreateNamespace(Admin& admin, const NamespaceDescriptor& descriptor);
// The properties replace the existing ones.
[[nodiscard]] Result<std::uint64_t> ModifyNamespace(Admin& admin, const NamespaceDescriptor& descriptor);
// Deletes an empty namespace only.
[[nodiscard]] Result<std::uint64_t> DeleteNamespace(Admin& admin, const std::string& name);
[[nodiscard]] Result<NamespaceDescriptor> DescribeNamespace(Admin& admin, const std::string& name);
[[nodiscard]] Result<std::vector<NamespaceDescriptor>> ListNamespaces(Admin& admin);

}  // namespace ratchet::client
