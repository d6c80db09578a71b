#include "chaos/workloads/table_model.h"

namespace ratchet::chaos {
namespace {

constexpr TableCondition kAll[] = {TableCondition::kAbsent, TableCondition::kDisabled, TableCondition::kEnabled};

}  // namespace

std::string PossibleConditions::ToText() const {
  std::string text;
  for (const auto condition : kAll) {
    if (Has(condition)) text += (text.empty() ? "" : " or ") + std::string(ConditionName(condition));
  }
  return text.empty() ? "impossible" : text;
}

DdlEffect EffectOf(DdlVerb verb) {
  switch (verb) {
    case DdlVerb::kCreate: return {TableCondition::kAbsent, TableCondition::kEnabled};
    case DdlVerb::kEnable: return {TableCondition::kDisabled, TableCondition::kEnabled};
    case DdlVerb::kDisable: return {TableCondition::kEnabled, TableCondition::kDisabled};
    case DdlVerb::kDelete: break;
  }
  return {TableCondition::kDisabled, TableCondition::kAbsent};
}

const char* VerbName(DdlVerb verb) {
  switch (verb) {
    case DdlVerb::kCreate: return "create";
    case DdlVerb::kEnable: return "enable";
    case DdlVerb::kDisable: return "disable";
    case DdlVerb::kDelete: break;
  }
  return "delete";
}

const char* ConditionName(TableCondition condition) {
  switch (condition) {
    case TableCondition::kAbsent: return "absent";
    case TableCondition::kDisabled: return "disabled";
    case TableCondition::kEnabled: break;
  }
  return "enabled";
}

PossibleConditions AfterSuccess(PossibleConditions before, DdlVerb verb) {
  const auto [from, to] = EffectOf(verb);
  return before.Has(from) ? PossibleConditions(to) : PossibleConditions();
}

PossibleConditions AfterRefusal(PossibleConditions before, DdlVerb verb) {
  PossibleConditions after;
  for (const auto condition : kAll) {
    if (before.Has(condition) && condition != EffectOf(verb).from) after.Add(condition);
  }
  return after;
}

PossibleConditions AfterUnknown(PossibleConditions before, DdlVerb verb) {
  PossibleConditions after = before;
  after.Add(AfterSuccess(before, verb));
  return after;
}

}  // namespace ratchet::chaos
