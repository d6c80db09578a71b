#include "procedure/core/author_object.h"

#include <fmt/format.h>

#include "procedure/core/transition.h"

namespace ratchet::procedure {

namespace {

std::string WhyUnusable(const Procedure& procedure) {
  const Status usable = CallAuthor([&procedure]() -> Status {
    static_cast<void>(procedure.Locks().Expanded());
    static_cast<void>(procedure.Describe());
    static_cast<void>(procedure.Parts());
    static_cast<void>(procedure.priority());
    return Ok();
  });
  return usable.ok() ? std::string() : "its data cannot be used: " + usable.error().message();
}

std::string WhyUnreadable(const ProcedureRegistry& registry, const Identity& id) {
  const ProcedureRegistry::Type* type = registry.Find(id.type);
  if (type == nullptr) return fmt::format("unknown procedure type {}", id.type);
  const std::uint32_t known = type->make()->data_version();
  if (id.data_version > known) return fmt::format("data version {} is newer than {}", id.data_version, known);
  return "its data cannot be read";
}

}  // namespace

UsableRecord UseRecord(const ProcedureRegistry& registry, const Identity& id, const Durable& durable) {
  ProcedurePtr procedure = MakeFromRecord(registry, id, durable.data);
  std::string wrong = procedure == nullptr ? WhyUnreadable(registry, id) : WhyUnusable(*procedure);
  if (!wrong.empty()) return {nullptr, std::move(wrong)};
  wrong = UnknownState(*procedure, durable);
  return {std::move(procedure), std::move(wrong)};
}

}  // namespace ratchet::procedure
