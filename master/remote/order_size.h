// How large an order is on the wire, roughly: for cutting batches, not for buffers. Pure.
#pragma once

#include <cstddef>

#include "master/env/orders.h"

namespace ratchet::master {

[[nodiscard]] std::size_t RoughSize(const Order& order);

}  // namespace ratchet::master
