// NamespaceDirectory: the created namespaces, and reservations against their limits.
//
// Each created or changed namespace has a system record of the procedure store: the procedure's step and the descriptor
// become durable together, and the master knows the namespace before hbase:meta is loaded. `default` and `hbase` exist
// without a record. So does a namespace that has a table, because clusters of version 0.1 accepted tables in any
// namespace.
//
// Limits count existing tables and regions, and those that unfinished procedures have claimed. A claim ends with its
// procedure, whether it succeeds or not. Owned by MasterLogic. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/namespace_descriptor.h"
#include "common/model/table_name.h"

namespace ratchet::master {

class RegionDirectory;
class TableDirectory;

// The system record "namespace/<name>" has its NamespaceDescriptor.
inline constexpr std::string_view kNamespaceRecordPrefix = "namespace/";

class NamespaceDirectory {
 public:
  NamespaceDirectory(const TableDirectory& tables, const RegionDirectory& regions)
      : tables_(tables), regions_(regions) {}
  // Sets the check of a claim's procedure; called once, before Recover.
  void Attach(std::function<bool(ProcId)> is_unfinished) { is_unfinished_ = std::move(is_unfinished); }

  // ---- descriptors ----
  // `default` and `hbase` always exist
  [[nodiscard]] std::optional<NamespaceDescriptor> Get(const std::string& name) const;
  [[nodiscard]] std::vector<NamespaceDescriptor> List() const;  // by name, with `default` and `hbase`
  [[nodiscard]] std::size_t size() const;                       // number of namespaces with a record
  // Returns true if the namespace has a record or a table, or is `default` or `hbase`.
  [[nodiscard]] bool Exists(const std::string& name) const;
  [[nodiscard]] std::size_t TablesIn(const std::string& name) const;
  // Applies the record. An unreadable record gives a namespace without properties.
  void Show(const std::string& name, const std::string& record);
  void Remove(const std::string& name);

  static constexpr std::size_t kMostNamespaces = 10'000;  // each namespace is a system record

  // ---- claims ----
  struct Claim {
    TableName table;
    bool makes_table = false;
    std::size_t regions = 0;  // of a new table: all its regions; of an existing one: the additional regions
  };
  // Makes the claim of `pid`, or returns QuotaExceededException if the table's namespace would exceed its limits. A
  // procedure has one claim; a new claim replaces it. Not for `hbase`.
  [[nodiscard]] Status Take(ProcId pid, const Claim& claim);
  // Restores the claim of an unfinished procedure after a restart.
  void Restore(ProcId pid, const Claim& claim);
  // Ends the claim: the regions exist now, or will never exist.
  void Release(ProcId pid);
  [[nodiscard]] std::size_t claims() const;

 private:
  void ForgetFinished();

  const TableDirectory& tables_;
  const RegionDirectory& regions_;
  std::function<bool(ProcId)> is_unfinished_;
  mutable Mutex mutex_;
  std::map<std::string, NamespaceDescriptor> namespaces_ GUARDED_BY(mutex_);
  std::map<ProcId, Claim> claims_ GUARDED_BY(mutex_);  // of unfinished procedures, and of some recently ended ones
  std::uint64_t taken_ GUARDED_BY(mutex_) = 0;         // number of claims that were made
};

}  // namespace ratchet::master
