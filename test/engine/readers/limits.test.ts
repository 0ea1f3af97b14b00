import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import type { ReadLimits } from '../../../src/engine/readers/limits.js'
import { createMeter } from '../../../src/engine/readers/meter.js'
import type { CompileRequest, CompileResult, Compiler, ReadingProgress } from '../../../src/engine/store/compiled.js'
import { until } from '../../helpers/until.js'

const MIB = 1024 * 1024
const LONG_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'ks-limits-'))
const open: Compiler[] = []
const burners: ChildProcess[] = []

function compiler(limits: Partial<ReadLimits>): Compiler {
  const made = createCompiler({ limits })
  open.push(made)
  return made
}

function file(name: string): CompileRequest {
  const path = join(folder, name)
  writeFileSync(path, `# ${name}\n\nText of ${name}.`)
  return { path, filename: name }
}

const ends = (results: CompileResult[]) => results.map((result) => (result.ok ? 'ok' : result.failure.message))

beforeEach(() => {
  process.env.KS_FAULT = 'parse'
})
afterEach(async () => {
  delete process.env.KS_FAULT
  for (const burner of burners.splice(0)) burner.kill('SIGKILL')
  for (const made of open.splice(0)) await made.close()
})
afterAll(() => removeFolder(folder))

describe('the time limit for reading a file', { timeout: LONG_MS }, () => {
  it('counts processor time of the file, and not the time that other processes use', async () => {
    // With the same low priority as the reading process.
    for (let i = 0; i < 3 * availableParallelism(); i++)
      burners.push(spawn(process.execPath, ['-e', 'os.setPriority(10); for (;;);'], { stdio: 'ignore' }))
    const began = performance.now()
    const results = await compiler({ processorMs: 2000 }).compile([file('ks-fault-work-1000.pdf')])
    expect(ends(results)).toEqual(['ok'])
    // The clock alone would have ended it.
    expect(performance.now() - began).toBeGreaterThan(2000)
  })

  it('does not end a file whose process was stopped for longer than the limit', async () => {
    const made = compiler({ processorMs: 60_000, wallMs: 2500 })
    const reading = made.compile([file('ks-fault-wait-1500.pdf')])
    await until(() => made.pids().length > 0)
    const [pid = 0] = made.pids()
    process.kill(pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 4000))
    process.kill(pid, 'SIGCONT')
    expect(ends(await reading)).toEqual(['ok'])
  })

  it('fails a file whose reading process waits for longer than the wall time limit', async () => {
    const results = await compiler({ processorMs: 60_000, wallMs: 1000 }).compile([file('ks-fault-wait-600000.pdf')])
    expect(ends(results)).toEqual([expect.stringMatching(/^ks-fault-wait-600000\.pdf needed more than 1 s to read \(/)])
  })

  it('reports the page at which a file exceeded the limit', async () => {
    const reported: number[] = []
    const requests = [file('a.md'), file('ks-fault-work-2800.pdf')]
    const results = await compiler({ processorMs: 1500 }).compile(requests, undefined, {
      onProgress: (index) => reported.push(index),
    })
    expect(ends(results)).toEqual([
      'ok',
      expect.stringMatching(
        /^ks-fault-work-2800\.pdf needed more than 1\.5 s of processor time to read \(it was at page [2-6] of 7 after (?:1\.[5-9]|[2-9]\.?\d?) s of processor time, with [1-9]\d+ MiB of memory\)$/,
      ),
    ])
    expect(new Set(reported)).toEqual(new Set([1]))
  })

  it('lets a file report its progress page by page, up to the last page', async () => {
    const reported: ReadingProgress[] = []
    await compiler({}).compile([file('ks-fault-work-2100.pdf')], undefined, {
      onProgress: (_, progress) => reported.push(progress),
    })
    expect(reported.length).toBeGreaterThan(2)
    expect(reported.at(-1)).toEqual({ unit: 'page', at: 7, total: 7 })
  })
})

describe('a file that exceeds a limit', { timeout: LONG_MS }, () => {
  it('gets a second attempt alone, in a new process', async () => {
    const made = compiler({ memoryBytes: 250 * MIB })
    // Alone, after another file of the same process.
    expect(ends(await made.compile([file('a.pdf')]))).toHaveLength(1)
    const [before] = made.pids()
    expect(ends(await made.compile([file('ks-fault-late.md')]))).toEqual(['ok'])
    expect(made.pids()).not.toEqual([before])
    // And together with others in one batch.
    expect(ends(await made.compile([file('b.md'), file('ks-fault-late.md'), file('c.md')]))).toEqual(['ok', 'ok', 'ok'])
  })

  it('fails with its processor time and memory in the message if it exceeds the limit again', async () => {
    const made = compiler({ memoryBytes: 200 * MIB })
    await made.compile([file('a.md')])
    expect(ends(await made.compile([file('ks-fault-memory.pdf'), file('after.md')]))).toEqual([
      expect.stringMatching(
        /^ks-fault-memory\.pdf needed more than 200 MiB of memory to read \(\d+(?:\.\d)? s of processor time, with [2-9]\d\d MiB of memory\)$/,
      ),
      'ok',
    ])
  })
})

describe('the meter of a reading process', () => {
  it('counts processor time and wall time since its restart, and an hour of machine sleep as one second', () => {
    let now = 0
    const use = { processorMs: 500, isStopped: false }
    const meter = createMeter(
      1,
      () => use,
      () => now,
    )
    meter.restart()
    now += 250
    use.processorMs += 100
    expect(meter.sample()).toEqual({ processorMs: 100, wallMs: 250 })
    // The machine slept for an hour.
    now += 3_600_000
    expect(meter.sample()).toEqual({ processorMs: 100, wallMs: 1250 })
    use.isStopped = true
    now += 250
    expect(meter.sample()).toEqual({ processorMs: 100, wallMs: 1250 })
    meter.restart()
    expect(meter.sample()).toEqual({ processorMs: 0, wallMs: 0 })
  })

  it('counts no wall time while the process waits for a processor', () => {
    let now = 0
    const use = { processorMs: 0, queuedMs: 700, isStopped: false }
    const meter = createMeter(
      1,
      () => ({ ...use }),
      () => now,
    )
    // An hour on a busy machine: it ran for a fiftieth of the time and was runnable all the time.
    for (let passed = 0; passed < 3_600_000; passed += 250) {
      now += 250
      use.processorMs += 5
      use.queuedMs += 245
      meter.sample()
    }
    expect(meter.sample()).toEqual({ processorMs: 72_000, wallMs: 72_000 })
    // It waits for a disk.
    now += 250
    expect(meter.sample()).toEqual({ processorMs: 72_000, wallMs: 72_250 })
  })

  it('uses reported processor times if the system gives none, and wall time while the process reports nothing', () => {
    let now = 0
    const meter = createMeter(
      1,
      () => undefined,
      () => now,
    )
    meter.reportProcessorMs(1000)
    meter.restart()
    const following = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        now += 250
        meter.sample()
      }
      return meter.sample().processorMs
    }
    expect(following(1000)).toBe(200)
    meter.reportProcessorMs(1300)
    expect(meter.sample().processorMs).toBe(300)
    expect(following(600_000)).toBeGreaterThan(120_000)
  })
})
