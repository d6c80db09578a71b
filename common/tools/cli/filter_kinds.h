// The filters that the filter language knows (filter_text.h): makes a message from a name and its arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/filter.pb.h"

namespace ratchet::cli {

struct FilterArgument {
  enum class Kind : std::uint8_t { kText, kNumber, kOperator, kFlag };
  Kind kind = Kind::kText;
  std::string text;
  std::int64_t number = 0;
  ::hbase::pb::CompareType op = ::hbase::pb::EQUAL;
  bool flag = false;
};

[[nodiscard]] Error WrongFilter(std::string why);
// Returns false if no filter has this name.
[[nodiscard]] bool IsFilter(const std::string& name);
// "ColumnPrefixFilter, ...": the names of all filters.
[[nodiscard]] std::string FilterNames();
// `name`: one of these. kInvalidArgument names the argument that is wrong.
[[nodiscard]] Result<::hbase::pb::Filter> MakeFilter(const std::string& name, std::vector<FilterArgument> arguments);

template <class Message>
::hbase::pb::Filter WrapFilter(std::string_view name, const Message& message) {
  ::hbase::pb::Filter filter;
  filter.set_name("org.apache.hadoop.hbase.filter." + std::string(name));
  filter.set_serialized_filter(message.SerializeAsString());
  return filter;
}

}  // namespace ratchet::cli
