// The size of a table's descriptor in a message, for limits of messages that carry it. Pure.
#pragma once

#include <cstddef>

#include "common/model/table_descriptor.h"

namespace ratchet {

// Estimate in bytes, without the table's name.
[[nodiscard]] std::size_t RoughSize(const TableDescriptor& descriptor);

}  // namespace ratchet
