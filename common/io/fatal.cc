#include "common/io/fatal.h"

#include <unistd.h>

#include "common/base/log.h"
#include "common/io/dead_mount.h"

namespace ratchet::io {
namespace {

FatalHandler& Handler() {
  static auto* const handler = new FatalHandler;  // never freed: threads may use it during exit
  return *handler;
}

}  // namespace

void SetFatalHandler(FatalHandler handler) { Handler() = std::move(handler); }

bool DieOnFailedSync(const Status& status, std::string_view what) {
  if (status.ok()) return true;
  const std::string reason =
      fmt::format("{}: {}; it is unknown what is durable, so this process ends", what, status.error().ToString());
  if (Handler()) {
    Handler()(reason);
    return false;
  }
  RATCHET_LOG(kError, "{}", reason);
  FlushLog();
  _exit(CodeBesideMount(kExitFailedSync));
}

}  // namespace ratchet::io
