#include "chaos/history/linearizability.h"

#include <map>

#include <fmt/core.h>

#include "chaos/history/configuration_search.h"
#include "chaos/history/counterexample.h"

namespace ratchet::chaos {
namespace {

using Pointers = std::vector<const Operation*>;

KeyVerdict Check(const Pointers& operations, const Value& initial, const CheckLimits& limits) {
  ConfigurationSearch search(operations, initial, limits);
  KeyVerdict out;
  out.verdict = search.FindOrder();
  out.configurations = search.configurations();
  if (out.verdict == Linearizability::kNo) out.explanation = Explain(operations, initial, limits);
  if (out.verdict == Linearizability::kUndecided) {
    out.explanation = fmt::format("undecided after {} configurations; at most {} of {} operations could be ordered",
                                  out.configurations, search.most_placed(), search.operations());
  }
  return out;
}

Pointers PointersTo(const History& operations) {
  Pointers pointers;
  for (const auto& operation : operations) pointers.push_back(&operation);
  return pointers;
}

}  // namespace

KeyVerdict CheckKey(const History& operations, const Value& initial, const CheckLimits& limits) {
  return Check(PointersTo(operations), initial, limits);
}

HistoryVerdict CheckHistory(const History& history, const CheckLimits& limits) {
  std::map<std::string, Pointers> by_key;
  for (const auto& operation : history) by_key[operation.key].push_back(&operation);
  HistoryVerdict out;
  out.keys = by_key.size();
  out.operations = history.size();
  for (const auto& [key, operations] : by_key) {
    auto verdict = Check(operations, std::nullopt, limits);
    if (verdict.verdict == Linearizability::kNo)
      out.bad.push_back({key, std::move(verdict)});
    else if (verdict.verdict == Linearizability::kUndecided)
      out.undecided.push_back({key, std::move(verdict)});
  }
  return out;
}

Result<std::vector<Value>> PossibleValues(const History& operations, const Value& initial, const CheckLimits& limits) {
  ConfigurationSearch search(PointersTo(operations), initial, limits);
  switch (search.FindAllEnds()) {
    case Linearizability::kYes: return search.final_values();
    case Linearizability::kNo: return Error(Code::kNotFound, "no order explains the operations");
    case Linearizability::kUndecided: break;
  }
  return Error(Code::kResourceExhausted, fmt::format("undecided after {} configurations", search.configurations()));
}

}  // namespace ratchet::chaos
