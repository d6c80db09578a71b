// The procedure types that a host knows. Filled by explicit calls in one function (no static initialisers: a static
// library drops them silently), then constant.
//
//   void RegisterMasterProcedures(ProcedureRegistry& registry) {
//     registry.Register<CreateTable>();
//     ...
//   }
//   RATCHET_CHECK(registry.Verify().ok(), ...)   // the executor does it too
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "procedure/api/procedure.h"

namespace ratchet::procedure {

// Not thread-safe while it is being filled; read-only afterwards.
class ProcedureRegistry {
 public:
  struct Type {
    std::string name;
    std::span<const StepRow> rows;
    std::function<ProcedurePtr()> make;  // an empty object, for loading
    std::string data_message = {};       // full name of the protobuf message of its data; empty: it has none
    [[nodiscard]] bool has_undo() const;
    [[nodiscard]] bool has_point_of_no_return() const;
  };

  template <class P>
  void Register() {
    Add({std::string(P::kTypeName), P::StaticRows(), [] { return ProcedurePtr(std::make_unique<P>()); },
         P::DataMessage()});
  }
  // Adding a type name twice is a programming error.
  void Add(Type type);

  // Null when unknown.
  [[nodiscard]] const Type* Find(std::string_view name) const;
  // Returns the types in the order of names, for sweeps, which enumerate the steps at run time.
  [[nodiscard]] std::vector<const Type*> Types() const;

  // Checks that every table is valid (numbers and names set and unique, no undo after a point of no return) and that
  // every declared child type is known. A row that spawns a type with a point of no return must be one itself. The
  // error names type and row.
  [[nodiscard]] Status Verify() const;

 private:
  std::map<std::string, Type, std::less<>> types_;
};

}  // namespace ratchet::procedure
