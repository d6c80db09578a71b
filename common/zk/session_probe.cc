#include "common/zk/session_probe.h"

#include "common/base/log.h"
#include "common/zk/quiet_close.h"

namespace ratchet::zk {
namespace {

void DropLine(const char* /*message*/) {}

}  // namespace

SessionProbe::SessionProbe(const std::string& servers, Millis session_timeout)
    : handle_(zookeeper_init2(servers.c_str(), &SessionProbe::OnSessionEvent, static_cast<int>(session_timeout.count()),
                              nullptr, this, 0, &DropLine)) {}

SessionProbe::~SessionProbe() {
  if (handle_ == nullptr) return;
  if (const int code = CloseQuietly(handle_); code != ZOK)
    RATCHET_LOG(kDebug, "closing a probe's ZooKeeper session: {}", zerror(code));
}

void SessionProbe::OnSessionEvent(zhandle_t* /*zh*/, int type, int state, const char* /*path*/, void* context) {
  auto* probe = static_cast<SessionProbe*>(context);
  if (type != ZOO_SESSION_EVENT || probe == nullptr) return;
  const MutexLock lock(probe->mutex_);
  if (state != ZOO_CONNECTED_STATE) {
    probe->connected_.reset();
  } else if (!probe->connected_.has_value()) {
    probe->connected_ = probe->clock_.Now();
  }
}

std::optional<Millis> SessionProbe::ConnectedFor() const {
  const MutexLock lock(mutex_);
  if (!connected_.has_value()) return std::nullopt;
  return std::chrono::duration_cast<Millis>(clock_.Now() - *connected_);
}

}  // namespace ratchet::zk
