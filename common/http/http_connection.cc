#include "common/http/http_connection.h"

#include <utility>

namespace ratchet::http {

std::optional<HttpRequest> HttpConnection::Took(std::string_view bytes, TimePoint now) {
  if (state_ != State::kReading) return std::nullopt;  // a stream's client: its further bytes are ignored
  if (input_.empty() && !bytes.empty()) deadline_ = now + limits_.request;
  input_.append(bytes);
  return NextRequest(now);
}

std::optional<HttpRequest> HttpConnection::NextRequest(TimePoint now) {
  const auto length = HeadLength(std::string_view(input_).substr(0, limits_.head_bytes));
  HttpRefusal refusal;
  HttpRequest request;
  if (!length.has_value()) {
    if (input_.size() < limits_.head_bytes) {
      if (client_ended_) Close();
      return std::nullopt;
    }
    refusal = {431, "the request's head is too long"};
  } else if (ParseHead(std::string_view(input_).substr(0, *length), &request, &refusal)) {
    input_.erase(0, *length);
    head_only_ = request.head;
    keep_alive_ = request.keep_alive && !client_ended_;
    state_ = State::kWaiting;
    return request;
  }
  Refuse(HttpResponse::Text(refusal.status, refusal.why), now);
  return std::nullopt;
}

void HttpConnection::Refuse(HttpResponse response, TimePoint now) {
  input_.clear();
  head_only_ = false;
  keep_alive_ = false;
  Answer(std::move(response), now);
}

void HttpConnection::Ended() {
  client_ended_ = true;
  keep_alive_ = false;
  if (state_ == State::kReading || state_ == State::kStreaming) Close();
}

void HttpConnection::Answer(HttpResponse response, TimePoint now) {
  if (state_ == State::kClosed) return;
  head_ = ResponseHead(response, keep_alive_);
  body_ = head_only_ ? nullptr : std::move(response.body);
  sent_ = 0;
  source_ = head_only_ ? nullptr : std::move(response.stream);
  state_ = source_ ? State::kStreaming : State::kWriting;
  deadline_ = now + limits_.answer;
}

std::string_view HttpConnection::Unsent() const {
  if (state_ != State::kWriting && state_ != State::kStreaming) return {};
  if (sent_ < head_.size()) return std::string_view(head_).substr(sent_);
  if (body_ == nullptr) return {};
  return std::string_view(*body_).substr(sent_ - head_.size());
}

std::size_t HttpConnection::unsent_bytes() const {
  return head_.size() + (body_ == nullptr ? 0 : body_->size()) - sent_;
}

std::optional<HttpRequest> HttpConnection::Sent(std::size_t bytes, TimePoint now) {
  sent_ += bytes;
  return Unsent().empty() ? Finished(now) : std::nullopt;
}

std::optional<HttpRequest> HttpConnection::Finished(TimePoint now) {
  since_ = now;
  head_.clear();
  body_.reset();
  sent_ = 0;
  if (state_ == State::kStreaming) {
    if (!source_ && !source_away_) Close();  // the source has ended, and all its data is sent
    return std::nullopt;
  }
  if (!keep_alive_) {
    Close();
    return std::nullopt;
  }
  state_ = State::kReading;
  deadline_ = now + (input_.empty() ? limits_.idle : limits_.request);
  return NextRequest(now);
}

StreamSource HttpConnection::DetachSource() {
  if (state_ != State::kStreaming || !source_ || !Unsent().empty()) return nullptr;
  source_away_ = true;
  return std::exchange(source_, nullptr);
}

void HttpConnection::AddToStream(std::optional<std::string> text, StreamSource source, TimePoint now) {
  if (state_ != State::kStreaming) return;
  source_away_ = false;
  if (!text.has_value()) return Close();
  source_ = std::move(source);
  deadline_ = now + limits_.answer;
  head_ = std::move(*text);
  sent_ = 0;
}

void HttpConnection::Expire(TimePoint now) {
  if (state_ == State::kReading && !input_.empty()) {
    return Refuse(HttpResponse::Text(408, "the request did not come in time"), now);
  }
  // A handler has its own time limits; a stream without unsent data waits for its source.
  if (state_ == State::kWaiting || (state_ == State::kStreaming && Unsent().empty())) {
    deadline_ = now + limits_.answer;
    return;
  }
  Close();
}

}  // namespace ratchet::http
