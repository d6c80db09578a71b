#include "master/process/logic_options.h"

#include "common/base/exit_codes.h"
#include "common/base/prng.h"
#include "common/base/went_back.h"

namespace ratchet::master {

MasterOptions LogicOptions(const MasterConfig& config) {
  MasterOptions options = config.logic;
  options.seed = RandomSeed();
  options.retry.cap = config.procedures.executor.retry.cap;
  options.judges_users = [users = config.rights.users] { return users->mode() != rights::Mode::kOff; };
  return options;
}

int ExitCodeFor(const Error& error) {
  if (IsWentBack(error)) return exit_code::kWentBack;
  switch (error.code()) {
    case Code::kFenced: return exit_code::kFenced;
    case Code::kCorruption: return exit_code::kStoreDamaged;
    case Code::kIo:
    case Code::kNoSpace: return exit_code::kRootUnusable;
    case Code::kUnavailable: return exit_code::kZooKeeperUnreachable;
    case Code::kTimeout: return exit_code::kStorageHangs;  // S102 (evict before fencing): restarts and tries again
    default: return exit_code::kInternal;
  }
}

}  // namespace ratchet::master
