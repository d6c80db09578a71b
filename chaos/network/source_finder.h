// Finds the process at the other end of a loopback connection, through /proc/net/tcp and /proc/<pid>/fd.
//
// It looks only at children of this process, and distinguishes them by their --port argument. No registration is
// needed, so a process that connects in its first millisecond is recognised. Not thread-safe. A search reads the table
// of all connections and the descriptors of this process and its children, so it is slow during a flood of connections,
// and links.h runs it on a separate thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/cluster/child_process.h"

namespace ratchet::chaos {

// Returns the inode of the socket with these ports in the text of /proc/net/tcp, seen from its owner.
[[nodiscard]] std::optional<std::uint64_t> FindInode(std::string_view tcp_table, std::uint16_t local_port,
                                                     std::uint16_t remote_port);
// Returns the value after "--port" in the text of /proc/<pid>/cmdline.
[[nodiscard]] std::optional<std::uint16_t> PortArgument(std::string_view command_line);

class SourceFinder {
 public:
  explicit SourceFinder(std::map<std::uint16_t, std::string> name_of_port) : name_of_port_(std::move(name_of_port)) {}
  // Returns "client" for other processes.
  [[nodiscard]] std::string NameOf(std::uint16_t their_port, std::uint16_t our_port);

 private:
  std::string Search(std::uint64_t inode);

  const std::map<std::uint16_t, std::string> name_of_port_;
  std::map<std::string, ProcessId> known_;
};

}  // namespace ratchet::chaos
