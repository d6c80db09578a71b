#include "regionserver/filter/regex_comparator.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "regionserver/filter/refusal.h"

namespace ratchet::regionserver::filters {
namespace {

constexpr int kUnixLines = 1;
constexpr int kCaseInsensitive = 2;
constexpr int kMultiline = 8;
constexpr int kLiteral = 16;
constexpr int kDotAll = 32;
constexpr int kUnicodeCase = 64;
constexpr int kUnicodeClasses = 256;
constexpr int kTaken = kUnixLines | kCaseInsensitive | kMultiline | kLiteral | kDotAll | kUnicodeCase | kUnicodeClasses;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Returns the length of the well-formed UTF-8 character at the front; 0 if there is none.
std::size_t CharacterAt(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// Replaces malformed UTF-8 by replacement characters, as Java does. Returns an empty string if all bytes are
// well-formed.
std::string Repaired(std::string_view bytes) {
  std::string out;
  std::size_t whole = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = CharacterAt(bytes.substr(at));
    if (length > 0) {
      at += length;
      continue;
    }
    out.append(bytes.substr(whole, at - whole)).append(kReplacement);
    whole = ++at;
  }
  if (whole > 0) out.append(bytes.substr(whole));
  return out;
}

class Regex final : public Comparator {
 public:
  Regex(const std::string& pattern, std::string forbidden_end, const RE2::Options& options, bool utf8)
      : regex_(pattern, options), forbidden_end_(std::move(forbidden_end)), utf8_(utf8) {}
  [[nodiscard]] const RE2& regex() const { return regex_; }
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    if (!utf8_) return Finds(stored);
    const std::string repaired = Repaired(stored);
    return Finds(repaired.empty() ? stored : repaired);
  }
  [[nodiscard]] std::size_t held_bytes() const override { return kRegexBytes; }

 private:
  [[nodiscard]] int Finds(std::string_view text) const {
    if (!forbidden_end_.empty() && text.ends_with(forbidden_end_)) return 1;
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex_) ? 0 : 1;
  }
  const RE2 regex_;
  const std::string forbidden_end_;
  const bool utf8_;
};

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  for (const std::string_view each : names) {
    if (upper == each) return true;
  }
  return false;
}

// Converts a pattern from UTF-8 to Latin-1, which RE2 needs to match Latin-1. Returns an empty string if it has other
// characters.
std::string ToLatin1(std::string_view utf8) {
  std::string out;
  for (std::size_t at = 0; at < utf8.size();) {
    const auto first = static_cast<unsigned char>(utf8[at]);
    if (first < 0x80) {
      out.push_back(utf8[at++]);
    } else if ((first == 0xc2 || first == 0xc3) && CharacterAt(utf8.substr(at)) == 2) {
      out.push_back(static_cast<char>((first & 0x03u) << 6 | (static_cast<unsigned char>(utf8[at + 1]) & 0x3fu)));
      at += 2;
    } else {
      return {};
    }
  }
  return out;
}

// The only look-behind that HBase's own clients send (to list quotas of a user in tables) is "...(?<!\QX\E)$": a match
// that ends with the text, where the text does not end with X. Removes it from `pattern` and returns X; returns an
// empty string if `pattern` has no such end.
std::string CutForbiddenEnd(std::string& pattern) {
  constexpr std::string_view kBegin = "(?<!\\Q";
  constexpr std::string_view kEnd = "\\E)$";
  const std::size_t at = pattern.rfind(kBegin);
  if (at == std::string::npos || !std::string_view(pattern).ends_with(kEnd)) return {};
  const std::string_view before = std::string_view(pattern).substr(0, at);
  const std::size_t from = at + kBegin.size();
  if (from + kEnd.size() >= pattern.size()) return {};
  std::string forbidden = pattern.substr(from, pattern.size() - kEnd.size() - from);
  // In an alternation it would belong to the last alternative only; after a backslash or within \Q it is literal text.
  const std::size_t quoted = before.rfind("\\Q");
  const std::size_t unquoted = before.rfind("\\E");
  const bool within_quotes = quoted != before.npos && (unquoted == before.npos || unquoted < quoted);
  if (before.find('|') != before.npos || before.ends_with('\\') || within_quotes ||
      forbidden.find("\\E") != forbidden.npos)
    return {};
  pattern.resize(at);
  pattern += '$';
  return forbidden;
}

}  // namespace

Result<std::unique_ptr<Comparator>> MakeRegex(std::string_view pattern, int flags, std::string_view charset) {
  if (pattern.size() > kMaxPatternBytes) {
    return Refuse(fmt::format("RegexStringComparator: the pattern has {} bytes; the limit is {}", pattern.size(),
                              kMaxPatternBytes));
  }
  if ((flags & ~kTaken) != 0) {
    return Refuse(fmt::format("RegexStringComparator: pattern flags {:#x} are not offered (COMMENTS, CANON_EQ)",
                              flags & ~kTaken));
  }
  const bool latin1 = IsOneOf(charset, {"ISO-8859-1", "ISO8859_1", "LATIN1"});
  if (!latin1 && !IsOneOf(charset, {"UTF-8", "UTF8", "US-ASCII", "ASCII"})) {
    return Refuse(fmt::format("RegexStringComparator: charset {} is not offered; UTF-8, US-ASCII and ISO-8859-1 are",
                              Shown(charset)));
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexBytes);
  options.set_dot_nl((flags & kDotAll) != 0);
  options.set_case_sensitive((flags & kCaseInsensitive) == 0);
  options.set_literal((flags & kLiteral) != 0);
  options.set_never_capture(true);
  if (latin1) options.set_encoding(RE2::Options::EncodingLatin1);
  std::string text(pattern);
  if (latin1) {
    text = ToLatin1(pattern);
    if (text.empty() && !pattern.empty())
      return Refuse("RegexStringComparator: the pattern has characters that ISO-8859-1 lacks");
  }
  std::string forbidden_end;
  if ((flags & (kMultiline | kLiteral | kCaseInsensitive)) == 0) forbidden_end = CutForbiddenEnd(text);
  if ((flags & kMultiline) != 0 && (flags & kLiteral) == 0) text.insert(0, "(?m)");
  auto regex = std::make_unique<Regex>(text, std::move(forbidden_end), options, !latin1);
  if (!regex->regex().ok()) {
    return Refuse(
        fmt::format("RegexStringComparator: the pattern is not offered: {} (RE2's syntax, without look-around and back "
                    "references, docs/wire-compatibility.md)",
                    Shown(regex->regex().error())));
  }
  return std::unique_ptr<Comparator>(std::move(regex));
}

}  // namespace ratchet::regionserver::filters
