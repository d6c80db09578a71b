// The format of one field and one line: for printer.cc and row_stream.cc.
#pragma once

#include <string>
#include <vector>

#include "common/tools/cli/field.h"

namespace ratchet::cli {

[[nodiscard]] std::string FieldText(const Field& field);
// Columns that a terminal needs for UTF-8 text, one a code point.
[[nodiscard]] std::size_t TextWidth(const std::string& text);
// One line of a table, without its end; `header`: bold, with colours.
[[nodiscard]] std::string TableLine(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                                    const Look& look, bool header);
// One row as a JSON object.
[[nodiscard]] std::string JsonText(const std::vector<std::string>& headers, const std::vector<Field>& row);

}  // namespace ratchet::cli
