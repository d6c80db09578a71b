#include "procedure/api/description.h"

namespace ratchet::procedure {

void Description::Separate() {
  if (!text_.empty()) text_ += separator_;
  separator_ = ", ";
}

Description& Description::Add(std::string_view key, std::string_view value) {
  Separate();
  Span span;
  span.key = static_cast<std::uint32_t>(text_.size());
  text_.append(key).append("=");
  span.value = static_cast<std::uint32_t>(text_.size());
  text_.append(value);
  span.end = static_cast<std::uint32_t>(text_.size());
  fields_.push_back(span);
  return *this;
}

Description& Description::Note(std::string_view text) {
  Separate();
  text_.append(text);
  return *this;
}

std::string_view Description::KeyOf(const Span& span) const {
  return std::string_view(text_).substr(span.key, span.value - 1 - span.key);
}

std::string_view Description::ValueOf(const Span& span) const {
  return std::string_view(text_).substr(span.value, span.end - span.value);
}

std::string_view Description::Get(std::string_view key) const {
  for (const Span& span : fields_) {
    if (KeyOf(span) == key) return ValueOf(span);
  }
  return {};
}

std::vector<std::pair<std::string_view, std::string_view>> Description::Fields() const {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  all.reserve(fields_.size());
  for (const Span& span : fields_) all.emplace_back(KeyOf(span), ValueOf(span));
  return all;
}

}  // namespace ratchet::procedure
