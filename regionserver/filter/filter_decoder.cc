#include "regionserver/filter/filter_decoder.h"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/model/message_limits.h"
#include "common/model/proto/filter.pb.h"
#include "regionserver/filter/builders.h"
#include "regionserver/filter/comparator_kinds.h"
#include "regionserver/filter/refusal.h"

namespace ratchet::regionserver {
namespace {

namespace pb = ::hbase::pb;
using namespace filters;  // NOLINT(google-build-using-namespace)
using Made = Result<FilterPtr>;

class Decoder {
 public:
  Decoder(const FilterUse& use, const FilterLimits& limits) : use_(use), limits_(limits) {}

  Made Decode(pb::Filter filter, int depth);
  [[nodiscard]] const std::shared_ptr<Faults>& faults() const { return faults_; }
  [[nodiscard]] std::size_t held_bytes() const { return regexes_ * kRegexHeld; }

 private:
  using Function = Made (Decoder::*)(std::string bytes, int depth);
  static const std::map<std::string_view, Function>& Functions();

  // Frees `bytes` after parsing, so that nested filters are not held twice in memory.
  template <class Message>
  Result<Message> Parse(std::string bytes, std::string_view name) const {
    Message message;
    if (const Status parsed = ParseMessage(bytes, message); !parsed.ok())
      return Refuse(fmt::format("filter {} cannot be read: {}", name, parsed.error().message()));
    return message;
  }
  Status Count(std::size_t items, std::string_view name);
  Result<Comparison> Compare(pb::CompareType op, const pb::Comparator* comparator);
  Result<Comparison> Compare(const pb::CompareFilter& filter, bool optional, std::string_view name);

  Made Prefix(std::string bytes, int depth);
  Made Row(std::string bytes, int depth);
  Made Page(std::string bytes, int depth);
  Made InclusiveStop(std::string bytes, int depth);
  Made RandomRow(std::string bytes, int depth);
  Made FilterAll(std::string bytes, int depth);
  Made FuzzyRow(std::string bytes, int depth);
  Made MultiRowRange(std::string bytes, int depth);
  Made Family(std::string bytes, int depth);
  Made Qualifier(std::string bytes, int depth);
  Made ColumnPrefix(std::string bytes, int depth);
  Made MultipleColumnPrefix(std::string bytes, int depth);
  Made ColumnRange(std::string bytes, int depth);
  Made ColumnCountGet(std::string bytes, int depth);
  Made ColumnPagination(std::string bytes, int depth);
  Made FirstKeyOnly(std::string bytes, int depth);
  Made FirstKeyMatching(std::string bytes, int depth);
  Made KeyOnly(std::string bytes, int depth);
  Made Timestamps(std::string bytes, int depth);
  Made Value(std::string bytes, int depth);
  Made SingleColumn(const pb::SingleColumnValueFilter& message, bool exclude);
  Made SingleColumnValue(std::string bytes, int depth);
  Made SingleColumnValueExclude(std::string bytes, int depth);
  Made ColumnValue(std::string bytes, int depth);
  Made DependentColumn(std::string bytes, int depth);
  Made Skip(std::string bytes, int depth);
  Made WhileMatch(std::string bytes, int depth);
  Made Wrapper(std::string bytes, int depth);
  Made List(std::string bytes, int depth);

  static constexpr std::size_t kRegexHeld = 512u << 10;

  const FilterUse use_;
  const FilterLimits limits_;
  const std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
  std::size_t filters_ = 0;
  std::size_t items_ = 0;
  std::size_t regexes_ = 0;
};

const std::map<std::string_view, Decoder::Function>& Decoder::Functions() {
  static const std::map<std::string_view, Function> functions = {
      {"PrefixFilter", &Decoder::Prefix},
      {"RowFilter", &Decoder::Row},
      {"PageFilter", &Decoder::Page},
      {"InclusiveStopFilter", &Decoder::InclusiveStop},
      {"RandomRowFilter", &Decoder::RandomRow},
      {"FilterAllFilter", &Decoder::FilterAll},
      {"FuzzyRowFilter", &Decoder::FuzzyRow},
      {"MultiRowRangeFilter", &Decoder::MultiRowRange},
      {"FamilyFilter", &Decoder::Family},
      {"QualifierFilter", &Decoder::Qualifier},
      {"ColumnPrefixFilter", &Decoder::ColumnPrefix},
      {"MultipleColumnPrefixFilter", &Decoder::MultipleColumnPrefix},
      {"ColumnRangeFilter", &Decoder::ColumnRange},
      {"ColumnCountGetFilter", &Decoder::ColumnCountGet},
      {"ColumnPaginationFilter", &Decoder::ColumnPagination},
      {"FirstKeyOnlyFilter", &Decoder::FirstKeyOnly},
      {"FirstKeyValueMatchingQualifiersFilter", &Decoder::FirstKeyMatching},
      {"KeyOnlyFilter", &Decoder::KeyOnly},
      {"TimestampsFilter", &Decoder::Timestamps},
      {"ValueFilter", &Decoder::Value},
      {"SingleColumnValueFilter", &Decoder::SingleColumnValue},
      {"SingleColumnValueExcludeFilter", &Decoder::SingleColumnValueExclude},
      {"ColumnValueFilter", &Decoder::ColumnValue},
      {"DependentColumnFilter", &Decoder::DependentColumn},
      {"SkipFilter", &Decoder::Skip},
      {"WhileMatchFilter", &Decoder::WhileMatch},
      {"FilterWrapper", &Decoder::Wrapper},
      {"FilterList", &Decoder::List},
  };
  return functions;
}

Made Decoder::Decode(pb::Filter filter, int depth) {
  const auto function = Functions().find(ShortName(filter.name()));
  if (function == Functions().end() || !std::string_view(filter.name()).starts_with(kPackage)) {
    return Refuse(fmt::format("filter {} is not offered: only HBase's own filters are (docs/wire-compatibility.md)",
                              Shown(filter.name())));
  }
  if (depth > limits_.depth) {
    return Refuse(fmt::format("filter {}: filters within filters, deeper than {}", function->first, limits_.depth));
  }
  if (++filters_ > limits_.filters) {
    return Refuse(fmt::format("filter {}: more than {} filters in one request", function->first, limits_.filters));
  }
  return (this->*function->second)(std::move(*filter.mutable_serialized_filter()), depth);
}

Status Decoder::Count(std::size_t items, std::string_view name) {
  items_ += items;
  if (items_ <= limits_.items) return Ok();
  return Refuse(
      fmt::format("filter {}: more than {} ranges, keys, columns and timestamps in one request", name, limits_.items));
}

Result<Comparison> Decoder::Compare(pb::CompareType op, const pb::Comparator* comparator) {
  Comparison comparison;
  switch (op) {
    case pb::LESS: comparison.op = CompareOp::kLess; break;
    case pb::LESS_OR_EQUAL: comparison.op = CompareOp::kLessOrEqual; break;
    case pb::EQUAL: comparison.op = CompareOp::kEqual; break;
    case pb::NOT_EQUAL: comparison.op = CompareOp::kNotEqual; break;
    case pb::GREATER_OR_EQUAL: comparison.op = CompareOp::kGreaterOrEqual; break;
    case pb::GREATER: comparison.op = CompareOp::kGreater; break;
    case pb::NO_OP: comparison.op = CompareOp::kNever; break;
  }
  comparison.faults = faults_;
  if (comparator == nullptr) return comparison;
  if (ShortName(comparator->name()) == "RegexStringComparator" && ++regexes_ > limits_.regexes) {
    return Refuse(fmt::format("RegexStringComparator: more than {} in one filter", limits_.regexes));
  }
  RATCHET_ASSIGN(comparison.comparator, DecodeComparator(*comparator));
  return comparison;
}

Result<Comparison> Decoder::Compare(const pb::CompareFilter& filter, bool optional, std::string_view name) {
  if (!optional && !filter.has_comparator()) return Refuse(fmt::format("filter {} needs a comparator", name));
  return Compare(filter.compare_op(), filter.has_comparator() ? &filter.comparator() : nullptr);
}

Made Decoder::Prefix(std::string bytes, int) {
  RATCHET_ASSIGN(auto message, Parse<pb::PrefixFilter>(std::move(bytes), "PrefixFilter"));
  return message.has_prefix() ? MakePrefix(std::move(*message.mutable_prefix()), use_.reversed) : MakeFilterAll();
}
Made Decoder::Row(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::RowFilter>(std::move(bytes), "RowFilter"));
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_filter(), false, "RowFilter"));
  return MakeRow(std::move(comparison));
}
Made Decoder::Page(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::PageFilter>(std::move(bytes), "PageFilter"));
  if (message.page_size() < 0)
    return Refuse(fmt::format("filter PageFilter: page size {} is negative", message.page_size()));
  return MakePage(message.page_size());
}
Made Decoder::InclusiveStop(std::string bytes, int) {
  RATCHET_ASSIGN(auto message, Parse<pb::InclusiveStopFilter>(std::move(bytes), "InclusiveStopFilter"));
  return MakeInclusiveStop(std::move(*message.mutable_stop_row_key()), use_.reversed);
}
Made Decoder::RandomRow(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::RandomRowFilter>(std::move(bytes), "RandomRowFilter"));
  return MakeRandomRow(message.chance(), use_.seed);
}
Made Decoder::FilterAll(std::string bytes, int) {
  RATCHET_TRY(Parse<pb::FilterAllFilter>(std::move(bytes), "FilterAllFilter"));
  return MakeFilterAll();
}
// A mask byte is 0 for a byte that must match and 1 for a free byte. Clients that prepare masks send -1 for a byte that
// must match, and 2 (older clients: 0) for a free one. So an older client's mask of zeros only lets any byte pass, as
// in HBase.
Made Decoder::FuzzyRow(std::string bytes, int) {
  RATCHET_ASSIGN(auto message, Parse<pb::FuzzyRowFilter>(std::move(bytes), "FuzzyRowFilter"));
  const auto count = static_cast<std::size_t>(message.fuzzy_keys_data_size());
  if (count > limits_.fuzzy_keys)
    return Refuse(fmt::format("filter FuzzyRowFilter: {} keys; the limit is {}", count, limits_.fuzzy_keys));
  std::vector<FuzzyKey> keys;
  for (auto& pair : *message.mutable_fuzzy_keys_data()) {
    FuzzyKey key{std::move(*pair.mutable_first()), std::move(*pair.mutable_second())};
    if (key.key.size() != key.fixed.size()) {
      return Refuse(
          fmt::format("filter FuzzyRowFilter: a key of {} bytes with a mask of {}", key.key.size(), key.fixed.size()));
    }
    const std::string_view prepared_bytes = message.is_mask_v2() ? "\xff\x02" : std::string_view("\xff\0", 2);
    const bool prepared = key.fixed.find_first_not_of(prepared_bytes) == std::string::npos;
    for (char& mask : key.fixed) {
      if (!prepared && mask != '\0' && mask != '\1') {
        return Refuse(fmt::format("filter FuzzyRowFilter: a mask has the byte {}",
                                  static_cast<int>(static_cast<signed char>(mask))));
      }
      mask = static_cast<char>(mask == (prepared ? '\xff' : '\0'));
    }
    keys.push_back(std::move(key));
  }
  return MakeFuzzyRows(std::move(keys), use_.reversed);
}
Made Decoder::MultiRowRange(std::string bytes, int) {
  RATCHET_ASSIGN(auto message, Parse<pb::MultiRowRangeFilter>(std::move(bytes), "MultiRowRangeFilter"));
  RATCHET_TRY(Count(static_cast<std::size_t>(message.row_range_list_size()), "MultiRowRangeFilter"));
  if (message.row_range_list().empty()) return Refuse("filter MultiRowRangeFilter: no ranges");
  std::vector<RowRange> ranges;
  for (auto& each : *message.mutable_row_range_list()) {
    RowRange range;
    range.include_start = each.start_row_inclusive();
    range.include_stop = each.stop_row_inclusive();
    range.start = std::move(*each.mutable_start_row());
    range.stop = std::move(*each.mutable_stop_row());
    const int order = range.stop.empty() ? -1 : range.start.compare(range.stop);
    if (order > 0) return Refuse("filter MultiRowRangeFilter: a range begins after its end");
    if (order == 0 && !(range.include_start && range.include_stop)) continue;  // the range is empty
    ranges.push_back(std::move(range));
  }
  return MakeRowRanges(std::move(ranges), use_.reversed);
}
Made Decoder::Family(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::FamilyFilter>(std::move(bytes), "FamilyFilter"));
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_filter(), false, "FamilyFilter"));
  return MakeFamily(std::move(comparison));
}
Made Decoder::Qualifier(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::QualifierFilter>(std::move(bytes), "QualifierFilter"));
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_filter(), false, "QualifierFilter"));
  return MakeQualifier(std::move(comparison));
}
Made Decoder::ColumnPrefix(std::string bytes, int) {
  RATCHET_ASSIGN(auto message, Parse<pb::ColumnPrefixFilter>(std::move(bytes), "ColumnPrefixFilter"));
  std::vector<std::string> prefixes;
  prefixes.push_back(std::move(*message.mutable_prefix()));
  return MakeColumnPrefixes(std::move(prefixes));
}
Made Decoder::MultipleColumnPrefix(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message,
                 Parse<pb::MultipleColumnPrefixFilter>(std::move(bytes), "MultipleColumnPrefixFilter"));
  RATCHET_TRY(Count(static_cast<std::size_t>(message.sorted_prefixes_size()), "MultipleColumnPrefixFilter"));
  return MakeColumnPrefixes({message.sorted_prefixes().begin(), message.sorted_prefixes().end()});
}
Made Decoder::ColumnRange(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::ColumnRangeFilter>(std::move(bytes), "ColumnRangeFilter"));
  return MakeColumnRange({message.has_min_column(), message.has_max_column(), message.min_column(),
                          message.max_column(), message.min_column_inclusive(), message.max_column_inclusive()});
}
Made Decoder::ColumnCountGet(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::ColumnCountGetFilter>(std::move(bytes), "ColumnCountGetFilter"));
  if (message.limit() < 0)
    return Refuse(fmt::format("filter ColumnCountGetFilter: limit {} is negative", message.limit()));
  return MakeColumnCount(message.limit());
}
Made Decoder::ColumnPagination(std::string bytes, int) {
  RATCHET_ASSIGN(auto message, Parse<pb::ColumnPaginationFilter>(std::move(bytes), "ColumnPaginationFilter"));
  if (message.limit() < 0 || message.offset() < 0) {
    return Refuse(fmt::format("filter ColumnPaginationFilter: limit {} and offset {} must not be negative",
                              message.limit(), message.offset()));
  }
  if (message.has_column_offset())
    return MakeColumnPageFrom(message.limit(), std::move(*message.mutable_column_offset()));
  return MakeColumnPage(message.limit(), message.offset());
}
Made Decoder::FirstKeyOnly(std::string bytes, int) {
  RATCHET_TRY(Parse<pb::FirstKeyOnlyFilter>(std::move(bytes), "FirstKeyOnlyFilter"));
  return MakeFirstKeyOnly();
}
Made Decoder::FirstKeyMatching(std::string bytes, int) {
  constexpr std::string_view kName = "FirstKeyValueMatchingQualifiersFilter";
  RATCHET_ASSIGN(const auto message, Parse<pb::FirstKeyValueMatchingQualifiersFilter>(std::move(bytes), kName));
  RATCHET_TRY(Count(static_cast<std::size_t>(message.qualifiers_size()), kName));
  return MakeFirstKeyMatching({message.qualifiers().begin(), message.qualifiers().end()});
}
Made Decoder::KeyOnly(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::KeyOnlyFilter>(std::move(bytes), "KeyOnlyFilter"));
  return MakeKeyOnly(message.len_as_val());
}
Made Decoder::Timestamps(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::TimestampsFilter>(std::move(bytes), "TimestampsFilter"));
  RATCHET_TRY(Count(static_cast<std::size_t>(message.timestamps_size()), "TimestampsFilter"));
  return MakeTimestamps({message.timestamps().begin(), message.timestamps().end()}, message.can_hint());
}
Made Decoder::Value(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::ValueFilter>(std::move(bytes), "ValueFilter"));
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_filter(), false, "ValueFilter"));
  return MakeValue(std::move(comparison));
}
Made Decoder::SingleColumn(const pb::SingleColumnValueFilter& message, bool exclude) {
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_op(), &message.comparator()));
  filters::SingleColumn what;
  what.column = {message.column_family(), message.column_qualifier()};
  what.filter_if_missing = message.filter_if_missing();
  what.latest_version_only = !message.has_latest_version_only() || message.latest_version_only();
  what.exclude_column = exclude;
  return MakeSingleColumn(std::move(what), std::move(comparison));
}
Made Decoder::SingleColumnValue(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::SingleColumnValueFilter>(std::move(bytes), "SingleColumnValueFilter"));
  return SingleColumn(message, false);
}
Made Decoder::SingleColumnValueExclude(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message,
                 Parse<pb::SingleColumnValueExcludeFilter>(std::move(bytes), "SingleColumnValueExcludeFilter"));
  return SingleColumn(message.single_column_value_filter(), true);
}
Made Decoder::ColumnValue(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::ColumnValueFilter>(std::move(bytes), "ColumnValueFilter"));
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_op(), &message.comparator()));
  return MakeColumnValue({message.family(), message.qualifier()}, std::move(comparison));
}
Made Decoder::DependentColumn(std::string bytes, int) {
  RATCHET_ASSIGN(const auto message, Parse<pb::DependentColumnFilter>(std::move(bytes), "DependentColumnFilter"));
  RATCHET_ASSIGN(auto comparison, Compare(message.compare_filter(), true, "DependentColumnFilter"));
  return MakeDependentColumn({message.column_family(), message.column_qualifier()}, message.drop_dependent_column(),
                             std::move(comparison));
}
Made Decoder::Skip(std::string bytes, int depth) {
  RATCHET_ASSIGN(auto message, Parse<pb::SkipFilter>(std::move(bytes), "SkipFilter"));
  RATCHET_ASSIGN(auto inner, Decode(std::move(*message.mutable_filter()), depth + 1));
  return MakeSkip(std::move(inner));
}
Made Decoder::WhileMatch(std::string bytes, int depth) {
  RATCHET_ASSIGN(auto message, Parse<pb::WhileMatchFilter>(std::move(bytes), "WhileMatchFilter"));
  RATCHET_ASSIGN(auto inner, Decode(std::move(*message.mutable_filter()), depth + 1));
  return MakeWhileMatch(std::move(inner));
}
Made Decoder::Wrapper(std::string bytes, int depth) {
  RATCHET_ASSIGN(auto message, Parse<pb::FilterWrapper>(std::move(bytes), "FilterWrapper"));
  return Decode(std::move(*message.mutable_filter()), depth + 1);
}
Made Decoder::List(std::string bytes, int depth) {
  RATCHET_ASSIGN(auto message, Parse<pb::FilterList>(std::move(bytes), "FilterList"));
  std::vector<FilterPtr> members;
  for (auto& each : *message.mutable_filters()) {
    RATCHET_ASSIGN(auto member, Decode(std::move(each), depth + 1));
    members.push_back(std::move(member));
  }
  return message.operator_() == pb::FilterList::MUST_PASS_ALL ? MakeAll(std::move(members), use_.reversed)
                                                              : MakeAny(std::move(members), use_.reversed);
}

}  // namespace

Result<std::shared_ptr<ReadFilter>> DecodeFilter(const pb::Filter& filter, const FilterUse& use,
                                                 const FilterLimits& limits) {
  const std::size_t bytes = filter.name().size() + filter.serialized_filter().size();
  if (bytes > limits.bytes) {
    return Refuse(fmt::format("filter {}: {} bytes; the limit is {}", Shown(filter.name()), bytes, limits.bytes));
  }
  Decoder decoder(use, limits);
  RATCHET_ASSIGN(auto made, decoder.Decode(filter, 1));
  return std::make_shared<ReadFilter>(std::move(made), decoder.faults(), decoder.held_bytes());
}

}  // namespace ratchet::regionserver
