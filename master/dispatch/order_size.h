// Estimates the size of an order on the wire, to limit batches; not exact enough for buffers. Pure.
#pragma once

#include <cstddef>

#include "master/env/orders.h"

namespace ratchet::master {

[[nodiscard]] std::size_t RoughSize(const Order& order);

}  // namespace ratchet::master
