// Each link of the web site has a target, and a site that cannot be built reports the cause.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "browser/site_fixture.hpp"

namespace site_links_test {
namespace {

namespace fs = std::filesystem;

struct Link {
    std::string tag;
    std::string address;
};

struct PageParts {
    std::set<std::string> ids;
    std::vector<Link> links;
};

// Returns the value of an attribute, with "&amp;" decoded, or an empty string if it is missing.
std::string attribute(std::string_view tag, std::string_view name) {
    const std::string before = ' ' + std::string(name) + "=\"";
    auto begin = tag.find(before);
    if (begin == std::string_view::npos)
        begin = tag.find('\n' + before.substr(1));
    if (begin == std::string_view::npos)
        return {};
    begin += before.size();
    std::string value(tag.substr(begin, tag.find('"', begin) - begin));
    for (auto at = value.find("&amp;"); at != std::string::npos; at = value.find("&amp;", at))
        value.replace(at++, 5, "&");
    return value;
}

PageParts parts_of(const fs::path& file) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    PageParts parts;
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
        const std::string_view tag = std::string_view(text).substr(at, text.find('>', at) - at);
        if (tag.find('=') == std::string_view::npos || tag.starts_with("<span class"))
            continue;
        if (const std::string id = attribute(tag, "id"); !id.empty()) {
            EXPECT_TRUE(parts.ids.insert(id).second) << file << " has two parts with id " << id;
        }
        for (const char* name : {"href", "src", "data-src"})
            if (const std::string address = attribute(tag, name); !address.empty())
                parts.links.push_back(
                    {std::string(tag.substr(1, tag.find_first_of(" \n") - 1)), address});
    }
    return parts;
}

class SiteLinks : public browser_test::SiteTest {};

TEST_F(SiteLinks, lead_to_files_and_parts_of_pages) {
    std::map<fs::path, PageParts> pages;
    for (const auto& entry : fs::recursive_directory_iterator(site()))
        if (entry.path().extension() == ".html" && entry.path().filename() != "report.html" &&
            entry.path().filename() != "link.html")
            pages.emplace(entry.path(), parts_of(entry.path()));
    EXPECT_GT(pages.size(), 100U);
    std::size_t links = 0;
    std::size_t parts = 0;
    for (const auto& [file, page] : pages)
        for (const auto& [tag, address] : page.links) {
            if (address.starts_with("https://")) {
                EXPECT_EQ(tag, "a") << file << " loads " << address;
                continue;
            }
            ++links;
            const auto hash = std::min(address.find('#'), address.size());
            const fs::path target =
                hash == 0 ? file
                          : (file.parent_path() / address.substr(0, hash)).lexically_normal();
            EXPECT_TRUE(fs::is_regular_file(target)) << file << " links to " << address;
            if (const auto found = pages.find(target);
                found != pages.end() && hash < address.size()) {
                ++parts;
                EXPECT_TRUE(found->second.ids.contains(address.substr(hash + 1)))
                    << file << " links to " << address;
            }
        }
    EXPECT_GT(links, 5000U);
    EXPECT_GT(parts, 500U);
}

// A small project with a web site.
class Tree {
  public:
    Tree() {
        for (const char* name :
             {"docs/figures", "examples/common", "lab", "wireshark", "captures/samples"})
            fs::create_directories(folder_.path() / name);
        fs::copy("docs/site", folder_.path() / "docs/site", fs::copy_options::recursive);
        write("README.md",
              "# Project\n\n## The route\n\n1. [A](docs/a.md)\n\n## Documents\n\n"
              "- Runs: [files](captures/README.md)\n");
        write("captures/README.md", "# Files\n");
    }

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((folder_.path() / file).parent_path());
        std::ofstream(folder_.path() / file) << text;
    }

    support::Outcome build() const {
        return browser_test::build_site(folder_.str(), folder_.str() + "/build/site");
    }

  private:
    support::TempPath folder_{"site_tree"};
};

TEST_F(SiteLinks, that_lead_nowhere_end_the_build_with_a_sentence_for_each) {
    const Tree tree;
    tree.write("docs/a.md", "# A\n\n## B\n\n[B](#b) [README](../README.md#documents)\n");
    EXPECT_EQ(tree.build().exit_code, 0) << tree.build().err;
    tree.write("docs/a.md",
               "# A\n\n[one](no.md) [two](../README.md#no) ![three](figures/no.svg)\n");
    const auto outcome = tree.build();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(
        outcome.err,
        "docs/site/build: docs/a.md links to 'no.md', which does not exist: correct the link.\n"
        "docs/a.md shows 'figures/no.svg', which does not exist: correct the link.\n"
        "docs/a.md links to '../README.md#no', and README.md has no such heading: correct the "
        "link.\n");
}

TEST_F(SiteLinks, of_the_readme_have_to_name_each_document) {
    const Tree tree;
    tree.write("docs/a.md", "# A\n");
    tree.write("docs/forgotten.md", "# Forgotten\n");
    const auto outcome = tree.build();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "docs/site/build: docs/forgotten.md is not in README.md: add a link to it in "
              "the section 'The route' or 'Documents'.\n");
}

TEST_F(SiteLinks, of_a_lesson_need_its_reference_run) {
    const Tree tree;
    tree.write("docs/a.md", "# A\n\n[lesson](../examples/26_new/README.md)\n");
    tree.write("captures/samples/README.md", "# Runs\n");
    tree.write("examples/26_new/README.md", "# 26 · New\n\n## On the wire\n");
    tree.write("README.md",
               "# Project\n\n## The route\n\n1. [A](docs/a.md), [26](examples/26_new/README.md)\n\n"
               "## Documents\n\n- Runs: [files](captures/README.md), "
               "[samples](captures/samples/README.md)\n");
    const auto outcome = tree.build();
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "docs/site/build: captures/samples/README.md has no row of 26_new: "
              "'captures/make-samples 26' makes its run and the row.\n");
}

TEST_F(SiteLinks, are_not_needed_to_say_that_pandoc_is_missing) {
    const auto outcome = browser_test::build_site(".", "build/no-site", {"PATH=/nonexistent"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "docs/site/build: pandoc is not installed: 'make site' installs it, or "
              "'lab/install-packages site'.\n");
}

}  // namespace
}  // namespace site_links_test
