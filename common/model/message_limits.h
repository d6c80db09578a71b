// Protobuf messages from disk, network or users: the size of the parsed message is computed from the wire first, and an
// error names a few of the missing fields. Thread-safe.
//
// Two bytes on the wire make a message of about a hundred in memory, and protobuf's own text about missing required
// fields names each of them. So bytes from others are neither parsed nor described without a limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace google::protobuf {
class Descriptor;
class Message;
class MessageLite;
}  // namespace google::protobuf

namespace ratchet {

// Sizes and fields of a type of message, compiled from its descriptor once.
class MessageShape;
// Valid for the life of the process.
[[nodiscard]] const MessageShape& ShapeOf(const google::protobuf::Descriptor& descriptor);

struct MessageCount {
  std::size_t messages = 0;  // including the outermost one, and strings of lists
  std::size_t bytes = 0;     // approximate memory of the parsed message
};
// Counts what parsing `wire` makes. Stops early at more than `most_messages`. Malformed bytes are counted up to the
// first error, where a parser stops as well.
[[nodiscard]] MessageCount CountMessages(const MessageShape& shape, std::string_view wire, std::size_t most_messages);

// Names the first missing required fields of a message, e.g. "hbase.pb.Get: missing required fields: row".
// `message`: not initialized.
[[nodiscard]] std::string MissingFields(const google::protobuf::MessageLite& message);

// For messages that are fields of a request as bytes.
inline constexpr std::size_t kMostNestedMessages = 100'000;
// For files, such as the list of a snapshot's parts.
inline constexpr std::size_t kMostMessagesInFile = 5'000'000;
// Parses without output on standard error. An error: malformed, more than `most_messages`, or without a required field.
[[nodiscard]] Status ParseMessage(std::string_view wire, google::protobuf::Message& message,
                                  std::size_t most_messages = kMostNestedMessages);

}  // namespace ratchet
