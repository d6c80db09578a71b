// JsonWriter: writes one JSON document without spaces, by RapidJSON. Any bytes give a valid document.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "common/base/utf8.h"

namespace ratchet {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return After(writer_.StartObject()); }
  JsonWriter& EndObject() { return After(writer_.EndObject()); }
  JsonWriter& BeginArray() { return After(writer_.StartArray()); }
  JsonWriter& EndArray() { return After(writer_.EndArray()); }
  JsonWriter& Key(std::string_view key) { return Text(key); }
  // Bytes that are not part of a UTF-8 character become U+FFFD.
  JsonWriter& Text(std::string_view text) { return After(WriteUtf8(ToUtf8(text))); }
  JsonWriter& Null() { return After(writer_.Null()); }
  // A value that is JSON already.
  JsonWriter& Raw(std::string_view json) {
    return After(writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType));
  }
  template <std::integral T>
  JsonWriter& Number(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return After(writer_.Bool(value));
    } else if constexpr (std::is_signed_v<T>) {
      return After(writer_.Int64(value));
    } else {
      return After(writer_.Uint64(value));
    }
  }

  // A key and its value.
  JsonWriter& Add(std::string_view key, std::string_view text) { return Key(key).Text(text); }
  template <std::integral T>
  JsonWriter& Add(std::string_view key, T value) {
    return Key(key).Number(value);
  }
  JsonWriter& AddRaw(std::string_view key, std::string_view json) { return Key(key).Raw(json); }

  // The document so far.
  [[nodiscard]] std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  JsonWriter& After(bool /*written*/) { return *this; }
  bool WriteUtf8(const std::string& text) {
    return writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace ratchet
