// Under which client a process uses its storage, written down where a successor finds it before it fences (S102).
//
// A note is an empty file whose NAME says it: a listing needs nothing of a client that is dead, while its files may be
// held back by the storage until the client is given up.
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
  std::string name;      // as the storage's administrator gave it: CephFS's client.NAME without "client."
  std::uint64_t id = 0;  // of this mount; 0: not known

  friend bool operator==(const StorageClient&, const StorageClient&) = default;
  [[nodiscard]] std::string ToString() const;  // "rs-1", or "rs-1 (session 4164)"
};

// 1 to 100 letters, digits, '.', '_' and '-', not beginning with '-'.
[[nodiscard]] bool IsClientName(std::string_view name);
// Of the mount that holds `path`: CephFS tells it (ceph.client_id); 0 elsewhere.
[[nodiscard]] std::uint64_t ClientIdAt(const std::string& path);

// "<prefix><id>.<name>".
[[nodiscard]] std::string ClientNote(std::string_view prefix, const StorageClient& client);
// What the names of a listing note under this prefix; others are passed over.
[[nodiscard]] std::vector<StorageClient> NotedClients(const std::vector<std::string>& names, std::string_view prefix);
// Durably; one that is there already is as good.
[[nodiscard]] Status NoteClient(Directory& directory, std::string_view prefix, const StorageClient& client);

// In a region server's log directory.
inline constexpr std::string_view kClientNotePrefix = "client.";

}  // namespace ratchet::io
