// The scene for tests of faults of the path.
#pragma once

#include "trace/explain/scene.hpp"

namespace explain_test {

class PathOf : public Scene {
  protected:
    /// The client posts two requests. Only the first one is in the capture, and it completes.
    void one_of_two_requests_arrives() {
        capture_at_server();
        connect();
        posts_send(100, 8);
        send(100);
        ack(100);
        completes("SUCCESS");
        posts_send(101, 8);
    }
};

}  // namespace explain_test
