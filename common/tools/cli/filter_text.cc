#include "common/tools/cli/filter_text.h"

#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/filter_kinds.h"

namespace ratchet::cli {
namespace {

namespace hpb = ::hbase::pb;

constexpr int kMostDepth = 50;  // of brackets

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<hpb::Filter> Whole() {
    RATCHET_ASSIGN(auto filter, Either());
    Skip();
    if (at_ < text_.size()) return WrongFilter(fmt::format("unexpected '{}' after the filter", text_.substr(at_)));
    return filter;
  }

 private:
  Result<hpb::Filter> Either() {
    return List("OR", hpb::FilterList::MUST_PASS_ONE, [this] { return Both(); });
  }
  Result<hpb::Filter> Both() {
    return List("AND", hpb::FilterList::MUST_PASS_ALL, [this] { return One(); });
  }

  template <class Part>
  Result<hpb::Filter> List(std::string_view word, hpb::FilterList::Operator op, Part part) {
    RATCHET_ASSIGN(auto first, part());
    hpb::FilterList list;
    list.set_operator_(op);
    while (ConsumeWord(word)) {
      if (list.filters_size() == 0) *list.add_filters() = first;
      RATCHET_ASSIGN(*list.add_filters(), part());
    }
    if (list.filters_size() == 0) return first;
    return WrapFilter("FilterList", list);
  }

  Result<hpb::Filter> One() {
    if (++depth_ > kMostDepth) return WrongFilter(fmt::format("more than {} nested brackets and words", kMostDepth));
    auto filter = Inner();
    --depth_;
    return filter;
  }
  Result<hpb::Filter> Inner() {
    if (ConsumeWord("SKIP")) return Wrapped<hpb::SkipFilter>("SkipFilter");
    if (ConsumeWord("WHILE")) return Wrapped<hpb::WhileMatchFilter>("WhileMatchFilter");
    if (Take('(')) {
      RATCHET_ASSIGN(auto filter, Either());
      if (!Take(')')) return WrongFilter("a ')' is missing");
      return filter;
    }
    const std::string name = Word();
    if (!IsFilter(name))
      return WrongFilter(fmt::format("'{}' is not a filter; known filters: {}", name, FilterNames()));
    RATCHET_ASSIGN(auto arguments, Arguments());
    return MakeFilter(name, std::move(arguments));
  }
  template <class Message>
  Result<hpb::Filter> Wrapped(std::string_view name) {
    Message message;
    RATCHET_ASSIGN(*message.mutable_filter(), One());
    return WrapFilter(name, message);
  }
  Result<std::vector<FilterArgument>> Arguments() {
    std::vector<FilterArgument> arguments;
    if (!Take('(')) return WrongFilter("expected '(' after the name of a filter");
    if (Take(')')) return arguments;
    do {
      RATCHET_ASSIGN(auto argument, OneArgument());
      arguments.push_back(std::move(argument));
    } while (Take(','));
    if (!Take(')')) return WrongFilter("a ')' is missing");
    return arguments;
  }
  Result<FilterArgument> OneArgument() {
    static const std::array<std::pair<std::string_view, hpb::CompareType>, 6> operators = {
        {{"<=", hpb::LESS_OR_EQUAL},
         {">=", hpb::GREATER_OR_EQUAL},
         {"!=", hpb::NOT_EQUAL},
         {"<", hpb::LESS},
         {">", hpb::GREATER},
         {"=", hpb::EQUAL}}};
    Skip();
    FilterArgument argument;
    if (Take('\'')) return Quoted();
    for (const auto& [sign, op] : operators) {
      if (text_.compare(at_, sign.size(), sign) != 0) continue;
      at_ += sign.size();
      argument.kind = FilterArgument::Kind::kOperator;
      argument.op = op;
      return argument;
    }
    const std::string word = Word();
    if (word == "true" || word == "false") {
      argument.kind = FilterArgument::Kind::kFlag;
      argument.flag = word == "true";
      return argument;
    }
    argument.kind = FilterArgument::Kind::kNumber;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), argument.number);
    if (word.empty() || read.ec != std::errc() || read.ptr != word.data() + word.size())
      return WrongFilter(
          fmt::format("'{}' is not an argument; use a text in quotes, a number, true, false or an operator",
                      word.empty() ? text_.substr(at_, 1) : word));
    return argument;
  }
  Result<FilterArgument> Quoted() {
    FilterArgument argument;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] != '\'') {
        argument.text += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        argument.text += text_[at_++];
      } else {
        ++at_;
        RATCHET_ASSIGN(argument.text, FromText(argument.text));
        return argument;
      }
    }
    return WrongFilter("a quote is not closed");
  }

  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string Word() {
    Skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool ConsumeWord(std::string_view word) {
    const std::size_t before = at_;
    if (Word() == word) return true;
    at_ = before;
    return false;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string> ParseFilter(const std::string& text) {
  RATCHET_ASSIGN(const auto filter, Parser(text).Whole());
  return filter.SerializeAsString();
}

}  // namespace ratchet::cli
