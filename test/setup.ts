import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, vi } from 'vitest'
import { removeFolder } from '../bench/lib/removed-folder.js'

/** Variables that a developer may set for a test run. */
const KEPT = new Set([
  'KS_SHARED_DATA',
  'KS_SKIP_BUILD',
  'KS_TEST_BACKEND',
  'KS_TEST_MODELS',
  'KS_TEST_POSTGRES_BIN',
  'KS_TEST_RUN_DIR',
  'KS_CRASH_ROUNDS',
  'KS_CRASH_SEED',
  'KS_CLUSTER_KILLS',
  'KS_CLUSTER_PROMOTIONS',
  'KS_CLUSTER_KEEP',
  'KS_FAULT_ROUNDS',
  'KS_FAULT_SEED',
])

/** Each test file gets separate folders, so that no test uses the data of the developer. */
const home = mkdtempSync(join(tmpdir(), 'ks-test-'))

for (const name of Object.keys(process.env)) {
  const inherited = name.startsWith('KS_') || name.startsWith('KCHAT_')
  if (inherited && !KEPT.has(name)) delete process.env[name]
}
Object.assign(process.env, {
  KS_CHECK_RESPONSES: '1',
  KS_DATA_DIR: join(home, 'data'),
  KS_CONFIG_DIR: join(home, 'config'),
  KS_STATE_DIR: join(home, 'state'),
  KS_CACHE_DIR: join(home, 'cache'),
})

// the next file of this worker has the same modules and the same process
const environment = { ...process.env }
const folder = process.cwd()
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(folder)
  removeFolder(home)
})
