#include "tests/golden/fill_message.h"

#include <memory>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

namespace ratchet::golden {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::unique_ptr<Message> MakeMessage(const std::string& type) {
  const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (descriptor == nullptr) {
    ADD_FAILURE() << "no message type " << type;
    return nullptr;
  }
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
}

void FillAll(Message& message);

void FillField(Message& message, const FieldDescriptor& field, int element) {
  const auto* reflection = message.GetReflection();
  const int number = field.number() * 10 + element;
  const auto positive = static_cast<std::uint32_t>(number);
  const std::string text = fmt::format("{}-{}", field.name(), element);
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? reflection->AddInt32(&message, &field, number) : reflection->SetInt32(&message, &field, number);
    case FieldDescriptor::CPPTYPE_UINT32:
      return many ? reflection->AddUInt32(&message, &field, positive)
                  : reflection->SetUInt32(&message, &field, positive);
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? reflection->AddInt64(&message, &field, number) : reflection->SetInt64(&message, &field, number);
    case FieldDescriptor::CPPTYPE_UINT64:
      return many ? reflection->AddUInt64(&message, &field, positive)
                  : reflection->SetUInt64(&message, &field, positive);
    case FieldDescriptor::CPPTYPE_BOOL:
      return many ? reflection->AddBool(&message, &field, true) : reflection->SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_STRING:
      return many ? reflection->AddString(&message, &field, text) : reflection->SetString(&message, &field, text);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = field.enum_type()->value(field.enum_type()->value_count() - 1);
      return many ? reflection->AddEnum(&message, &field, value) : reflection->SetEnum(&message, &field, value);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return FillAll(many ? *reflection->AddMessage(&message, &field) : *reflection->MutableMessage(&message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT: break;
  }
  ADD_FAILURE() << field.full_name() << " is of a kind that nobody stores yet: say here how to fill it";
}

// No stored message contains itself.
void FillAll(Message& message) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    FillField(message, field, 0);
    if (field.is_repeated()) FillField(message, field, 1);
  }
}

}  // namespace

std::string FullMessage(const std::string& type) {
  const auto message = MakeMessage(type);
  if (message == nullptr) return {};
  FillAll(*message);
  return message->SerializeAsString();
}

std::string JsonOf(const std::string& type, const std::string& bytes) {
  const auto message = MakeMessage(type);
  if (message == nullptr) return {};
  EXPECT_TRUE(message->ParseFromString(bytes)) << type;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string json;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(*message, &json, options).ok()) << type;
  return json;
}

std::string Reencoded(const std::string& type, const std::string& bytes) {
  const auto message = MakeMessage(type);
  if (message == nullptr) return {};
  const std::string json = JsonOf(type, bytes);
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, message.get()).ok()) << json;
  return message->SerializeAsString();
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace ratchet::golden
