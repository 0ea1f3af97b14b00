import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SKILL } from '../../src/cli/skill.js'
import { listTools } from '../../src/mcp/listing.js'
import { type CliHome, cliHome, KS } from '../helpers/cli.js'
import { callForText } from '../helpers/mcp.js'
import { until } from '../helpers/until.js'

let home: CliHome
let clients: Client[]

beforeEach(() => {
  home = cliHome()
  clients = []
})
afterEach(async () => {
  for (const client of clients) await client.close()
  await home.end()
})

/** The official client with `ks mcp` as its server. */
async function connect(
  args: string[] = [],
  roots?: string[],
  cwd = home.dir,
): Promise<{ client: Client; pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [KS, 'mcp', ...args],
    env: home.env,
    cwd,
  })
  const client = new Client({ name: 'test', version: '1' }, { capabilities: roots === undefined ? {} : { roots: {} } })
  if (roots !== undefined)
    client.setRequestHandler('roots/list', () => ({ roots: roots.map((path) => ({ uri: `file://${path}` })) }))
  clients.push(client)
  await client.connect(transport)
  return { client, pid: transport.pid ?? 0 }
}

async function filled(): Promise<void> {
  home.file('docs/guide.md', '# Guide\n\nIn August, Ida Keller is on call at extension 4711.\n')
  const { code, stderr } = await home.ks(['ingest', 'docs', '--wait'])
  expect([code, stderr]).toEqual([0, stderr])
}

describe('ks mcp', () => {
  test('starts the daemon, ingests files that the client allows, and answers from them', async () => {
    home.file('docs/guide.md', '# Guide\n\nIn August, Ida Keller is on call at extension 4711.\n')
    home.file('secret/key.md', 'not yours')
    symlinkSync(join(home.dir, 'secret'), join(home.dir, 'docs', 'way-out'))
    await home.ks(['spaces', 'create', 'Office'])
    const { client } = await connect([], [join(home.dir, 'docs')])
    const ingest = (path: string) => callForText(client, 'ingest', { paths: [join(home.dir, path)] })
    expect(await ingest('secret/key.md')).toMatch(
      /outside the folders that the client allows\nNext: Allowed are: .*docs/,
    )
    expect(await ingest('docs/way-out/key.md')).toContain('outside the folders')
    expect(await ingest('docs')).toContain('1 published')
    expect(await callForText(client, 'ask', { question: 'Who is on call in August?' })).toContain('Ida Keller')
    expect(await callForText(client, 'search', { query: 'not yours' })).not.toContain('key.md')
  })

  test('refuses to ingest hidden files and files outside its directory unless the client allows them, and keys always', async () => {
    home.file('docs/guide.md', '# Guide\n\nExtension 4711.\n')
    home.file('docs/.env', 'SECRET=1')
    home.file('.ssh/id_ed25519', 'SECRET-SSH-KEY-4711')
    symlinkSync(join(home.dir, '.ssh'), join(home.dir, 'docs', 'keys'))
    await home.ks(['spaces', 'create', 'Office'])
    const [narrow, broad, rooted] = [
      await connect([], undefined, join(home.dir, 'docs')),
      await connect(),
      await connect([], [home.dir]),
    ]
    const ingest = ({ client }: { client: Client }, ...paths: string[]) =>
      callForText(client, 'ingest', { paths: paths.map((path) => join(home.dir, path)) })
    expect(await ingest(narrow, '.ssh')).toMatch(/\.ssh is outside the working directory .*\nNext: Allowed are: .*docs/)
    expect(await ingest(narrow, 'docs/keys/id_ed25519')).toContain('outside the working directory')
    expect(await ingest(narrow, 'docs/.env')).toContain('is hidden, and the client names no folders')
    expect(await ingest(broad, '.ssh')).toContain('is hidden, and the client names no folders')
    for (const one of [broad, rooted])
      for (const path of ['data/signing.key', 'data/cli.token', 'data'])
        expect(await ingest(one, path)).toContain('keys of this program cannot be added to a space')
    expect(await ingest(rooted, 'docs/.env')).toContain('1 published')
    expect(await ingest(narrow, 'docs')).toContain('1 published')
    // A root that contains the keys does not include them.
    expect(await ingest(rooted, '.')).toContain('belongs to this program')
    const listed = await home.ks(['docs', '--json'])
    expect(listed.stdout).not.toMatch(/signing|cli\.token|id_ed25519/)
  })

  test('continues a session after the daemon was killed', async () => {
    await filled()
    const { client, pid } = await connect()
    expect(await callForText(client, 'spaces')).toContain('docs: 1 document;')
    const file = join(home.dataDir, 'daemon.json')
    const pidOf = () => (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid
    for (const [name, args] of [
      ['search', { query: 'who is on call' }],
      ['ask', { question: 'Who is on call in August?' }],
    ] as const) {
      const before = pidOf()
      process.kill(before, 'SIGKILL')
      await until(() => !isAlive(before))
      expect(await callForText(client, name, args)).toContain('Ida Keller')
      expect(pidOf()).not.toBe(before)
    }
    process.kill(pidOf(), 'SIGKILL')
    expect(await callForText(client, 'write', { path: '/workspaces/a/b.md', content: 'x' })).toMatch(/Written|Next:/)
    expect(isAlive(pid)).toBe(true)
  })

  test('shows only the space of --space; without it a search must name one of several spaces', async () => {
    await filled()
    await home.ks(['spaces', 'create', 'Other', '--slug', 'other'])
    const narrow = await connect(['--space', 'other'])
    expect(await callForText(narrow.client, 'spaces')).not.toContain('docs:')
    expect(await callForText(narrow.client, 'search', { query: 'call', space: 'docs' })).toContain('not-found')
    const { client } = await connect()
    expect(await callForText(client, 'search', { query: 'call' })).toContain('There are: docs, other')
  })

  test('lists the same tools from the prepared list of its build as its source code', async () => {
    const { client } = await connect()
    const { tools } = await client.listTools()
    expect(tools).toEqual((await listTools()).map(({ tool }) => tool))
    expect(tools.length).toBe(18)
  })

  test('implements every method that it declares', async () => {
    await filled()
    const { client } = await connect()
    await client.ping()
    await client.setLoggingLevel('info')
    expect((await client.listPrompts()).prompts.length).toBe(4)
    await client.getPrompt({ name: 'write_report', arguments: { topic: 'calls' } })
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBe(1)
    const [first] = (await client.listResources()).resources
    const uri = first?.uri ?? ''
    expect(JSON.stringify((await client.readResource({ uri })).contents)).toContain('4711')
    await client.subscribeResource({ uri })
    await client.unsubscribeResource({ uri })
    const ref = { type: 'ref/resource' as const, uri: 'ks://{space}/{+path}' }
    expect((await client.complete({ ref, argument: { name: 'space', value: 'd' } })).completion.values).toEqual([
      'docs',
    ])
    const loose = z.looseObject({})
    expect(await client.request({ method: 'tasks/list' }, loose)).toMatchObject({ tasks: [] })
    const lost = { method: 'tasks/get', params: { taskId: '018f0000-0000-7000-8000-000000000001' } }
    await expect(client.request(lost, loose)).rejects.toThrow('no research task')
    await expect(client.request({ method: 'tasks/get', params: {} }, loose)).rejects.toThrow('taskId')
  })

  test('writes only protocol messages to stdout, and exits with 0 when stdin ends', async () => {
    const child = execa(process.execPath, [KS, 'mcp', '--debug'], {
      env: home.env,
      input: `${JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      })}\nnot json\n${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`,
      reject: false,
    })
    const { stdout, exitCode } = await child
    expect(exitCode).toBe(0)
    const lines = stdout.split('\n').filter((line) => line !== '')
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } })
  })
})

describe('ks mcp install', () => {
  const settings = '{\n  // mine\n  "theme": "dark"\n}\n'

  test('shows a preview, backs up the configuration file, keeps its comments, and can be undone', async () => {
    const path = home.file('.claude.json', settings)
    const dry = await home.ks(['mcp', 'install', 'claude', '--dry-run'])
    expect([dry.code, readFileSync(path, 'utf8')]).toEqual([0, settings])
    expect(dry.stdout).toContain('"mcp"')
    expect((await home.ks(['mcp', 'install', 'claude'])).code).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe(settings)

    expect((await home.ks(['mcp', 'install', 'claude', '--yes'])).code).toBe(0)
    const text = readFileSync(path, 'utf8')
    expect(text).toContain('// mine')
    expect(text).toContain(`"KS_DATA_DIR": "${home.dataDir}"`)
    const backups = readdirSync(home.dir).filter((name) => name.startsWith('.claude.json.backup-'))
    expect(backups.map((name) => readFileSync(join(home.dir, name), 'utf8'))).toEqual([settings])
    expect((await home.ks(['mcp', 'install', 'claude', '--yes'])).stdout).toContain('already')

    expect((await home.ks(['mcp', 'install', '--uninstall', 'claude', '--yes'])).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(settings)

    // Later changes remain.
    expect((await home.ks(['mcp', 'install', 'claude', '--yes'])).code).toBe(0)
    writeFileSync(path, readFileSync(path, 'utf8').replace('dark', 'light'))
    expect((await home.ks(['mcp', 'install', '--uninstall', 'claude', '--yes'])).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toMatch(/\/\/ mine\n.*"light"/)
    expect(readFileSync(path, 'utf8')).not.toContain('knowledge-spaces')
  })

  test.each([
    ['codex', '.codex/config.toml', 'model = "o"  # mine\n[mcp_servers.other]\ncommand = "x"\n\n\n'],
    ['zed', '.config/zed/settings.json', '// mine\n{\n\t"context_servers": {},\n\t"tab": 4,\n}\n'],
    ['vscode', '.config/Code/User/mcp.json', '{"servers":{"a":{"command":"x"}, /* b */ }, "inputs": []}'],
    ['vscode', '.config/Code/User/mcp.json', '\uFEFF{\r\n  "inputs": []\r\n}\r\n'],
  ])('restores the file of %s exactly when uninstalled', async (client, path, before) => {
    const file = home.file(path, before)
    expect((await home.ks(['mcp', 'install', client, '--yes'])).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('knowledge-spaces')
    expect((await home.ks(['mcp', 'install', '--uninstall', client, '--yes'])).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test.each([
    ['claude-desktop', '.config/Claude/claude_desktop_config.json'],
    ['cursor', '.cursor/mcp.json'],
    ['vscode', '.config/Code/User/mcp.json'],
    ['codex', '.codex/config.toml'],
    ['zed', '.config/zed/settings.json'],
    ['gemini', '.gemini/settings.json'],
    ['windsurf', '.codeium/windsurf/mcp_config.json'],
  ])('creates a missing configuration file of %s, readable by its owner only', async (client, path) => {
    const { code, stderr } = await home.ks(['mcp', 'install', client, '--space', 'docs', '--yes'])
    expect([code, stderr]).toEqual([0, stderr])
    const file = join(home.dir, path)
    expect(readFileSync(file, 'utf8')).toMatch(/knowledge-spaces(?:.|\n)*--space(?:.|\n)*docs/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await home.ks(['mcp', 'install', '--uninstall', client, '--yes'])).code).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain('knowledge-spaces')
  })

  test('edits the target of a linked configuration file, and leaves a read-only or invalid file unchanged', async () => {
    mkdirSync(join(home.dir, 'dotfiles'))
    writeFileSync(join(home.dir, 'dotfiles', 'mcp.json'), '{}')
    mkdirSync(join(home.dir, '.cursor'))
    symlinkSync(join(home.dir, 'dotfiles', 'mcp.json'), join(home.dir, '.cursor', 'mcp.json'))
    expect((await home.ks(['mcp', 'install', 'cursor', '--yes'])).code).toBe(0)
    expect(readFileSync(join(home.dir, 'dotfiles', 'mcp.json'), 'utf8')).toContain('knowledge-spaces')
    // A link to a file that does not exist yet, as in a new folder of settings.
    mkdirSync(join(home.dir, '.gemini'))
    symlinkSync(join('..', 'dotfiles', 'gemini.json'), join(home.dir, '.gemini', 'settings.json'))
    expect((await home.ks(['mcp', 'install', 'gemini', '--yes'])).code).toBe(0)
    expect(lstatSync(join(home.dir, '.gemini', 'settings.json')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(home.dir, 'dotfiles', 'gemini.json'), 'utf8')).toContain('knowledge-spaces')
    const kept = home.file('.codeium/windsurf/mcp_config.json', '{}')
    chmodSync(kept, 0o400)
    const refused = await home.ks(['mcp', 'install', 'windsurf', '--yes'])
    expect([refused.code, readFileSync(kept, 'utf8'), statSync(kept).mode & 0o777]).toEqual([2, '{}', 0o400])
    expect(refused.stderr).toContain('is read-only')
    const path = home.file('.claude.json', '{ broken')
    const dry = await home.ks(['mcp', 'install', 'claude', '--dry-run'])
    expect([dry.code, dry.stdout.includes('"knowledge-spaces"')]).toEqual([2, true])
    const { code, stderr } = await home.ks(['mcp', 'install', 'claude', '--yes'])
    expect([code, readFileSync(path, 'utf8')]).toEqual([2, '{ broken'])
    expect(stderr).toContain('is not valid JSON')
    expect(existsSync(join(home.dir, '.claude.json.backup'))).toBe(false)
    expect((await home.ks(['mcp', 'install', 'netscape', '--yes'])).stderr).toContain('known clients: claude')
  })
})

test('every command of the skill text for agents works', async () => {
  await filled()
  expect((await home.ks(['help', 'agents'])).stdout).toBe(SKILL)
  const fits: Record<string, string> = { DOCUMENT: 'guide.md', FILE: 'docs/guide.md', PATH: 'docs' }
  const lines = [...SKILL.matchAll(/^ {4}ks (.*?)(?: {2,}#.*)?$/gm)].map(([, line = '']) => line)
  expect(lines.length).toBeGreaterThan(8)
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word)
    const args = words.map((word) => word.replace(/DOCUMENT|FILE|PATH/, (name) => fits[name] ?? name))
    const { code, stderr } = await home.ks(args)
    // grep ends with its usual exit code without a match.
    expect([line, code, stderr]).toEqual([line, line.startsWith('fs grep') ? 1 : 0, stderr])
  }
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
