#include "chaos/history/counterexample.h"

#include <algorithm>
#include <deque>

#include <fmt/core.h>

#include "chaos/history/configuration_search.h"

namespace ratchet::chaos {
namespace {

using Pointers = std::vector<const Operation*>;

constexpr std::size_t kShownBefore = 3;  // operations shown before the window
constexpr std::size_t kShownInside = 40;
constexpr std::size_t kShownValues = 8;

// The history as known at `at`, without later answers.
struct Prefix {
  std::deque<Operation> changed;
  Pointers operations;

  Prefix(const Pointers& all, std::int64_t at) {
    for (const Operation* op : all) {
      if (op->invoked_ns > at || op->outcome == OperationOutcome::kFailed) continue;
      if (op->outcome == OperationOutcome::kOk && op->returned_ns > at) {
        changed.push_back(*op);
        changed.back().outcome = OperationOutcome::kUnknown;
        operations.push_back(&changed.back());
      } else {
        operations.push_back(op);
      }
    }
  }
};

bool Impossible(const Pointers& all, std::int64_t at, const Value& initial, const CheckLimits& limits) {
  const Prefix prefix(all, at);
  return ConfigurationSearch(prefix.operations, initial, limits).FindOrder() == Linearizability::kNo;
}

// Returns the first answer at which the history up to there is impossible. It stays impossible after that.
const Operation* FirstImpossible(const Pointers& all, const Value& initial, const CheckLimits& limits) {
  Pointers answers;
  for (const Operation* op : all) {
    if (op->outcome == OperationOutcome::kOk) answers.push_back(op);
  }
  std::sort(answers.begin(), answers.end(), [](auto* a, auto* b) { return a->returned_ns < b->returned_ns; });
  const auto first = std::partition_point(answers.begin(), answers.end(), [&](const Operation* op) {
    return !Impossible(all, op->returned_ns, initial, limits);
  });
  return first == answers.end() ? answers.back() : *first;
}

// Returns the last moment up to `before` at which no answered operation was in progress: the call of the first
// operation after it.
std::int64_t LastQuietMoment(const Pointers& by_call, std::int64_t before, std::int64_t until) {
  std::int64_t quiet = INT64_MIN;
  std::int64_t busy_until = INT64_MIN;
  for (const Operation* op : by_call) {
    if (op->invoked_ns > before) break;
    if (op->invoked_ns > busy_until) quiet = op->invoked_ns;
    if (op->outcome == OperationOutcome::kOk) busy_until = std::max(busy_until, std::min(op->returned_ns, until));
  }
  return quiet;
}

std::string ValuesText(const Pointers& before, const Value& initial, const CheckLimits& limits) {
  ConfigurationSearch search(before, initial, limits);
  const auto done = search.FindAllEnds();
  if (done == Linearizability::kUndecided) return "too many values to list";
  std::string text;
  const auto values = search.final_values();
  for (std::size_t i = 0; i < values.size() && i < kShownValues; ++i)
    text += (i == 0 ? "" : " or ") + ToText(values[i]);
  if (values.size() > kShownValues) text += fmt::format(" or {} others", values.size() - kShownValues);
  return text;
}

}  // namespace

std::string Explain(const Pointers& operations, const Value& initial, const CheckLimits& limits) {
  const Operation* culprit = FirstImpossible(operations, initial, limits);
  Pointers by_call = operations;
  std::stable_sort(by_call.begin(), by_call.end(), [](auto* a, auto* b) { return a->invoked_ns < b->invoked_ns; });
  const std::int64_t end = culprit->returned_ns;
  const std::int64_t quiet = LastQuietMoment(by_call, culprit->invoked_ns, end);
  Pointers before;
  Pointers unknown;
  Pointers window;
  for (const Operation* op : by_call) {
    if (op->outcome == OperationOutcome::kFailed || op->invoked_ns > end) continue;
    if (op->invoked_ns >= quiet)
      window.push_back(op);
    else if (op->outcome == OperationOutcome::kUnknown && op->kind != OperationKind::kGet)
      unknown.push_back(op);
    if (op->invoked_ns < quiet) before.push_back(op);
  }
  const std::int64_t origin = by_call.front()->invoked_ns;
  std::string text = fmt::format("no order explains: {}\n", ToText(*culprit, origin));
  Pointers shown;
  for (const Operation* op : before) {
    if (op->outcome == OperationOutcome::kOk) shown.push_back(op);
  }
  std::stable_sort(shown.begin(), shown.end(), [](auto* a, auto* b) { return a->returned_ns < b->returned_ns; });
  if (shown.size() > kShownBefore) {
    text += fmt::format("  {} earlier operations, then\n", shown.size() - kShownBefore);
    shown.erase(shown.begin(), shown.end() - kShownBefore);
  }
  for (const Operation* op : shown) text += fmt::format("  earlier  {}\n", ToText(*op, origin));
  for (const Operation* op : unknown) text += fmt::format("  pending  {}\n", ToText(*op, origin));
  text += fmt::format("  the key then held {}\n", ValuesText(before, initial, limits));
  for (std::size_t i = 0; i < window.size() && i < kShownInside; ++i) {
    text += fmt::format("  {}  {}\n", window[i] == culprit ? "WINDOW *" : "window  ", ToText(*window[i], origin));
  }
  if (window.size() > kShownInside) text += fmt::format("  ... {} more\n", window.size() - kShownInside);
  return text;
}

}  // namespace ratchet::chaos
