// Kinds of changes of a replication peer.
#pragma once

#include <cstdint>

namespace ratchet::master {

enum class PeerChange : std::uint8_t { kAdd, kRemove, kEnable, kDisable, kUpdate };

}  // namespace ratchet::master
