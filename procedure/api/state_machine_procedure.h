// The base class for authors of procedures: finds rows in P::Steps(), keeps the data message, types the transitions.
//
//   class CreateTable final : public StateMachineProcedure<CreateTable, pb::CreateTableData> {
//    public:
//     static constexpr std::string_view kTypeName = "CreateTable";        // stored, never changes
//     enum class State : StepNo { kPrepare = 1, ... };                     // stored, never renumbered
//     static constexpr auto Steps() { return std::array{On(State::kPrepare, "PREPARE", &CreateTable::Prepare, ...)}; }
//   };
//
// P needs a default constructor (for loading). `Data` is any message with SerializeAsString, ParseFromArray and a
// default constructor. A duplicate number or name, number zero, a missing function or undo, and an undo after a point
// of no return do not compile.
#pragma once

#include <array>
#include <exception>
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

  [[nodiscard]] StepOutcome RunStep(StepNo step, StepContext& ctx) override {
    return (static_cast<P&>(*this).*(RowOf(step).run))(ctx);
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
  // Makes one row. `state`: P::State; `run`: a member of P; `undo`: UndoBy(&P::X), kNothingToUndo or kNoReturn;
  // `locks`: kReleasesWhileChildrenRun, kReleasesBetweenTries, or omitted.
  template <class State>
  static constexpr Step<P> On(State state, std::string_view name, StepOutcome (P::*run)(StepContext&), Undo<P> undo,
                              ChildTypes spawns = {}, LockPolicy locks = LockPolicy::kAsProcedureSays) {
    static_assert(std::is_same_v<State, typename P::State>, "a state of another procedure");
    return {static_cast<StepNo>(state), name, run, undo, spawns, locks};
  }
  static constexpr Undo<P> UndoBy(Status (P::*fn)(StepContext&)) { return {UndoKind::kCall, fn}; }
  static constexpr Undo<P> kNothingToUndo{UndoKind::kNothing, nullptr};
  static constexpr Undo<P> kNoReturn{UndoKind::kPointOfNoReturn, nullptr};
  static constexpr LockPolicy kReleasesWhileChildrenRun = LockPolicy::kReleasesWhileChildrenRun;
  static constexpr LockPolicy kReleasesBetweenTries = LockPolicy::kReleasesBetweenTries;

  // Typed transitions: another procedure's state does not compile.
  template <class State>
  static Next GoTo(State state) {
    static_assert(std::is_same_v<State, typename P::State>, "a state of another procedure");
    return {static_cast<StepNo>(state)};
  }
  template <class State>
  static Spawn SpawnThen(State resume_at, std::vector<ProcedurePtr> children) {
    static_assert(std::is_same_v<State, typename P::State>, "a state of another procedure");
    return {static_cast<StepNo>(resume_at), std::move(children)};
  }
  template <class State>
  static Spawn SpawnThen(State resume_at, ProcedurePtr child) {
    std::vector<ProcedurePtr> children;
    children.push_back(std::move(child));
    return SpawnThen(resume_at, std::move(children));
  }

  Data data_;  // the only durable member

 private:
  static constexpr auto MakeRows() {
    constexpr auto kSteps = P::Steps();
    static_assert(StepTableIsSound(P::Steps()),
                  "step table: numbers and names must be set and unique, each row must have "
                  "its function and its undo, and no undo function may follow a point "
                  "of no return");
    std::array<StepRow, kSteps.size()> rows{};
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      rows[i] = {kSteps[i].number, kSteps[i].name, kSteps[i].undo.kind, kSteps[i].spawns, kSteps[i].locks};
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
