// The parts of a page that are the same for all runs: page.html, page.css and script/*.js of this
// folder, embedded in the program at build time (see the Makefile).
#pragma once

#include <string_view>

namespace page {

extern const std::string_view html;    ///< with {{title}}, {{style}}, {{run}}, ... to be filled in
extern const std::string_view style;   ///< CSS
extern const std::string_view script;  ///< <script> elements, in the order of the files' names

}  // namespace page
