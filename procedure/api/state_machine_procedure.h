// The base class for authors of procedures: finds rows in P::Steps(), keeps the data message, types the transitions.
//
//   class CreateTable final : public StateMachineProcedure<CreateTable, pb::CreateTableData> {
//    public:
//     static constexpr std::string_view kTypeName = "CreateTable";        // stored, never changes
//     static constexpr auto Steps() { return std::array{On<&CreateTable::Prepare>(1, "PREPARE", ...), ...}; }
//   };
//
// P needs a default constructor (for loading). `Data` is any message with SerializeAsString, ParseFromArray and a
// default constructor. A duplicate number or name, number zero, a missing function or undo, an undo after a point of no
// return, and a transition to a function that is not in exactly one row do not compile.
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "procedure/api/procedure.h"
#include "procedure/api/step_context.h"

namespace ratchet::procedure {

template <class P, class Data>
class StateMachineProcedure : public Procedure {
 public:
  StateMachineProcedure() = default;
  explicit StateMachineProcedure(Data data) : data_(std::move(data)) {}

  [[nodiscard]] std::string_view type_name() const override { return P::kTypeName; }
  [[nodiscard]] std::span<const StepRow> rows() const override { return StaticRows(); }
  static std::span<const StepRow> StaticRows() {
    static constexpr auto kRows = MakeRows();
    return kRows;
  }

  [[nodiscard]] const Data& data() const { return data_; }
  // Full name of the protobuf message; empty for other data.
  [[nodiscard]] static std::string DataMessage() {
    if constexpr (requires { Data::descriptor()->full_name(); }) {
      return std::string(Data::descriptor()->full_name());
    } else {
      return {};
    }
  }

  [[nodiscard]] StepOutcome RunStep(StepNo step, StepContext& ctx) override {
    const auto& row = RowOf(step);
    if (row.needs != StepNeeds{}) RATCHET_STEP(Require(row.needs, ctx));
    return (static_cast<P&>(*this).*(row.run))(ctx);
  }
  [[nodiscard]] Status UndoStep(StepNo step, StepContext& ctx) override {
    const auto& row = RowOf(step);
    if (row.undo.kind != UndoKind::kCall) return Ok();
    return (static_cast<P&>(*this).*(row.undo.fn))(ctx);
  }
  [[nodiscard]] bool HasHooks() const override {
    if constexpr (requires {
                    &P::OnSubmitted;
                    &P::OnFinished;
                  }) {
      return !std::is_same_v<decltype(&P::OnSubmitted), decltype(&Procedure::OnSubmitted)> ||
             !std::is_same_v<decltype(&P::OnFinished), decltype(&Procedure::OnFinished)>;
    } else {
      return true;  // private ones
    }
  }
  [[nodiscard]] std::string SerializeData() const override { return data_.SerializeAsString(); }
  [[nodiscard]] bool ParseData(std::string_view bytes) override {
    return data_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }

 protected:
  // Makes one row. `Run`: a member of P, in no other row that a transition names; `undo`: UndoBy<&P::X>(),
  // kNothingToUndo or kNoReturn; `options`, in any order: Spawns<...>(), kReleasesWhileChildrenRun or
  // kReleasesBetweenTries, kRunsOn, needs, Given("..."). Functions are template arguments because g++ 12 does not
  // convert a function of a base class in a constant.
  template <auto Run, class... Options>
  static constexpr Step<P> On(StepNo number, std::string_view name, Undo<P> undo, Options... options) {
    constexpr StepOutcome (P::*kRun)(StepContext&) = Run;
    Step<P> row{number, name, kRun, undo, {}, LockPolicy::kAsProcedureSays, {}, {}, CommitPolicy::kOwnCommit};
    (row.Set(options), ...);
    return row;
  }
  template <auto Back>
  static constexpr Undo<P> UndoBy() {
    constexpr Status (P::*kBack)(StepContext&) = Back;
    return {UndoKind::kCall, kBack};
  }
  static constexpr Undo<P> kNothingToUndo{UndoKind::kNothing, nullptr};
  static constexpr Undo<P> kNoReturn{UndoKind::kPointOfNoReturn, nullptr};
  static constexpr LockPolicy kReleasesWhileChildrenRun = LockPolicy::kReleasesWhileChildrenRun;
  static constexpr LockPolicy kReleasesBetweenTries = LockPolicy::kReleasesBetweenTries;
  static constexpr CommitPolicy kRunsOn = CommitPolicy::kRunsOn;

  // Meets the needs of a row. Returns nullopt if they are met; otherwise the outcome that the step must return. A host
  // whose rows have needs overrides this in one base class of its procedures.
  [[nodiscard]] virtual std::optional<StepOutcome> Require(StepNeeds /*needs*/, StepContext& /*ctx*/) {
    FailCheck("needs are met", __FILE__, __LINE__, std::string(P::kTypeName) + " has needs that its host ignores");
  }

  // Transitions name the function that runs next: GoTo<&P::Assign>().
  template <auto Run>
  static Next GoTo() {
    if constexpr (kFunctionsAreCompared) {
      static_assert(NumberOf<Run>() != 0, "the function is in no row of the step table, or in several");
      constexpr StepNo kNumber = NumberOf<Run>();
      return {kNumber};
    } else {
      static const StepNo number = NumberOf<Run>();
      return {number};
    }
  }
  template <auto Run>
  static Spawn SpawnThen(std::vector<ProcedurePtr> children) {
    return {GoTo<Run>().state, std::move(children)};
  }
  template <auto Run>
  static Spawn SpawnThen(ProcedurePtr child) {
    std::vector<ProcedurePtr> children;
    children.push_back(std::move(child));
    return SpawnThen<Run>(std::move(children));
  }

  Data data_;  // the only durable member

 private:
  // Number of the one row that runs this function; 0 if there is none, or several.
  template <auto Run>
  static constexpr StepNo NumberOf() {
    constexpr StepOutcome (P::*kRun)(StepContext&) = Run;
    StepNo found = 0;
    for (const auto& row : P::Steps()) {
      if (row.run != kRun) continue;
      if (found != 0) return 0;
      found = row.number;
    }
    return found;
  }
  static constexpr auto MakeRows() {
    constexpr auto kSteps = P::Steps();
    static_assert(StepTableIsSound(P::Steps()),
                  "step table: numbers and names must be set and unique, each row must have "
                  "its function and its undo, and no undo function may follow a point "
                  "of no return");
    std::array<StepRow, kSteps.size()> rows{};
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      rows[i] = {kSteps[i].number, kSteps[i].name,  kSteps[i].undo.kind, kSteps[i].spawns,
                 kSteps[i].locks,  kSteps[i].given, kSteps[i].commits};
    }
    return rows;
  }
  static const Step<P>& RowOf(StepNo step) {
    static constexpr auto kSteps = P::Steps();
    for (const auto& row : kSteps) {
      if (row.number == step) return row;
    }
    FailCheck("step in table", __FILE__, __LINE__, std::string(P::kTypeName) + " has no state " + std::to_string(step));
  }
};

}  // namespace ratchet::procedure
