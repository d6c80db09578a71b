// HBase's filter language, as its shell and Thrift servers take it: "PrefixFilter('a') AND ValueFilter(=,
// 'substring:x')".
//
// Source of the language: the HBase book, "Filter Language". Bytes stand as elsewhere on this command line (\x00); a
// quote within a text is written twice. Pure.
#pragma once

#include <string>

#include "common/base/result.h"

namespace ratchet::cli {

// The serialised message Filter. kInvalidArgument says what is wrong and where; a filter that is not known is answered
// with the names of those that are.
[[nodiscard]] Result<std::string> ParseFilter(const std::string& text);

}  // namespace ratchet::cli
