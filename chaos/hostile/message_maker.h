// Makes messages that can be parsed but make no sense, from a seed: each field gets a value at the edge of its type, a
// name that no server or table can have, or an existing name. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <google/protobuf/message.h>

#include "common/base/prng.h"

namespace ratchet::chaos {

class MessageMaker {
 public:
  // `names` are existing names that the client may use (tables, regions, rows of the caller's own).
  MessageMaker(std::uint64_t seed, std::vector<std::string> names) : prng_(seed), names_(std::move(names)) {}

  // Always sets required fields, so that the message can be sent.
  [[nodiscard]] std::unique_ptr<google::protobuf::Message> Make(const google::protobuf::Descriptor& type);
  // Returns bytes to follow a message: none, cells, or garbage.
  [[nodiscard]] std::string Cells();
  [[nodiscard]] Prng& prng() { return prng_; }

 private:
  using Field = google::protobuf::FieldDescriptor;
  void Fill(google::protobuf::Message& message, int depth);
  // Filters and comparators are sent as the name of a class and the bytes of its message.
  bool FillNamed(google::protobuf::Message& message, int depth);
  void FillField(google::protobuf::Message& message, const Field& field, int depth);
  void FillOne(google::protobuf::Message& message, const Field& field, int depth);
  void SetNumber(google::protobuf::Message& message, const Field& field, bool add);
  std::uint64_t Number();
  std::string Text();

  Prng prng_;
  const std::vector<std::string> names_;
};

}  // namespace ratchet::chaos
