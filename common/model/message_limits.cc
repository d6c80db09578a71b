#include "common/model/message_limits.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <climits>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/base/mutex.h"

namespace ratchet {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMostDepth = 100;                // protobuf's own
constexpr std::size_t kMostFieldNumber = 512;  // above it a field counts like an unknown one
constexpr std::size_t kAllocation = 16;        // overhead of the allocator, for each piece
constexpr std::size_t kString = sizeof(std::string) + kAllocation;
constexpr std::size_t kElement = 2 * sizeof(void*);  // of a list, with the room into which it grows
constexpr std::size_t kUnknownField = 2 * 16;
constexpr std::size_t kMostNamed = 3;

}  // namespace

class MessageShape {
 public:
  struct Field {
    bool known = false;
    bool repeated = false;
    const MessageShape* message = nullptr;  // of its elements; null: a scalar or a string
    bool text = false;
  };
  std::size_t bytes = 0;  // of an empty message
  std::vector<Field> fields;

  [[nodiscard]] Field At(std::uint64_t number) const { return number < fields.size() ? fields[number] : Field{}; }
};

namespace {

bool HasMap(const Descriptor& descriptor) {
  for (int i = 0; i < descriptor.field_count(); ++i)
    if (descriptor.field(i)->is_map()) return true;
  return false;
}

// Returns an upper bound of the memory of an empty message. In a build with ThreadSanitizer, map fields have another
// layout than in Debian's library, which must not touch them then. So the size of a message with map fields is
// estimated.
std::size_t EmptyBytes(const Descriptor& descriptor) {
  constexpr std::size_t kOfMessage = 128;
  constexpr std::size_t kOfField = 160;
  const auto fields = static_cast<std::size_t>(descriptor.field_count());
  if (HasMap(descriptor)) return kOfMessage + fields * kOfField;
  const Message* empty = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&descriptor);
  return empty == nullptr ? kOfMessage : empty->SpaceUsedLong();
}

class Shapes {
 public:
  const MessageShape& Of(const Descriptor& descriptor) {
    MutexLock lock(mutex_);
    return Make(descriptor);
  }

 private:
  const MessageShape& Make(const Descriptor& descriptor) REQUIRES(mutex_) {
    std::unique_ptr<MessageShape>& made = shapes_[&descriptor];
    if (made != nullptr) return *made;
    made = std::make_unique<MessageShape>();
    MessageShape& shape = *made;  // its address is stable, also for messages that contain themselves
    shape.bytes = EmptyBytes(descriptor) + kAllocation;
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const FieldDescriptor& field = *descriptor.field(i);
      const auto number = static_cast<std::size_t>(field.number());
      if (number > kMostFieldNumber) continue;
      if (shape.fields.size() <= number) shape.fields.resize(number + 1);
      MessageShape::Field made_field;
      made_field.known = true;
      made_field.repeated = field.is_repeated();
      made_field.text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) made_field.message = &Make(*field.message_type());
      shape.fields[number] = made_field;
    }
    return shape;
  }

  Mutex mutex_;
  std::map<const Descriptor*, std::unique_ptr<MessageShape>> shapes_ GUARDED_BY(mutex_);
};

// One walk over the bytes of a message.
class Counter {
 public:
  explicit Counter(std::size_t most_messages) : most_messages_(most_messages) {}

  // Returns false if the walk ends here, because of malformed bytes or too many messages.
  bool Walk(const MessageShape& shape, std::string_view wire, int depth) {
    if (depth > kMostDepth) return false;
    int groups = 0;  // depth of groups at this point; their fields are kept as unknown ones
    while (!wire.empty()) {
      std::uint64_t tag = 0;
      if (!ReadVarint(wire, tag)) return false;
      const MessageShape::Field field = groups == 0 ? shape.At(tag >> 3) : MessageShape::Field{};
      if (!field.known) count_.bytes += kUnknownField;
      switch (tag & 7) {
        case 0:
          if (!ReadVarint(wire, tag)) return false;
          if (field.repeated) count_.bytes += kElement;
          break;
        case 1:
        case 5: {
          const std::size_t size = (tag & 7) == 1 ? 8 : 4;
          if (wire.size() < size) return false;
          wire.remove_prefix(size);
          if (field.repeated) count_.bytes += kElement;
          break;
        }
        case 2:
          if (!ReadDelimited(field, wire, depth)) return false;
          break;
        case 3:
          count_.bytes += 2 * kUnknownField + kAllocation;
          if (!CountOne() || ++groups > kMostDepth) return false;
          break;
        case 4:
          if (--groups < 0) return false;
          break;
        default: return false;
      }
    }
    return true;
  }

  bool CountOne() { return ++count_.messages <= most_messages_; }
  MessageCount& count() { return count_; }

 private:
  static bool ReadVarint(std::string_view& wire, std::uint64_t& value) {
    value = 0;
    for (unsigned i = 0; i < 10 && i < wire.size(); ++i) {
      const auto byte = static_cast<unsigned char>(wire[i]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
      if (byte < 0x80) {
        wire.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  bool ReadDelimited(const MessageShape::Field& field, std::string_view& wire, int depth) {
    std::uint64_t length = 0;
    if (!ReadVarint(wire, length) || length > wire.size()) return false;
    const std::string_view inner = wire.substr(0, length);
    wire.remove_prefix(length);
    if (field.repeated) count_.bytes += kElement;
    if (field.message != nullptr) {
      count_.bytes += field.message->bytes;
      return CountOne() && Walk(*field.message, inner, depth + 1);
    }
    if (field.known && !field.text) {  // numbers, packed
      count_.bytes += inner.size() * kElement;
      return true;
    }
    // A list of strings, and a field that is kept unread, costs as much as a list of messages.
    if ((field.repeated || !field.known) && !CountOne()) return false;
    count_.bytes += kString;
    if (inner.size() >= sizeof(std::string) / 2) count_.bytes += inner.size() + kAllocation;
    return true;
  }

  const std::size_t most_messages_;
  MessageCount count_;
};

// Appends the names of missing fields until there are enough.
void NameMissing(const Message& message, const std::string& prefix, std::vector<std::string>& names) {
  const Descriptor& descriptor = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < descriptor.field_count() && names.size() <= kMostNamed; ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    if (field.is_required() && !reflection.HasField(message, &field)) {
      names.push_back(prefix + field.name());
      continue;
    }
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field.is_repeated()) {
      if (!reflection.HasField(message, &field)) continue;
      const Message& inner = reflection.GetMessage(message, &field);
      if (!inner.IsInitialized()) NameMissing(inner, prefix + field.name() + ".", names);
      continue;
    }
    const int size = reflection.FieldSize(message, &field);
    for (int k = 0; k < size && names.size() <= kMostNamed; ++k) {
      const Message& inner = reflection.GetRepeatedMessage(message, &field, k);
      if (!inner.IsInitialized()) NameMissing(inner, fmt::format("{}{}[{}].", prefix, field.name(), k), names);
    }
  }
}

}  // namespace

const MessageShape& ShapeOf(const Descriptor& descriptor) {
  static Shapes shapes;
  return shapes.Of(descriptor);
}

MessageCount CountMessages(const MessageShape& shape, std::string_view wire, std::size_t most_messages) {
  Counter counter(most_messages);
  counter.count().bytes = shape.bytes;
  if (counter.CountOne()) static_cast<void>(counter.Walk(shape, wire, 0));
  return counter.count();
}

std::string MissingFields(const google::protobuf::MessageLite& message) {
  std::vector<std::string> names;
  if (const auto* whole = dynamic_cast<const Message*>(&message)) NameMissing(*whole, "", names);
  std::string text = message.GetTypeName() + ": missing required fields: ";
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamed) text += " and more";
  return text;
}

Status ParseMessage(std::string_view wire, Message& message, std::size_t most_messages) {
  const MessageCount count = CountMessages(ShapeOf(*message.GetDescriptor()), wire, most_messages);
  if (count.messages > most_messages) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: more than {} messages inside", message.GetTypeName(), most_messages));
  }
  // Partial, because otherwise protobuf logs every missing field.
  if (wire.size() > INT_MAX || !message.ParsePartialFromArray(wire.data(), static_cast<int>(wire.size())))
    return Error(Code::kCorruption, fmt::format("{}: malformed", message.GetTypeName()));
  if (!message.IsInitialized()) return Error(Code::kCorruption, MissingFields(message));
  return Ok();
}

}  // namespace ratchet
