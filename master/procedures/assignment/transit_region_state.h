// TransitRegionState: moves one region from its current state to the requested one, also if servers or masters die
// meanwhile.
//
//   ASSIGN     candidate -> OPEN -> CONFIRM_OPENED
//   UNASSIGN   CLOSE -> CONFIRM_CLOSED
//   MOVE, REOPEN   CLOSE -> CONFIRM_CLOSED -> candidate -> OPEN -> CONFIRM_OPENED
//
// It owns the region from its first step to its end and never fails. It releases the region lock only between tries
// after many refusals. A refused opening is retried on other servers with growing delays, shown as FAILED_OPEN. If a
// server dies, the procedure waits until its logs are split. Without a row in hbase:meta it ends (S93: transition
// without a row ends). An interrupted close is opened again first, so that recovered edits are replayed. The region of
// a table that is being disabled is given up after several refusals instead of blocking DisableTable.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/assignment/region_orders.h"
#include "master/procedures/core/common.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

struct RegionNode;

class TransitRegionState final : public MasterProcedure<TransitRegionState, pb::TransitRegionStateData>,
                                 public procedure::FromTheBeginning {
 public:
  static constexpr std::string_view kTypeName = "TransitRegionState";
  static constexpr ClaimKinds kClaims = kClaimsSetback;
  static constexpr auto Steps() {
    return std::array{
        On<&TransitRegionState::GetAssignCandidate>(1, "GET_ASSIGN_CANDIDATE", kNoReturn, kReleasesBetweenTries,
                                                    kRunsOn,
                                                    Given("the transition begins, or its region was closed or lost")),
        On<&TransitRegionState::Open>(2, "OPEN", kNoReturn, Spawns<OpenRegion>(), kRunsOn,
                                      Given("a server is chosen and recorded")),
        On<&TransitRegionState::ConfirmOpened>(3, "CONFIRM_OPENED", kNoReturn, Given("the order to open has ended")),
        On<&TransitRegionState::Close>(4, "CLOSE", kNoReturn, Spawns<CloseRegion>(), kRunsOn,
                                       Given("no order about the region is in progress")),
        On<&TransitRegionState::ConfirmClosed>(5, "CONFIRM_CLOSED", kNoReturn, kRunsOn,
                                               Given("the order to close has ended")),
    };
  }

  using MasterProcedure::MasterProcedure;
  struct Options {
    std::optional<ServerName> target = std::nullopt;
    bool retain = false;          // prefer the server that had it last
    bool force_new_plan = false;  // any other server
  };
  static ProcedurePtr Assign(const RegionInfo& region, const Options& options);
  // As Assign, for a region that the parent owns and hands over in this state. `refusal`: why `server` has refused to
  // open it; empty: it has not.
  static ProcedurePtr TakeOver(const RegionNode& node, const Options& options, const std::string& refusal,
                               const std::string& server);
  static ProcedurePtr Unassign(const RegionInfo& region);
  // Part of disabling the region's table: begins only while the table is being disabled or is disabled (S94: disable
  // checks the table state).
  static ProcedurePtr UnassignForTable(const RegionInfo& region);
  static ProcedurePtr Move(const RegionInfo& region, const std::optional<ServerName>& target);
  static ProcedurePtr Reopen(const RegionInfo& region);
  // Part of a split or merge, which owns the region and lends it to this procedure. Ends when the region is closed or
  // its server is lost; the result is a pb::OrderResult (CLOSED or SERVER_CRASHED, with the transition number).
  // `reopen`: a lost region is opened before the procedure ends, so that it does not wait for the closes of others.
  // This is tried once: without a server, or if the server refuses or dies, the procedure ends as without `reopen`.
  static ProcedurePtr UnassignForReshape(const RegionInfo& region, bool reopen);
  // Part of altering the region's table: has no effect unless the region is open with a descriptor below `number` (S48:
  // schema pinned in the order).
  static ProcedurePtr ReopenBelow(const RegionInfo& region, std::uint64_t number);

  [[nodiscard]] procedure::LockSet Locks() const override;
  // Locks are held except between two tries for a candidate. After many refusals no server has the region and no order
  // is unsettled, so the procedure releases the lock and its table can be disabled. A procedure that finds the region
  // owned by another one also releases its lock, so that the owner can continue.
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Claims Uses() const { return ClaimSetback(data_.failed_opens(), data_.last_refusal()); }
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] procedure::Description DescribeStart(const procedure::EnvRef& env) const override;
  // HBase's metrics of assignment: TransitionCounts::OfProcess.
  void OnSubmitted() const override;
  void OnFinished(const procedure::FinishInfo& info) const override;
  void OnRecovered(const procedure::EnvRef& env) override;
  void OnRecoveredUnread(const procedure::EnvRef& env) override;

 private:
  StepOutcome GetAssignCandidate(StepContext& ctx);
  StepOutcome Open(StepContext& ctx);
  StepOutcome ConfirmOpened(StepContext& ctx);
  StepOutcome Close(StepContext& ctx);
  StepOutcome ConfirmClosed(StepContext& ctx);

  // Each returns nullopt to continue, or the outcome that the step must return.
  std::optional<StepOutcome> Begin(StepContext& ctx);
  [[nodiscard]] SettlementState StandingOfServer(const MasterEnv& env, const ServerName& server) const;
  [[nodiscard]] std::optional<StepOutcome> RequireServing(StepContext& ctx, const ServerName& server);
  std::optional<StepOutcome> LeaveServer(StepContext& ctx);
  std::optional<StepOutcome> GiveUp(StepContext& ctx);
  std::optional<StepOutcome> RequireSchema(StepContext& ctx);
  std::optional<StepOutcome> WriteRow(StepContext& ctx, std::string_view key, RegionState state);
  StepOutcome EndWithoutTable(StepContext& ctx);
  std::optional<StepOutcome> LeaveToGiveUp(StepContext& ctx);
  bool LetGo(MasterEnv& env, const ServerName& server);
  void Begun(const RegionNode& node);  // copies the region's state to data_
  bool Own(MasterEnv& env);
  void Disown(MasterEnv& env);
  [[nodiscard]] std::string ReshapeResult(pb::OrderOutcome outcome) const;
  StepOutcome EndNeedless(StepContext& ctx, const RegionNode& node, std::string why);
  std::optional<StepOutcome> WithoutRow(StepContext& ctx,
                                        RegionState state);  // the write of `state` has found no row

  void NoteIssued(StepContext& ctx);
  [[nodiscard]] std::uint64_t IssuedIn(RegionState state) const;
  void PutMetaLocation(StepContext& ctx) const;
  StepOutcome ChooseServer(StepContext& ctx);
  StepOutcome Opened(StepContext& ctx, const pb::OrderResult& result);
  StepOutcome OpenRefused(StepContext& ctx, const pb::OrderResult& result);
  StepOutcome LostServer(StepContext& ctx);
  StepOutcome EndLost(StepContext& ctx);
  std::optional<StepOutcome> LetGoOpen(StepContext& ctx, const ServerName& server);
  StepOutcome AskWhatItIs(StepContext& ctx);
  StepOutcome FinishClosed(StepContext& ctx);

  [[nodiscard]] RegionNode NodeFromData() const;
  void Show(MasterEnv& env) const;  // copies data_ to memory
  void ShowIfBehind(MasterEnv& env) const;
  [[nodiscard]] bool IsMetaRegion() const;
  [[nodiscard]] std::string Encoded() const;
  [[nodiscard]] bool TableIsGoing(MasterEnv& env) const;
};

}  // namespace ratchet::master
