import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import {
  buildCleanEnv,
  privateEnv,
  readEndedChildrenCpuMs,
  runProgram,
  temporaryFolder,
} from '../../bench/lib/daemon.js'

const home = temporaryFolder('bench-environment')

afterEach(() => {
  vi.unstubAllEnvs()
})
afterAll(home.remove)

it('a program that the bench measures gets only listed environment variables, with values of the bench', async () => {
  for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'HTTPS_PROXY', 'KS_SPACE', 'LC_ALL']) {
    vi.stubEnv(name, '/of/the/caller')
  }
  const ours = privateEnv(join(home.path, 'data'), { KS_LISTEN: 'x' })
  const { stdout } = await runProgram(process.execPath, ['-p', 'JSON.stringify(process.env)'], ours)
  const { PATH, TMPDIR, HOME, LANG, ...rest } = JSON.parse(stdout)
  expect(PATH).toBe(process.env['PATH'])
  expect(TMPDIR).toBe(process.env['TMPDIR'])
  expect(HOME).toBe(join(home.path, 'data.home'))
  expect(LANG).toBe('C.UTF-8')
  expect(Object.keys(rest).sort()).toEqual([
    'KS_CACHE_DIR',
    'KS_CONFIG_DIR',
    'KS_DATA_DIR',
    'KS_LISTEN',
    'KS_STATE_DIR',
    'NO_COLOR',
  ])
  expect(Object.values(buildCleanEnv('/home/bench'))).not.toContain('/of/the/caller')
})

it.runIf(process.platform === 'linux')('the bench counts the processor time of ended child processes', () => {
  const before = readEndedChildrenCpuMs()
  const busy = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end) {}'
  spawnSync(process.execPath, ['-e', busy])
  expect(readEndedChildrenCpuMs() - before).toBeGreaterThanOrEqual(290)
})
