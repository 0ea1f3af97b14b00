import type { ServerResponse } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { cliHome, startTestServer } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

const spaceId = '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'
const traceId = '0192f0c1-2b6c-7e1a-9d7e-1c0a9f31c2aa'
const sessionId = '0192f0c1-2b6c-7e1a-9d7e-1c0a00000001'

const evidenceBundle = {
  state: 'answerable',
  items: [
    {
      text: 'Traces are kept for 90 days.',
      score: 0.912,
      nodeId: traceId,
      citations: [
        {
          documentAssetId: spaceId,
          documentVersion: 2,
          pageNumber: 3,
          sectionPath: ['Defaults'],
          startOffset: 10,
          endOffset: 38,
        },
      ],
      metadata: { filename: 'retention.md' },
    },
    { text: 'Other text', score: 0.5, citations: [], metadata: { filename: 'evil\u001b[2J.md' } },
  ],
}

const done = {
  finishReason: 'retrieval-evidence',
  metadata: { mode: 'fast', requestedMode: 'auto', citations: [{ documentAssetId: spaceId }], evidenceBundle },
  traceId,
}

function frame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Runs `ks query` against a service that sends these frames. */
async function query(frames: (response: ServerResponse) => void, args: string[] = []) {
  const bodies: unknown[] = []
  const server = await startTestServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      bodies.push(JSON.parse(body))
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'x-query-run-id': traceId,
        'x-session-id': sessionId,
      })
      frames(response)
    })
  })
  const env = { KS_TOKEN: 't' }
  const run = await home.ks(['query', 'how long?', '-s', spaceId, '--url', server.url, ...args], { env })
  await server.end()
  return { ...run, body: bodies[0] }
}

const good = (response: ServerResponse) => {
  response.write(frame('answer.delta', { delta: 'Kept for ', traceId }))
  response.write(frame('answer.delta', { delta: '90 days [1].', traceId }))
  response.end(frame('answer.done', done))
}

describe('an answer of ks query', () => {
  it('prints text and citations on stdout, and how the answer was found on stderr', async () => {
    const { code, stdout, stderr } = await query(good)
    expect(code).toBe(0)
    expect(stdout).toBe('Kept for 90 days [1].\n\n  [1] retention.md › Defaults   p. 3   0.91\n')
    expect(stderr).toMatch(/^\nauto → fast · answerable · 1 of 2 passages cited · \d+(\.\d)? m?s · trace #9f31c2aa\n$/)
  })

  it('prints only the text with --quiet', async () => {
    expect(await query(good, ['-q'])).toMatchObject({ stdout: 'Kept for 90 days [1].\n', stderr: '', code: 0 })
  })

  it('shows passages with --evidence, with escaped control sequences', async () => {
    const { stdout } = await query(good, ['--evidence', '--no-stream'])
    expect(stdout).toContain('[2] evil^[[2J.md   0.50\n    Other text\n')
  })

  it('shows the address of a web page, and with --verbose why a passage was selected', async () => {
    const [item] = evidenceBundle.items
    const ofPage = {
      ...item,
      citations: [{ documentAssetId: spaceId, sectionPath: [], sourceUrl: 'https://example.org/\u001b[2Jretention' }],
      metadata: {
        filename: 'retention.md',
        why: { by: 'words-and-meaning', words: ['traces', 'kept'], adds: ['kept'], confidence: 0.724 },
      },
    }
    const page = (response: ServerResponse) => {
      const metadata = { ...done.metadata, evidenceBundle: { ...evidenceBundle, items: [ofPage] } }
      response.write(frame('answer.delta', { delta: 'Kept [1].', traceId }))
      response.end(frame('answer.done', { ...done, metadata }))
    }
    const plain = '  [1] retention.md   0.91\n      https://example.org/^[[2Jretention\n'
    expect((await query(page)).stdout).toBe(`Kept [1].\n\n${plain}`)
    const why = 'found by words and meaning: traces, kept (new: kept) · answers alone: 0.72'
    expect((await query(page, ['-v'])).stdout).toBe(`Kept [1].\n\n${plain}      ${why}\n`)
    expect((await query(page, ['--evidence'])).stdout).toContain(`    ${why}\n    Traces are kept for 90 days.\n`)
  })

  it('becomes with --json one JSON value with the cited passages, and the others as evidence', async () => {
    const { stdout, stderr } = await query(good, ['--json'])
    expect(stderr).toBe('')
    const value = JSON.parse(stdout)
    expect(value).toEqual({
      answer: 'Kept for 90 days [1].',
      finishReason: 'retrieval-evidence',
      requestedMode: 'auto',
      resolvedMode: 'fast',
      evidenceState: 'answerable',
      citations: [
        {
          number: 1,
          space: null,
          filename: 'retention.md',
          section: ['Defaults'],
          page: 3,
          quote: null,
          text: 'Traces are kept for 90 days.',
          score: 0.912,
          freshness: null,
          documentAssetId: spaceId,
          documentVersion: 2,
          nodeId: traceId,
          startOffset: 10,
          endOffset: 38,
          link: expect.stringMatching(new RegExp(`^http://127.*/console/documents/${spaceId}\\?space=${spaceId}$`)),
        },
      ],
      evidence: [expect.objectContaining({ number: 2, text: 'Other text', page: null, link: null })],
      missingEvidence: [],
      traceId,
      sessionId,
      metadata: { mode: 'fast', requestedMode: 'auto' },
    })
  })

  it('prints file and page of each citation with one line of jq', async () => {
    const { stdout } = await query(good, ['--jq', '.citations[] | [.filename, .page] | @tsv'])
    expect(stdout).toBe('retention.md\t3\n')
  })

  it('contains the quoted text of a passage', async () => {
    const quoted = (response: ServerResponse) => {
      const quotation = { probability: 0.9, blocks: [{ cited: 1, start: 4, end: 21, marks: [] }] }
      response.write(frame('answer.delta', { delta: '[1] Kept for 90 days. ', traceId }))
      response.end(frame('answer.done', { ...done, metadata: { ...done.metadata, cited: [1], quotation } }))
    }
    const { stdout } = await query(quoted, ['--jq', '.citations[].quote'])
    expect(stdout).toBe('Kept for 90 days.\n')
  })

  it('contains null for a field of `--fields` that this answer lacks, and refuses one that no answer has', async () => {
    const without = (response: ServerResponse) => response.end(frame('answer.done', { ...done, metadata: {} }))
    expect((await query(without, ['--json', '--fields', 'evidenceState,finishReason'])).stdout).toBe(
      '{"evidenceState":null,"finishReason":"retrieval-evidence"}\n',
    )
    const refused = await query(good, ['--json', '--fields', 'pages'])
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('unknown field \\"pages\\"')
    expect(refused.stderr).toContain('fields are answer, finishReason')
  })

  it('becomes one event a line with --format jsonl', async () => {
    const { stdout } = await query(good, ['--format', 'jsonl'])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event)
    expect(events).toEqual(['answer.delta', 'answer.delta', 'answer.done'])
  })

  it('results from a request with the given mode, documents and session, or by default without them', async () => {
    expect((await query(good)).body).toEqual({ knowledgeSpaceId: spaceId, query: 'how long?' })
    const { body } = await query(good, ['-m', 'deep', '--doc', traceId, '--session', 'last'])
    expect(body).toEqual({
      knowledgeSpaceId: spaceId,
      query: 'how long?',
      mode: 'deep',
      activeDocumentIds: [traceId],
      sessionId,
    })
  })
})

describe('a degraded answer', () => {
  it('shows its class in the footer, and the reason below it', async () => {
    const reason = 'the answer is a quotation of the evidence: provider "local" refused the credentials (401)'
    const degraded = (response: ServerResponse) => {
      response.write(frame('answer.delta', { delta: 'Ninety days.', traceId }))
      const degradations = [{ part: 'answer', class: 'auth', reason }]
      const metadata = { mode: 'fast', degraded: true, degradedClass: 'auth', degradedReasons: [reason], degradations }
      response.end(frame('answer.done', { finishReason: 'retrieval-evidence', metadata, traceId }))
    }
    const { code, stdout, stderr } = await query(degraded)
    expect([code, stdout]).toEqual([0, 'Ninety days.\n'])
    expect(stderr).toContain('· degraded: auth ·')
    expect(stderr).toContain(reason)
    expect(JSON.parse((await query(degraded, ['--json'])).stdout).metadata).toMatchObject({ degradedClass: 'auth' })
  })
})

describe('an answer that fails', () => {
  it('keeps the text so far, gives the reason, and ends with 8', async () => {
    const { code, stdout, stderr } = await query((response) => {
      response.write(frame('answer.delta', { delta: 'Kept ', traceId }))
      response.end(frame('answer.error', { error: 'provider timed out after 60 s', traceId }))
    })
    expect([code, stdout]).toEqual([8, 'Kept '])
    expect(stderr).toContain('ks: the answer stopped early: provider timed out after 60 s (trace #9f31c2aa)')
  })

  it('because of a broken connection or a stream without its last event ends with 8, too', async () => {
    for (const end of [
      (response: ServerResponse) => response.end(),
      (response: ServerResponse) => setTimeout(() => response.destroy(), 30),
    ]) {
      const { code, stderr } = await query((response) => {
        response.write(frame('answer.delta', { delta: 'Kept ', traceId }))
        end(response)
      })
      expect(code).toBe(8)
      expect(stderr).toContain('ks: the answer stopped early: ')
    }
  })

  it('prints nothing on stdout with --json', async () => {
    const { code, stdout, stderr } = await query(
      (response) => {
        response.write(frame('answer.delta', { delta: 'Kept ', traceId }))
        response.end(frame('answer.error', { error: 'no', traceId }))
      },
      ['--json'],
    )
    expect([code, stdout]).toEqual([8, ''])
    expect(JSON.parse(stderr).error.code).toBe('answer-failed')
  })
})

describe('--require-evidence', () => {
  it('ends with exit 10 unless the evidence is answerable or has a conflict', async () => {
    const of = (state: string) => (response: ServerResponse) => {
      response.write(frame('answer.delta', { delta: 'Some text.', traceId }))
      const metadata = { evidenceBundle: { state, items: [] } }
      response.end(frame('answer.done', { finishReason: 'retrieval-evidence', metadata, traceId }))
    }
    for (const [state, code] of [
      ['answerable', 0],
      ['conflict', 0],
      ['partial', 10],
      ['permission-limited', 10],
    ] as const)
      expect((await query(of(state), ['--require-evidence'])).code, state).toBe(code)
  })

  it('ends with exit 10 if nothing is found, which without the flag ends with 0', async () => {
    const none = (response: ServerResponse) => {
      response.write(frame('answer.delta', { delta: 'Nothing was found for “this”.', traceId }))
      response.end(frame('answer.done', { finishReason: 'no-retrieval-evidence', traceId }))
    }
    expect((await query(none)).code).toBe(0)
    expect((await query(none, ['--require-evidence'])).code).toBe(10)
  })
})

describe('a corrected question', () => {
  it('causes a note on stderr with the words that were searched for, and metadata in the JSON', async () => {
    const searchedFor = [
      { asked: 'batery', searched: 'battery' },
      { asked: 'alrm', searched: 'alarm' },
    ]
    const corrected = (response: ServerResponse) => {
      response.write(frame('answer.delta', { delta: 'It beeps.', traceId }))
      response.end(frame('answer.done', { finishReason: 'retrieval-evidence', metadata: { searchedFor }, traceId }))
    }
    expect((await query(corrected)).stderr).toContain('also searched for “battery alarm” (asked: “batery alrm”)')
    expect(JSON.parse((await query(corrected, ['--json'])).stdout).metadata).toEqual({ searchedFor })
  })
})

describe('a time limit', () => {
  it('ends a slow question with exit 8', async () => {
    const { code, stderr } = await query(() => {}, ['--timeout', '1s'])
    expect(code).toBe(8)
    expect(stderr).toContain('--timeout')
  })
})

describe('a question without an answer', () => {
  /** Runs `ks query` against a service without an answer that has this number of open jobs. */
  async function unanswered(open: number, jobsStatus = 200) {
    const server = await startTestServer((request, response) => {
      if (request.url?.includes('/jobs')) {
        response.writeHead(jobsStatus, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ items: Array.from({ length: open }, () => ({})) }))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-query-run-id': traceId })
      response.write(frame('answer.delta', { delta: 'Nothing was found for “capital Norway”.', traceId }))
      const metadata = { mode: 'fast', evidenceBundle: { state: 'not-enough-evidence', items: [] } }
      response.end(frame('answer.done', { finishReason: 'no-retrieval-evidence', metadata, traceId }))
    })
    const args = ['query', 'capital of Norway?', '-s', spaceId, '--url', server.url]
    const run = await home.ks(args, { env: { KS_TOKEN: 't' } })
    await server.end()
    return run
  }

  it('reports that every document was searched if the index is up to date', async () => {
    const { code, stderr } = await unanswered(0)
    expect(code).toBe(0)
    expect(stderr).toContain('the index is up to date: every document was searched for these words')
  })

  it('reports an outdated index while documents are being read', async () => {
    const { stderr } = await unanswered(2)
    expect(stderr).toContain('the index is out of date: 2 documents are still being read')
    expect(stderr).not.toContain('every document was searched')
  })

  it('reports nothing about the index if the service refuses to list open jobs', async () => {
    const { code, stderr } = await unanswered(0, 403)
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/up to date|out of date/)
  })
})
