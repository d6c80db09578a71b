// A cursor that skips the cells of some families (S49: re-added family is new). Pure.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "regionserver/store/cell_cursor.h"

namespace ratchet::regionserver {

[[nodiscard]] std::unique_ptr<CellCursor> WithoutFamilies(std::unique_ptr<CellCursor> cells,
                                                          const std::set<std::string, std::less<>>& families);

}  // namespace ratchet::regionserver
