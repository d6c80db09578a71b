// Chooses the filter of a table's store files from the families' setting BLOOMFILTER. Pure.
#pragma once

#include "common/model/table_descriptor.h"
#include "regionserver/store/row_filter.h"

namespace ratchet::regionserver {

// A file holds cells of all families, so it has a row filter unless every family has NONE. ROWCOL and
// ROWPREFIX_FIXED_LENGTH get a row filter, too. No setting: ROW, as in HBase.
[[nodiscard]] FileFilter FilterFor(const TableDescriptor& table);

}  // namespace ratchet::regionserver
