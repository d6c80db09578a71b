// Settings from the environment of `ratchet-cluster up`. A `ratchet-cluster start` in another shell uses them too.
// Pure, apart from ShellSettings.
#pragma once

#include <string>

#include "chaos/cluster/child_process.h"

namespace ratchet::chaos {

// Returns true if RATCHET_... names a setting of a master or region server. Returns false for variables of one run or
// one test: the address of ZooKeeper, armed fault points, mutants, a moved clock.
[[nodiscard]] bool IsKeptSetting(const std::string& variable);
// Returns the settings in this process's environment.
[[nodiscard]] Environment ShellSettings();
// Returns `kept` without the variables that `shell` sets, because the shell's value wins.
[[nodiscard]] Environment Inherited(const Environment& kept, const Environment& shell);

}  // namespace ratchet::chaos
