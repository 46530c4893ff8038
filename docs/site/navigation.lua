-- The pages are in the order of README.md's links: its section "The route", then its section "Documents". Then come the pages of
-- docs/dev, in the order of CONTRIBUTING.md's links.
local links = require 'links'
local M = {}

local groups, order, place_of = {}, {}, {}

local function escaped(text)
  return (text:gsub('[&<>"]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

local function begin_group(title)
  groups[#groups + 1] = { title = title, pages = {} }
end

local function add(target, all)
  local place = all.files[target]
  if place and place.page and place.page.source and target:match('%.md$') and not place_of[place.page] then
    order[#order + 1] = place.page
    place_of[place.page] = #order
    table.insert(groups[#groups].pages, place.page)
  end
end

local function section(readme, title)
  local blocks, inside = pandoc.Blocks {}, false
  for _, block in ipairs(readme.blocks) do
    if block.t == 'Header' and block.level == 2 then
      inside = pandoc.utils.stringify(block.content) == title
    elseif inside then
      blocks:insert(block)
    end
  end
  return blocks
end

function M.read(readme, all, problem)
  begin_group(nil)
  add('README.md', all)
  local function link(element) add(element.target, all) end
  for _, block in ipairs(section(readme, 'The route')) do
    if block.t == 'OrderedList' then
      begin_group('Begin')
      block:walk { Link = link }
      begin_group('Lessons')
    elseif block.t == 'Table' then
      block:walk { traverse = 'topdown', Link = link, Strong = function(title)
        begin_group(pandoc.utils.stringify(title.content))
      end }
    end
  end
  for _, block in ipairs(section(readme, 'Documents')) do
    if block.t == 'BulletList' then
      for _, item in ipairs(block.content) do
        begin_group(pandoc.utils.stringify(item[1].content):match('^([^:]*):'))
        pandoc.Div(item):walk { Link = link }
      end
    end
  end
  local contributing = all.files['CONTRIBUTING.md']
  if contributing then
    begin_group('For developers')
    contributing.page.doc:walk { Link = function(element)
      local target = element.target:gsub('#.*', '')
      if target:match('^docs/dev/') then
        add(target, all)
      end
    end }
  end
  for _, page in ipairs(all) do
    if page.source and not place_of[page] then
      problem("%s is not in README.md: add a link to it in the section 'The route' or 'Documents'.", page.source)
    end
  end
end

-- The second-level headings of a page, for the list below its own entry.
local function parts_of(page)
  local parts = {}
  for _, block in ipairs(page.doc.blocks) do
    if block.t == 'Header' and block.level == 2 then
      parts[#parts + 1] = string.format('<li><a href="#%s">%s</a></li>', escaped(block.identifier),
        escaped(pandoc.utils.stringify(block.content)))
    end
  end
  return #parts > 0 and '<ul>' .. table.concat(parts) .. '</ul>' or ''
end

local function entry(listed, page)
  local link = string.format('href="%s"', links.root(page) .. listed.file)
  local is_part = page.part and listed.lesson == page.lesson
  local mark = listed == page and ' aria-current="page"' or is_part and ' aria-current="true"' or ''
  return string.format('<li><a %s%s>%s</a>%s</li>', link, mark, escaped(listed.title),
    (listed == page or is_part) and parts_of(page) or '')
end

function M.html(page)
  local text = {}
  for _, group in ipairs(groups) do
    if #group.pages > 0 then
      text[#text + 1] = group.title and '<h2>' .. escaped(group.title) .. '</h2>' or ''
      text[#text + 1] = '<ul>'
      for _, listed in ipairs(group.pages) do
        text[#text + 1] = entry(listed, page)
      end
      text[#text + 1] = '</ul>'
    end
  end
  return table.concat(text, '\n')
end

-- Links to the previous and the next page.
function M.neighbours(page)
  local place = place_of[page]
  if not place then
    return ''
  end
  local function link(other, rel)
    return other and string.format('<a rel="%s" href="%s">%s</a>', rel, links.root(page) .. other.file, escaped(other.title))
      or '<span></span>'
  end
  return '<nav class="neighbours" aria-label="Previous and next page">' .. link(order[place - 1], 'prev') ..
    link(order[place + 1], 'next') .. '</nav>'
end

return M
