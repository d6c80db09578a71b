#include "tests/unit/chaos_history/random_history.h"

#include <algorithm>
#include <utility>

#include "chaos/history/register_model.h"

namespace ratchet::chaos {
namespace {

class Generator {
 public:
  Generator(const RandomHistoryShape& shape, Prng& prng) : shape_(shape), prng_(prng) {}

  History Run() {
    std::vector<std::int64_t> free_at(shape_.clients, 0);
    struct Pending {
      std::int64_t effect_at;
      std::size_t index;
    };
    History history;
    std::vector<Pending> effects;
    for (std::size_t i = 0; i < shape_.operations; ++i) {
      const auto client = static_cast<std::uint32_t>(prng_.Below(shape_.clients));
      Operation op = Draw();
      op.client = client;
      op.invoked_ns = free_at[client] + static_cast<std::int64_t>(prng_.Below(6)) + 1;
      op.returned_ns = op.invoked_ns + static_cast<std::int64_t>(prng_.Below(9)) + 1;
      std::int64_t effect = prng_.Between(op.invoked_ns, op.returned_ns);
      free_at[client] = op.returned_ns;
      if (prng_.Chance(shape_.unknown_in_1000, 1000)) {
        op.outcome = OperationOutcome::kUnknown;
        if (!shape_.effects_of_unknown || prng_.Chance(1, 2)) {
          effect = INT64_MAX;  // never
        } else {
          effect += static_cast<std::int64_t>(prng_.Below(20));
        }
      }
      history.push_back(op);
      if (effect != INT64_MAX) effects.push_back({effect, i});
    }
    std::stable_sort(effects.begin(), effects.end(), [](auto& a, auto& b) { return a.effect_at < b.effect_at; });
    std::vector<bool> refused(history.size(), false);
    Value value;
    for (const auto& [at, index] : effects) refused[index] = !Answer(value, history[index]);
    for (std::size_t i = 0; i < history.size(); ++i) {
      if (refused[i]) history[i].outcome = OperationOutcome::kFailed;
    }
    return history;
  }

 private:
  std::string NewValue() {
    return std::to_string(shape_.distinct_values == 0 ? ++last_value_ : prng_.Below(shape_.distinct_values));
  }

  Operation Draw() {
    Operation op;
    op.key = "k";
    op.kind = static_cast<OperationKind>(prng_.Below(7));
    op.argument = op.kind == OperationKind::kIncrement ? std::to_string(prng_.Between(-1, 2)) : NewValue();
    const bool without_argument = op.kind == OperationKind::kGet || op.kind == OperationKind::kDelete ||
                                  op.kind == OperationKind::kCheckAndDelete;
    if (without_argument) op.argument.clear();
    if (op.kind == OperationKind::kCheckAndPut || op.kind == OperationKind::kCheckAndDelete) {
      if (prng_.Chance(2, 3)) op.expected = shape_.distinct_values == 0 ? recent_ : Value(NewValue());
    }
    return op;
  }

  // Executes and records the answer; false when the register refuses.
  bool Answer(Value& value, Operation& op) {
    if (op.outcome == OperationOutcome::kUnknown) {
      if (const auto after = Execute(value, op)) value = *after;
      return true;
    }
    op.observed = value;
    op.applied = value.value_or("") == op.expected.value_or("");
    Operation unanswered = op;
    unanswered.outcome = OperationOutcome::kUnknown;
    const auto after = Execute(value, unanswered);
    if (!after) return false;
    if (op.kind == OperationKind::kAppend || op.kind == OperationKind::kIncrement) op.observed = *after;
    value = *after;
    recent_ = value;
    if (prng_.Chance(shape_.lies_in_1000, 1000)) {
      op.observed = prng_.Chance(1, 4) ? Value() : Value(std::to_string(prng_.Below(3)));
      op.applied = prng_.Chance(1, 2);
    }
    return true;
  }

  const RandomHistoryShape shape_;
  Prng& prng_;
  std::uint64_t last_value_ = 0;
  Value recent_;
};

}  // namespace

History RandomHistory(const RandomHistoryShape& shape, Prng& prng) { return Generator(shape, prng).Run(); }

}  // namespace ratchet::chaos
