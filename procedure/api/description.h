// The description of a procedure: ordered fields, for programs by their keys, and as one line for log lines and
// listings: "table=t, region=56f9..., ASSIGN; rit=OPENING".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ratchet::procedure {

class Description {
 public:
  // Appends ", key=value". Keys and values have no line breaks.
  Description& Add(std::string_view key, std::string_view value);
  template <class T>
  requires std::is_integral_v<T> Description& Add(std::string_view key, T value) {
    if constexpr (std::is_same_v<T, bool>) return Add(key, std::string_view(value ? "true" : "false"));
    return Add(key, std::string_view(std::to_string(value)));
  }
  // Appends ", text": a remark without a key.
  Description& Note(std::string_view text);
  // The next field or remark follows "; " instead of ", ".
  Description& Section() {
    separator_ = "; ";
    return *this;
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  // The first value of `key`; empty: there is none. Valid as long as this is neither changed nor moved.
  [[nodiscard]] std::string_view Get(std::string_view key) const;
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> Fields() const;

 private:
  // A field within the text.
  struct Span {
    std::uint32_t key = 0;
    std::uint32_t value = 0;
    std::uint32_t end = 0;
  };
  void Separate();
  [[nodiscard]] std::string_view KeyOf(const Span& span) const;
  [[nodiscard]] std::string_view ValueOf(const Span& span) const;

  std::string text_;
  std::vector<Span> fields_;
  const char* separator_ = ", ";
};

}  // namespace ratchet::procedure
