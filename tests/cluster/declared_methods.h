// Every method with its need, read as text from the declarations, and calls of them by name.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/model/region_info.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"

namespace ratchet::chaos {

struct Declared {
  std::string service;
  std::string method;
  std::string request;  // types of the messages
  std::string response;
  std::string need;
};

// The program runs in the root of the sources.
inline std::vector<Declared> ReadDeclared() {
  std::vector<Declared> all;
  for (const auto& entry : std::filesystem::directory_iterator("common/model/proto")) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::smatch package;
    if (!std::regex_search(text, package, std::regex("\npackage ([\\w.]+);"))) continue;
    const std::regex any(
        R"(service (\w+) \{|rpc (\w+)\(([\w.]+)\)\s+returns \(([\w.]+)\)|// (?:as k\w+, )?need: ([\w@ ]+))");
    Declared now;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), any); at != std::sregex_iterator(); ++at) {
      const auto name = [&](const std::string& type) {
        return type.find('.') == std::string::npos ? package[1].str() + "." + type : type;
      };
      if ((*at)[1].matched) now.service = (*at)[1].str().substr(0, (*at)[1].str().find('_'));
      if ((*at)[2].matched) {
        now.method = (*at)[2];
        now.request = name((*at)[3]);
        now.response = name((*at)[4]);
      }
      if (!(*at)[5].matched) continue;
      now.need = (*at)[5];
      all.push_back(now);
    }
  }
  return all;
}

// Fills required fields, and every field that names a table, a region or a user.
class TargetFiller {
 public:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;

  // `flag`: the value of each required bool.
  TargetFiller(const RegionInfo& region, bool flag) : table_(region.table), flag_(flag) {
    SpecifyRegion(region, region_);
    ToProto(region, info_);
    encoded_ = region.encoded_name();
  }
  void Fill(Message& message, int depth = 0) const {
    const auto& reflection = *message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const Field* field = message.GetDescriptor()->field(i);
      if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        FillMessage(message, field, depth);
      } else if (field->name() == "user_name" && !field->is_repeated()) {
        reflection.SetString(&message, field, "another");
      } else if (field->name() == "encoded_name" && !field->is_repeated()) {
        reflection.SetString(&message, field, encoded_);
      } else if (field->name() == "table" && field->cpp_type() == Field::CPPTYPE_STRING) {
        reflection.SetString(&message, field, table_.qualifier);
      } else if (field->is_required() && !field->is_repeated()) {
        FillPlain(message, field);
      }
    }
  }

 private:
  void FillMessage(Message& message, const Field* field, int depth) const {
    const auto& reflection = *message.GetReflection();
    const auto* const type = field->message_type();
    const bool names = type == hbase::pb::TableName::descriptor() || type == hbase::pb::RegionInfo::descriptor() ||
                       type == hbase::pb::RegionSpecifier::descriptor();
    if ((field->is_repeated() && !names) || (depth > 3 && !field->is_required())) return;
    Message* const inner =
        field->is_repeated() ? reflection.AddMessage(&message, field) : reflection.MutableMessage(&message, field);
    if (auto* table = dynamic_cast<hbase::pb::TableName*>(inner)) {
      ToProto(table_, *table);
    } else if (auto* region = dynamic_cast<hbase::pb::RegionSpecifier*>(inner)) {
      *region = region_;
    } else if (auto* info = dynamic_cast<hbase::pb::RegionInfo*>(inner)) {
      *info = info_;
    } else {
      Fill(*inner, depth + 1);
    }
  }
  void FillPlain(Message& message, const Field* field) const {
    const auto& reflection = *message.GetReflection();
    switch (field->cpp_type()) {
      case Field::CPPTYPE_STRING: return reflection.SetString(&message, field, "t");
      case Field::CPPTYPE_BOOL: return reflection.SetBool(&message, field, flag_);
      case Field::CPPTYPE_INT32: return reflection.SetInt32(&message, field, 1);
      case Field::CPPTYPE_UINT32: return reflection.SetUInt32(&message, field, 1);
      case Field::CPPTYPE_INT64: return reflection.SetInt64(&message, field, 1);
      case Field::CPPTYPE_UINT64: return reflection.SetUInt64(&message, field, 1);
      case Field::CPPTYPE_ENUM: return reflection.SetEnum(&message, field, field->enum_type()->value(0));
      default: return;
    }
  }

  const TableName table_;
  const bool flag_;
  hbase::pb::RegionSpecifier region_;
  hbase::pb::RegionInfo info_;
  std::string encoded_;
};

// Null: no such type is linked.
inline std::shared_ptr<google::protobuf::Message> NewMessage(const std::string& type) {
  const auto* const found = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (found == nullptr) return nullptr;
  return std::shared_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(found)->New());
}

// The class of the refusal; empty: allowed. `answer`: filled.
inline std::string CallDeclared(rpc::ChannelPool& pool, const rpc::Endpoint& endpoint, const Declared& method,
                                const google::protobuf::Message& request,
                                const std::shared_ptr<google::protobuf::Message>& answer) {
  const auto ended = pool.Get(method.service, endpoint)->CallRawSync(method.method, request, answer, {});
  if (ended.ok()) return "";
  return ended.error().remote_class().empty() ? ended.error().ToString() : ended.error().remote_class();
}

}  // namespace ratchet::chaos
