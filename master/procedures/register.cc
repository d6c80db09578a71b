#include "master/procedures/register.h"

#include <array>

#include "procedure/api/procedure_registry.h"

#define RATCHET_PROCEDURE_HEADERS
#include "master/procedures/procedures.def"

namespace ratchet::master {
namespace {

// Bytes that are not such a message claim nothing: the executor has parked their procedure.
template <class P>
Claims UsesOf([[maybe_unused]] const std::string& data) {
  if constexpr (requires(const P& procedure) { procedure.Uses(); }) {
    if (P procedure; procedure.ParseData(data)) return procedure.Uses();
  }
  return {};
}

template <class P>
constexpr ProcedureType TypeOf() {
  static_assert(
      requires { P::kClaims; }, "the type must declare what it claims (master/procedures/core/claims.h)");
  static_assert(procedure::StepTableHasPreconditions(P::Steps()),
                "each row must have its precondition: Given(\"...\")");
  return {P::kTypeName, P::kClaims, &UsesOf<P>};
}

constexpr std::array kTypes{
#define RATCHET_PROCEDURE(type, occasion) TypeOf<type>(),
#include "master/procedures/procedures.def"
};

}  // namespace

void RegisterMasterProcedures(procedure::ProcedureRegistry& registry) {
#define RATCHET_PROCEDURE(type, occasion) registry.Register<type>();
#include "master/procedures/procedures.def"
}

std::span<const ProcedureType> ProcedureTypes() { return kTypes; }

}  // namespace ratchet::master
