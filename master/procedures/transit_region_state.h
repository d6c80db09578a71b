// TransitRegionState: takes one region from where it is to where it is wanted, whatever dies meanwhile.
//
//   ASSIGN     candidate -> OPEN -> CONFIRM_OPENED
//   UNASSIGN   CLOSE -> CONFIRM_CLOSED
//   MOVE, REOPEN   CLOSE -> CONFIRM_CLOSED -> candidate -> OPEN -> CONFIRM_OPENED
//
// It owns the region from its first step to its end (region lock, let go only between tries after many refusals) and
// never fails: a refused opening is tried elsewhere, with growing delays, shown as FAILED_OPEN; a server that dies is
// waited for until its logs are split. Without a row in hbase:meta it ends (S93). An interrupted close is opened again
// first, so that recovered edits are replayed. The region of a table that is being disabled is given up after several
// refusals instead of blocking the disabling.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/common.h"
#include "procedure/engine/rerun_policy.h"

namespace ratchet::master {

struct RegionNode;

class TransitRegionState final
    : public procedure::StateMachineProcedure<TransitRegionState, pb::TransitRegionStateData>,
      public procedure::FromTheBeginning {
 public:
  static constexpr std::string_view kTypeName = "TransitRegionState";
  enum class State : StepNo { kGetAssignCandidate = 1, kOpen = 2, kConfirmOpened = 3, kClose = 4, kConfirmClosed = 5 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kGetAssignCandidate, "GET_ASSIGN_CANDIDATE", &TransitRegionState::GetAssignCandidate, kNoReturn,
           procedure::ChildTypes(), kReleasesBetweenTries),
        On(State::kOpen, "OPEN", &TransitRegionState::Open, kNoReturn, procedure::Spawns("OpenRegion")),
        On(State::kConfirmOpened, "CONFIRM_OPENED", &TransitRegionState::ConfirmOpened, kNoReturn),
        On(State::kClose, "CLOSE", &TransitRegionState::Close, kNoReturn, procedure::Spawns("CloseRegion")),
        On(State::kConfirmClosed, "CONFIRM_CLOSED", &TransitRegionState::ConfirmClosed, kNoReturn),
    };
  }

  using StateMachineProcedure::StateMachineProcedure;
  struct Options {
    std::optional<ServerName> target = std::nullopt;
    bool retain = false;          // prefer the server that had it last
    bool force_new_plan = false;  // anywhere but there
  };
  static ProcedurePtr Assign(const RegionInfo& region, const Options& options);
  static ProcedurePtr Unassign(const RegionInfo& region);
  // A part of disabling the region's table: begins only while the table is being disabled or is disabled (S94).
  static ProcedurePtr UnassignForTable(const RegionInfo& region);
  static ProcedurePtr Move(const RegionInfo& region, const std::optional<ServerName>& target);
  static ProcedurePtr Reopen(const RegionInfo& region);
  // A part of a split or a merge, which owns the region, hands it over and takes it back. Ends when the region is
  // closed or its server is lost; the result is a pb::OrderResult (CLOSED or SERVER_CRASHED, with the transition
  // number).
  static ProcedurePtr UnassignForReshape(const RegionInfo& region);
  // A part of altering the region's table: only while the region is open with a descriptor below `number` (S48).
  static ProcedurePtr ReopenBelow(const RegionInfo& region, std::uint64_t number);

  [[nodiscard]] procedure::LockSet Locks() const override;
  // Except between two tries for a candidate. After many refusals no server has the region and no order is unsettled:
  // it lets go, so that its table can be disabled. A procedure that finds the region owned by such a one lets go too,
  // so that the owner can go on.
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] std::string Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome GetAssignCandidate(StepContext& ctx);
  StepOutcome Open(StepContext& ctx);
  StepOutcome ConfirmOpened(StepContext& ctx);
  StepOutcome Close(StepContext& ctx);
  StepOutcome ConfirmClosed(StepContext& ctx);

  // Each returns nothing to go on, or what the step has to return.
  std::optional<StepOutcome> Begin(StepContext& ctx);
  [[nodiscard]] std::optional<StepOutcome> RequireServing(StepContext& ctx, const ServerName& server);
  std::optional<StepOutcome> LeaveServer(StepContext& ctx);
  std::optional<StepOutcome> GiveUp(StepContext& ctx);
  std::optional<StepOutcome> RequireSchema(StepContext& ctx);
  std::optional<StepOutcome> WriteRow(StepContext& ctx, std::string_view key, RegionState state);
  StepOutcome EndWithoutTable(StepContext& ctx);
  bool LetGo(MasterEnv& env, const ServerName& server);
  bool Own(MasterEnv& env);
  void Disown(MasterEnv& env);
  [[nodiscard]] std::string ReshapeResult(pb::OrderOutcome outcome) const;
  StepOutcome EndNeedless(StepContext& ctx, const RegionNode& node, std::string why);
  std::optional<StepOutcome> WithoutRow(StepContext& ctx,
                                        RegionState state);  // the write of `state` has found none

  StepOutcome ChooseServer(StepContext& ctx);
  StepOutcome Opened(StepContext& ctx, const pb::OrderResult& result);
  StepOutcome OpenRefused(StepContext& ctx, const pb::OrderResult& result);
  StepOutcome LostServer(StepContext& ctx);
  std::optional<StepOutcome> LetGoOpen(StepContext& ctx, const ServerName& server);
  StepOutcome AskWhatItIs(StepContext& ctx);
  StepOutcome FinishClosed(StepContext& ctx);

  [[nodiscard]] RegionNode NodeFromData() const;
  void Show(MasterEnv& env) const;  // memory = data
  void ShowIfBehind(MasterEnv& env) const;
  [[nodiscard]] bool IsMetaRegion() const;
  [[nodiscard]] std::string Encoded() const;
  [[nodiscard]] bool TableIsGoing(MasterEnv& env) const;
};

}  // namespace ratchet::master
