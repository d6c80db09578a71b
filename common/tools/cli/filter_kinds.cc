#include "common/tools/cli/filter_kinds.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "common/tools/cli/bytes_text.h"

namespace ratchet::cli {
namespace {

namespace hpb = ::hbase::pb;

constexpr std::string_view kPackage = "org.apache.hadoop.hbase.filter.";

// Reads the arguments of one filter one after the other, each with its kind.
class Arguments {
 public:
  Arguments(std::string name, std::vector<FilterArgument> all) : name_(std::move(name)), all_(std::move(all)) {}

  [[nodiscard]] bool done() const { return next_ == all_.size(); }
  Result<std::string> Text() { return Take(FilterArgument::Kind::kText, "a text in quotes", &FilterArgument::text); }
  Result<std::int64_t> Number() {
    return Take(FilterArgument::Kind::kNumber, "a whole number", &FilterArgument::number);
  }
  Result<bool> Flag() { return Take(FilterArgument::Kind::kFlag, "true or false", &FilterArgument::flag); }
  Result<hpb::CompareType> Operator() {
    return Take(FilterArgument::Kind::kOperator, "one of < <= = != >= >", &FilterArgument::op);
  }
  Result<std::int32_t> Count() {
    RATCHET_ASSIGN(const std::int64_t number, Number());
    if (number < 0 || number > INT32_MAX)
      return WrongFilter(fmt::format("{}: {} is too large or negative", name_, number));
    return static_cast<std::int32_t>(number);
  }
  // "binary:abc"
  Result<hpb::Comparator> Comparator() {
    RATCHET_ASSIGN(const std::string text, Text());
    const auto colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : text.substr(colon + 1);
    hpb::Comparator comparator;
    const auto make = [&comparator](std::string_view name, const auto& message) {
      comparator.set_name(std::string(kPackage) + std::string(name));
      comparator.set_serialized_comparator(message.SerializeAsString());
    };
    if (colon != std::string::npos && kind == "binary") {
      hpb::BinaryComparator message;
      message.mutable_comparable()->set_value(value);
      make("BinaryComparator", message);
    } else if (colon != std::string::npos && kind == "binaryprefix") {
      hpb::BinaryPrefixComparator message;
      message.mutable_comparable()->set_value(value);
      make("BinaryPrefixComparator", message);
    } else if (colon != std::string::npos && kind == "regexstring") {
      hpb::RegexStringComparator message;
      message.set_pattern(value);
      message.set_pattern_flags(0);
      message.set_charset("UTF-8");
      make("RegexStringComparator", message);
    } else if (colon != std::string::npos && kind == "substring") {
      hpb::SubstringComparator message;
      message.set_substr(value);
      make("SubstringComparator", message);
    } else {
      return WrongFilter(fmt::format(
          "{}: '{}' must begin with binary:, binaryprefix:, regexstring: or substring:", name_, ToText(text)));
    }
    return comparator;
  }

 private:
  template <class Value>
  Result<Value> Take(FilterArgument::Kind kind, const char* what, Value FilterArgument::*value) {
    if (done() || all_[next_].kind != kind)
      return WrongFilter(fmt::format("{}: argument {} must be {}", name_, next_ + 1, what));
    return all_[next_++].*value;
  }
  const std::string name_;
  const std::vector<FilterArgument> all_;
  std::size_t next_ = 0;
};

template <class Message>
Result<hpb::Filter> Compared(std::string_view name, Arguments& from) {
  Message message;
  RATCHET_ASSIGN(const auto op, from.Operator());
  RATCHET_ASSIGN(*message.mutable_compare_filter()->mutable_comparator(), from.Comparator());
  message.mutable_compare_filter()->set_compare_op(op);
  return WrapFilter(name, message);
}

Result<hpb::SingleColumnValueFilter> OfColumn(Arguments& from) {
  hpb::SingleColumnValueFilter message;
  RATCHET_ASSIGN(*message.mutable_column_family(), from.Text());
  RATCHET_ASSIGN(*message.mutable_column_qualifier(), from.Text());
  RATCHET_ASSIGN(const auto op, from.Operator());
  message.set_compare_op(op);
  RATCHET_ASSIGN(*message.mutable_comparator(), from.Comparator());
  message.set_latest_version_only(true);
  if (from.done()) return message;
  RATCHET_ASSIGN(const bool missing, from.Flag());
  RATCHET_ASSIGN(const bool latest, from.Flag());
  message.set_filter_if_missing(missing);
  message.set_latest_version_only(latest);
  return message;
}

using Make = std::function<Result<hpb::Filter>(std::string_view name, Arguments& from)>;

template <class Message, class Set>
Make WithText(Set set) {
  return [set](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
    Message message;
    RATCHET_ASSIGN(std::string text, from.Text());
    set(message, std::move(text));
    return WrapFilter(name, message);
  };
}

const std::map<std::string, Make, std::less<>>& Makers() {
  static const std::map<std::string, Make, std::less<>> makers = {
      {"KeyOnlyFilter",
       [](std::string_view name, Arguments&) -> Result<hpb::Filter> {
         hpb::KeyOnlyFilter message;
         message.set_len_as_val(false);
         return WrapFilter(name, message);
       }},
      {"FirstKeyOnlyFilter",
       [](std::string_view name, Arguments&) -> Result<hpb::Filter> {
         return WrapFilter(name, hpb::FirstKeyOnlyFilter());
       }},
      {"PrefixFilter",
       WithText<hpb::PrefixFilter>([](auto& message, std::string text) { message.set_prefix(std::move(text)); })},
      {"ColumnPrefixFilter",
       WithText<hpb::ColumnPrefixFilter>([](auto& message, std::string text) { message.set_prefix(std::move(text)); })},
      {"InclusiveStopFilter", WithText<hpb::InclusiveStopFilter>(
                                  [](auto& message, std::string text) { message.set_stop_row_key(std::move(text)); })},
      {"MultipleColumnPrefixFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         std::vector<std::string> prefixes;
         do {
           RATCHET_ASSIGN(std::string text, from.Text());
           prefixes.push_back(std::move(text));
         } while (!from.done());
         std::sort(prefixes.begin(), prefixes.end());
         hpb::MultipleColumnPrefixFilter message;
         for (std::string& prefix : prefixes) message.add_sorted_prefixes(std::move(prefix));
         return WrapFilter(name, message);
       }},
      {"ColumnCountGetFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::ColumnCountGetFilter message;
         RATCHET_ASSIGN(const auto limit, from.Count());
         message.set_limit(limit);
         return WrapFilter(name, message);
       }},
      {"PageFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::PageFilter message;
         RATCHET_ASSIGN(const auto size, from.Count());
         message.set_page_size(size);
         return WrapFilter(name, message);
       }},
      {"ColumnPaginationFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::ColumnPaginationFilter message;
         RATCHET_ASSIGN(const auto limit, from.Count());
         RATCHET_ASSIGN(const auto offset, from.Count());
         message.set_limit(limit);
         message.set_offset(offset);
         return WrapFilter(name, message);
       }},
      {"TimestampsFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::TimestampsFilter message;
         do {
           RATCHET_ASSIGN(const auto at, from.Number());
           message.add_timestamps(at);
         } while (!from.done());
         return WrapFilter(name, message);
       }},
      {"ColumnRangeFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::ColumnRangeFilter message;
         RATCHET_ASSIGN(*message.mutable_min_column(), from.Text());
         RATCHET_ASSIGN(const bool with_min, from.Flag());
         RATCHET_ASSIGN(*message.mutable_max_column(), from.Text());
         RATCHET_ASSIGN(const bool with_max, from.Flag());
         message.set_min_column_inclusive(with_min);
         message.set_max_column_inclusive(with_max);
         return WrapFilter(name, message);
       }},
      {"RowFilter", Compared<hpb::RowFilter>},
      {"FamilyFilter", Compared<hpb::FamilyFilter>},
      {"QualifierFilter", Compared<hpb::QualifierFilter>},
      {"ValueFilter", Compared<hpb::ValueFilter>},
      {"SingleColumnValueFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         RATCHET_ASSIGN(const auto message, OfColumn(from));
         return WrapFilter(name, message);
       }},
      {"SingleColumnValueExcludeFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::SingleColumnValueExcludeFilter message;
         RATCHET_ASSIGN(*message.mutable_single_column_value_filter(), OfColumn(from));
         return WrapFilter(name, message);
       }},
      {"ColumnValueFilter",
       [](std::string_view name, Arguments& from) -> Result<hpb::Filter> {
         hpb::ColumnValueFilter message;
         RATCHET_ASSIGN(*message.mutable_family(), from.Text());
         RATCHET_ASSIGN(*message.mutable_qualifier(), from.Text());
         RATCHET_ASSIGN(const auto op, from.Operator());
         message.set_compare_op(op);
         RATCHET_ASSIGN(*message.mutable_comparator(), from.Comparator());
         return WrapFilter(name, message);
       }},
  };
  return makers;
}

}  // namespace

Error WrongFilter(std::string why) { return Error(Code::kInvalidArgument, "--filter: " + std::move(why)); }

bool IsFilter(const std::string& name) { return Makers().contains(name); }

std::string FilterNames() {
  std::string names;
  for (const auto& [each, make] : Makers()) names += (names.empty() ? "" : ", ") + each;
  return names;
}

Result<hpb::Filter> MakeFilter(const std::string& name, std::vector<FilterArgument> arguments) {
  Arguments from(name, std::move(arguments));
  RATCHET_ASSIGN(auto filter, Makers().at(name)(name, from));
  if (!from.done()) return WrongFilter(fmt::format("{}: too many arguments", name));
  return filter;
}

}  // namespace ratchet::cli
