// The storage client of a process, written down where a successor finds it before it fences, S102 (evict before
// fencing).
//
// A note is an empty file whose NAME is the information: a listing does not depend on a dead client, while the storage
// may block access to that client's files until it is evicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

struct StorageClient {
  std::string name;      // as the storage's administrator assigned it: CephFS's client.NAME without "client."
  std::uint64_t id = 0;  // of this mount; 0: unknown

  friend bool operator==(const StorageClient&, const StorageClient&) = default;
  [[nodiscard]] std::string ToString() const;  // "rs-1", or "rs-1 (session 4164)"
};

// 1 to 100 letters, digits, '.', '_' and '-', not beginning with '-'.
[[nodiscard]] bool IsClientName(std::string_view name);
// The client of the mount that holds `path`: CephFS provides it (ceph.client_id); 0 elsewhere.
[[nodiscard]] std::uint64_t ClientIdAt(const std::string& path);

// "<prefix><id>.<name>".
[[nodiscard]] std::string ClientNote(std::string_view prefix, const StorageClient& client);
// The clients that the names of a listing note under this prefix; other names are skipped.
[[nodiscard]] std::vector<StorageClient> NotedClients(const std::vector<std::string>& names, std::string_view prefix);
// Durable; Ok also when the note exists already.
[[nodiscard]] Status NoteClient(Directory& directory, std::string_view prefix, const StorageClient& client);

// Prefix of the note's name in a region server's log directory.
inline constexpr std::string_view kClientNotePrefix = "client.";

}  // namespace ratchet::io
