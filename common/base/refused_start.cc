#include "common/base/refused_start.h"

#include <cstdio>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/resource_failure.h"

namespace ratchet {

int EndOfRefusedStart(const SelfRestart& self_restart, ExitLatch& exit, const char* program, const std::string& why,
                      bool enabled) {
  std::fprintf(stderr, "%s: %s\n", program, why.c_str());
  ExitReason reason{exit_code::kUsage, why};
  reason.code = CodeOfEnd(reason);
  if (!self_restart.Follows(reason, enabled) || !self_restart.AwaitDelay(exit)) return reason.code;
  FlushLog();
  self_restart.Go(reason);
  return reason.code;
}

}  // namespace ratchet
