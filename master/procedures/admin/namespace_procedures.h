// CreateNamespace, ModifyNamespace, DeleteNamespace: change a namespace's system record, then its in-memory state.
//
// The record becomes durable in the batch of the step that decides (S12: system record with its lock). No later step
// can fail, so none has an undo. Two of HBase's states are omitted: the first table makes the directory, and ZooKeeper
// has no copy of namespaces.
//
// Locks: creation and deletion lock the namespace exclusively, so that no table is created or deleted between the check
// and the record. A modification excludes only other modifications of the same namespace, by locking a reserved table
// name: it need not wait for regions in transition, or delay them (S43: no locks while regions may wait).
#pragma once

#include <array>
#include <string>

#include "common/model/namespace_descriptor.h"
#include "master/procedures/admin/namespace_data.pb.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

class CreateNamespace final : public MasterProcedure<CreateNamespace, pb::NamespaceData> {
 public:
  static constexpr std::string_view kTypeName = "CreateNamespace";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&CreateNamespace::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta),
        On<&CreateNamespace::Insert>(3, "INSERT_INTO_NS_TABLE", kNoReturn),
        On<&CreateNamespace::SetQuota>(5, "SET_NAMESPACE_QUOTA", kNoReturn),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const NamespaceDescriptor& descriptor);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] std::string Describe() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Insert(StepContext& ctx);
  StepOutcome SetQuota(StepContext& ctx);
};

class ModifyNamespace final : public MasterProcedure<ModifyNamespace, pb::NamespaceData> {
 public:
  static constexpr std::string_view kTypeName = "ModifyNamespace";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&ModifyNamespace::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta),
        On<&ModifyNamespace::Update>(2, "UPDATE_NS_TABLE", kNoReturn),
        On<&ModifyNamespace::SetQuota>(4, "SET_NAMESPACE_QUOTA", kNoReturn),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const NamespaceDescriptor& descriptor);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] std::string Describe() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Update(StepContext& ctx);
  StepOutcome SetQuota(StepContext& ctx);
};

// Deletes an empty namespace.
class DeleteNamespace final : public MasterProcedure<DeleteNamespace, pb::NamespaceData> {
 public:
  static constexpr std::string_view kTypeName = "DeleteNamespace";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&DeleteNamespace::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta),
        On<&DeleteNamespace::Delete>(2, "DELETE_FROM_NS_TABLE", kNoReturn),
        On<&DeleteNamespace::RemoveQuota>(5, "REMOVE_NAMESPACE_QUOTA", kNoReturn),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const std::string& name);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] std::string Describe() const override;

  // Returns why the namespace cannot be deleted now. The function is called before the submission too.
  [[nodiscard]] static Status Check(const MasterEnv& env, const std::string& name);

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Delete(StepContext& ctx);
  StepOutcome RemoveQuota(StepContext& ctx);
};

}  // namespace ratchet::master
