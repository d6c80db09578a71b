#include "tests/procedure_sim/script_generator.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace ratchet::sim {
namespace {

using testing::Op;
using testing::pb::Script;
using testing::pb::ScriptOp;

class Generator {
 public:
  Generator(Prng& prng, std::string name) : prng_(prng), root_(std::move(name)) {}

  RandomScript Root() {
    static constexpr std::array kFlavors = {"ScriptUndo", "ScriptUndo", "ScriptPlain", "ScriptMixed", "ScriptNoReturn"};
    const std::string flavor = kFlavors.at(prng_.Below(kFlavors.size()));
    made_.script = Make(flavor, 0, /*may_fail=*/flavor != "ScriptNoReturn", /*locked=*/false);
    return std::move(made_);
  }

 private:
  Script Make(const std::string& flavor, int depth, bool may_fail, bool locked) {
    Script script;
    script.set_flavor(flavor);
    script.set_name(fmt::format("{}{}_", root_, ++members_));
    const bool no_return_tree = !may_fail;
    locked = AddLock(script, depth, locked, no_return_tree);
    const int count = static_cast<int>(prng_.Between(1, flavor == "ScriptMixed" ? 5 : 3));
    for (int i = 1; i <= count; ++i) {
      const bool final_row = flavor == "ScriptNoReturn" || (flavor == "ScriptMixed" && i >= 4);
      *script.add_ops() = RandomOp(depth, may_fail && !final_row, final_row, locked);
      ScriptOp& op = *script.mutable_ops(i - 1);
      const std::string effect = fmt::format("{}{}", script.name(), i);
      if (op.kind() == ScriptOp::SYSTEM_PUT) op.set_text(effect + "=set");
      if (op.kind() == ScriptOp::AWAIT_EVENT) made_.events.push_back(op.text());
      if (op.kind() == ScriptOp::FAIL || op.kind() == ScriptOp::THROW) made_.may_fail = true;
      if (may_fail && !final_row && prng_.Chance(1, 8)) made_.undo_failures.push_back(effect);
    }
    return script;
  }

  // Deeper members lock later resources, which keeps the order of S15 (total lock order). Returns true if the tree now
  // holds a lock.
  bool AddLock(Script& script, int depth, bool locked, bool no_return_tree) {
    if (!prng_.Chance(2, 3) || (locked && no_return_tree)) return locked;
    const bool exclusive = prng_.Chance(2, 3);
    const bool hold = prng_.Chance(1, 2);
    const std::string table(1, static_cast<char>('a' + prng_.Below(2)));
    std::string key;
    switch (depth) {
      case 0: key = prng_.Chance(1, 2) ? "s:" + table : "n:default"; break;
      case 1: key = "t:" + table; break;
      default: key = fmt::format("r:{}/{}", table, prng_.Below(2));
    }
    // An exclusive lock of a namespace would cover everything below it, so a shared lock is the interesting case.
    testing::pb::ScriptLock& lock = *script.add_locks();
    lock.set_key(key);
    lock.set_exclusive(exclusive && key != "n:default");
    script.set_hold(hold);
    return true;
  }

  ScriptOp RandomOp(int depth, bool may_fail, bool final_row, bool locked) {
    const std::string event = fmt::format("{}e{}", root_, ++events_);
    switch (prng_.Below(12)) {
      case 0: return may_fail ? Op(ScriptOp::FAIL, "planned") : Op(ScriptOp::NEXT);
      case 1: return may_fail && prng_.Chance(1, 2) ? Op(ScriptOp::THROW, "planned") : Op(ScriptOp::NEXT);
      case 2:
      case 3:
      case 4: return depth < 2 ? RandomSpawn(depth, may_fail, final_row, locked) : Op(ScriptOp::NEXT);
      case 5: return Op(ScriptOp::AWAIT_EVENT, event, prng_.Chance(1, 2) ? 50 : 0);
      case 6: return Op(ScriptOp::AWAIT_REPORT, "report");
      case 7: return Op(ScriptOp::RETRY, "planned", prng_.Between(1, 2));
      case 8: return Op(ScriptOp::YIELD, {}, prng_.Between(1, 3));
      case 9: return Op(prng_.Chance(1, 2) ? ScriptOp::ONCE : ScriptOp::STAY, prng_.Chance(1, 4) ? "early" : "");
      case 10: return Op(ScriptOp::SYSTEM_PUT);
      default: return Op(ScriptOp::NEXT);
    }
  }

  ScriptOp RandomSpawn(int depth, bool may_fail, bool final_row, bool locked) {
    ScriptOp op = Op(ScriptOp::SPAWN);
    for (std::uint64_t i = prng_.Below(3) + 1; i > 0; --i) {
      std::string flavor = prng_.Chance(1, 2) ? "ScriptUndo" : "ScriptPlain";
      if (final_row && prng_.Chance(1, 2)) flavor = "ScriptNoReturn";
      *op.add_children() = Make(flavor, depth + 1, may_fail, locked);
    }
    return op;
  }

  Prng& prng_;
  const std::string root_;
  int members_ = 0;
  int events_ = 0;
  RandomScript made_;
};

}  // namespace

RandomScript RandomTree(Prng& prng, const std::string& name) { return Generator(prng, name).Root(); }

}  // namespace ratchet::sim
