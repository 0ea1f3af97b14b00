import { expect, test } from 'vitest'
import { addEntry, removeEntry, type ServerEntryLocation } from '../../../src/cli/mcp/edit-file.js'

const json: ServerEntryLocation = { path: 'settings.json', format: 'json', key: 'mcpServers', name: 'knowledge-spaces' }
const toml: ServerEntryLocation = { path: 'config.toml', format: 'toml', key: 'mcp_servers', name: 'knowledge-spaces' }
const SERVER = { command: '/usr/bin/node', args: ['ks.js', 'mcp'], env: { KS_DATA_DIR: '/d' } }

const SETTINGS = `{
    // how it looks
    "theme": "dark", /* for now */
    "mcpServers": {
        "other": {
            "command": "other" // theirs
        },
    },
}
`
const CONFIG = `# my settings
model = "small" # for now

[mcp_servers.other]
command = "other"

[mcp_servers.other.env]
A = "1"

[[profiles]]
name = "x"
`

test('adding an MCP server to a JSON file keeps comments, commas and other servers', async () => {
  const text = (await addEntry(SETTINGS, json, SERVER)) ?? ''
  for (const kept of ['// how it looks', '/* for now */', '"command": "other" // theirs']) expect(text).toContain(kept)
  expect(text).toContain('        "knowledge-spaces": {\n            "command": "/usr/bin/node"')
  expect(await addEntry(text, json, SERVER)).toBeUndefined()
  const back = (await removeEntry(text, json)) ?? ''
  expect(back.replace(/,(\s*[}\]])/g, '$1')).toBe(SETTINGS.replace(/,(\s*[}\]])/g, '$1'))
  expect(await removeEntry(back, json)).toBeUndefined()
})

test('adding an MCP server to a TOML file keeps every byte before the entry; removing the entry restores the file', async () => {
  const text = (await addEntry(CONFIG, toml, SERVER)) ?? ''
  expect(text.startsWith(CONFIG)).toBe(true)
  expect(text).toContain('[mcp_servers.knowledge-spaces]\ncommand = "/usr/bin/node"')
  expect(await addEntry(text, toml, SERVER)).toBeUndefined()
  expect((await removeEntry(text, toml))?.trimEnd()).toBe(CONFIG.trimEnd())
})

test('an entry of an MCP server with different content is replaced, wherever in the file it is', async () => {
  const before = (await addEntry(CONFIG, toml, { command: 'old', args: [], env: { B: '2' } })) ?? ''
  const moved = `${before}\n[last]\nz = 1\n`
  const text = (await addEntry(moved, toml, SERVER)) ?? ''
  expect(text).not.toContain('old')
  expect(text).not.toContain('B = "2"')
  expect(text).toContain('[last]\nz = 1')
  expect(await addEntry(SETTINGS.replace('"other":', '"knowledge-spaces":'), json, SERVER)).toContain('/usr/bin/node')
})

test('a missing or empty configuration file gets only the entry of the MCP server', async () => {
  expect(JSON.parse((await addEntry('', json, SERVER)) ?? '')).toEqual({ mcpServers: { 'knowledge-spaces': SERVER } })
  expect(await addEntry('', toml, SERVER)).toMatch(/^\[mcp_servers\.knowledge-spaces\]/)
  expect(await removeEntry('', toml)).toBeUndefined()
})

test.each([
  ['{ "mcpServers": ', json, /is not valid JSON/],
  ['[1, 2]', json, /does not contain a table/],
  ['{ "mcpServers": [] }', json, /has a value other than a table at mcpServers/],
  ['a = [', toml, /is not valid TOML/],
  ['mcp_servers = { knowledge-spaces = { command = "x" } }', toml, /cannot be edited|is not valid TOML/],
  ['text = """\n[mcp_servers.knowledge-spaces]\n"""\n', toml, /is not valid TOML|cannot be edited/],
] as const)('a configuration file that cannot be edited safely is not changed: %s', async (text, entry, reason) => {
  await expect(addEntry(text, entry, SERVER)).rejects.toThrow(reason)
})
