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
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/namespace_descriptor.h"
#include "master/procedures/admin/namespace_data.pb.h"
#include "master/procedures/core/common.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/rights/rights_steps.h"

namespace ratchet::master {

enum class NamespaceChange : std::uint8_t { kCreate, kModify, kDelete };

[[nodiscard]] pb::NamespaceData NamespaceDataOf(const NamespaceDescriptor& descriptor);
[[nodiscard]] Status CheckNamespaceData(NamespaceChange change, const pb::NamespaceData& data);
// Returns why the namespace cannot be changed so now.
[[nodiscard]] Status CheckNamespaceChange(const MasterEnv& env, NamespaceChange change, const std::string& name);
[[nodiscard]] procedure::LockSet NamespaceLock(NamespaceChange change, const std::string& name);
[[nodiscard]] procedure::Description DescribeNamespace(NamespaceChange change, const pb::NamespaceData& data);
void WriteNamespaceRecord(StepContext& ctx, NamespaceChange change, const pb::NamespaceData& data);
void ShowNamespace(StepContext& ctx, NamespaceChange change, const pb::NamespaceData& data);

// P declares the numbers and names of its last two states.
template <class P, NamespaceChange kChange>
class NamespaceProcedure : public MasterProcedure<P, pb::NamespaceData> {
  using Base = MasterProcedure<P, pb::NamespaceData>;

 public:
  using Base::Base;
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    constexpr auto kPrepare = Base::template On<&NamespaceProcedure::Prepare>(1, "PREPARE", Base::kNothingToUndo,
                                                                              kNeedsMeta, Given("nothing has changed"));
    constexpr auto kWrite = Base::template On<&NamespaceProcedure::Write>(
        P::kWriteNumber, P::kWriteName, Base::kNoReturn, Given("the change was checked"));
    constexpr auto kShow = Base::template On<&NamespaceProcedure::Show>(
        P::kShowNumber, P::kShowName, Base::kNoReturn, Given("the change of the system record is durable"));
    if constexpr (kChange == NamespaceChange::kDelete) {
      constexpr auto kTake = Base::template On<&NamespaceProcedure::TakeRights>(
          7, "TAKE_RIGHTS", Base::kNoReturn, Spawns<RefreshRights>(),
          Given("the records of the namespace and of its rights are removed"));
      return std::array{kPrepare, kWrite, kTake, kShow};
    } else {
      return std::array{kPrepare, kWrite, kShow};
    }
  }
  // The name stays taken until every server has an image without its rights.
  [[nodiscard]] bool HoldLocks() const override { return this->data_.takes_rights(); }
  [[nodiscard]] procedure::LockSet Locks() const override { return NamespaceLock(kChange, this->data_.name()); }
  [[nodiscard]] Status CheckInitial() const override { return CheckNamespaceData(kChange, this->data_); }
  [[nodiscard]] procedure::Description Describe() const override { return DescribeNamespace(kChange, this->data_); }

 private:
  StepOutcome Prepare(StepContext& ctx) {
    if (Status may = CheckNamespaceChange(EnvOf(ctx), kChange, this->data_.name()); !may.ok()) return Fail{may.error()};
    return Base::template GoTo<&NamespaceProcedure::Write>();
  }
  StepOutcome Write(StepContext& ctx) {
    WriteNamespaceRecord(ctx, kChange, this->data_);
    if constexpr (kChange == NamespaceChange::kDelete) {
      if (TakeRightsAway(ctx, rights::Scope::Namespace(this->data_.name()))) {
        this->data_.set_takes_rights(true);
        return Base::template GoTo<&NamespaceProcedure::TakeRights>();
      }
    }
    return Base::template GoTo<&NamespaceProcedure::Show>();
  }
  // S136 (a name made again has no old right)
  StepOutcome TakeRights(StepContext& ctx) {
    ShowRightsWithin(ctx, rights::Scope::Namespace(this->data_.name()));
    std::vector<ProcedurePtr> orders = TellRights(ctx);
    if (orders.empty()) return Base::template GoTo<&NamespaceProcedure::Show>();
    return Base::template SpawnThen<&NamespaceProcedure::Show>(std::move(orders));
  }
  StepOutcome Show(StepContext& ctx) {
    ShowNamespace(ctx, kChange, this->data_);
    return Done{};
  }
};

class CreateNamespace final : public NamespaceProcedure<CreateNamespace, NamespaceChange::kCreate> {
 public:
  static constexpr std::string_view kTypeName = "CreateNamespace";
  static constexpr StepNo kWriteNumber = 3;
  static constexpr StepNo kShowNumber = 5;
  static constexpr std::string_view kWriteName = "INSERT_INTO_NS_TABLE";
  static constexpr std::string_view kShowName = "SET_NAMESPACE_QUOTA";
  using NamespaceProcedure::NamespaceProcedure;
  static ProcedurePtr Make(const NamespaceDescriptor& descriptor);
};

class ModifyNamespace final : public NamespaceProcedure<ModifyNamespace, NamespaceChange::kModify> {
 public:
  static constexpr std::string_view kTypeName = "ModifyNamespace";
  static constexpr StepNo kWriteNumber = 2;
  static constexpr StepNo kShowNumber = 4;
  static constexpr std::string_view kWriteName = "UPDATE_NS_TABLE";
  static constexpr std::string_view kShowName = "SET_NAMESPACE_QUOTA";
  using NamespaceProcedure::NamespaceProcedure;
  static ProcedurePtr Make(const NamespaceDescriptor& descriptor);
};

// Deletes an empty namespace.
class DeleteNamespace final : public NamespaceProcedure<DeleteNamespace, NamespaceChange::kDelete> {
 public:
  static constexpr std::string_view kTypeName = "DeleteNamespace";
  static constexpr StepNo kWriteNumber = 2;
  static constexpr StepNo kShowNumber = 5;
  static constexpr std::string_view kWriteName = "DELETE_FROM_NS_TABLE";
  static constexpr std::string_view kShowName = "REMOVE_NAMESPACE_QUOTA";
  using NamespaceProcedure::NamespaceProcedure;
  static ProcedurePtr Make(const std::string& name);
};

}  // namespace ratchet::master
