-- SPDX-License-Identifier: Apache-2.0
-- For pandoc: what docs/ has, in the ways of a man page. Code is bold, a link is its text, and a table
-- is a list of terms: its first column is the term, the others follow. Tests of ours are left out.

function Code(code)
    return pandoc.Strong(pandoc.Str(code.text))
end

function Link(link)
    return link.content
end

local function line_of(cell)
    return pandoc.utils.blocks_to_inlines(cell)
end

function Table(table)
    local items, simple = {}, pandoc.utils.to_simple_table(table)
    for _, row in ipairs(simple.rows) do
        local says = pandoc.List()
        for i = 2, #row do
            local heading = pandoc.utils.stringify(simple.headers[i])
            if heading == "told" then
                says:extend { pandoc.Str("."), pandoc.Space(), pandoc.Str("Told:"), pandoc.Space() }
            elseif i > 2 and heading ~= "shown by" then
                says:extend { pandoc.Str(":"), pandoc.Space() }
            end
            if heading ~= "shown by" then
                says:extend(line_of(row[i]))
            end
        end
        items[#items + 1] = { line_of(row[1]), { { pandoc.Plain(says) } } }
    end
    return pandoc.DefinitionList(items)
end

-- As it stands, without the font for code, which terminals do not have. A remark behind a command goes
-- before it where the line would be too long.
function CodeBlock(block)
    local text = (block.text .. "\n"):gsub("([^\n]-) +(# [^\n]*)\n", function(command, remark)
        if #command + #remark > 64 and command ~= "" then
            return remark .. "\n" .. command .. "\n"
        end
    end)
    text = text:sub(1, -2):gsub("\\", "\\e"):gsub("-", "\\-"):gsub("'", "\\(aq"):gsub("`", "\\(ga")
        :gsub("%^", "\\(ha"):gsub("~", "\\(ti"):gsub("%f[^\n%z]%.", "\\&.")
    return pandoc.RawBlock("man", ".PP\n.RS 4\n.nf\n" .. text .. "\n.fi\n.RE")
end
