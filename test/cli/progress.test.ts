import { describe, expect, it } from 'vitest'
import { createIngestCounts, renderIngest } from '../../src/cli/ingest/counts.js'
import { Progress, renderBar } from '../../src/cli/progress.js'
import { getSymbols } from '../../src/cli/terminal.js'

function progress(live: boolean) {
  const written: string[] = []
  const clock = { now: 1000 }
  const view = { lines: ['one'], plain: 'plain one' }
  const shown = new Progress({
    stream: {
      write: (text) => {
        written.push(text)
        return true
      },
    },
    live,
    width: 20,
    view: () => view,
    now: () => clock.now,
  })
  const at = (ms: number) => {
    clock.now = 1000 + ms
    shown.tick()
  }
  return { written, view, shown, clock, at }
}

describe('a live progress display', () => {
  it('shows nothing for the first 300 ms', () => {
    const { written, at, shown } = progress(true)
    at(299)
    shown.stop()
    expect(written).toEqual([])
  })

  it('overwrites its lines, truncates them to the terminal width, and removes them at the end', () => {
    const { written, view, at, shown } = progress(true)
    at(300)
    view.lines = ['x'.repeat(30), 'two']
    at(400)
    at(500)
    shown.stop()
    expect(written).toEqual([
      'one\n',
      '\u001b[1F\u001b[J',
      `${'x'.repeat(19)}\ntwo\n`,
      '\u001b[2F\u001b[J',
      `${'x'.repeat(19)}\ntwo\n`,
      '\u001b[2F\u001b[J',
    ])
  })
})

describe('progress in a log', () => {
  it('consists of at most a line every 10 s, only if it changed, and of the last state', () => {
    const { written, view, at, shown } = progress(false)
    at(9999)
    expect(written).toEqual([])
    at(10_000)
    at(15_000)
    at(20_000)
    view.plain = 'plain two'
    at(25_000)
    shown.stop()
    expect(written).toEqual(['plain one\n', 'plain two\n'])
  })

  it('stays empty when a quiet command stops a display that was not started', () => {
    const { written, clock, shown } = progress(false)
    clock.now += 60_000
    shown.stop()
    expect(written).toEqual([])
  })
})

describe('the view of an ingest', () => {
  it('shows a bar that never exceeds its width', () => {
    const marks = { full: '#', empty: '.' }
    expect([0, 0.5, 1, 7, -1].map((share) => renderBar(share, 4, marks))).toEqual([
      '....',
      '##..',
      '####',
      '####',
      '....',
    ])
  })

  it('shows the current phase: checking, then uploading with speed, then compiling', () => {
    const counts = {
      ...createIngestCounts(10),
      startedAt: 0,
      checked: 10,
      filesToSend: 4,
      filesSent: 1,
      bytesToSend: 4096,
      bytesSent: 1024,
    }
    expect(renderIngest(counts, getSymbols({ unicode: false }), 2000).lines).toEqual([
      'Uploading  #####.............  1 of 4 files · 1.0 KiB of 4.0 KiB · 512 B/s · 6.0 s left',
    ])
    Object.assign(counts, { filesSent: 4, followed: 4, published: 1, failed: 1, unchanged: 6 })
    const view = renderIngest(counts, getSymbols({ unicode: false }), 2000)
    expect(view.lines).toEqual(['Reading    #####.............  1 of 4 documents', '! 1 failed'])
    expect(view.plain).toBe('ingest: 4 of 4 uploaded, 6 unchanged, 1 published, 1 failed')
    const reading = renderIngest(
      { ...counts, reading: ['report.pdf, page 120 of 872'] },
      getSymbols({ unicode: false }),
      2000,
    )
    expect(reading.lines).toContain('           report.pdf, page 120 of 872')
    expect(reading.plain).toMatch(/, reading report\.pdf, page 120 of 872$/)
  })
})
