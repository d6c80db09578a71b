#include "procedure/api/procedure_registry.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/check.h"

namespace ratchet::procedure {
namespace {

bool AnyRow(std::span<const StepRow> rows, UndoKind kind) {
  return std::any_of(rows.begin(), rows.end(), [kind](const StepRow& row) { return row.undo == kind; });
}

// The compiler has checked tables of StateMachineProcedure; tables of other types arrive here unchecked.
Status CheckTable(const ProcedureRegistry::Type& type) {
  const auto wrong = [&type](const StepRow& row, std::string_view what) {
    return Error(Code::kInvalidArgument, fmt::format("{}:{} (number {}) {}", type.name, row.name, row.number, what));
  };
  bool no_return = false;
  for (std::size_t i = 0; i < type.rows.size(); ++i) {
    const StepRow& row = type.rows[i];
    if (row.number == 0 || row.name.empty()) return wrong(row, "has no number or no name");
    no_return = no_return || row.undo == UndoKind::kPointOfNoReturn;
    if (row.undo == UndoKind::kCall && no_return) return wrong(row, "has an undo after a point of no return");
    for (std::size_t j = 0; j < i; ++j) {
      if (row.number == type.rows[j].number || row.name == type.rows[j].name) {
        return wrong(row, fmt::format("has the number or the name of {}", type.rows[j].name));
      }
    }
  }
  return Ok();
}

}  // namespace

bool ProcedureRegistry::Type::has_undo() const { return AnyRow(rows, UndoKind::kCall); }
bool ProcedureRegistry::Type::has_point_of_no_return() const { return AnyRow(rows, UndoKind::kPointOfNoReturn); }

void ProcedureRegistry::Add(Type type) {
  RATCHET_CHECK(!type.name.empty() && !type.rows.empty() && type.make, "procedure type '{}' is incomplete", type.name);
  const std::string name = type.name;
  RATCHET_CHECK(types_.emplace(name, std::move(type)).second, "procedure type {} registered twice", name);
}

const ProcedureRegistry::Type* ProcedureRegistry::Find(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : &found->second;
}

std::vector<const ProcedureRegistry::Type*> ProcedureRegistry::Types() const {
  std::vector<const Type*> all;
  for (const auto& [name, type] : types_) all.push_back(&type);
  return all;
}

Status ProcedureRegistry::Verify() const {
  for (const auto& [name, type] : types_) {
    RATCHET_TRY(CheckTable(type));
    for (const StepRow& row : type.rows) {
      for (std::size_t i = 0; i < row.spawns.count; ++i) {
        const Type* child = Find(row.spawns.names[i]);
        if (child == nullptr) {
          return Error(Code::kInvalidArgument,
                       fmt::format("{}:{} spawns the unknown type {}", name, row.name, row.spawns.names[i]));
        }
        if (child->has_point_of_no_return() && row.undo != UndoKind::kPointOfNoReturn) {
          return Error(Code::kInvalidArgument,
                       fmt::format("{}:{} spawns {}, which has a point of no return, but is not one itself", name,
                                   row.name, child->name));
        }
      }
    }
  }
  return Ok();
}

}  // namespace ratchet::procedure
