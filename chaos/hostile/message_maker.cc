#include "chaos/hostile/message_maker.h"

#include <iterator>

#include "common/model/cell_codec.h"

namespace ratchet::chaos {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::Reflection;

constexpr int kDeepest = 7;
constexpr std::uint64_t kEdges[] = {0,          1,         2,           3,          16,
                                    127,        128,       255,         256,        65'535,
                                    65'536,     INT32_MAX, 0x80000000,  UINT32_MAX, 1ULL << 32,
                                    1ULL << 48, INT64_MAX, 1ULL << 63U, UINT64_MAX, UINT64_MAX - 1};

}  // namespace

std::unique_ptr<Message> MessageMaker::Make(const Descriptor& type) {
  std::unique_ptr<Message> message(MessageFactory::generated_factory()->GetPrototype(&type)->New());
  Fill(*message, 0);
  return message;
}

bool MessageMaker::FillNamed(Message& message, int depth) {
  const Descriptor& type = *message.GetDescriptor();
  if (type.full_name() != "hbase.pb.Filter" && type.full_name() != "hbase.pb.Comparator") return false;
  if (prng_.Below(10) == 0) return false;
  std::vector<const Descriptor*> classes;
  for (int i = 0; i < type.file()->message_type_count(); ++i) {
    const Descriptor& each = *type.file()->message_type(i);
    if (&each == &type || each.name().find(type.name()) == std::string::npos) continue;
    if (depth < kDeepest || each.field_count() == 0) classes.push_back(&each);
  }
  const Descriptor& chosen = *classes[prng_.Below(classes.size())];
  const std::unique_ptr<Message> content(MessageFactory::generated_factory()->GetPrototype(&chosen)->New());
  Fill(*content, depth + 1);
  const Reflection& reflection = *message.GetReflection();
  reflection.SetString(&message, type.field(0), "org.apache.hadoop.hbase.filter." + chosen.name());
  reflection.SetString(&message, type.field(1), content->SerializePartialAsString());
  return true;
}

void MessageMaker::Fill(Message& message, int depth) {
  if (FillNamed(message, depth)) return;
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) FillField(message, *type.field(i), depth);
}

void MessageMaker::FillField(Message& message, const Field& field, int depth) {
  if (field.is_repeated()) {
    if (depth >= kDeepest) return;
    const std::uint64_t dice = prng_.Below(40);
    const std::uint64_t count = dice == 0 ? 200 : dice % 4;
    for (std::uint64_t i = 0; i < count; ++i) FillOne(message, field, dice == 0 ? kDeepest : depth);
    return;
  }
  const bool optional_message = !field.is_required() && field.cpp_type() == Field::CPPTYPE_MESSAGE;
  if (optional_message && depth >= kDeepest) return;
  if (field.is_required() || prng_.Below(100) < 60) FillOne(message, field, depth);
}

void MessageMaker::FillOne(Message& message, const Field& field, int depth) {
  const Reflection& reflection = *message.GetReflection();
  const bool add = field.is_repeated();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_MESSAGE:
      Fill(add ? *reflection.AddMessage(&message, &field) : *reflection.MutableMessage(&message, &field), depth + 1);
      return;
    case Field::CPPTYPE_STRING:
      add ? reflection.AddString(&message, &field, Text()) : reflection.SetString(&message, &field, Text());
      return;
    case Field::CPPTYPE_ENUM: {
      const auto& values = *field.enum_type();
      const auto& value =
          *values.value(static_cast<int>(prng_.Below(static_cast<std::uint64_t>(values.value_count()))));
      add ? reflection.AddEnum(&message, &field, &value) : reflection.SetEnum(&message, &field, &value);
      return;
    }
    default: SetNumber(message, field, add);
  }
}

void MessageMaker::SetNumber(Message& message, const Field& field, bool add) {
  const Reflection& reflection = *message.GetReflection();
  const std::uint64_t number = Number();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT32: {
      const auto value = static_cast<std::int32_t>(number);
      return add ? reflection.AddInt32(&message, &field, value) : reflection.SetInt32(&message, &field, value);
    }
    case Field::CPPTYPE_UINT32: {
      const auto value = static_cast<std::uint32_t>(number);
      return add ? reflection.AddUInt32(&message, &field, value) : reflection.SetUInt32(&message, &field, value);
    }
    case Field::CPPTYPE_INT64: {
      const auto value = static_cast<std::int64_t>(number);
      return add ? reflection.AddInt64(&message, &field, value) : reflection.SetInt64(&message, &field, value);
    }
    case Field::CPPTYPE_UINT64: {
      return add ? reflection.AddUInt64(&message, &field, number) : reflection.SetUInt64(&message, &field, number);
    }
    case Field::CPPTYPE_BOOL: {
      const bool value = number % 2 == 1;
      return add ? reflection.AddBool(&message, &field, value) : reflection.SetBool(&message, &field, value);
    }
    case Field::CPPTYPE_DOUBLE: {
      const double value = number % 5 == 0 ? -1.0e308 : static_cast<double>(number);
      return add ? reflection.AddDouble(&message, &field, value) : reflection.SetDouble(&message, &field, value);
    }
    case Field::CPPTYPE_FLOAT: {
      const auto value = static_cast<float>(number);
      return add ? reflection.AddFloat(&message, &field, value) : reflection.SetFloat(&message, &field, value);
    }
    default: return;
  }
}

std::uint64_t MessageMaker::Number() {
  return prng_.Below(8) == 0 ? prng_.Next() : kEdges[prng_.Below(std::size(kEdges))];
}

std::string MessageMaker::Text() {
  if (!names_.empty() && prng_.Below(100) < 45) return names_[prng_.Below(names_.size())];
  switch (prng_.Below(16)) {
    case 0: return "";
    case 1: return "a,b";
    case 2: return "..";
    case 3: return "../../x";
    case 4: return "/";
    case 5: return std::string(1, '\0');
    case 6: return std::string("n\0ul", 4);
    case 7: return "hbase:meta";
    case 8: return "hbase:meta,,1";
    case 9: return "\xff\xfe\xc0";
    case 10: return std::string(260, 'n');
    case 11: return prng_.Below(10) == 0 ? std::string(100'000, 'x') : std::string(33'000, 'k');
    case 12: return "Upper.Case,16020,18446744073709551615";
    case 13: return std::string(17, '\0');
    case 14: return std::string("\x00\x00\x00\x00\x00\x00\x00\x01", 8);
    default: {
      std::string bytes;
      for (std::uint64_t left = prng_.Below(40); left > 0; --left) bytes += static_cast<char>(prng_.Below(256));
      return bytes;
    }
  }
}

std::string MessageMaker::Cells() {
  std::string block;
  switch (prng_.Below(4)) {
    case 0:
    case 1: break;
    case 2:
      for (std::uint64_t left = prng_.Below(20); left > 0; --left) {
        Cell cell;
        cell.row = Text().substr(0, kMaxRowLength);
        cell.family = Text().substr(0, 20);
        cell.qualifier = Text();
        cell.timestamp = static_cast<std::int64_t>(Number());
        cell.value = Text();
        AppendCell(cell, block);
      }
      break;
    default:
      for (std::uint64_t left = prng_.Below(400); left > 0; --left) block += static_cast<char>(prng_.Below(256));
  }
  return block;
}

}  // namespace ratchet::chaos
