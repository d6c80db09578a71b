#include "chaos/driver/console.h"

#include <algorithm>
#include <iostream>

#include <fmt/core.h>

namespace ratchet::chaos {

Console::~Console() { ClearBar(); }

void Console::Event(std::int64_t at_ms, const std::string& what, const std::string& detail) {
  ClearBar();
  std::cout << fmt::format("{:>9.3f}  {:<22} {}", static_cast<double>(at_ms - started_ms_) / 1000.0, what, detail)
            << std::endl;
}

void Console::Say(const std::string& text) {
  ClearBar();
  std::cout << text << std::endl;
}

void Console::Bar(double share, const std::string& text) {
  if (!terminal_) return;
  constexpr int kWidth = 30;
  const int done = static_cast<int>(std::clamp(share, 0.0, 1.0) * kWidth);
  std::cout << fmt::format("\r\x1b[K[{}{}] {}", std::string(static_cast<std::size_t>(done), '#'),
                           std::string(static_cast<std::size_t>(kWidth - done), '.'), text)
            << std::flush;
  bar_shown_ = true;
}

void Console::ClearBar() {
  if (!bar_shown_) return;
  std::cout << "\r\x1b[K" << std::flush;
  bar_shown_ = false;
}

}  // namespace ratchet::chaos
