import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core/config'
import { beforeAll, describe, expect, it } from 'vitest'
import { commonFlags } from '../../src/cli/common-flags.js'
import { ENVIRONMENT } from '../../src/cli/environment.js'
import { gatewayRoutes } from '../../src/contract/gateway/routes.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Operations without a separate command: `ks api` reaches them. */
const BY_API_ONLY = new Map<string, string>([
  ['GET /changes', 'a stream for programs that follow; `ks watch` and `ks top` look by themselves'],
  ['GET /metrics', 'text for a collector such as Prometheus, which asks by itself'],
  ['GET /health', 'for probes; `ks doctor` and `ks daemon` show more'],
  ['GET /openapi.json', 'for programs and generators'],
  ['GET /knowledge-spaces/{id}/documents/{documentId}/outline', '`ks docs show --as outline` prints it'],
  ['GET /knowledge-spaces/{id}/staged-commits', 'states of uploads, for a diagnosis'],
  ['GET /knowledge-spaces/{id}/leases/active', 'locks of running work, for a diagnosis'],
  ['GET /knowledge-spaces/{id}/graph/relations', '`ks graph ENTITY` draws those of an entity'],
  ['POST /knowledge-spaces/{id}/semantic-views/topic/materialize', 'the daemon builds topics by itself'],
  ['POST /knowledge-spaces/{id}/semantic-views/communities/materialize', 'the daemon builds communities by itself'],
  ['PATCH /knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}', 'reviews are done in the console'],
  ['GET /knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}/history', 'reviews are done in the console'],
  ['GET /retention-policy', 'set once by an operator'],
  ['PATCH /retention-policy', 'set once by an operator'],
  ['GET /knowledge-spaces/{id}/retention-policy', 'set once by an operator'],
  ['PATCH /knowledge-spaces/{id}/retention-policy', 'set once by an operator'],
  ['POST /agent-workspace-snapshots', 'snapshots are made by agents'],
  ['GET /agent-workspace-snapshots', 'snapshots are made by agents'],
  ['GET /agent-workspace-snapshots/{snapshotId}', 'snapshots are made by agents'],
  ['DELETE /agent-workspace-snapshots/{snapshotId}', 'snapshots are made by agents'],
  ['GET /agent-workspace-snapshots/{snapshotId}/file', 'snapshots are made by agents'],
  ['POST /agent-workspace-snapshots/{snapshotId}/replay', 'snapshots are made by agents'],
])

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
}

let commands: Config['commands']
beforeAll(async () => {
  const { commands: all } = await Config.load(root)
  const aliases = new Set(all.flatMap((command) => command.aliases))
  commands = all.filter((command) => !aliases.has(command.id))
})

describe('each operation of the service', () => {
  it('can be used by a command, or has a reason why `ks api` is enough', () => {
    const called = new Set(
      [...sources('src/cli'), ...sources('src/commands')].flatMap((text) =>
        [...text.matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^']*)'/g)].map((match) => match[1]),
      ),
    )
    const missing = gatewayRoutes
      .map((route) => `${route.method} ${route.path}`)
      .filter((key) => !called.has(key) && !BY_API_ONLY.has(key))
    expect(missing).toEqual([])
  })
})

describe('each command', () => {
  it('comes with a summary in lower case without a full stop, and an example that begins with its name', () => {
    for (const command of commands) {
      const name = command.id.replaceAll(':', ' ')
      expect(command.summary, name).toMatch(/^[^A-Z].*[^.]$/)
      const examples = command.examples ?? []
      expect(examples.length, name).toBeGreaterThan(0)
      const names = [command.id, ...command.aliases].map((id) => `<%= config.bin %> ${id.replaceAll(':', ' ')}`)
      expect(
        examples.some((example) => names.some((start) => String(example).includes(start))),
        name,
      ).toBe(true)
    }
  })

  it('uses only existing flags in its examples', () => {
    for (const command of commands) {
      const known = new Set([...Object.keys(command.flags), ...Object.keys(commonFlags)])
      for (const example of command.examples ?? []) {
        // Only the part of this command: its part of a pipeline, up to `--`.
        const name = `<%= config.bin %> ${command.id.replaceAll(':', ' ')}`
        const parts = String(example).split(/ \| | -- | < /)
        const own = parts.find((part) => part.includes(name)) ?? parts[0] ?? ''
        for (const [, flag] of own.matchAll(/ --([a-z-]+)/g)) {
          expect(known.has(flag ?? ''), `${command.id}: --${flag}`).toBe(true)
        }
      }
    }
  })

  it('describes every flag and argument as a fragment', () => {
    for (const command of commands) {
      for (const part of [...Object.values(command.flags), ...Object.values(command.args)]) {
        expect(part.description, `${command.id} ${part.name}`).toMatch(/^(?:[^A-Z]|[A-Z]{2,}|OpenAPI)/)
        expect(part.description, `${command.id} ${part.name}`).not.toMatch(/\.$/)
      }
    }
  })

  it('uses no one-letter flag except F, f, m, n, o and s, and in ks fs those of rg and ls', () => {
    const others = commands.filter(({ id }) => id !== 'fs:grep' && id !== 'fs:ls')
    const letters = new Set(others.flatMap((command) => Object.values(command.flags).map((flag) => flag.char)))
    letters.delete(undefined)
    expect([...letters].sort()).toEqual(['F', 'f', 'm', 'n', 'o', 's'])
  })
})

describe('the command line surface', () => {
  it('equals the agreed list of commands, arguments and flags', async () => {
    const lines = commands
      .map((command) => {
        const names = [command.id, ...command.aliases].map((id) => id.replaceAll(':', ' '))
        const args = Object.values(command.args).map((arg) => (arg.required === true ? arg.name : `[${arg.name}]`))
        const flags = Object.values(command.flags).map((flag) => {
          const options = flag.type === 'option' && flag.options !== undefined ? `=${flag.options.join('|')}` : ''
          return `  --${flag.name}${flag.char === undefined ? '' : ` -${flag.char}`}${options}`
        })
        return [[names.join(', '), ...args].join(' '), ...flags.sort()].join('\n')
      })
      .sort()
    const common = Object.keys(commonFlags).map((name) => `  --${name}`)
    await expect(`${['all commands', ...common, ...lines].join('\n')}\n`).toMatchFileSnapshot('surface.txt')
  })

  it('names every environment variable that the code reads', () => {
    const known = new Set<string>(ENVIRONMENT.map(([name]) => name))
    const read = [...sources('src/cli'), ...sources('src/commands'), ...sources('src/client')].flatMap((text) =>
      [...text.matchAll(/(?:env\.|env\[')([A-Z][A-Z_]+)/g)].map((match) => match[1] ?? ''),
    )
    // Variables of the platform for locale, folders and desktop, and of MCP clients.
    const desktop = ['DISPLAY', 'WAYLAND_DISPLAY']
    const shells = ['SHELL', 'ZDOTDIR', 'XDG_DATA_HOME', 'BASH_COMPLETION_USER_DIR']
    const folders = ['APPDATA', 'XDG_CONFIG_HOME', 'CODEX_HOME']
    const platform = new Set(['LC_ALL', 'LC_CTYPE', 'LANG', ...folders, ...desktop, ...shells])
    expect(read.filter((name) => !known.has(name) && !platform.has(name))).toEqual([])
  })
})

describe('each `ks` line of the documentation', () => {
  it('names an existing command with existing flags', () => {
    const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
    const wrong: string[] = []
    for (const page of pages.filter((name) => name.endsWith('.md'))) {
      const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/```(?:sh|console|bash)?\n([\s\S]*?)```/g)]
      const lines = blocks.flatMap((block) => (block[1] ?? '').split('\n'))
      for (const line of lines) {
        const call = /^(?:\$ )?ks ([^#|<>]+)/.exec(line)?.[1]
        if (call !== undefined && !isCommandLine(call)) wrong.push(`${page}: ${line}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

/** Whether words name a command and contain only its long flags. */
function isCommandLine(line: string): boolean {
  const words = line
    .replace(/"[^"]*"|'[^']*'/g, 'x')
    .trim()
    .split(/\s+/)
  if (words[0]?.startsWith('-') === true) return true
  const ids = new Map(commands.flatMap((one) => [one.id, ...one.aliases].map((id) => [id, one] as const)))
  for (let length = words.length; length > 0; length--) {
    const command = ids.get(words.slice(0, length).join(':'))
    if (command === undefined) continue
    const end = words.includes('--') ? words.indexOf('--') : words.length
    const flags = words.slice(length, end).flatMap((word) => /^--(?:no-)?([a-z-]+)/.exec(word)?.[0].slice(2) ?? [])
    const known = new Set([...Object.keys(command.flags), ...Object.keys(commonFlags), 'help', 'no-color'])
    return flags.every((flag) => known.has(flag))
  }
  return false
}
