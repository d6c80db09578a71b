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

class CreateNamespace final : public procedure::StateMachineProcedure<CreateNamespace, pb::NamespaceData> {
 public:
  static constexpr std::string_view kTypeName = "CreateNamespace";
  enum class State : StepNo { kPrepare = 1, kInsert = 3, kSetQuota = 5 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &CreateNamespace::Prepare, kNothingToUndo),
        On(State::kInsert, "INSERT_INTO_NS_TABLE", &CreateNamespace::Insert, kNoReturn),
        On(State::kSetQuota, "SET_NAMESPACE_QUOTA", &CreateNamespace::SetQuota, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const NamespaceDescriptor& descriptor);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Insert(StepContext& ctx);
  StepOutcome SetQuota(StepContext& ctx);
};

class ModifyNamespace final : public procedure::StateMachineProcedure<ModifyNamespace, pb::NamespaceData> {
 public:
  static constexpr std::string_view kTypeName = "ModifyNamespace";
  enum class State : StepNo { kPrepare = 1, kUpdate = 2, kSetQuota = 4 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &ModifyNamespace::Prepare, kNothingToUndo),
        On(State::kUpdate, "UPDATE_NS_TABLE", &ModifyNamespace::Update, kNoReturn),
        On(State::kSetQuota, "SET_NAMESPACE_QUOTA", &ModifyNamespace::SetQuota, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const NamespaceDescriptor& descriptor);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Update(StepContext& ctx);
  StepOutcome SetQuota(StepContext& ctx);
};

// Deletes an empty namespace.
class DeleteNamespace final : public procedure::StateMachineProcedure<DeleteNamespace, pb::NamespaceData> {
 public:
  static constexpr std::string_view kTypeName = "DeleteNamespace";
  enum class State : StepNo { kPrepare = 1, kDelete = 2, kRemoveQuota = 5 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &DeleteNamespace::Prepare, kNothingToUndo),
        On(State::kDelete, "DELETE_FROM_NS_TABLE", &DeleteNamespace::Delete, kNoReturn),
        On(State::kRemoveQuota, "REMOVE_NAMESPACE_QUOTA", &DeleteNamespace::RemoveQuota, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const std::string& name);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

  // Returns why the namespace cannot be deleted now. The function is called before the submission too.
  [[nodiscard]] static Status Check(const MasterEnv& env, const std::string& name);

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome Delete(StepContext& ctx);
  StepOutcome RemoveQuota(StepContext& ctx);
};

}  // namespace ratchet::master
