import type { Client } from '../../client/client.js'
import type { CreateGoldenRunBody, GoldenRun, GoldenRunResult } from '../../contract/gateway/golden-runs.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import { CliError } from '../cli-error.js'
import { followWork } from '../follow-work.js'
import type { CaseResult } from '../json-output/quality.js'
import type { Output } from '../output.js'

export interface GoldenRunOptions {
  spaceId: string
  body: Partial<CreateGoldenRunBody>
  out: Output
  signal: AbortSignal
  /** Called for each result when its question has ended. */
  onDone: (result: CaseResult) => void
}

const PAGE_SIZE = 100

/**
 * Starts a golden run in the service and waits for its end.
 *
 * @returns results in the order of the questions
 * @throws CliError if the service ended the run early
 */
export async function runGoldenQuestions(client: Client, options: GoldenRunOptions): Promise<CaseResult[]> {
  const { spaceId, body, out, signal, onDone } = options
  const started = await client.request('POST /knowledge-spaces/{id}/golden-runs', { path: { id: spaceId }, body })
  const path = { id: spaceId, runId: started.id }
  const results: GoldenRunResult[] = []
  let cursor: string | undefined
  /** Number of results of the last page that were read before. */
  let readCount = 0
  const readNewResults = async (): Promise<void> => {
    for (;;) {
      const query = { limit: String(PAGE_SIZE), ...omitUndefined({ cursor }) }
      const page = await client.request('GET /knowledge-spaces/{id}/golden-runs/{runId}/results', { path, query })
      for (const result of page.items.slice(readCount)) {
        results.push(result)
        onDone(toCaseResult(result))
      }
      readCount = page.nextCursor === undefined ? page.items.length : 0
      if (page.nextCursor === undefined) return
      cursor = page.nextCursor
    }
  }
  const load = async (): Promise<GoldenRun> => {
    const run = await client.request('GET /knowledge-spaces/{id}/golden-runs/{runId}', { path })
    await readNewResults()
    return run
  }
  const formatLine = ({ done, questions }: GoldenRun) =>
    `${formatCount(done)} of ${pluralize(questions, 'question')} run`
  const ended = await followWork(out, started, { formatLine, load }, signal)
  if (ended.status === 'failed')
    throw new CliError(`the golden run failed: ${ended.error ?? 'no reason is known'}`, { code: 'golden-run-failed' })
  return results.sort((a, b) => a.index - b.index).map(toCaseResult)
}

function toCaseResult({ index: _, outcome: __, evidence: ___, ...result }: GoldenRunResult): CaseResult {
  return result
}
