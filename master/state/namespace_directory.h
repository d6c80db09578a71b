// NamespaceDirectory: the namespaces that were created, and what is being made in those that have limits.
//
// Each namespace that was created or changed has a system record of the procedure store, so that its procedure's step
// and its description are durable together and the master knows it before hbase:meta is there. `default` and `hbase`
// exist without a record. So does a namespace in which there is a table: clusters of version 0.1 made tables in any.
//
// Limits count what is there and what unfinished procedures are going to make: each claims that first. A claim ends
// with its procedure, whatever became of it. Owned by MasterLogic. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/namespace_descriptor.h"
#include "common/model/table_name.h"

namespace ratchet::master {

struct MasterEnv;

// The system record "namespace/<name>" has its NamespaceDescriptor.
inline constexpr std::string_view kNamespaceRecordPrefix = "namespace/";

class NamespaceDirectory {
 public:
  // ---- descriptions ----
  [[nodiscard]] std::optional<NamespaceDescriptor> Get(const std::string& name) const;  // `default` and `hbase` always
  [[nodiscard]] std::vector<NamespaceDescriptor> List() const;                          // by name; those two included
  [[nodiscard]] std::size_t size() const;                                               // those with a record
  // What the record says. One that cannot be read leaves a namespace without properties.
  void Show(const std::string& name, const std::string& record);
  void Remove(const std::string& name);

  static constexpr std::size_t kMostNamespaces = 10'000;  // each is a system record

  // ---- claims ----
  struct Claim {
    TableName table;
    bool makes_table = false;
    std::size_t regions = 0;  // of a new table: all of it; of another: so many more
  };
  // Nothing, or QuotaExceededException when the table's namespace would have more than it may have; `pid` has its claim
  // from then on. A procedure has one: claiming again replaces it. Not for `hbase`.
  [[nodiscard]] Status Take(const MasterEnv& env, ProcId pid, const Claim& claim);
  // After a restart: of an unfinished procedure, which had taken it.
  void Restore(ProcId pid, const Claim& claim);
  // What was claimed is there now, or will not come.
  void Release(ProcId pid);
  [[nodiscard]] std::size_t claims() const;

 private:
  void ForgetFinished(const MasterEnv& env);

  mutable Mutex mutex_;
  std::map<std::string, NamespaceDescriptor> namespaces_ GUARDED_BY(mutex_);
  std::map<ProcId, Claim> claims_ GUARDED_BY(mutex_);  // of unfinished procedures, and of some that have just ended
  std::uint64_t taken_ GUARDED_BY(mutex_) = 0;         // how many claims were made
};

// Whether the namespace is there: by record, because it is one of the two, or because a table is in it.
[[nodiscard]] bool NamespaceExists(const MasterEnv& env, const std::string& name);
[[nodiscard]] std::size_t TablesIn(const MasterEnv& env, const std::string& name);

}  // namespace ratchet::master
