// While an object of this class lives, no thread can be made in this process: thread stacks would be larger than the
// address space. For tests; one at a time, and while no other test code starts threads.
#pragma once

#include <cstddef>

#include <pthread.h>

#include <gtest/gtest.h>

namespace ratchet {

class NoThreads {
 public:
  NoThreads() {
    EXPECT_EQ(pthread_getattr_default_np(&usual_), 0);
    pthread_attr_t huge;
    EXPECT_EQ(pthread_attr_init(&huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 47U), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&usual_), 0);
    pthread_attr_destroy(&usual_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t usual_;
};

}  // namespace ratchet
