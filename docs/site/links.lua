-- Converts links between files of the project to links between pages, and checks that the targets exist.
local pages = require 'pages'
local M = {}

-- Returns the path from a page to the site's top folder: "../../", or "" at the top.
function M.root(page)
  return ('../'):rep(select(2, page.file:gsub('/', '')))
end

-- "examples/01/../../docs/x.md" is "docs/x.md".
local function normal(path)
  local parts = {}
  for part in path:gmatch('[^/]+') do
    if part == '..' then
      table.remove(parts)
    elseif part ~= '.' then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, '/')
end

local function exists(path)
  local file = io.open(path)
  return file and file:read(0) and file:close()
end

-- Returns the address for a page's link to `target`; nil if the target does not exist.
local function address(page, target, all)
  local path, id = target:match('^([^#]*)#?(.*)$')
  if path == '' then
    table.insert(page.targets, { page = page, id = id, link = target })
    return target
  end
  local folder = (page.source or page.file):match('^(.*)/') or ''
  local full = normal(folder .. '/' .. path)
  local place = all.files[full]
  if not place and full:match('^docs/figures/') and exists(full) then
    place = { copied = true }
  elseif not place and exists(full) then
    place = { page = pages.add_file(all, full) }
  end
  if not place then
    return nil
  elseif place.copied then
    return M.root(page) .. full .. (id ~= '' and '#' .. id or '')
  end
  id = id ~= '' and id or place.id or ''
  table.insert(page.targets, { page = place.page, id = id, link = target })
  return M.root(page) .. place.page.file .. (id ~= '' and '#' .. id or '')
end

-- Returns the line number at which an excerpt begins in its file, or nil.
local function line_of(excerpt, path)
  local first = excerpt:match('[^\n]+')
  local number = 0
  for line in (pages.text_of(path) .. '\n'):gmatch('(.-)\n') do
    number = number + 1
    if line == first then
      return number
    end
  end
end

-- Adds a link to the file after a code block that follows "<!-- from: cat FILE -->". Removes other comments.
local function excerpts(blocks, page, all)
  local result, from = pandoc.Blocks {}, nil
  for _, block in ipairs(blocks) do
    if block.t == 'RawBlock' and block.text:match('^%s*<!%-%-') then
      from = block.text:match('from: cat ([%w_./-]+) %-%->')
    else
      result:insert(block)
      local place = from and block.t == 'CodeBlock' and all.files[from]
      if place and place.page and place.id then
        local number = line_of(block.text, from)
        local id = number and place.id .. '-line-' .. number or place.id
        local text = from .. (number and ', line ' .. number or '')
        local link = pandoc.Link(text, M.root(page) .. place.page.file .. '#' .. id)
        result:insert(pandoc.Div({ pandoc.Plain { link } }, pandoc.Attr('', { 'from' })))
      end
      from = nil
    end
  end
  return result
end

function M.rewrite(page, all, problem)
  page.targets = {}
  local function changed(target, what)
    if target:match('^%a[%w+.-]*:') then
      return target
    end
    local new = address(page, target, all)
    if not new then
      problem("%s %s '%s', which does not exist: correct the link.", page.source or page.file, what, target)
    end
    return new or target
  end
  page.doc = page.doc:walk {
    Link = function(link)
      link.target = changed(link.target, 'links to')
      return link
    end,
    Image = function(image)
      image.src = changed(image.src, 'shows')
      return image
    end,
    Blocks = function(blocks)
      return excerpts(blocks, page, all)
    end,
  }
end

-- The parts of a page that can be link targets.
local function ids_of(page)
  local ids = {}
  page.doc:walk {
    Header = function(block) ids[block.identifier] = true end,
    Div = function(block) ids[block.identifier] = true end,
    CodeBlock = function(block) ids[block.identifier] = true end,
  }
  return ids
end

function M.check(all, problem)
  local ids = {}
  for _, page in ipairs(all) do
    ids[page] = ids_of(page)
  end
  for _, page in ipairs(all) do
    for _, target in ipairs(page.targets) do
      if target.id ~= '' and not ids[target.page][target.id] then
        problem("%s links to '%s', and %s has no such heading: correct the link.", page.source or page.file,
          target.link, target.page.source or target.page.file)
      end
    end
  end
end

return M
