// Notifies the service manager that started this process (systemd, Type=notify) of its state. Any thread.
#pragma once

#include <string_view>

namespace ratchet {

// `state`: lines of sd_notify(3), for example "READY=1\nSTATUS=standby". Sent to the datagram socket that NOTIFY_SOCKET
// names; without that variable the call does nothing. A manager that cannot be reached does not affect this process.
void NotifyServiceManager(std::string_view state);

}  // namespace ratchet
