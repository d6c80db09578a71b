#include "tests/support/sim_event.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"

namespace ratchet::io {

std::string_view SimOpName(SimOp op) {
  switch (op) {
    case SimOp::kLookUp: return "look up";
    case SimOp::kList: return "list";
    case SimOp::kRead: return "read";
    case SimOp::kOpen: return "open";
    case SimOp::kCreate: return "create";
    case SimOp::kAppend: return "append";
    case SimOp::kReserve: return "reserve";
    case SimOp::kCut: return "cut";
    case SimOp::kRename: return "rename";
    case SimOp::kLink: return "link";
    case SimOp::kUnlink: return "unlink";
    case SimOp::kMakeDir: return "make directory";
    case SimOp::kRemoveDir: return "remove directory";
    case SimOp::kSyncFile: return "sync file";
    case SimOp::kSyncDirectory: return "sync directory";
  }
  return "?";
}

std::string SimEvent::ToString() const {
  return fmt::format("{}. {} {}{}{}{}", number, SimOpName(op), path, to.empty() ? "" : " -> ", to,
                     bytes == 0 ? "" : fmt::format(" ({} bytes)", bytes));
}

SimHook CrashAtOp(std::uint64_t number, bool after) {
  return [number, after](const SimEvent& event) {
    if (event.number != number) return SimVerdict::Proceed();
    return after ? SimVerdict::CrashAfter() : SimVerdict::CrashBefore();
  };
}

SimHook SkipOp(std::uint64_t number) {
  return
      [number](const SimEvent& event) { return event.number == number ? SimVerdict::Skip() : SimVerdict::Proceed(); };
}

SimHook FailOps(SimOp op, std::string path_part, Code code) {
  return [op, path_part = std::move(path_part), code](const SimEvent& event) {
    const bool hit = event.op == op && event.path.find(path_part) != std::string::npos;
    return hit ? SimVerdict::Fail(code) : SimVerdict::Proceed();
  };
}

}  // namespace ratchet::io
