-- For pandoc: what docs/ has, in the ways of a man page. Code is bold, a link is its text, and a table
-- is a list of terms: its first column is the term, what lies between that and the last goes before.

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
    local items = {}
    for _, row in ipairs(pandoc.utils.to_simple_table(table).rows) do
        local says = pandoc.List()
        for i = 2, #row do
            if i > 2 then
                says:extend { pandoc.Str(":"), pandoc.Space() }
            end
            says:extend(line_of(row[i]))
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
