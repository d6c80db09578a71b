// Tells the service manager that started this process (systemd, Type=notify) how far it is. Any thread.
#pragma once

#include <string_view>

namespace ratchet {

// `state`: lines of sd_notify(3), for example "READY=1\nSTATUS=standby". Sent to the datagram socket that NOTIFY_SOCKET
// names; without that variable nothing is done. A manager that cannot be reached changes nothing for this process.
void TellServiceManager(std::string_view state);

}  // namespace ratchet
