#include "chaos/history/configuration_search.h"

#include <algorithm>
#include <tuple>

#include "chaos/history/register_model.h"
#include "common/base/prng.h"

namespace ratchet::chaos {
namespace {

bool HasEffectOrAnswer(const Operation& op) {
  if (op.outcome == OperationOutcome::kFailed) return false;
  return op.outcome == OperationOutcome::kOk || op.kind != OperationKind::kGet;
}

bool IsAnsweredRead(const Operation& op) {
  if (op.outcome != OperationOutcome::kOk) return false;
  const bool conditional = op.kind == OperationKind::kCheckAndPut || op.kind == OperationKind::kCheckAndDelete;
  return op.kind == OperationKind::kGet || (conditional && !op.applied);
}

std::uint64_t Mix(std::uint64_t x) { return Prng(x).Next(); }

}  // namespace

ConfigurationSearch::ConfigurationSearch(const std::vector<const Operation*>& operations, const Value& initial,
                                         const CheckLimits& limits)
    : limits_(limits), states_{Value()} {
  initial_ = Intern(initial);
  Prng prng(0x5eed);  // any numbers work; fixed, so that a check is repeatable
  struct Event {
    std::int64_t at;
    bool is_return;
    std::uint32_t entry;
  };
  std::vector<Event> events;
  for (const Operation* op : operations) {
    if (!HasEffectOrAnswer(*op)) continue;
    const auto index = static_cast<std::uint32_t>(entries_.size());
    const bool answered = op->outcome == OperationOutcome::kOk;
    entries_.push_back({op, answered, prng.Next(), prng.Next()});
    events.push_back({op->invoked_ns, false, index});
    if (answered) events.push_back({op->returned_ns, true, index});
  }
  // Calls precede returns of the same instant, so that such operations count as concurrent.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.at, a.is_return, a.entry) < std::tie(b.at, b.is_return, b.entry);
  });
  nodes_.resize(events.size() + 1);
  std::vector<std::uint32_t> call_of(entries_.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const std::uint32_t node = i + 1;
    nodes_[node] = {events[i].entry, events[i].is_return, i, node + 1, kNone};
    if (events[i].is_return)
      nodes_[call_of[events[i].entry]].match = node;
    else
      call_of[events[i].entry] = node;
  }
  nodes_[0].next = events.empty() ? 0 : 1;
  nodes_[0].previous = static_cast<std::uint32_t>(events.size());
  if (!events.empty()) nodes_.back().next = 0;
}

ConfigurationSearch::StateId ConfigurationSearch::Intern(const Value& value) {
  if (!value) return 0;
  const auto [at, added] = state_ids_.try_emplace(*value, static_cast<StateId>(states_.size()));
  if (added) states_.push_back(value);
  return at->second;
}

bool ConfigurationSearch::Candidates(StateId state, std::vector<Candidate>& out) {
  struct Choice {
    Candidate candidate;
    std::int64_t order;
  };
  std::vector<Choice> choices;
  std::uint32_t node = nodes_[0].next;
  for (; node != 0 && !nodes_[node].is_return; node = nodes_[node].next) {
    const Entry& entry = entries_[nodes_[node].entry];
    const auto after = Execute(states_[state], *entry.operation);
    if (!after) continue;
    const StateId next = Intern(*after);
    if (IsAnsweredRead(*entry.operation)) {
      // The operation changes nothing and fits here: if an order exists from here on, one exists that begins with it.
      out.assign(1, {node, next});
      return true;
    }
    if (next == state && !entry.answered) continue;  // the same result as if it never happened
    // Answered operations first, by their return times; operations that may never have happened last.
    choices.push_back({{node, next}, entry.answered ? entry.operation->returned_ns : INT64_MAX});
  }
  std::stable_sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  out.clear();
  for (const auto& choice : choices) out.push_back(choice.candidate);
  return node != 0;  // a return: its operation must be placed before it
}

void ConfigurationSearch::Place(std::uint32_t node) {
  const auto unlink = [this](std::uint32_t n) {
    nodes_[nodes_[n].previous].next = nodes_[n].next;
    nodes_[nodes_[n].next].previous = nodes_[n].previous;
  };
  unlink(node);
  if (nodes_[node].match != kNone) unlink(nodes_[node].match);
  const Entry& entry = entries_[nodes_[node].entry];
  high_ ^= entry.high;
  low_ ^= entry.low;
  most_placed_ = std::max(most_placed_, ++placed_);
}

void ConfigurationSearch::Unplace(std::uint32_t node) {
  const auto link = [this](std::uint32_t n) {
    nodes_[nodes_[n].previous].next = n;
    nodes_[nodes_[n].next].previous = n;
  };
  if (nodes_[node].match != kNone) link(nodes_[node].match);
  link(node);
  const Entry& entry = entries_[nodes_[node].entry];
  high_ ^= entry.high;
  low_ ^= entry.low;
  --placed_;
}

ConfigurationSearch::Key ConfigurationSearch::KeyOf(StateId state) const {
  // 128 bits: in the largest search two configurations share a key with a probability below 2^-80.
  return {high_ ^ Mix(state * 2ULL + 1), low_ ^ Mix(state * 2ULL + 2)};
}

Linearizability ConfigurationSearch::Run(bool all) {
  visited_.clear();
  ends_.clear();
  std::vector<Frame> stack(1);
  stack.back().state = initial_;
  const auto enter = [&](Frame& frame) {
    if (Candidates(frame.state, frame.candidates)) return false;
    ends_.insert(frame.state);
    return true;
  };
  if (enter(stack.back()) && !all) return Linearizability::kYes;
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.candidates.size()) {
      if (top.placed != 0) Unplace(top.placed);
      stack.pop_back();
      continue;
    }
    const Candidate candidate = top.candidates[top.next++];
    Place(candidate.node);
    if (!visited_.insert(KeyOf(candidate.after)).second) {
      Unplace(candidate.node);
      continue;
    }
    if (visited_.size() > limits_.configurations) return Linearizability::kUndecided;
    stack.emplace_back();
    stack.back().state = candidate.after;
    stack.back().placed = candidate.node;
    if (enter(stack.back()) && !all) return Linearizability::kYes;
  }
  return ends_.empty() ? Linearizability::kNo : Linearizability::kYes;
}

std::vector<Value> ConfigurationSearch::final_values() const {
  std::vector<Value> values;
  for (const StateId state : ends_) values.push_back(states_[state]);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace ratchet::chaos
