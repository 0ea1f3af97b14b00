/** Start-up of the command line as a multiple of bare `node` in the same minutes: runs are interleaved. */
import { join } from 'node:path'
import { KS, privateEnv, run, startDaemon, temporaryFolder } from './lib/daemon.js'
import { percentile, report } from './lib/report.js'

const ROUNDS = Number(process.argv[2] ?? 25)
/** Bars of the command line: what a person takes for immediate (docs/testing.md). */
const VERSION_BAR = 2.5
const SPACES_BAR = 4

const home = temporaryFolder('bench-startup')
const dataDir = join(home.path, 'data')
const env = privateEnv(dataDir)
const daemon = await startDaemon(dataDir)
try {
  const commands = {
    'node -e 0': ['-e', '0'],
    'ks --version': [KS, '--version'],
    'ks spaces': [KS, 'spaces'],
  }
  const names = Object.keys(commands)
  const times = new Map(names.map((name) => [name, [] as number[]]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, args] of Object.entries(commands)) {
      const result = await run(process.execPath, args, env)
      if (result.code !== 0) throw new Error(`${name} exited with ${result.code}: ${result.stderr}`)
      // the first round warms the disk cache
      if (round > 0) times.get(name)?.push(result.ms)
    }
  }
  const median = (name: string) => percentile(times.get(name) ?? [], 0.5)
  const bare = median('node -e 0')
  report('startup', [
    ...names.map((name) => ({ name: `${name} median`, value: median(name), unit: 'ms' })),
    { name: 'ks --version / node', value: median('ks --version') / bare, unit: 'x', bar: { atMost: VERSION_BAR } },
    { name: 'ks spaces / node', value: median('ks spaces') / bare, unit: 'x', bar: { atMost: SPACES_BAR } },
  ])
} finally {
  await daemon.stop()
  home.remove()
}
