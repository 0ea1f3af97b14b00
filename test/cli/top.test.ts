import stringWidth from 'string-width'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { computeFigures } from '../../src/cli/top/figures.js'
import { parseMetrics, sumSamples } from '../../src/cli/top/metrics-text.js'
import type { TopReading } from '../../src/cli/top/reading.js'
import { applyKey, getSelectedSlug, type TopState } from '../../src/cli/top/state.js'
import { renderTop } from '../../src/cli/top/view.js'
import { cliHome } from '../helpers/cli.js'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'

const CLOCK = Date.parse('2026-01-02T03:04:05Z')
const PAGE = (calls: number) => `# HELP x y
ks_http_requests_total{route="GET /a \\"b\\"",status="200"} ${calls}
ks_http_requests_total{route="GET /c",status="500"} ${calls / 10}
ks_http_request_duration_seconds_bucket{route="GET /c",le="0.005"} ${calls / 2}
ks_http_request_duration_seconds_bucket{route="GET /c",le="0.1"} ${calls}
ks_http_request_duration_seconds_bucket{route="GET /c",le="+Inf"} ${calls}
process_cpu_seconds_total ${calls / 100}
ks_model_calls_total{provider="p",model="m",kind="generation"} 7
ks_model_failures_total{provider="p",model="m",kind="generation",class="timeout"} 2
ks_model_left_alone{provider="p",model="m",kind="generation"} 1
`

function reading(calls: number, takenAt: number): TopReading {
  const spaces = Array.from({ length: 30 }, (_, index) => ({
    id: `id-${index}`,
    slug: `space-${String(index).padStart(2, '0')}`,
    documents: index,
    bytes: 1000 * index,
    open: index === 5 ? 100 : 0,
    hasMore: index === 5,
    oldest: index === 5 ? CLOCK - 90_000 : undefined,
  }))
  const job = (index: number): TopReading['jobs'][number] => ({
    id: `job-${index}`,
    knowledgeSpaceId: 'id-5',
    tenantId: 'local',
    documentAssetId: 'd',
    queueJobId: 'q',
    stage: 'queued',
    version: 1,
    createdAt: CLOCK - index * 1000,
    updatedAt: CLOCK,
    filename: `a long name with wide letters 文書 and \u001b[31m codes ${index}.pdf`,
    attempts: 0,
    space: 'space-05',
    isReading: index === 3,
    ...(index === 3 ? { progress: { unit: 'page', at: 4, total: 90 } } : {}),
  })
  return {
    takenAt,
    status: {
      instance: 'one',
      version: '1.2.3',
      mode: 'auto',
      startedAt: new Date(CLOCK - 3_600_000).toISOString(),
      uptimeMs: 3_600_000,
      limits: { uploadBytes: 1, bulkFiles: 1, bulkBytes: 1 },
      activity: { activeJobs: 1, waitingJobs: 99, runningQueries: 2, openRequests: 3 },
      memory: { rss: 1e8, peakRss: 2e8, heapUsed: 1, external: 1, arrayBuffers: 1 },
    },
    metrics: parseMetrics(PAGE(calls)),
    spaces,
    hasMoreSpaces: false,
    jobs: Array.from({ length: 40 }, (_, index) => job(index)),
    lacks: [],
  }
}

const state: TopState = {
  serviceName: 'local daemon',
  intervalMs: 2000,
  current: reading(200, CLOCK),
  previous: reading(100, CLOCK - 2000),
  outage: undefined,
  isPaused: false,
  isHelp: false,
  sort: 'backlog',
  selected: undefined,
  filter: undefined,
}
const text = (of: TopState, columns: number, rows?: number) =>
  renderTop(of, { columns, rows }, CLOCK)
    .map((line) => line.text)
    .join('\n')

describe('the rates that ks top computes from two readings', () => {
  it('equal the differences of the counters by the time between the readings', () => {
    const figures = computeFigures(reading(200, CLOCK), reading(100, CLOCK - 2000))
    expect(figures).toMatchObject({ requestsPerSecond: 55, errorsPerSecond: 5, cpuPercent: 50, p50: 0.005, p95: 0.1 })
    expect(figures.models).toEqual([
      { name: 'p/m', kind: 'generation', calls: 7, failed: 2, callsPerSecond: 0, isLeftAlone: true },
    ])
    expect(sumSamples(parseMetrics(PAGE(10)), 'ks_http_requests_total', { route: 'GET /a "b"' })).toBe(10)
  })

  it('stay unknown if the daemon was restarted, which resets its counters', () => {
    const before = reading(100, CLOCK - 2000)
    const other = { ...before, status: { ...before.status, instance: 'two' } }
    expect(computeFigures(reading(5, CLOCK), other)).toMatchObject({
      requestsPerSecond: undefined,
      cpuPercent: undefined,
    })
  })
})

describe('the view of ks top', () => {
  it.each([
    [40, 19],
    [80, 23],
    [200, 49],
    [20, 4],
    [60, 9],
  ])('fills a terminal of %i columns and %i lines exactly', (columns, rows) => {
    const lines = renderTop(state, { columns, rows }, CLOCK)
    expect(lines).toHaveLength(rows)
    for (const line of lines) expect(stringWidth(line.text), line.text).toBeLessThanOrEqual(columns)
    expect(lines.map((line) => line.text).join('')).not.toContain('\u001b')
  })

  it('shows the documents in compilation with their progress, and the space with the longest backlog first', () => {
    const shown = text(state, 120, 30)
    expect(shown).toContain('page 4 of 90')
    expect(shown).toMatch(/> space-05 +5 +100\+ +over 90 s/)
    expect(shown).toContain('requests 55.0/s')
    expect(shown).toContain('suspended')
  })

  it('moves, sorts, filters by space, pauses, and lists its keys', () => {
    expect(getSelectedSlug(state)).toBe('space-05')
    const down = applyKey(applyKey(state, 'down'), 'down')
    expect(getSelectedSlug(down)).toBe('space-01')
    expect(text(down, 120, 30)).toContain('> space-01')
    expect(getSelectedSlug(applyKey(state, 'last'))).toBe('space-29')
    expect(text(applyKey(state, 'last'), 80, 23)).toContain('> space-29')
    const only = applyKey(down, 'filter')
    expect(text(only, 120, 30)).not.toContain('space-05')
    expect(applyKey(only, 'clear').filter).toBeUndefined()
    expect(text(applyKey(state, 'sort'), 120, 30)).toContain('SPACES by documents')
    expect(text(applyKey(state, 'pause'), 120, 30)).toContain('PAUSED')
    expect(text(applyKey(state, 'help'), 120, 30)).toContain('j, k, arrows')
  })

  it('reports missing rights and an unavailable service', () => {
    const lacks = { ...reading(1, CLOCK), lacks: ['only the operator may'], metrics: undefined }
    const shown = text({ ...state, current: lacks, outage: { since: CLOCK - 5000, message: 'gone\u001b[2J' } }, 120, 30)
    expect(shown).toContain('not shown: only the operator may')
    expect(shown).toContain('no response since')
    expect(shown).not.toContain('requests ')
  })
})

describe('ks top', () => {
  const home = cliHome()
  afterAll(() => home.end())
  beforeAll(async () => {
    home.file('docs/a.md', '# A\n\nText.\n')
    expect(await home.ks(['ingest', 'docs', '--space', 'one', '--create', '--wait'])).toMatchObject({ code: 0 })
  })

  it('prints one reading into a pipe, as text or JSON', async () => {
    const shown = await home.ks(['top'])
    expect(shown, shown.stderr).toMatchObject({ code: 0 })
    expect(shown.stdout).toMatch(/> one +1 +0/)
    const record = JSON.parse((await home.ks(['top', '--json', '--once'])).stdout)
    expect(record.figures.requestsPerSecond).toBeGreaterThan(0)
    expect(record.spaces).toMatchObject([{ slug: 'one', documents: 1, open: 0 }])
    expect(await home.ks(['top', '--interval', '1ms'])).toMatchObject({ code: 2 })
  })

  it("reports without the operator's token what only the operator may see, and the scope that a token lacks", async () => {
    const token = async (scope: string) =>
      (await home.ks(['auth', 'token', '--tenant', 'other', '--subject', 's', '--scope', scope])).stdout.trim()
    const reads = { env: { KS_TOKEN: await token('knowledge-spaces:read') } }
    const shown = await home.ks(['top', '--once'], reads)
    expect(shown, shown.stderr).toMatchObject({ code: 0 })
    expect(shown.stdout).toContain('not shown: only the operator')
    expect(shown.stdout).not.toContain('one ')
    const writes = await home.ks(['top', '--once'], { env: { KS_TOKEN: await token('knowledge-spaces:write') } })
    expect(writes.code).toBe(4)
    expect(writes.stderr).toContain('knowledge-spaces:read')
  })

  it.skipIf(!hasTerminal)('reacts to each of its keys in turn', async () => {
    for (const slug of ['two', 'three'])
      expect(await home.ks(['spaces', 'create', slug, '--slug', slug])).toMatchObject({ code: 0 })
    const DOWN = '\u001b[B'
    const { screen, code } = await runInTerminal(`${process.execPath} ${process.cwd()}/bin/ks.js top`, {
      cwd: home.dir,
      env: { ...home.env, NO_COLOR: '1' },
      inputs: [
        [/SPACES by backlog/, '?'],
        [/j, k, arrows/, '?'],
        [/SPACES by backlog/, 's'],
        [/SPACES by documents/, 'p'],
        [/PAUSED/, 'p'],
        [/> one/, 'j'],
        [/> three/, DOWN],
        [/> two/, 'k'],
        [/> three/, 'g'],
        [/> one/, 'G'],
        [/> two/, '\r'],
        [/only this space/, '\u001b'],
        [/ one +1 +0[\s\S]*> two/, 'q'],
      ],
    })
    expect(code, screen).toBe(0)
  })

  it.skipIf(!hasTerminal)('restores the terminal on q and Ctrl-C', async () => {
    for (const [shows, key] of [
      [/SPACES by/, 'q'],
      [/SPACES by/, '\u0003'],
      // Before the first frame.
      [/\u001b\[\?1049h/, '\u0003'],
    ] as const) {
      const line = `${process.execPath} ${process.cwd()}/bin/ks.js top; echo "left with $?"; stty -a`
      const { screen, raw } = await runInTerminal(line, {
        cwd: home.dir,
        env: { ...home.env, NO_COLOR: '1' },
        inputs: [[shows, key]],
      })
      expect(screen).toContain('left with 0')
      expect(raw).toContain('\u001b[?1049l')
      expect(screen).toContain('> one')
      expect(screen).toMatch(/[^-]icanon/)
      expect(screen).toMatch(/ echo /)
    }
  })
})
