-- Writes the web site. pandoc runs it as a filter on README.md (see build), which determines the order of the pages.
-- SITE: the folder of the pages. SITE_CAPTURE: the page that reads a visitor's capture; empty: there is none. If there are problems, it prints a line "site: SENTENCE" for each and fails.
local here = pandoc.path.directory(PANDOC_SCRIPT_FILE)
package.path = here .. '/?.lua;' .. package.path
local links = require 'links'
local navigation = require 'navigation'
local pages = require 'pages'
local search = require 'search'

local capture = os.getenv('SITE_CAPTURE') or ''
local problems = {}
local function problem(...)
  problems[#problems + 1] = 'site: ' .. string.format(...)
end

local function fail_if_problems()
  if #problems > 0 then
    io.stderr:write(table.concat(problems, '\n'), '\n')
    os.exit(1)
  end
end

local function escaped(text)
  return (text:gsub('[&<>]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;' }))
end

-- Short words, such as `--size`, are not broken at their hyphens.
local function kept_whole(text)
  return (escaped(text):gsub('%S+', function(word)
    return #word <= 24 and word:find('-', 1, true) and '<span class="whole">' .. word .. '</span>' or nil
  end))
end

local function code(element)
  return pandoc.RawInline('html', '<code>' .. kept_whole(element.text) .. '</code>')
end

-- Puts each table into a box, which scrolls if the table is wider than the page.
local function boxed(table_block)
  local whole = table_block:walk {
    Str = function(element) return pandoc.RawInline('html', kept_whole(element.text)) end,
  }
  return pandoc.Div({ whole }, pandoc.Attr('', { 'wide' }, { tabindex = '0' }))
end

local function html(text)
  return pandoc.MetaBlocks { pandoc.RawBlock('html', text) }
end

local function write(page)
  local doc = page.doc:walk { Code = code, Table = boxed }
  doc.meta = {
    pagetitle = page.title == 'RDMA Wire Lab' and page.title or page.title .. ' · RDMA Wire Lab',
    root = html(links.root(page)),
    capture = capture ~= '' and html(capture) or nil,
    navigation = html(navigation.html(page)),
    neighbours = html(navigation.neighbours(page)),
  }
  local file = assert(io.open(os.getenv('SITE') .. '/' .. page.file, 'w'))
  -- pandoc makes each line number a link. The Tab key must skip these links.
  local text = pandoc.write(doc, 'html5', PANDOC_WRITER_OPTIONS):gsub('(<a href="#[^"]*")></a>', '%1 aria-hidden="true" tabindex="-1"></a>')
  file:write(text)
  file:close()
end

function Pandoc(readme)
  local all = pages.read(problem)
  navigation.read(readme, all, problem)
  -- Rewriting the links of a page can append pages: those of the linked files.
  local i = 1
  while all[i] do
    links.rewrite(all[i], all, problem)
    i = i + 1
  end
  links.check(all, problem)
  fail_if_problems()
  if capture ~= '' then
    all.files['README.md'].page.doc.blocks:insert(3, pandoc.Div(pandoc.Para {
      pandoc.Link('Your own capture', capture), pandoc.Str(': drop it on a page, and rocecap explains it. It stays on your machine.'),
    }, pandoc.Attr('', { 'beside' })))
  end
  local folders = {}
  for _, page in ipairs(all) do
    folders[pandoc.path.directory(os.getenv('SITE') .. '/' .. page.file)] = true
  end
  for folder in pairs(folders) do
    os.execute("mkdir -p '" .. folder:gsub("'", "'\\''") .. "'")
  end
  for _, page in ipairs(all) do
    write(page)
  end
  search.write(all, os.getenv('SITE') .. '/search-index.js')
end
