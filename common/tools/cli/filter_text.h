// HBase's filter language, as its shell and Thrift servers accept it: "PrefixFilter('a') AND ValueFilter(=,
// 'substring:x')".
//
// Source of the language: the HBase book, "Filter Language". Bytes are written as elsewhere on this command line
// (\x00); a quote within a text is written twice. Pure.
#pragma once

#include <string>

#include "common/base/result.h"

namespace ratchet::cli {

// Returns the serialised message Filter. kInvalidArgument gives the error and its position; for an unknown filter it
// lists the known ones.
[[nodiscard]] Result<std::string> ParseFilter(const std::string& text);

}  // namespace ratchet::cli
