// One page in the shared browser, used as a person uses it: with keys and a mouse, by its looks.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/devtools.hpp"
#include "support/page_record.hpp"

namespace support {

/// In CSS pixels, from the viewport's upper left corner.
struct Point {
    double x = 0;
    double y = 0;
};

/// What is held while a key is pressed, added up. Input.dispatchKeyEvent's numbers.
enum Modifier : int { no_modifier = 0, alt_key = 1, control_key = 2, meta_key = 4, shift_key = 8 };

/// A tab with storage of its own; Browser::open() makes one, and its end closes it. 1280 x 800 and
/// light at first. What fails, or is not there in time, throws std::runtime_error.
class Page {
  public:
    ~Page();
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    Page(Page&&) = delete;
    Page& operator=(Page&&) = delete;

    const std::string& url() const { return url_; }

    /// The value of a script, or what its promise becomes; null for undefined, and a string for a
    /// number that JSON does not have. An exception's text and stack are thrown.
    nlohmann::json evaluate(std::string_view script);

    /// Looks once a frame until the expression (or what its promise becomes) is true; one that
    /// throws is not true yet.
    void wait_until(std::string_view expression,
                    std::chrono::milliseconds limit = std::chrono::seconds(10));

    /// Presses and releases a key, by the page's name for it: "a", "?", "Enter" (browser_keys.hpp).
    void press(std::string_view key, int modifiers = no_modifier);

    /// Puts text into what has the focus, as an input method does: without a key.
    void type(std::string_view text);

    /// The middle of the first element that matches, once it is scrolled into view and still.
    /// Fails where nothing matches, or where another element is on top.
    Point centre_of(std::string_view selector);

    void click(std::string_view selector);
    void move_to(Point to);
    void drag(Point from, Point to);

    /// `scale`: pixels of a screenshot to one of the page.
    void set_viewport(int width, int height, double scale = 1);
    void set_dark(bool dark);

    /// The viewport as PNG.
    std::vector<std::byte> screenshot();

    /// Every URL asked for since open(), the page's own first; whether or not it was had.
    const std::vector<std::string>& requests();

    /// What went wrong since open(): uncaught exceptions, console.error, violations of the page's
    /// security policy, requests that failed, dialogs (which are dismissed).
    const std::vector<std::string>& errors();

    /// ScriptDuration and LayoutDuration in seconds, JSHeapUsedSize in bytes, Nodes, and the others
    /// of Performance.getMetrics.
    std::map<std::string, double> metrics();

  private:
    friend class Browser;
    explicit Page(DevTools& devtools);
    Page(DevTools& devtools, const std::string& file);

    DevTools::Json call(const std::string& method,
                        const DevTools::Json& params = DevTools::Json::object());
    DevTools::Json evaluate(std::string_view script, std::chrono::milliseconds limit);
    void attach(const std::string& session);
    void hear(const std::string& session, const DevTools::Json& event);
    void settle();
    void mouse(const char* type, Point at, bool held);

    DevTools& devtools_;
    std::string context_;  // has the storage
    std::string url_, session_;
    std::set<std::string> sessions_;  // its own, and those of its workers and frames
    std::set<std::string> loaded_;    // documents, by DevTools' loaderId
    PageRecord record_;
};

}  // namespace support
