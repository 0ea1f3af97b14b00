import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { describePackageRemoval } from '../../src/cli/uninstall.js'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

const SCRIPT = join(home.dir, '.local/share/bash-completion/completions/ks')
const CLIENT = join(home.dir, '.claude.json')
const DAEMON_FILE = join(home.dataDir, 'daemon.json')

interface Uninstalled {
  removed: { kind: string; path: string }[]
  kept: string[]
}

async function uninstall(...flags: string[]): Promise<Uninstalled> {
  const { code, stdout, stderr } = await home.ks(['uninstall', ...flags, '--json'])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

it('ks uninstall lists and removes completion, entries of MCP clients and the daemon, and keeps the data', async () => {
  home.file('.claude.json', '{"theme": "dark"}')
  home.file('.local/share/bash-completion/completions/other', '# of another program')
  await home.ks(['completion', 'bash', '--install', '--yes'])
  await home.ks(['mcp', 'install', 'claude', '--yes'])
  await home.ks(['spaces', 'create', 'notes'])
  expect([existsSync(SCRIPT), readFileSync(CLIENT, 'utf8').includes('mcpServers'), existsSync(DAEMON_FILE)]).toEqual([
    true,
    true,
    true,
  ])
  const planned = await uninstall('--dry-run')
  expect(planned.removed.map(({ kind }) => kind).sort()).toEqual(['completion', 'completion', 'daemon', 'mcp'])
  expect(existsSync(SCRIPT)).toBe(true)
  expect(await home.ks(['uninstall'])).toMatchObject({ code: 2 })
  expect(await uninstall('--yes')).toMatchObject({ removed: planned.removed })
  expect([existsSync(SCRIPT), existsSync(DAEMON_FILE)]).toEqual([false, false])
  expect(readFileSync(CLIENT, 'utf8')).toBe('{"theme": "dark"}')
  expect((await home.ks(['spaces', '--fields', 'slug'])).stdout).toBe('notes\n')
})

it('ks uninstall --data deletes data and settings, and keeps files of other programs', async () => {
  await home.ks(['config', 'format', 'table'])
  home.file('config/mine.txt', 'not of ks')
  const { removed, kept } = await uninstall('--data', '--yes')
  expect(removed.filter(({ kind }) => kind === 'data').map(({ path }) => path)).toContain(home.dataDir)
  expect(existsSync(home.dataDir)).toBe(false)
  expect(kept).toEqual([join(home.dir, 'config')])
  expect(existsSync(join(home.dir, 'config/config.json'))).toBe(false)
  expect(existsSync(join(home.dir, 'config/mine.txt'))).toBe(true)
})

it('ks uninstall names the command that removes the package, by the way it was installed', () => {
  expect(describePackageRemoval('/usr/lib/knowledge-spaces')).toBe('apt remove knowledge-spaces')
  expect(describePackageRemoval('/home/ada/.local/lib/node_modules/knowledge-spaces/packed')).toBe(
    'npm uninstall -g --prefix /home/ada/.local knowledge-spaces',
  )
  expect(describePackageRemoval('/home/ada/src/ks')).toBe('delete the clone: /home/ada/src/ks')
})
