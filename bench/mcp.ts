/**
 * How long an agent waits for its first answer: from the start of `ks mcp` to the answer of its first tool, as a multiple
 * of a whole `ks search` in the same minutes, with the same clean environment. Runs are in pairs.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endedChildrenCpuMs, KS, privateEnv, run, runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { mcpStdio } from './lib/mcp-stdio.js'
import { percentile, report } from './lib/report.js'

const ROUNDS = Number(process.argv[2] ?? 25)
const BAR = 2
const QUESTION = 'when does the shop open'

const home = temporaryFolder('bench-mcp')
const dataDir = join(home.path, 'data')
const env = privateEnv(dataDir)
const daemon = await startDaemon(dataDir)
try {
  const notes = join(home.path, 'notes')
  mkdirSync(notes)
  writeFileSync(join(notes, 'shop.md'), '# Shop\n\nThe shop opens at nine in the morning.\n')
  const { code, stderr } = await runKs(dataDir, ['ingest', notes, '--space', 'shop', '--create', '--wait'])
  if (code !== 0) throw new Error(stderr)
  const search: number[] = []
  const mcp: number[] = []
  const cpu = { search: 0, mcp: 0 }
  for (let round = 0; round <= ROUNDS; round++) {
    let before = endedChildrenCpuMs()
    const found = await run(process.execPath, [KS, 'search', QUESTION, '--space', 'shop'], env)
    if (found.code !== 0) throw new Error(found.stderr)
    const searchCpu = endedChildrenCpuMs() - before
    before = endedChildrenCpuMs()
    const answeredMs = await firstAnswer()
    const mcpCpu = endedChildrenCpuMs() - before
    // the first round warms the disk cache
    if (round === 0) continue
    search.push(found.ms)
    mcp.push(answeredMs)
    cpu.search += searchCpu
    cpu.mcp += mcpCpu
  }
  const median = (times: number[]) => percentile(times, 0.5)
  const ratios = mcp.map((ms, at) => ms / (search[at] ?? Number.NaN))
  report('mcp', [
    { name: 'ks search median', value: median(search), unit: 'ms' },
    { name: 'ks mcp, first tool answer, median', value: median(mcp), unit: 'ms' },
    { name: 'first tool answer / ks search, median of pairs', value: median(ratios), unit: 'x', bar: { atMost: BAR } },
    { name: 'processor time, ks mcp / ks search', value: cpu.mcp / cpu.search, unit: 'x' },
  ])
} finally {
  await daemon.stop()
  home.remove()
}

/** Begins a session, lists the tools as clients do, and calls one. @returns milliseconds until its answer */
async function firstAnswer(): Promise<number> {
  const started = performance.now()
  const session = await mcpStdio(env, ['--space', 'shop'])
  await session.ask('tools/list', {})
  const answer = await session.ask('tools/call', { name: 'search', arguments: { query: QUESTION } })
  const ms = performance.now() - started
  if (!answer.includes('nine in the morning')) throw new Error(answer)
  await session.end()
  return ms
}
