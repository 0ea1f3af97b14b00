import { useMutation } from '@tanstack/react-query'
import type { GcCandidate, GcExecuted } from '../../../contract/gateway/integrity.js'
import { LIMITS } from '../../../contract/limits.js'
import { call } from '../../api/client.js'
import { Button } from '../../ui/button.js'
import { formatBytes, formatCount, plural } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { Failure, Notice } from '../../ui/state.js'

const BATCH = LIMITS.gcCandidates
const SHOWN = 200

/** Panel that lists unreferenced objects and removes them after confirmation. */
export function CleanSpace({ spaceId }: { spaceId: string }) {
  const look = useMutation({ mutationFn: () => candidatesOf(spaceId) })
  const execute = useMutation({ mutationFn: (candidates: readonly GcCandidate[]) => removeAll(spaceId, candidates) })
  const found = look.data
  const bytes = found?.reduce((sum, { estimatedBytes }) => sum + estimatedBytes, 0) ?? 0
  return (
    <Panel title="Clean up">
      <div className="stack">
        <p className="muted">
          Leftovers of interrupted uploads and failed commits, old parse results and projections. The dry run removes
          nothing.
        </p>
        <div className="row">
          <Button
            kind="primary"
            busy={look.isPending}
            onClick={() => {
              execute.reset()
              look.mutate()
            }}
          >
            Dry run
          </Button>
        </div>
        {look.isError && <Failure error={look.error} />}
        {execute.isError && <Failure error={execute.error} />}
        {execute.data !== undefined && (
          <Notice tone="good">
            {formatCount(execute.data.deleted)} removed
            {execute.data.skipped > 0 && `, ${execute.data.skipped} skipped because they are in use`}.
          </Notice>
        )}
        {found !== undefined && execute.data === undefined && found.length === 0 && (
          <Notice tone="good">There is nothing to remove.</Notice>
        )}
        {found !== undefined && execute.data === undefined && found.length > 0 && (
          <>
            <Notice
              tone="warn"
              action={
                <Button small kind="danger" icon="trash" busy={execute.isPending} onClick={() => execute.mutate(found)}>
                  Remove {plural(found.length, 'entry', 'entries')}
                </Button>
              }
            >
              {plural(found.length, 'entry', 'entries')}, about {formatBytes(bytes)}. Each is checked again before
              removal.
            </Notice>
            <ul className="issues">
              {found.slice(0, SHOWN).map((candidate) => (
                <li key={candidate.idempotencyKey} className="issue">
                  <p>
                    <strong>{candidate.candidateType.replaceAll('-', ' ')}</strong>{' '}
                    <span className="faint number">{formatBytes(candidate.estimatedBytes)}</span>
                  </p>
                  <p className="small muted wrap">{candidate.reason}</p>
                </li>
              ))}
            </ul>
            {found.length > SHOWN && <p className="small faint">The first {SHOWN} of them.</p>}
          </>
        )}
      </div>
    </Panel>
  )
}

async function candidatesOf(id: string): Promise<GcCandidate[]> {
  const found: GcCandidate[] = []
  let cursor: string | undefined
  do {
    const page = await call('GET /knowledge-spaces/{id}/gc/staged-objects', {
      path: { id },
      query: cursor === undefined ? {} : { cursor },
    })
    found.push(...page.candidates)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

async function removeAll(
  id: string,
  candidates: readonly GcCandidate[],
): Promise<Pick<GcExecuted, 'deleted' | 'skipped'>> {
  const sum = { deleted: 0, skipped: 0 }
  for (let at = 0; at < candidates.length; at += BATCH) {
    const body = { candidates: candidates.slice(at, at + BATCH) }
    const done = await call('POST /knowledge-spaces/{id}/gc/staged-objects/execute', { path: { id }, body })
    sum.deleted += done.deleted
    sum.skipped += done.skipped
  }
  return sum
}
