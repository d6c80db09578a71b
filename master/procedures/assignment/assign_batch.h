// AssignBatch: opens up to a thousand regions on one server with a few commits.
//
//   PLAN -> WRITE_OPENING -> DISPATCH (<-> SHOW_PART) -> CONFIRM -> (END)
//
// It is for the plain case: nothing has the region, and its server opens it. Every other region is handed to a
// TransitRegionState of its own: one that is in another state than expected, that the server refuses, or whose server
// ends. The batch releases its locks before these run. If answers take long, regions that are open are shown before.
//
// Its pid is the number of the orders and of the openings of all its regions, S172 (one number for a batch). It does
// not leave DISPATCH while a region has no answer and the server is not fenced with all its logs split, S17 (answer or
// fence settles an order).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "master/env/orders.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

struct RegionNode;

class AssignBatch final : public MasterProcedure<AssignBatch, pb::AssignBatchData>, public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "AssignBatch";
  static constexpr ClaimKinds kClaims = kClaimsAnswer;
  static constexpr auto Steps() {
    return std::array{
        On<&AssignBatch::Plan>(1, "PLAN", kNoReturn, kNeedsMeta, kRunsOn, Given("the regions are locked")),
        On<&AssignBatch::WriteOpening>(2, "WRITE_OPENING", kNoReturn, kNeedsMeta, kRunsOn,
                                       Given("the batch owns its regions, and no server has any")),
        On<&AssignBatch::Dispatch>(3, "DISPATCH", kNoReturn, kNeedsMeta, kRunsOn,
                                   Given("hbase:meta shows the regions as OPENING on the server")),
        On<&AssignBatch::Confirm>(4, "CONFIRM", kNoReturn, kNeedsMeta, kRunsOn, Spawns<TransitRegionState>(),
                                  kReleasesWhileChildrenRun,
                                  Given("each region has an answer, or no order was sent, or the server is fenced")),
        On<&AssignBatch::ShowPart>(6, "SHOW_PART", kNoReturn, kNeedsMeta, kRunsOn,
                                   Given("some regions are open, and others have no answer yet")),
        On<&AssignBatch::End>(5, "END", kNoReturn, Given("the transitions of the other regions have ended")),
    };
  }

  using MasterProcedure::MasterProcedure;
  // `regions`: not empty, of tables of users, as the caller sees them now. `retain`: as in TransitRegionState::Options.
  static ProcedurePtr Make(const ServerName& server, const std::vector<RegionNode>& regions, bool retain);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HasManyLocks() const override { return true; }
  [[nodiscard]] bool HoldLocks() const override { return true; }
  // Takes the answers of any of the regions, in any order, also again.
  [[nodiscard]] procedure::Absorbed Absorb(std::string_view message) override;
  [[nodiscard]] std::optional<std::uint32_t> AwaitedAttempt() const override { return kAttempt; }
  [[nodiscard]] Status CheckBypass() const override;
  [[nodiscard]] Claims Uses() const;
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;
  void OnFinished(const procedure::FinishInfo& info) const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  static constexpr std::uint32_t kAttempt = 1;  // of every send, as in RemoteOrder

  StepOutcome Plan(StepContext& ctx);
  StepOutcome WriteOpening(StepContext& ctx);
  StepOutcome Dispatch(StepContext& ctx);
  StepOutcome Confirm(StepContext& ctx);
  StepOutcome ShowPart(StepContext& ctx);
  StepOutcome End(StepContext& ctx);

  [[nodiscard]] ServerName Server() const { return ServerFromData(data_.server()); }
  [[nodiscard]] TableName TableOf(const pb::BatchRegion& region) const;
  // Number of the descriptor that the orders of the region's table carry; 0: unknown.
  [[nodiscard]] std::uint64_t PinnedSchema(const pb::BatchRegion& region) const;
  [[nodiscard]] RegionInfo InfoOf(const pb::BatchRegion& region) const;
  [[nodiscard]] procedure::ResourceKey KeyOf(const pb::BatchRegion& region) const;
  [[nodiscard]] const std::string& Encoded(const pb::BatchRegion& region) const;
  [[nodiscard]] RegionNode NodeOf(const pb::BatchRegion& region, RegionState state) const;
  [[nodiscard]] RegionNode HandedNode(const pb::BatchRegion& region) const;
  [[nodiscard]] std::size_t Unanswered() const;
  [[nodiscard]] std::size_t OpenedNow() const;  // regions that are open and not shown
  [[nodiscard]] std::string RefusalOf(const pb::BatchRegion& region) const;
  void NoteRefusal(MasterEnv& env, const pb::BatchRegion& region) const;
  // True while an order may be executed of which nothing is known.
  [[nodiscard]] bool Unsettled() const { return data_.ordered() && !data_.lost() && Unanswered() > 0; }

  // Returns true if the batch owns the region and may open it.
  [[nodiscard]] bool Take(MasterEnv& env, const pb::BatchRegion& region);
  // Returns true if orders may be sent for regions of these tables.
  [[nodiscard]] std::vector<bool> OrderableTables(const MasterEnv& env) const;
  [[nodiscard]] bool MaySend(const MasterEnv& env) const;
  [[nodiscard]] Acted<Result<OpenBatchOrder>> MakeOrder(StepContext& ctx) const;
  // Writes the rows of the regions for which `wanted` is true. Returns nullopt when they are written, or, with
  // `*refused`, when a row is missing or another procedure has written it.
  using Choice = bool (*)(const pb::BatchRegion& region);
  [[nodiscard]] std::optional<StepOutcome> WriteRows(StepContext& ctx, std::string_view key, RegionState state,
                                                     Choice wanted, bool* refused);
  void Show(MasterEnv& env, const pb::BatchRegion& region, RegionState state) const;
  // Hands on the regions that another procedure owns.
  void KeepOwned(MasterEnv& env);
  // Hands regions on: each gets a transition of its own.
  void HandOn(MasterEnv& env, pb::BatchRegion region);
  void HandAllOn(MasterEnv& env);
  void HandOnOf(MasterEnv& env, const std::vector<bool>& orderable);
  [[nodiscard]] ProcedurePtr TransitionOf(const pb::BatchRegion& region) const;
  [[nodiscard]] std::optional<StepOutcome> AwaitStanding(StepContext& ctx);
  [[nodiscard]] std::optional<StepOutcome> ShowOpened(StepContext& ctx, Choice wanted);
  // Ends the ownership of the regions that are open. Returns true if the server has ended meanwhile and its crash
  // procedure may have skipped them.
  [[nodiscard]] bool LetGo(MasterEnv& env, Choice wanted) const;

  // Names of regions, because each is a hash; by start key, table, id and replica of the region.
  mutable std::unordered_map<std::string, std::string> names_;
  bool recovered_ = false;  // read from the store by this master, which has sent nothing yet
};

}  // namespace ratchet::master
