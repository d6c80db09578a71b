// The possible states of a table, given the requests and answers of its only client. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ratchet::chaos {

enum class TableCondition : std::uint8_t { kAbsent = 1, kDisabled = 2, kEnabled = 4 };
enum class DdlVerb : std::uint8_t { kCreate, kEnable, kDisable, kDelete };

// A set of conditions; it has more than one only after an operation of unknown outcome.
class PossibleConditions {
 public:
  PossibleConditions() = default;
  explicit PossibleConditions(TableCondition only) : bits_(static_cast<unsigned>(only)) {}
  [[nodiscard]] bool Has(TableCondition condition) const { return (bits_ & static_cast<unsigned>(condition)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  void Add(TableCondition condition) { bits_ |= static_cast<unsigned>(condition); }
  void Add(PossibleConditions others) { bits_ |= others.bits_; }
  bool operator==(const PossibleConditions&) const = default;
  [[nodiscard]] std::string ToText() const;  // "absent or enabled"

 private:
  unsigned bits_ = 0;
};

// The condition that a verb requires, and the one that it leads to.
struct DdlEffect {
  TableCondition from;
  TableCondition to;
};
[[nodiscard]] DdlEffect EffectOf(DdlVerb verb);
[[nodiscard]] const char* VerbName(DdlVerb verb);
[[nodiscard]] const char* ConditionName(TableCondition condition);

// After the verb succeeded, was refused (no effect), or ended with unknown outcome. An empty result is impossible, so
// it is an error.
[[nodiscard]] PossibleConditions AfterSuccess(PossibleConditions before, DdlVerb verb);
[[nodiscard]] PossibleConditions AfterRefusal(PossibleConditions before, DdlVerb verb);
[[nodiscard]] PossibleConditions AfterUnknown(PossibleConditions before, DdlVerb verb);

}  // namespace ratchet::chaos
