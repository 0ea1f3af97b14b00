/**
 * What a shell waits for at Tab, beside bare `node` in the same minutes: runs are interleaved, in an environment that has
 * nothing of the person who runs this.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endedChildrenCpuMs, KCHAT, KS, privateEnv, run, runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { removeFolder } from './lib/removed-folder.js'
import { percentile, report } from './lib/report.js'

const ROUNDS = Number(process.argv[2] ?? 25)
const DOCUMENTS = Number(process.argv[3] ?? 10_000)
/** what a person who presses Tab does not notice, on a quiet machine */
const MOST_MS = 100
/** what a Tab may cost beside a bare node in processor time, which other work on the machine does not change: one more start */
const MOST_TIMES = 2
const FOLDERS = 10

const home = temporaryFolder('bench-completion')
const dataDir = join(home.path, 'data')
const env = privateEnv(dataDir)
const daemon = await startDaemon(dataDir)
try {
  const notes = join(home.path, 'notes')
  for (let at = 0; at < DOCUMENTS; at++) {
    const folder = join(notes, `part-${at % FOLDERS}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `note-${at}.md`), `# Note ${at}\n\nThe shop opens at nine on day ${at}.\n`)
  }
  const ingested = await runKs(dataDir, ['ingest', notes, '--space', 'shop', '--create', '--wait', '--quiet'])
  if (ingested.code !== 0) throw new Error(ingested.stderr)
  const tab = (program: string, ...words: string[]) => [program, '__complete', 'zsh', ...words]
  const shown = ['docs', 'show', '--space', 'shop']
  const commands: Record<string, { args: string[]; isKept?: boolean }> = {
    'node -e 0': { args: ['-e', '0'] },
    'spaces, asked': { args: tab(KS, '', 'docs', '--space') },
    'spaces, kept': { args: tab(KS, '', 'docs', '--space'), isKept: true },
    'documents, asked': { args: tab(KS, 'notes/part-1/note-99', ...shown) },
    'documents, kept': { args: tab(KS, 'notes/part-1/note-99', ...shown), isKept: true },
    'jobs, asked': { args: tab(KS, '', 'jobs', 'show', '--space', 'shop') },
    'kchat: spaces, asked': { args: tab(KCHAT, '', 'apps', 'create', '--space') },
  }
  const names = Object.keys(commands)
  const times = new Map(names.map((name) => [name, [] as number[]]))
  const cpu = new Map(names.map((name) => [name, 0]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { args, isKept }] of Object.entries(commands)) {
      if (isKept !== true) removeFolder(`${dataDir}.cache`)
      const before = endedChildrenCpuMs()
      const { code, ms, stdout } = await run(process.execPath, args, env)
      if (code !== 0 || (args[1] === '__complete' && stdout === '')) throw new Error(`${name} gave nothing`)
      // the first round warms the disk cache
      if (round === 0) continue
      times.get(name)?.push(ms)
      cpu.set(name, (cpu.get(name) ?? 0) + endedChildrenCpuMs() - before)
    }
  }
  const median = (name: string) => percentile(times.get(name) ?? [], 0.5)
  const bare = median('node -e 0')
  const processor = (name: string) => (cpu.get(name) ?? Number.NaN) / ROUNDS
  const tabs = names.slice(1)
  report('completion', [
    { name: 'documents', value: DOCUMENTS, unit: '' },
    { name: 'node -e 0 median', value: bare, unit: 'ms' },
    ...tabs.map((name) => ({ name: `${name} median`, value: median(name), unit: 'ms', bar: { atMost: MOST_MS } })),
    ...tabs.map((name) => ({ name: `${name} / node`, value: median(name) / bare, unit: 'x' })),
    ...names.map((name) => ({ name: `${name} processor time`, value: processor(name), unit: 'ms' })),
    ...tabs.map((name) => ({
      name: `${name} / node, processor time`,
      value: processor(name) / processor('node -e 0'),
      unit: 'x',
      bar: { atMost: MOST_TIMES },
    })),
  ])
} finally {
  await daemon.stop()
  home.remove()
}
